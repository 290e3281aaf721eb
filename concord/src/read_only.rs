//! What `concord deploy verify` plays on a deployment: scenarios that send nothing.
use super::{
    files::scenario_files,
    live::{CONTRACT, addresses},
};
use alloy::primitives::B256;
use concord_canonical::caip::SOLANA;
use concord_chain::{
    Blocking, EndpointOptions,
    evm::{Client, ClientOptions, FeeLimit},
    svm::Cluster,
};
use concord_deploy::{Check, DeployError, Deployment, Setting, evm::contracts, options::Place};
use concord_harness::{
    backend::{
        Backend, RunSecret,
        evm::{EvmLive, RegistryAddresses},
        svm::SvmLive,
    },
    model::Chain,
    runner::{self, MODEL, Run, StepRecord, StepResult},
    scenario::{self, Flag, Scenario},
};
use concord_registry::svm::Program;
use std::time::Duration;

/// Lamports of the account that simulated transactions name as payer: enough for their fees and for
/// the rent of what a refused one would have made.
const PAYER_MIN: u64 = 10_000_000;

/// One check for each step of the scenarios flagged `read_only`: what the registries on record
/// would come to. None if there is no such registry to be asked: then other checks say so.
///
/// # Errors
/// A scenario file that is wrong, a chain that does not answer.
pub(super) fn examine(place: &Place, recorded: &Deployment) -> Result<Vec<Check>, DeployError> {
    if place.chain.namespace() == SOLANA {
        return examine_svm(place, recorded);
    }
    let Ok(addresses) = addresses(recorded) else {
        return Ok(Vec::new());
    };
    let is_attached = is_attached(recorded);
    let mut scenarios = read_only_scenarios(Chain::Evm)?;
    if is_attached && addresses.open_reputation.is_none() {
        // Every step is refused or reads, so that those that are left come to the same.
        for scenario in &mut scenarios {
            (scenario.steps).retain(|step| !step.operation.is_of_the_open_profile());
        }
    }
    let run = play(place, addresses, is_attached, &scenarios)?;
    Ok(checks(&run, Chain::Evm))
}

/// Returns whether the identity registry on record was there before.
fn is_attached(recorded: &Deployment) -> bool {
    let record = recorded.contracts.get(contracts::IDENTITY);
    record.is_some_and(|it| it.settings.get("attached") == Some(&Setting::Flag(true)))
}

/// As [`examine`]. Nobody signs: the deployer on record is named as who would pay.
fn examine_svm(place: &Place, recorded: &Deployment) -> Result<Vec<Check>, DeployError> {
    let record = recorded.contracts.get(CONTRACT);
    let program = record.and_then(|it| it.address.parse().ok());
    let (Some(program), Ok(payer)) = (program, recorded.deployer.parse()) else {
        return Ok(Vec::new());
    };
    let cluster = Cluster::new(&endpoint(place)?)?;
    let blocking = Blocking::new()?;
    let balance = blocking.wait(cluster.balance(&payer))?;
    if balance < PAYER_MIN {
        return Err(DeployError::Examination(format!(
            "the deployer on record, {payer}, has {balance} lamports, and a simulated transaction needs a payer with {PAYER_MIN}"
        )));
    }
    let secret = RunSecret::without_funds(&B256::random().0);
    let program = Program::new(program);
    let registry = SvmLive::read_only(blocking, cluster, program, &place.chain, payer, secret);
    let run = run_on(&read_only_scenarios(Chain::Svm)?, registry)?;
    Ok(checks(&run, Chain::Svm))
}

fn checks(run: &Run, on: Chain) -> Vec<Check> {
    let of_registries = run.records.iter().filter(|it| it.participant != MODEL);
    of_registries.map(|record| check(run, record, on)).collect()
}

fn play(
    place: &Place,
    addresses: RegistryAddresses,
    is_attached: bool,
    scenarios: &[Scenario],
) -> Result<Run, DeployError> {
    let blocking = Blocking::new()?;
    let client = blocking.wait(Client::connect(ClientOptions {
        chain: place.chain.clone(),
        endpoint: endpoint(place)?,
        give_up_after: Duration::ZERO, // nothing is sent, so nothing is waited for
        fee_limit: FeeLimit::default(),
    }))?;
    let registries = EvmLive::read_only(blocking, client, addresses, B256::random().0);
    if is_attached {
        run_on(scenarios, registries.over_canonical_identity())
    } else {
        run_on(scenarios, registries)
    }
}

fn endpoint(place: &Place) -> Result<EndpointOptions, DeployError> {
    let url = place.rpc_url.clone().ok_or(DeployError::RpcUrlMissing)?;
    let options = EndpointOptions::new(url).with_limits(place.rpc_limit);
    Ok(options.with_timeout(Duration::from_secs(place.timeout)))
}

fn run_on(scenarios: &[Scenario], registries: impl Backend + 'static) -> Result<Run, DeployError> {
    let run = runner::run(scenarios, &mut [Box::new(registries)], |_, _, _| ());
    match run.lost.first() {
        Some(lost) => Err(DeployError::Examination(format!("{lost}; run again"))),
        None => Ok(run),
    }
}

fn read_only_scenarios(on: Chain) -> Result<Vec<Scenario>, DeployError> {
    let files = scenario_files(&[]).map_err(|stop| DeployError::Examination(stop.to_string()))?;
    let mut scenarios = Vec::new();
    for file in files {
        let scenario =
            scenario::load(&file).map_err(|fault| DeployError::Examination(fault.to_string()))?;
        let is_for_chain = scenario.chains().any(|chain| chain == on);
        if is_for_chain && scenario.flags.contains(&Flag::ReadOnly) {
            scenarios.push(scenario);
        }
    }
    Ok(scenarios)
}

fn check(run: &Run, record: &StepRecord, on: Chain) -> Check {
    let expected = run
        .scenarios
        .iter()
        .find(|scenario| scenario.name == record.scenario)
        .and_then(|scenario| scenario.steps.iter().find(|it| it.number == record.step))
        .and_then(|step| step.source.expectation(on))
        .map(|expectation| expectation.outcome.to_string())
        .unwrap_or_default();
    let fact = format!("step {}, {}", record.step, record.operation);
    match &record.result {
        StepResult::Failed(difference) | StepResult::Error(difference) => Check::new(
            &record.scenario,
            &fact,
            &difference.expected,
            &difference.actual,
        ),
        StepResult::NotReached => Check::new(&record.scenario, &fact, &expected, "not reached"),
        StepResult::NotDeclared => Check::new(&record.scenario, &fact, &expected, "not declared"),
        StepResult::Passed | StepResult::Varied | StepResult::Absent => {
            Check::new(&record.scenario, &fact, &expected, &expected)
        }
    }
}
