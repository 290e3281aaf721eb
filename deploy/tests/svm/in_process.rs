//! The other way to a cluster: the same requests without HTTP.
use crate::svm::cluster::{Cluster, deployer, program_key};
use alloy::{
    rpc::json_rpc::{
        ErrorPayload, RequestPacket, Response, ResponsePacket, ResponsePayload, SerializedRequest,
    },
    transports::{TransportError, TransportErrorKind, TransportFut},
};
use concord_chain::{
    Blocking, Endpoint,
    submission::{Timing, submit},
    svm::{BuiltProgram, Cluster as Client, PriorityFee},
};
use concord_deploy::{
    AddressBook, RunFile, Step, Target,
    svm::{Choices, Deployer, SvmOptions, SvmTarget, UpgradeAuthority},
};
use concord_local_cluster::LocalCluster;
use serde_json::{Value, value::to_raw_value};
use std::{
    path::Path,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};
use tower_service::Service;

#[derive(Clone)]
struct InProcess(Arc<Mutex<LocalCluster>>);

impl InProcess {
    fn answer(&self, request: &SerializedRequest) -> ResponsePacket {
        let params = request.params().map_or("[]", |params| params.get());
        let params: Value = serde_json::from_str(params).unwrap();
        let answer = self.0.lock().unwrap().answer(request.method(), &params);
        let payload = match answer {
            Ok(result) => ResponsePayload::Success(to_raw_value(&result).unwrap()),
            Err(no) => ResponsePayload::Failure(ErrorPayload {
                code: no.code,
                message: no.message.into(),
                data: no.data.map(|data| to_raw_value(&data).unwrap()),
            }),
        };
        ResponsePacket::Single(Response {
            id: request.id().clone(),
            payload,
        })
    }
}

impl Service<RequestPacket> for InProcess {
    type Response = ResponsePacket;
    type Error = TransportError;
    type Future = TransportFut<'static>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, packet: RequestPacket) -> Self::Future {
        let answer = packet.as_single().map(|request| self.answer(request));
        let no_batches = || TransportErrorKind::custom_str("a batch");
        Box::pin(async move { answer.ok_or_else(no_batches) })
    }
}

#[test]
fn the_same_target_deploys_to_a_cluster_without_a_network() {
    let folder = tempfile::tempdir().unwrap();
    let elf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/deploy/agent_registry.so");
    let cluster = LocalCluster::new(Cluster::options());
    let mut target = SvmTarget::new(SvmOptions {
        successor: None,
        chain: "solana:localnet".parse().unwrap(),
        cluster: Client::at(Endpoint::over(
            InProcess(Arc::new(Mutex::new(cluster))),
            "in process",
        )),
        deployer: Deployer::Key(deployer()),
        program_key: Some(program_key()),
        program: BuiltProgram::read(&elf).unwrap(),
        choices: Choices {
            authority: UpgradeAuthority::Keep,
            upgrade: false,
            reclaim: false,
            squads: None,
            registry_authority: None,
        },
        priority_fee: PriorityFee::default(),
    });
    let blocking = Blocking::new().unwrap();
    let plan = blocking.wait(target.plan()).unwrap();
    let mut run = RunFile::start(folder.path(), &plan, &target, || Ok(())).unwrap();
    let timing = Timing {
        poll: Duration::from_millis(50),
        replace_after: Duration::from_secs(60),
        give_up_after: Duration::from_secs(60),
    };
    let groups: Vec<_> = plan.groups().collect();
    let mut report = |_: &Step, _: &str| ();
    let sent = submit(&mut target, &groups, &mut run, timing, &mut report);
    blocking.wait(sent).unwrap();
    let landings = run.landings();
    let deployment = blocking.wait(target.deployment(&landings)).unwrap();
    AddressBook::enter(folder.path(), target.chain(), deployment.clone()).unwrap();
    let checks = blocking.wait(target.verify(&deployment)).unwrap();
    assert_eq!(checks.len(), 11);
    assert!(checks.iter().all(|check| check.holds()), "{checks:?}");
    assert!(blocking.wait(target.plan()).unwrap().is_done());
}
