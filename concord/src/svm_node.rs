//! `concord conform --svm-rpc`.
use super::{arguments::Conform, error::CliError};
use alloy::primitives::B256;
use concord_chain::{EndpointOptions, keys::read_keypair};
use concord_deploy::{DeployError, report::print_status};
use concord_harness::{
    backend::svm::{FoundProgram, SvmLive},
    model::Chain,
    report,
    runner::LeftOut,
    scenario::Scenario,
};
use std::time::Duration;

/// The program on the node that the command line names.
pub(super) struct Attached {
    pub node: SvmLive,
    pub program: FoundProgram,
    /// Scenarios that the node cannot play.
    pub left_out: Vec<LeftOut>,
}

/// Attaches to the node that the command line names, if it names one. Scenarios that it cannot play are taken out, and
/// listed on stderr.
pub(super) fn attach_node(
    options: &Conform,
    scenarios: &mut Vec<Scenario>,
) -> Result<Option<Attached>, CliError> {
    let (Some(url), Some(program)) = (&options.svm_rpc, options.program_id) else {
        return Ok(None);
    };
    let run = &options.live.run;
    let keypair = run.keypair.as_deref();
    let authority = keypair.ok_or(DeployError::KeypairMissing { or_from: "" })?;
    let endpoint =
        EndpointOptions::new(url.as_str()).with_timeout(Duration::from_secs(run.timeout));
    let node = SvmLive::attach(
        &endpoint,
        program,
        read_keypair(authority)?,
        B256::random().0,
        Duration::from_secs(run.give_up_after),
    )?;
    let left_out = if node.can_set_time() {
        Vec::new()
    } else {
        leave_out_what_needs_a_clock(scenarios)?
    };
    Ok(Some(Attached {
        program: node.found_program()?,
        node,
        left_out,
    }))
}

fn leave_out_what_needs_a_clock(scenarios: &mut Vec<Scenario>) -> Result<Vec<LeftOut>, CliError> {
    let needs = |it: &Scenario| it.chains().any(|chain| chain == Chain::Svm) && it.needs_clock();
    let names = scenarios.iter().filter(|it| needs(it));
    let names: Vec<_> = names.map(|it| it.name.clone()).collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    print_status(format_args!(
        "the node's clock cannot be set: {} left out: {}",
        report::scenario_count(names.len()),
        names.join(", ")
    ));
    scenarios.retain(|it| !needs(it));
    let left_out = |scenario| LeftOut {
        scenario,
        reason: "the node's clock cannot be set".to_owned(),
    };
    if scenarios.is_empty() {
        Err(CliError::ClockCannotBeSet)
    } else {
        Ok(names.into_iter().map(left_out).collect())
    }
}
