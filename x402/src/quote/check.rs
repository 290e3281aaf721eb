use async_trait::async_trait;
use concord_canonical::caip::AccountId;
use concord_files::{Found, RegistrationFile, RegistrationId, ReputationInfo};
use http::HeaderMap;

use super::{
    FetchedFiles, KnownRegistries, Origin, SpendPolicy,
    refusal::{PreClass as Class, PreStep as Step, Refusal},
};
use crate::{
    account::{chain_of, claims, is_same_address, wallets_on},
    verify::{AgentRecord, FileError, RegistrationFiles, Registries},
    wire::{Offer, PAYMENT_REQUIRED, PaymentRequired, find},
};

/// What was asked for, and under which terms it may be bought.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The request's URL.
    pub url: &'a str,
    /// The headers of the 402 answer.
    pub headers: &'a HeaderMap,
    /// What it may cost.
    pub policy: &'a SpendPolicy,
    /// The registries that count.
    pub registries: &'a KnownRegistries,
    /// Whether an origin that is not bound to the agent is refused (P10).
    pub require_bound_origin: bool,
}

/// Reads the proof of an origin (R43).
#[async_trait]
pub trait OriginProofs: Send + Sync {
    /// The file at `/.well-known/agent-registration.json`.
    ///
    /// # Errors
    /// [`FileError`].
    async fn proof(&self, origin: &Origin) -> Result<RegistrationFile, FileError>;
}

#[async_trait]
impl OriginProofs for FetchedFiles {
    async fn proof(&self, origin: &Origin) -> Result<RegistrationFile, FileError> {
        Self::proof(self, origin).await
    }
}

/// What [`quote`] reads.
#[derive(Clone, Copy)]
pub struct QuoteReads<'a> {
    /// Identity registries.
    pub registries: &'a dyn Registries,
    /// Registration files.
    pub files: &'a dyn RegistrationFiles,
    /// Proofs of origins.
    pub origins: &'a dyn OriginProofs,
}

/// Who says that the offer's recipient is the agent's wallet (R27).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalletState {
    /// The chain.
    Verified,
    /// Only the agent's own file.
    Claimed,
}

/// An offer that passed every check. Nothing has been signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// The 402 answer.
    pub required: PaymentRequired,
    /// The offer to accept.
    pub offer: Offer,
    /// What was announced, for the checks after the payment.
    pub announced: Vec<Found<ReputationInfo>>,
    /// The agent's registration that was checked.
    pub registration: RegistrationId,
    /// What its registry says.
    pub record: AgentRecord,
    /// Who says that the recipient is its wallet.
    pub wallet: WalletState,
    /// Why the origin is not bound to the agent; `None` if it is.
    pub origin_unbound: Option<String>,
}

/// Checks a 402 answer: P1 to P10.
///
/// # Errors
/// The first check that fails. Nothing has been signed.
pub async fn quote(asked: &Asked<'_>, reads: QuoteReads<'_>) -> Result<Quote, Refusal> {
    let required = readable(asked)?;
    let origin = same_origin(asked, &required)?;
    let offer = acceptable(asked, &required)?;
    let announced = identity(&required)?;
    let registration = known(asked, &announced, &offer)?;
    let record = agent(&registration, reads).await?;
    let file = file(&record, reads).await?;
    claimed(&file, &registration)?;
    let wallet = payee(asked, &offer, (&registration, &record), &file, reads).await?;
    let unbound = unbound(&origin, &record, &registration, reads).await;
    let origin_unbound = match unbound {
        Ok(unbound) => unbound,
        // R36
        Err(why) if asked.require_bound_origin => {
            return Err(Refusal::cannot_check(Step::P10, why));
        }
        Err(why) => Some(why),
    };
    if let Some(why) = origin_unbound
        .as_ref()
        .filter(|_| asked.require_bound_origin)
    {
        return Err(Refusal::new(Step::P10, Class::OriginUnbound, why));
    }
    Ok(Quote {
        required,
        offer,
        announced,
        registration,
        record,
        wallet,
        origin_unbound,
    })
}

/// P1
fn readable(asked: &Asked<'_>) -> Result<PaymentRequired, Refusal> {
    let value = find(asked.headers, PAYMENT_REQUIRED);
    let read = value.and_then(|value| PaymentRequired::from_header(value.as_bytes()));
    let class = Class::PaymentRequiredMalformed;
    read.map_err(|error| Refusal::new(Step::P1, class, error.to_string()))
}

/// P2
fn same_origin(asked: &Asked<'_>, required: &PaymentRequired) -> Result<Origin, Refusal> {
    let refused = |detail: String| Refusal::new(Step::P2, Class::ResourceMismatch, detail);
    let asked_for = Origin::of(asked.url)
        .ok_or_else(|| refused("the request's URL has no origin, or has user info".to_owned()))?;
    let resource = required.resource.as_ref();
    let resource = resource.ok_or_else(|| refused("the offer names no resource".to_owned()))?;
    match Origin::of(&resource.url) {
        Some(offered) if offered == asked_for => Ok(asked_for),
        offered => {
            let offered = offered.map_or_else(|| "no origin".to_owned(), |it| it.host().to_owned());
            let asked = asked_for.host();
            Err(refused(format!(
                "the resource is at {offered}, {asked} was asked"
            )))
        }
    }
}

/// P3
fn acceptable(asked: &Asked<'_>, required: &PaymentRequired) -> Result<Offer, Refusal> {
    let mut reasons: Vec<_> = required
        .unreadable
        .iter()
        .map(ToString::to_string)
        .collect();
    for offer in &required.accepts {
        match asked.policy.objection(offer) {
            None => return Ok(offer.clone()),
            Some(reason) => reasons.push(reason),
        }
    }
    if reasons.is_empty() {
        reasons.push("there is no offer".to_owned());
    }
    let class = Class::NoAcceptableOffer;
    Err(Refusal::new(Step::P3, class, reasons.join("; ")))
}

/// P4
fn identity(required: &PaymentRequired) -> Result<Vec<Found<ReputationInfo>>, Refusal> {
    let refused = |class, detail: String| Refusal::new(Step::P4, class, detail);
    match required.reputation() {
        Err(error) => Err(refused(Class::IdentityMalformed, error.to_string())),
        Ok(found) if found.is_empty() => {
            let detail = "the offer has neither 8004-reputation nor reputation".to_owned();
            Err(refused(Class::IdentityMissing, detail))
        }
        Ok(found) => Ok(found),
    }
}

/// P5: R28. The registration on the payment chain counts, else the first on a known registry.
fn known(
    asked: &Asked<'_>,
    announced: &[Found<ReputationInfo>],
    offer: &Offer,
) -> Result<RegistrationId, Refusal> {
    let all = announced.iter().flat_map(|it| &it.view.registrations);
    let known: Vec<_> = all
        .filter(|it| asked.registries.has(&it.agent_registry))
        .collect();
    let is_there = |it: &&&RegistrationId| chain_of(it).as_ref() == Some(&offer.network);
    let found = known.iter().find(is_there).or(known.first());
    found.map(|it| (*it).clone()).ok_or_else(|| {
        let detail = "none of the announced registries is known (R28)";
        Refusal::new(Step::P5, Class::RegistryUnknown, detail)
    })
}

/// P6
pub(super) async fn agent(
    registration: &RegistrationId,
    reads: QuoteReads<'_>,
) -> Result<AgentRecord, Refusal> {
    let record = reads.registries.agent(registration, None).await;
    let record = record.map_err(|error| Refusal::cannot_check(Step::P6, error.0))?;
    record.ok_or_else(|| {
        let (id, registry) = (&registration.agent_id, &registration.agent_registry);
        let detail = format!("there is no agent {id} at {registry}");
        Refusal::new(Step::P6, Class::AgentNotFound, detail)
    })
}

/// P7
pub(super) async fn file(
    record: &AgentRecord,
    reads: QuoteReads<'_>,
) -> Result<RegistrationFile, Refusal> {
    let refused = |class, detail: String| Refusal::new(Step::P7, class, detail);
    if record.uri.is_empty() {
        let detail = "the agent has no URI".to_owned();
        return Err(refused(Class::RegistrationMalformed, detail));
    }
    let read = reads.files.registration(&record.uri, false).await;
    read.map_err(|error| match error {
        FileError::Unavailable(why) => Refusal::cannot_check(Step::P7, why),
        FileError::Mismatch(why) => refused(Class::ContentMismatch, why),
        FileError::Malformed(why) => refused(Class::RegistrationMalformed, why),
    })
}

/// P8
pub(super) fn claimed(
    file: &RegistrationFile,
    registration: &RegistrationId,
) -> Result<(), Refusal> {
    let RegistrationId {
        agent_registry,
        agent_id,
    } = registration;
    if claims(file, registration) {
        Ok(())
    } else {
        let detail = format!("the file does not list agent {agent_id} of {agent_registry}");
        Err(Refusal::new(
            Step::P8,
            Class::RegistrationNotClaimed,
            detail,
        ))
    }
}

/// P9: R27.
async fn payee(
    asked: &Asked<'_>,
    offer: &Offer,
    (registration, record): (&RegistrationId, &AgentRecord),
    file: &RegistrationFile,
    reads: QuoteReads<'_>,
) -> Result<WalletState, Refusal> {
    let refused = |class, detail: String| Refusal::new(Step::P9, class, detail);
    let wallets = wallets_on(file, &offer.network);
    let wallets = wallets.map_err(|error| refused(Class::WalletConflict, error.to_string()))?;
    let listed: Vec<_> = wallets.iter().map(AccountId::address).collect();
    let is_same = |a: &str, b: &str| is_same_address(&offer.network, a, b);
    let mut on_chain = None;
    if chain_of(registration).as_ref() == Some(&offer.network) {
        on_chain = Some(record.clone());
    } else if let Some(other) = registered_there(asked, offer, file) {
        // the 402 answer left out a registration that the file lists: it would hide the wallet that the chain has
        on_chain = Some(agent(&other, reads).await?);
    }
    let Some(record) = on_chain else {
        return match listed.iter().any(|it| is_same(it, &offer.pay_to)) {
            true => Ok(WalletState::Claimed),
            false if listed.is_empty() => {
                let detail = format!("the file names no wallet on {}", offer.network);
                Err(refused(Class::WalletUndeclared, detail))
            }
            false => Err(refused(
                Class::PayToMismatch,
                mismatch(offer, &listed.join(", ")),
            )),
        };
    };
    // the owner never substitutes for the wallet
    let wallet = record.wallet.ok_or_else(|| {
        let detail = "the agent has no wallet on the payment chain".to_owned();
        refused(Class::WalletUndeclared, detail)
    })?;
    if let Some(other) = listed.iter().find(|it| !is_same(it, &wallet)) {
        let detail = format!("the chain has the wallet {wallet}, the file {other}");
        return Err(refused(Class::WalletConflict, detail));
    }
    if is_same(&wallet, &offer.pay_to) {
        Ok(WalletState::Verified)
    } else {
        Err(refused(Class::PayToMismatch, mismatch(offer, &wallet)))
    }
}

fn mismatch(offer: &Offer, wallet: &str) -> String {
    format!(
        "the offer pays {}, the agent's wallet is {wallet}",
        offer.pay_to
    )
}

/// A registration on the payment chain that the file lists, on a known registry.
fn registered_there(
    asked: &Asked<'_>,
    offer: &Offer,
    file: &RegistrationFile,
) -> Option<RegistrationId> {
    let registrations = file.registrations.iter().filter_map(|entry| {
        Some(RegistrationId {
            agent_registry: entry.agent_registry.clone(),
            agent_id: entry.agent_id.clone()?,
        })
    });
    let is_known = |it: &RegistrationId| {
        chain_of(it).as_ref() == Some(&offer.network) && asked.registries.has(&it.agent_registry)
    };
    let mut registrations = registrations;
    registrations.find(is_known)
}

/// P10: R43. Why the origin is not bound to the agent; an error if that cannot be checked.
async fn unbound(
    origin: &Origin,
    record: &AgentRecord,
    registration: &RegistrationId,
    reads: QuoteReads<'_>,
) -> Result<Option<String>, String> {
    let host = origin.host();
    if !origin.is_https() {
        return Ok(Some(format!("{host} is not reached over HTTPS")));
    }
    if Origin::of(&record.uri).is_some_and(|it| it.is_https() && it.host() == host) {
        return Ok(None); // the agent's file is on that host
    }
    match reads.origins.proof(origin).await {
        Ok(proof) if claims(&proof, registration) => Ok(None),
        Ok(_) => Ok(Some(format!("the proof of {host} does not list the agent"))),
        Err(FileError::Unavailable(why)) => Err(format!("the proof of {host}: {why}")),
        Err(error) => Ok(Some(format!("{host} has no proof: {error}"))),
    }
}
