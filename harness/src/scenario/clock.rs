//! Which scenarios come to the same on a chain whose clock cannot be set.
use super::{
    Scenario, TimedStep,
    flag::{HEAD_START, SECONDS_A_TRANSACTION},
};
use crate::model::Operation;

impl Scenario {
    /// Returns whether the outcome on Solana depends on times that need a clock that can be set.
    /// Without one a scenario begins [`HEAD_START`] seconds after its start and takes as long as it
    /// takes.
    pub fn needs_clock(&self) -> bool {
        let mut latest = HEAD_START;
        self.steps.iter().any(|step| {
            latest = latest.saturating_add(SECONDS_A_TRANSACTION);
            let is_sure = |bound: u64| {
                if bound > step.time {
                    bound >= latest
                } else {
                    bound <= HEAD_START / 2
                }
            };
            !bounds(step).into_iter().flatten().all(is_sure)
        })
    }
}

/// The times, in seconds after the start, that the program compares with its clock.
fn bounds(step: &TimedStep) -> [Option<u64>; 2] {
    match &step.operation {
        Operation::GiveFeedback(feedback) => {
            let authorization = feedback.authorization.as_ref();
            [authorization.map(|it| it.expiry), None]
        }
        Operation::AttachPaymentProof(proof) => {
            [Some(proof.payment.paid_at), Some(proof.payment.expiry)]
        }
        _ => [None, None],
    }
}
