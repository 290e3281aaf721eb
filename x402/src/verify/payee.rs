//! S11: the payment on chain, to the agent's own wallet (R27, R32).

use concord_canonical::caip::AccountId;
use concord_files::{Found, InteractionData};

use crate::account::{chain_of, is_same_address, wallets_on};

use super::{
    check::{PaymentRead, needs},
    exchange::PaidExchange,
    reads::{FileError, Payment, Reads, Transfer},
    report::{Class, State, Step, StepResult},
    signer::{read_agent, read_file, read_later},
};

const STEP: Step = Step::S11;

/// S11
pub(super) async fn check(
    exchange: &PaidExchange<'_>,
    data: Option<&Found<InteractionData>>,
    payment: &PaymentRead,
    reads: Reads<'_>,
) -> StepResult {
    let on_chain = match payment {
        None => return needs(STEP, Step::S1),
        Some(Err(error)) => return StepResult::cannot_check(STEP, error.0.clone()),
        Some(Ok(None)) => {
            let detail = "the chain has no such transaction";
            return StepResult::refuted(STEP, Class::PaymentNotFound, detail);
        }
        Some(Ok(Some(found))) => found,
    };
    let transfer = check_transfer(exchange, on_chain);
    if transfer.state != State::Verified {
        return transfer;
    }
    match data {
        None => needs(STEP, Step::S4),
        Some(data) => check_payee(exchange, data, payment, reads).await,
    }
}

/// R32: one of the transaction's transfers is the payment.
fn check_transfer(exchange: &PaidExchange<'_>, payment: &Payment) -> StepResult {
    let offer = exchange.offer;
    if !payment.succeeded {
        let detail = "the transaction failed";
        return StepResult::refuted(STEP, Class::PaymentNotFound, detail);
    }
    let is_same = |a: &str, b: &str| is_same_address(&offer.network, a, b);
    let is_payment = |it: &Transfer| {
        is_same(&it.asset, &offer.asset)
            && is_same(&it.from, exchange.payer)
            && is_same(&it.to, &offer.pay_to)
            && Some(it.amount) == offer.amount_word()
    };
    match payment.transfers.iter().any(is_payment) {
        true => StepResult::verified(STEP),
        false => {
            let (amount, asset, to) = (&offer.amount, &offer.asset, &offer.pay_to);
            let detail = format!(
                "none of {} transfers moves {amount} of {asset} from {} to {to}",
                payment.transfers.len(),
                exchange.payer
            );
            StepResult::refuted(STEP, Class::PaymentMismatch, detail)
        }
    }
}

/// R27: the wallet on chain if the agent is registered on the payment chain. A wallet that only the file
/// names is a claim.
async fn check_payee(
    exchange: &PaidExchange<'_>,
    data: &Found<InteractionData>,
    payment: &PaymentRead,
    reads: Reads<'_>,
) -> StepResult {
    let offer = exchange.offer;
    let record = match read_agent(exchange, data, payment, reads).await {
        Ok(Some(record)) => record,
        Ok(None) => return mismatch("the agent does not exist"),
        Err(error) => return StepResult::cannot_check(STEP, error.0),
    };
    if chain_of(&data.view.agent).as_ref() == Some(&offer.network) {
        return match &record.wallet {
            Some(wallet) if is_same_address(&offer.network, wallet, &offer.pay_to) => {
                let note = read_later(exchange, data, payment, &record);
                StepResult::new(STEP, State::Verified, note)
            }
            Some(wallet) => {
                let paid = &offer.pay_to;
                mismatch(&format!(
                    "{paid} was paid, but the agent's wallet is {wallet}"
                ))
            }
            None => mismatch("the agent has no wallet on chain"),
        };
    }
    let file = match read_file(&record, data, reads, false).await {
        Ok(Some(file)) => file,
        Ok(None) => return mismatch("the agent has no file that names a wallet on this chain"),
        Err(FileError::Malformed(why)) => return mismatch(&why),
        Err(FileError::Unavailable(why) | FileError::Mismatch(why)) => {
            return StepResult::cannot_check(STEP, why);
        }
    };
    let wallets = match wallets_on(&file, &offer.network) {
        Ok(wallets) => wallets,
        Err(error) => return mismatch(&error.to_string()),
    };
    let is_payee =
        |it: &AccountId<'_>| is_same_address(&offer.network, it.address(), &offer.pay_to);
    match wallets.iter().any(is_payee) {
        true => {
            let detail = "only the agent's own file names the wallet that was paid (R27)";
            StepResult::new(STEP, State::Claimed, detail)
        }
        false => {
            let (paid, network) = (&offer.pay_to, &offer.network);
            mismatch(&format!("the file lists no wallet {paid} on {network}"))
        }
    }
}

fn mismatch(detail: &str) -> StepResult {
    StepResult::refuted(STEP, Class::PaymentMismatch, detail)
}
