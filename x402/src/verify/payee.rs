//! S11: the payment on chain, to the agent's own wallet (R27, R32).

use concord_canonical::Word;
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
    if payment.transfers.iter().any(is_payment) {
        StepResult::verified(STEP)
    } else {
        let (amount, asset, to) = (&offer.amount, &offer.asset, &offer.pay_to);
        let detail = format!(
            "none of {} transfers moves {amount} of {asset} from {} to {to}",
            payment.transfers.len(),
            exchange.payer
        );
        StepResult::refuted(STEP, Class::PaymentMismatch, detail)
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
    let network = &exchange.offer.network;
    match payees(network, data, payment, reads).await {
        Ok(payees) => payees.check(network, &[&exchange.offer.pay_to]),
        Err(result) => result,
    }
}

/// S11 without an offer: the reviewer moved some amount of some token to the agent.
pub(super) async fn check_paid_by(
    payer: &str,
    network: &str,
    data: &Found<InteractionData>,
    payment: &PaymentRead,
    reads: Reads<'_>,
) -> StepResult {
    let on_chain = match payment {
        None => return needs(STEP, Step::S6),
        Some(Err(error)) => return StepResult::cannot_check(STEP, error.0.clone()),
        Some(Ok(None)) => {
            let detail = "the chain has no such transaction";
            return StepResult::refuted(STEP, Class::PaymentNotFound, detail);
        }
        Some(Ok(Some(found))) => found,
    };
    if !on_chain.succeeded {
        return StepResult::refuted(STEP, Class::PaymentNotFound, "the transaction failed");
    }
    let is_own =
        |it: &&Transfer| is_same_address(network, &it.from, payer) && it.amount != Word::default();
    let own = on_chain.transfers.iter().filter(is_own);
    let paid: Vec<&str> = own.map(|it| &*it.to).collect();
    if paid.is_empty() {
        let count = on_chain.transfers.len();
        return mismatch(&format!("none of {count} transfers is from {payer}"));
    }
    match payees(network, data, payment, reads).await {
        Ok(payees) => payees.check(network, &paid),
        Err(result) => result,
    }
}

/// The agent's addresses on the payment chain.
enum Payees {
    /// The wallet on chain, and when it was read if that was later.
    Wallet { address: String, note: String },
    /// What only the agent's own file names.
    Claimed(Vec<String>),
}

impl Payees {
    /// Whether one of these was paid.
    fn check(&self, network: &str, paid: &[&str]) -> StepResult {
        let is_paid = |own: &str| paid.iter().any(|it| is_same_address(network, own, it));
        let shown = paid.join(", ");
        match self {
            Self::Wallet { address, note } if is_paid(address) => {
                StepResult::new(STEP, State::Verified, note)
            }
            Self::Wallet { address, .. } => mismatch(&format!(
                "{shown} was paid, but the agent's wallet is {address}"
            )),
            Self::Claimed(wallets) if wallets.iter().any(|it| is_paid(it)) => {
                let detail = "only the agent's own file names the wallet that was paid (R27)";
                StepResult::new(STEP, State::Claimed, detail)
            }
            Self::Claimed(_) => mismatch(&format!("the file lists no wallet {shown} on {network}")),
        }
    }
}

async fn payees(
    network: &str,
    data: &Found<InteractionData>,
    payment: &PaymentRead,
    reads: Reads<'_>,
) -> Result<Payees, StepResult> {
    let agent = &data.view.agent;
    let record = match read_agent(network, agent, payment, reads).await {
        Ok(Some(record)) => record,
        Ok(None) => return Err(mismatch("the agent does not exist")),
        Err(error) => return Err(StepResult::cannot_check(STEP, error.0)),
    };
    if chain_of(agent).as_deref() == Some(network) {
        let note = read_later(network, agent, payment, &record);
        let wallet = record
            .wallet
            .map(|address| Payees::Wallet { address, note });
        return wallet.ok_or_else(|| mismatch("the agent has no wallet on chain"));
    }
    let file = match read_file(&record, agent, reads, false).await {
        Ok(Some(file)) => file,
        Ok(None) => {
            let detail = "the agent has no file that names a wallet on this chain";
            return Err(mismatch(detail));
        }
        Err(FileError::Malformed(why)) => return Err(mismatch(&why)),
        Err(FileError::Unavailable(why) | FileError::Mismatch(why)) => {
            return Err(StepResult::cannot_check(STEP, why));
        }
    };
    let wallets = wallets_on(&file, network).map_err(|error| mismatch(&error.to_string()))?;
    let wallets = wallets.iter().map(|it| it.address().to_owned());
    Ok(Payees::Claimed(wallets.collect()))
}

fn mismatch(detail: &str) -> StepResult {
    StepResult::refuted(STEP, Class::PaymentMismatch, detail)
}
