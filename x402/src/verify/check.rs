use concord_files::{
    Found, InteractionData, InteractionData as Data, RegistrationId, ReputationInfo,
};

use crate::account::{is_same_address, is_same_agent};

use super::{
    exchange::PaidExchange,
    payee,
    reads::{Payment, Reads, Unavailable},
    report::{Class, Report, State, Step, StepResult},
    signer,
};
use crate::wire::{PAYMENT_RESPONSE, Settlement, WireError, find};

/// What the chain says about the payment: `None` if there is no reference to look up.
pub(super) type PaymentRead = Option<Result<Option<Payment>, Unavailable>>;

/// Verifies a paid exchange: S1 to S11, all of them, whatever the others found.
///
/// `live` is the time in unix seconds if the exchange happened just now: then a signer must be valid now too,
/// give or take a minute (R30).
pub async fn verify(exchange: &PaidExchange<'_>, reads: Reads<'_>, live: Option<u64>) -> Report {
    let settlement = read_settlement(exchange);
    let mut steps = vec![readable(&settlement), settled(exchange, &settlement)];
    let found = interaction(exchange, settlement.as_ref().ok());
    steps.extend(present(&settlement, &found));
    let data = found.as_ref().ok().and_then(Option::as_ref);
    steps.push(announced(exchange, data));
    steps.push(task_ref(exchange, settlement.as_ref().ok(), data));
    steps.extend(hashes(exchange, data));
    let payment = read_payment(settlement.as_ref().ok(), reads).await;
    let network = &exchange.offer.network;
    steps.extend(signer::check(network, data, &payment, reads, live).await);
    steps.push(payee::check(exchange, data, &payment, reads).await);
    Report {
        steps,
        profile: data.map(|data| data.profile),
    }
}

fn read_settlement(exchange: &PaidExchange<'_>) -> Result<Settlement, WireError> {
    let value = find(exchange.headers, PAYMENT_RESPONSE)?;
    Settlement::from_header(value.as_bytes())
}

/// S1
fn readable(settlement: &Result<Settlement, WireError>) -> StepResult {
    match settlement {
        Ok(_) => StepResult::verified(Step::S1),
        Err(error) => StepResult::refuted(Step::S1, Class::SettlementMissing, error.to_string()),
    }
}

/// The result of a step that needs what an earlier one did not find.
pub(super) fn needs(step: Step, other: Step) -> StepResult {
    StepResult::cannot_check(step, format!("needs what {other} did not find"))
}

/// S2
fn settled(exchange: &PaidExchange<'_>, settlement: &Result<Settlement, WireError>) -> StepResult {
    const STEP: Step = Step::S2;
    let Ok(settlement) = settlement else {
        return needs(STEP, Step::S1);
    };
    if !settlement.success {
        let reason = settlement.error_reason.as_deref().unwrap_or("no reason");
        return StepResult::refuted(STEP, Class::SettlementFailed, reason);
    }
    let network = &exchange.offer.network;
    let class = Class::SettlementMismatch;
    let same = StepResult::equal(STEP, class, &settlement.network, network);
    let payer = match &settlement.payer {
        // S11 reads the payer from the chain
        None => StepResult::new(STEP, State::Verified, "the settlement names no payer"),
        Some(payer) if is_same_address(network, payer, exchange.payer) => {
            StepResult::verified(STEP)
        }
        Some(payer) => StepResult::equal(STEP, class, payer, exchange.payer),
    };
    same.and(payer)
}

/// The data under the first key that was announced, else under the first key: never both (R26).
fn interaction(
    exchange: &PaidExchange<'_>,
    settlement: Option<&Settlement>,
) -> Result<Option<Found<Data>>, WireError> {
    let Some(settlement) = settlement else {
        return Ok(None);
    };
    judged(settlement, exchange.announced)
}

/// Returns the data that is verified: under the first announced key, else under the first key (R26).
pub(crate) fn judged(
    settlement: &Settlement,
    announced: &[Found<ReputationInfo>],
) -> Result<Option<Found<Data>>, WireError> {
    let mut found = settlement.interactions()?;
    let is_announced =
        |data: &Found<Data>| announced.iter().any(|info| info.profile == data.profile);
    let index = found.iter().position(is_announced).unwrap_or(0);
    Ok((index < found.len()).then(|| found.swap_remove(index)))
}

/// S3 and S4
fn present(
    settlement: &Result<Settlement, WireError>,
    found: &Result<Option<Found<Data>>, WireError>,
) -> [StepResult; 2] {
    if settlement.is_err() {
        return [needs(Step::S3, Step::S1), needs(Step::S4, Step::S1)];
    }
    let is_there = StepResult::verified(Step::S3);
    match found {
        Ok(Some(_)) => [is_there, StepResult::verified(Step::S4)],
        Ok(None) => {
            let detail = "PAYMENT-RESPONSE has neither 8004-reputation nor reputation";
            let missing = StepResult::refuted(Step::S3, Class::NotSigned, detail);
            [missing, needs(Step::S4, Step::S3)]
        }
        Err(error) => {
            let class = Class::InteractionMalformed;
            [
                is_there,
                StepResult::refuted(Step::S4, class, error.to_string()),
            ]
        }
    }
}

/// S5: announced, and the agent that was checked before the payment. Nothing has been checked of the others, not even
/// whether their registries count (R28).
fn announced(exchange: &PaidExchange<'_>, data: Option<&Found<InteractionData>>) -> StepResult {
    const STEP: Step = Step::S5;
    let Some(data) = data else {
        return needs(STEP, Step::S4);
    };
    let agent = &data.view.agent;
    let mut announced = exchange.announced.iter();
    // R26: under the same key
    let is_announced = announced.any(|info| {
        let mut registrations = info.view.registrations.iter();
        info.profile == data.profile && registrations.any(|it| is_same_agent(it, agent))
    });
    if !is_announced {
        let (key, id) = (data.profile.extension_key(), &agent.agent_id);
        let registry = &agent.agent_registry;
        let detail = format!("agent {id} of {registry} was not announced under {key}");
        return StepResult::refuted(STEP, Class::IdentityChanged, detail);
    }
    signing_agent(exchange.agent, agent)
}

/// The agent that signs is the one that was checked before the payment.
pub(crate) fn signing_agent(checked: &RegistrationId, signing: &RegistrationId) -> StepResult {
    const STEP: Step = Step::S5;
    if is_same_agent(checked, signing) {
        return StepResult::verified(STEP);
    }
    let shown = |it: &RegistrationId| format!("agent {} of {}", it.agent_id, it.agent_registry);
    let detail = format!("{} signed, {} was checked", shown(signing), shown(checked));
    StepResult::refuted(STEP, Class::IdentityChanged, detail)
}

/// S6: R31, byte for byte.
fn task_ref(
    exchange: &PaidExchange<'_>,
    settlement: Option<&Settlement>,
    data: Option<&Found<InteractionData>>,
) -> StepResult {
    const STEP: Step = Step::S6;
    let (Some(settlement), Some(data)) = (settlement, data) else {
        return needs(STEP, Step::S4);
    };
    let class = Class::TaskRefMismatch;
    let stated = &data.view.signed.task_ref;
    let of_settlement = format!("{}:{}", settlement.network, settlement.transaction);
    let network = &exchange.offer.network;
    let is_there = stated.strip_prefix(&**network);
    let network = if is_there.is_some_and(|rest| rest.starts_with(':')) {
        StepResult::verified(STEP)
    } else {
        let detail = format!("found {stated}, expected a payment on {network}");
        StepResult::refuted(STEP, class, detail)
    };
    StepResult::equal(STEP, class, stated, &of_settlement).and(network)
}

/// S7 and S8
fn hashes(exchange: &PaidExchange<'_>, data: Option<&Found<InteractionData>>) -> [StepResult; 2] {
    let Some(Found { view, profile, .. }) = data else {
        return [needs(Step::S7, Step::S4), needs(Step::S8, Step::S4)];
    };
    let shown = |word: &[u8]| format!("0x{}", hex::encode(word));
    let data_hash = match exchange.data_hash() {
        Ok(hash) => {
            let (found, expected) = (shown(&view.signed.data_hash.0), shown(&hash));
            StepResult::equal(Step::S7, Class::DataMismatch, &found, &expected)
        }
        Err(error) => StepResult::cannot_check(Step::S7, error.to_string()),
    };
    let class = Class::InteractionHashMismatch;
    let interaction_hash = match view.signed.interaction_hash(*profile) {
        Ok(hash) => {
            let (found, expected) = (shown(&view.interaction_hash.0), shown(&hash));
            StepResult::equal(Step::S8, class, &found, &expected)
        }
        Err(error) => StepResult::refuted(Step::S8, class, error.to_string()),
    };
    [data_hash, interaction_hash]
}

async fn read_payment(settlement: Option<&Settlement>, reads: Reads<'_>) -> PaymentRead {
    let task_ref = settlement?.task_ref().ok()?;
    Some(reads.payments.payment(&task_ref).await)
}
