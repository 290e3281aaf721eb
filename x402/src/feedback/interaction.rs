//! What a purchase's evidence proves.

use concord_canonical::{
    caip::{ChainId, EIP155},
    limits::ENDPOINT_MAX,
};
use concord_files::{
    Found, InteractionData, RegistrationId, ReputationInfo, X402Profile, published_endpoint,
};

use super::FeedbackError;
use crate::{
    account::is_same_address,
    grants::{FeedbackGrant, GrantMalformed},
    pay::{Evidence, PurchaseState},
    verify::{State, Step, judged, signing_agent},
    wire::{Offer, PAYMENT_RESPONSE, PaymentRequired, Settlement},
};

/// A paid interaction that was verified.
#[derive(Clone, Debug)]
pub struct Interaction {
    /// The purchase's id.
    pub id: String,
    /// The profile under which the agent signed.
    pub profile: X402Profile,
    /// What the agent signed.
    pub data: InteractionData,
    /// The agent's registration that was checked before the payment (P6 to P8), and that signed (S5).
    pub verified: RegistrationId,
    /// The agent's registrations, as the offer announced them: others than the verified one are the seller's word only.
    pub announced: Vec<RegistrationId>,
    /// The payment chain, CAIP-2.
    pub network: String,
    /// The payer's address: the reviewer (R38).
    pub payer: String,
    /// The offer that was paid.
    pub offer: Offer,
    /// The service, as files publish it (R39); `None` if that is longer than the registries take (R17).
    pub endpoint: Option<String>,
    /// The feedback grant of the response, if there is one (R41). The agent does not sign it, and only authorized feedback
    /// needs it: a malformed one does not hinder open feedback.
    pub grant: Result<Option<FeedbackGrant>, GrantMalformed>,
}

impl Interaction {
    /// Reads a purchase. Each of S1 to S11 must be verified or claimed: "cannot check" is not a success (R36).
    ///
    /// # Errors
    /// [`FeedbackError`].
    pub fn of(evidence: &Evidence) -> Result<Self, FeedbackError> {
        let id = &evidence.id;
        let answer = evidence.answer.as_ref();
        let answer = answer.filter(|_| evidence.state == PurchaseState::Verified);
        let answer = answer.ok_or_else(|| FeedbackError::NotAnswered(id.clone()))?;
        require_verified(evidence)?;
        let malformed = |reason: &str| FeedbackError::Evidence {
            id: id.clone(),
            reason: reason.to_owned(),
        };
        let is_settlement =
            |(name, _): &&(String, String)| name.eq_ignore_ascii_case(PAYMENT_RESPONSE);
        let header = answer.headers.iter().find(is_settlement);
        let (_, header) = header.ok_or_else(|| malformed("it has no PAYMENT-RESPONSE"))?;
        let settlement = Settlement::from_header(header.as_bytes())?;
        let required = PaymentRequired::parse(evidence.quote.payment_required.get())?;
        let announced = required.reputation()?;
        // R26: the data that S4 to S10 verified, not other data that the server put under the other key
        let found = judged(&settlement, &announced)?;
        let Found { profile, view, .. } = found.ok_or_else(|| malformed("nothing is signed"))?;
        let is_accepted = |it: &&Offer| it.original().as_str() == evidence.quote.offer.get();
        let offer = required.accepts.iter().find(is_accepted).cloned();
        let verified = evidence.quote.registration()?;
        require_signed_by(id, &verified, &view)?;
        Ok(Self {
            id: id.clone(),
            profile,
            data: view,
            verified,
            announced: registrations(&announced),
            network: evidence.authorization.network(),
            payer: evidence.authorization.payer(),
            offer: offer.ok_or_else(|| malformed("the offer is not one of the 402 message"))?,
            endpoint: endpoint(&evidence.request.url),
            grant: FeedbackGrant::of(&settlement),
        })
    }

    /// The payer's account, CAIP-10.
    #[must_use]
    pub fn reviewer(&self) -> String {
        format!("{}:{}", self.network, self.payer)
    }

    /// The agent's registration on a registry, CAIP-10, as the offer announced it.
    pub(super) fn registration_at(&self, registry: &str) -> Result<&RegistrationId, FeedbackError> {
        let is_there = |it: &&RegistrationId| is_same_registry(&it.agent_registry, registry);
        let found = self.announced.iter().find(is_there);
        found.ok_or_else(|| {
            let announced = self.announced.iter().map(|it| &*it.agent_registry);
            FeedbackError::NotAnnounced {
                registry: registry.to_owned(),
                announced: announced.collect::<Vec<_>>().join(", "),
            }
        })
    }

    /// Whether an account, CAIP-10, is the payer's.
    pub(super) fn is_reviewer(&self, account: &str) -> bool {
        let prefix = format!("{}:", self.network);
        let address = account.strip_prefix(&prefix);
        address.is_some_and(|it| is_same_address(&self.network, it, &self.payer))
    }

    /// The EVM number of the payment chain.
    pub(super) fn evm_number(&self) -> Option<u64> {
        let chain = ChainId::parse(&self.network).ok();
        let chain = chain.filter(|it| it.namespace() == EIP155);
        chain.and_then(|it| it.reference().parse().ok())
    }
}

/// The one reading of two CAIP-10 ids of registries.
pub(super) fn is_same_registry(a: &str, b: &str) -> bool {
    if a.starts_with(EIP155) && b.starts_with(EIP155) {
        a.eq_ignore_ascii_case(b)
    } else {
        a == b
    }
}

/// R17, R39. A part of an endpoint would be another one.
fn endpoint(url: &str) -> Option<String> {
    let published = published_endpoint(url);
    (published.len() <= ENDPOINT_MAX).then(|| published.into_owned())
}

/// S5 again: evidence from before this rule says that it holds for any announced agent.
fn require_signed_by(
    id: &str,
    verified: &RegistrationId,
    data: &InteractionData,
) -> Result<(), FeedbackError> {
    let found = signing_agent(verified, &data.agent);
    match found.state {
        State::Verified => Ok(()),
        state => Err(FeedbackError::NotVerified {
            id: id.to_owned(),
            step: found.step,
            state,
            detail: found.detail,
        }),
    }
}

fn registrations(announced: &[Found<ReputationInfo>]) -> Vec<RegistrationId> {
    let mut all: Vec<RegistrationId> = Vec::new();
    for entry in announced.iter().flat_map(|it| &it.view.registrations) {
        if !all.contains(entry) {
            all.push(entry.clone());
        }
    }
    all
}

/// R36: a rating rests on every step.
fn require_verified(evidence: &Evidence) -> Result<(), FeedbackError> {
    let id = &evidence.id;
    let missing = || FeedbackError::NotAnswered(id.clone());
    let report = evidence.report.as_ref().ok_or_else(missing)?;
    let steps: Vec<serde_json::Value> =
        serde_json::from_str(report.get()).map_err(|error| FeedbackError::Evidence {
            id: id.clone(),
            reason: format!("its report: {error}"),
        })?;
    for step in Step::ALL {
        let name = step.to_string();
        let entry = steps.iter().find(|it| it["step"] == *name);
        let text = |key: &str| entry.and_then(|it| it[key].as_str()).unwrap_or_default();
        let state = match text("state") {
            "verified" | "claimed" => continue,
            "refuted" => State::Refuted,
            _ => State::CannotCheck,
        };
        let detail = [text("class"), text("detail")].join(" ").trim().to_owned();
        let id = id.clone();
        return Err(FeedbackError::NotVerified {
            id,
            step,
            state,
            detail,
        });
    }
    Ok(())
}
