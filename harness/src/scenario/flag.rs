//! Which scenarios are also played on live chains, and what makes one fit for it.
use super::{Scenario, TimedStep, timeline::Fault};
use crate::model::{Operation, SetAgentWallet, SetOperator, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Where a scenario is played beside every run that can set the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    /// On deployed registries, on a chain with its own clock: few transactions.
    Live,
    /// The same without a funder: only reads and refusals.
    ReadOnly,
}

/// A live scenario costs at most so many transactions.
const TRANSACTIONS_MAX: usize = 8;
/// How long a transaction may take until it is in a block and read back.
pub(super) const SECONDS_A_TRANSACTION: u64 = 24;
/// Where the time cannot be set, a scenario's start is so many seconds before it begins: half of them
/// are over in any case.
pub const HEAD_START: u64 = 60;
/// R3: a consent's deadline is at most so far ahead on EVM.
const CONSENT_SECONDS: u64 = 300;
const DAY: u64 = 86_400;

/// A flagged scenario must have the same result on a live chain, whatever its clock does.
pub(super) fn check(scenario: &Scenario) -> Result<(), Fault> {
    let is_live = scenario.flags.contains(&Flag::Live);
    let is_read_only = scenario.flags.contains(&Flag::ReadOnly);
    if !is_live && !is_read_only {
        return Ok(());
    }
    if scenario.actors.iter().any(|actor| actor.0 == "deployer") {
        return fault(
            "actors",
            "`deployer` is not an actor on a live chain (R9)".to_owned(),
        );
    }
    let mut sent = 0;
    for step in &scenario.steps {
        let path = format!("steps[{}]", step.number - 1);
        check_times(step, sent, &path)?;
        sent += usize::from(may_be_sent(scenario, step));
        if is_read_only && sent > 0 {
            let message = "is accepted, in a scenario that is flagged `read_only`";
            return fault(format!("{path}.expect"), message.to_owned());
        }
        if is_live && lacks_consent(step) {
            let message = "has no consent, so that its deadline is the chain's time";
            return fault(format!("{path}.do"), message.to_owned());
        }
    }
    if sent > TRANSACTIONS_MAX {
        let message = format!("`live` with {sent} transactions, at most {TRANSACTIONS_MAX}");
        return fault("flags", message);
    }
    check_operators(scenario)
}

/// On some chain.
fn may_be_sent(scenario: &Scenario, step: &TimedStep) -> bool {
    let is_accepted = |chain| {
        let expected = step.source.expectation(chain).map(|it| it.outcome);
        expected == Some(Verdict::Ok)
    };
    !step.operation.is_read() && scenario.chains().any(is_accepted)
}

fn lacks_consent(step: &TimedStep) -> bool {
    matches!(
        step.operation,
        Operation::SetAgentWallet(SetAgentWallet { consent: None, .. })
    )
}

/// A statement must be over from the start, or good for as long as everything before can take.
fn check_times(step: &TimedStep, sent: usize, path: &str) -> Result<(), Fault> {
    if step.source.at.is_some() {
        let message = "the clock of a live chain cannot be set";
        return fault(format!("{path}.at"), message.to_owned());
    }
    let before = SECONDS_A_TRANSACTION.saturating_mul(sent as u64 + 1);
    let least = HEAD_START + before;
    let (what, time, most) = match &step.operation {
        Operation::GiveFeedback(feedback) => match &feedback.authorization {
            Some(authorization) => ("expiry", authorization.expiry, u64::MAX),
            None => return Ok(()),
        },
        Operation::SetAgentWallet(SetAgentWallet {
            consent: Some(consent),
            ..
        }) => ("deadline", consent.deadline, CONSENT_SECONDS),
        Operation::AttachPaymentProof(_) => {
            let message = "needs lists that only the registry's authority writes (R13)";
            return fault(format!("{path}.do"), message.to_owned());
        }
        _ => return Ok(()),
    };
    if time <= HEAD_START / 2 || (least..=most).contains(&time) || time >= DAY {
        return Ok(());
    }
    fault(
        format!("{path}.do"),
        format!(
            "{what} {time} is neither over from the start (at most {}) nor sure to be ahead ({least} or more)",
            HEAD_START / 2
        ),
    )
}

/// What else a scenario leaves behind belongs to its own agents. An operator's rights belong to actors,
/// which are the same in the next scenario.
fn check_operators(scenario: &Scenario) -> Result<(), Fault> {
    let mut standing = BTreeSet::new();
    for step in &scenario.steps {
        if let Operation::SetOperator(SetOperator {
            by,
            operator,
            approved,
        }) = &step.operation
        {
            if *approved {
                standing.insert((by, operator));
            } else {
                standing.remove(&(by, operator));
            }
        }
    }
    match standing.first() {
        Some((by, operator)) => fault(
            "flags",
            format!("`{operator}` is still an operator of `{by}` in the end"),
        ),
        None => Ok(()),
    }
}

fn fault<T>(path: impl Into<String>, message: String) -> Result<T, Fault> {
    Err((path.into(), message))
}
