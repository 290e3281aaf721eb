//! On Solana's clusters.
use super::{Place, Stage};
use crate::{
    arguments::LiveRun,
    error::CliError,
    files::{PROGRAM, built},
};
use concord_chain::{Blocking, keys::read_keypair, svm::Cluster};
use concord_deploy::{DeployError, Deployment};
use concord_harness::{
    backend::{
        Backend,
        svm::{SvmLitesvm, SvmLive},
    },
    live::{
        Funder, Funding, LiveFault, Record,
        svm::{SvmFunder, rehearse},
    },
    scenario::Scenario,
};
use concord_registry::svm::Program;
use solana_keypair::Keypair;
use std::{path::Path, time::Duration};

/// The program's name in the address book.
pub(crate) const CONTRACT: &str = "AgentRegistry";

pub(super) struct SvmStage {
    funder: SvmFunder,
    program: Program,
}

impl Stage for SvmStage {
    const BUDGET: &'static str = "1";

    fn prepare(
        options: &LiveRun,
        place: &Place,
        deployment: &Deployment,
    ) -> Result<Self, CliError> {
        let key = funder_key(options)?;
        let (blocking, cluster) = connect(place)?;
        blocking.wait(cluster.require_chain(&place.chain))?;
        let program = program_on_record(&blocking, &cluster, deployment)?;
        let patience = Duration::from_secs(options.give_up_after);
        Ok(Self {
            funder: SvmFunder::new(blocking, cluster, key, place.chain.clone(), patience),
            program,
        })
    }

    fn funder(&mut self) -> &mut dyn Funder {
        &mut self.funder
    }

    fn funding(
        &self,
        _artifacts: Option<&Path>,
        scenarios: &[Scenario],
    ) -> Result<Funding, CliError> {
        let needs = rehearse(scenarios, &mut SvmLitesvm::start(&built(None, PROGRAM)?)?)?;
        Ok(SvmFunder::funding(&needs))
    }

    fn backend(
        &self,
        options: &LiveRun,
        place: &Place,
        record: &Record,
    ) -> Result<Box<dyn Backend>, CliError> {
        let (blocking, cluster) = connect(place)?;
        let live = SvmLive::funded(
            blocking,
            cluster,
            self.program,
            &place.chain,
            self.funder.address(),
            self.funder.secret(record),
            Duration::from_secs(options.give_up_after),
        );
        Ok(Box::new(live))
    }
}

fn connect(place: &Place) -> Result<(Blocking, Cluster), CliError> {
    Ok((Blocking::new()?, Cluster::new(&place.endpoint)?))
}

fn funder_key(options: &LiveRun) -> Result<Keypair, CliError> {
    let file = options.keypair.as_deref();
    let file = file.ok_or(DeployError::KeypairMissing { or_from: "" })?;
    Ok(read_keypair(file)?)
}

/// The program that the address book names, if it is deployed and has its registry.
fn program_on_record(
    blocking: &Blocking,
    cluster: &Cluster,
    deployment: &Deployment,
) -> Result<Program, LiveFault> {
    let record = deployment.contracts.get(CONTRACT);
    let address = record.map(|it| it.address.clone()).unwrap_or_default();
    let no_code = || LiveFault::NoCode {
        contract: CONTRACT.to_owned(),
        address: address.clone(),
    };
    let program = Program::new(address.parse().map_err(|_| no_code())?);
    let found = blocking.wait(cluster.accounts(&[program.id(), program.registry()]))?;
    match found.as_slice() {
        [Some(code), Some(registry)] if code.executable && registry.owner == program.id() => {
            Ok(program)
        }
        _ => Err(no_code()),
    }
}
