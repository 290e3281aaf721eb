//! The other way to a cluster: the same questions without HTTP.
use crate::cluster::{Cluster, deployer, program_key};
use concord_deploy::{
    AddressBook, Fault, Patience, RunFile, Target, carry_out,
    svm::{
        Choices, Deployer, PriorityFee, Program, SvmOptions, SvmTarget, UpgradeAuthority,
        cluster::Cluster as Client,
        transport::{Refusal, Transport},
    },
};
use concord_local_cluster::LocalCluster;
use serde_json::Value;
use std::{cell::RefCell, path::Path, time::Duration};

struct InProcess(RefCell<LocalCluster>);

impl Transport for InProcess {
    fn ask(&self, method: &str, params: Value) -> Result<Result<Value, Refusal>, Fault> {
        let answer = self.0.borrow_mut().answer(method, &params);
        Ok(answer.map_err(|no| Refusal {
            code: no.code,
            message: no.message,
            data: no.data,
        }))
    }

    fn host(&self) -> &str {
        "in process"
    }
}

#[test]
fn the_same_target_deploys_to_a_cluster_without_a_network() {
    let folder = tempfile::tempdir().unwrap();
    let elf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/deploy/agent_registry.so");
    let cluster = LocalCluster::new(Cluster::options());
    let mut target = SvmTarget::new(SvmOptions {
        chain: "solana:localnet".parse().unwrap(),
        cluster: Client::new(InProcess(RefCell::new(cluster))),
        deployer: Deployer::Key(deployer()),
        program_key: Some(program_key()),
        program: Program::read(&elf).unwrap(),
        choices: Choices {
            authority: UpgradeAuthority::Keep,
            upgrade: false,
            reclaim: false,
        },
        priority_fee: PriorityFee::new(0, 0).unwrap(),
    });
    let plan = target.plan().unwrap();
    let mut run = RunFile::start(folder.path(), &plan, &target, || Ok(())).unwrap();
    let patience = Patience {
        poll: Duration::from_millis(50),
        outbid_after: Duration::from_secs(60),
        give_up_after: Duration::from_secs(60),
    };
    carry_out(&mut target, &plan, &mut run, patience, &mut |_, _| ()).unwrap();
    let deployment = target.deployment(&run.landings()).unwrap();
    AddressBook::enter(folder.path(), target.chain(), deployment.clone()).unwrap();
    let checks = target.verify(&deployment).unwrap();
    assert_eq!(checks.len(), 7);
    assert!(checks.iter().all(|check| check.holds()), "{checks:?}");
    let smoke = target.smoke(&deployment, patience.give_up_after, &mut |_| Ok(()));
    assert!(smoke.unwrap().checks.iter().all(|check| check.holds()));
    assert!(target.plan().unwrap().is_done());
}
