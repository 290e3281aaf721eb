//! `concord conform --svm-rpc`.
use super::{arguments::Conform, error::CliError};
use crate::{backend::svm::SvmLive, model::Chain, report, scenario::Scenario};
use alloy::primitives::B256;
use concord_chain::{EndpointOptions, keys::read_keypair};
use concord_deploy::{DeployError, report::print_status};
use std::time::Duration;

/// The program on the node that the command line names, if it names one. Scenarios that the node
/// cannot play are left out, and listed on stderr.
pub(super) fn attach_node(
    options: &Conform,
    scenarios: &mut Vec<Scenario>,
) -> Result<Option<SvmLive>, CliError> {
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
    if !node.can_set_time() {
        leave_out_what_needs_a_clock(scenarios)?;
    }
    Ok(Some(node))
}

fn leave_out_what_needs_a_clock(scenarios: &mut Vec<Scenario>) -> Result<(), CliError> {
    let needs = |it: &Scenario| it.chains().any(|chain| chain == Chain::Svm) && it.needs_clock();
    let left_out: Vec<_> = scenarios.iter().filter(|it| needs(it)).collect();
    if left_out.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = left_out.iter().map(|it| &*it.name).collect();
    print_status(format_args!(
        "the node's clock cannot be set: {} left out: {}",
        report::scenario_count(left_out.len()),
        names.join(", ")
    ));
    scenarios.retain(|it| !needs(it));
    match scenarios.is_empty() {
        true => Err(CliError::ClockCannotBeSet),
        false => Ok(()),
    }
}
