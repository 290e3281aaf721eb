//! S9 to S11 for a third party, which has what agent and reviewer signed, and not the exchange.

use concord_canonical::caip::TaskRef;
use concord_files::{Found, InteractionData};

use super::{
    check::needs,
    payee,
    reads::{Payment, Reads, Unavailable},
    report::{Step, StepResult},
    signer,
};

/// Checks a submission to an aggregator: that the signer was the agent's when the payment settled, its
/// signature, and that `payer` paid the agent. `payment` is what the chain says about the task reference.
pub async fn verify_submission(
    data: &Found<InteractionData>,
    payer: &str,
    payment: Result<Option<Payment>, Unavailable>,
    reads: Reads<'_>,
) -> [StepResult; 3] {
    let Ok(task_ref) = TaskRef::parse(&data.view.signed.task_ref) else {
        return [Step::S9, Step::S10, Step::S11].map(|step| needs(step, Step::S6));
    };
    let network = task_ref.chain_id().to_string(); // R31
    let payment = Some(payment);
    let [known, signed] = signer::check(&network, Some(data), &payment, reads, None).await;
    let paid = payee::check_paid_by(payer, &network, data, &payment, reads).await;
    [known, signed, paid]
}
