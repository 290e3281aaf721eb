use concord_canonical::{Error as CanonicalError, caip::AccountId};
use concord_files::{AgentId, RegistrationId};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    Authorization, AuthorizationState, Money, PayFault, Request, Response, folder::EvidenceFolder,
};
use crate::{
    quote::{Quote, WalletState},
    wire::{Offer, PaymentRequired},
};

/// Headers that are secrets of a session. Evidence has only their names.
const WITHHELD: [HeaderName; 4] = [
    http::header::AUTHORIZATION,
    http::header::PROXY_AUTHORIZATION,
    http::header::COOKIE,
    http::header::SET_COOKIE,
];

/// The form of evidence that this crate writes.
pub(super) const VERSION: u32 = 1;

/// How far a purchase has come. Each state is on disk before the next step begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PurchaseState {
    /// Checked, and nothing has been signed.
    Quoted,
    /// Signed, and nothing has been sent.
    Signed,
    /// The signed bytes may have left the process.
    Sent,
    /// The server has answered.
    Answered,
    /// The answer has been verified, whatever was found.
    Verified,
}

/// Everything about one purchase. Nothing in it is secret, except what the request's URL and body may have.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Evidence {
    /// The form of the file.
    pub version: u32,
    /// The purchase's id.
    pub id: String,
    /// How far it has come.
    pub state: PurchaseState,
    /// What was asked for.
    pub request: RecordedRequest,
    /// What was offered and checked.
    pub quote: RecordedQuote,
    /// The only authorization of the purchase: if it is signed again, it is the same one.
    pub authorization: Authorization,
    /// The payment chain's latest block or slot before the signature.
    pub since_block: u64,
    /// The value of `PAYMENT-SIGNATURE`.
    pub payment: Option<String>,
    /// What the server answered.
    pub answer: Option<RecordedAnswer>,
    /// Whether money moved, as it was last seen.
    pub money: Option<Money>,
    /// Steps S1 to S11.
    pub report: Option<Box<RawValue>>,
}

/// A request.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordedRequest {
    /// Its method.
    pub method: String,
    /// Its URL.
    pub url: String,
    /// Its headers.
    pub headers: Vec<(String, String)>,
    /// Names of headers whose values are secret.
    pub withheld: Vec<String>,
    /// Its body.
    pub body: RecordedBody,
}

/// What was offered and checked.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordedQuote {
    /// When, in unix seconds.
    pub at: u64,
    /// The 402 message.
    pub payment_required: Box<RawValue>,
    /// The offer that is accepted.
    pub offer: Box<RawValue>,
    /// The registry of the agent that was checked, CAIP-10.
    pub agent_registry: String,
    /// Its id there.
    pub agent_id: String,
    /// Whether the chain names the wallet, or only the agent's own file (R27).
    pub is_wallet_verified: bool,
    /// Why the origin is not bound to the agent (P10).
    pub origin_unbound: Option<String>,
}

/// An answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordedAnswer {
    /// When it was complete, in unix seconds.
    pub at: u64,
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: Vec<(String, String)>,
    /// Names of headers whose values are secret.
    pub withheld: Vec<String>,
    /// Its body.
    pub body: RecordedBody,
    /// Whether all of the body arrived.
    pub is_complete: bool,
}

/// A body, in a file beside the evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordedBody {
    /// Its bytes.
    pub length: u64,
    /// SHA-256, hex with `0x`.
    pub sha256: String,
    /// The file's name; `None` for an empty body.
    pub file: Option<String>,
}

impl RecordedRequest {
    pub(super) fn of(request: &Request, body: RecordedBody) -> Self {
        let (headers, withheld) = recorded(&request.headers);
        Self {
            method: request.method.to_string(),
            url: request.url.to_string(),
            headers,
            withheld,
            body,
        }
    }

    /// The same request again, without the headers that were withheld.
    pub(super) fn restore(&self, body: Vec<u8>) -> Result<Request, PayFault> {
        let method = Method::from_bytes(self.method.as_bytes()).unwrap_or_default();
        Ok(Request::new(
            method,
            &self.url,
            restored(&self.headers),
            body,
        )?)
    }

    /// Adds the headers that were withheld.
    pub(super) fn add_withheld(
        &self,
        request: &mut Request,
        secrets: &HeaderMap,
    ) -> Result<(), PayFault> {
        for name in &self.withheld {
            let missing = || PayFault::HeaderWithheld(name.clone());
            let key = HeaderName::try_from(name).map_err(|_| missing())?;
            secrets.get(&key).ok_or_else(missing)?;
            for value in secrets.get_all(&key) {
                request.headers.append(key.clone(), value.clone());
            }
        }
        Ok(())
    }
}

impl RecordedQuote {
    pub(super) fn of(quote: &Quote, at: u64) -> Result<Self, serde_json::Error> {
        let RegistrationId {
            agent_registry,
            agent_id,
        } = &quote.registration;
        let raw = |text: &str| RawValue::from_string(text.to_owned());
        Ok(Self {
            at,
            payment_required: raw(quote.required.original().as_str())?,
            offer: raw(quote.offer.original().as_str())?,
            agent_registry: agent_registry.clone(),
            agent_id: agent_id.to_string(),
            is_wallet_verified: quote.wallet == WalletState::Verified,
            origin_unbound: quote.origin_unbound.clone(),
        })
    }

    /// The agent's registration that was checked.
    pub(crate) fn registration(&self) -> Result<RegistrationId, CanonicalError> {
        let registry = AccountId::parse(&self.agent_registry)?;
        Ok(RegistrationId {
            agent_id: AgentId::parse(&registry, &self.agent_id)?,
            agent_registry: self.agent_registry.clone(),
        })
    }

    /// The 402 message and the offer in it.
    pub(super) fn restore(&self) -> Option<(PaymentRequired, Offer)> {
        let required = PaymentRequired::parse(self.payment_required.get()).ok()?;
        let is_accepted = |it: &&Offer| it.original().as_str() == self.offer.get();
        let offer = required.accepts.iter().find(is_accepted)?.clone();
        Some((required, offer))
    }
}

impl RecordedAnswer {
    pub(super) fn of(response: &Response, body: RecordedBody, at: u64) -> Self {
        let (headers, withheld) = recorded(&response.headers);
        Self {
            at,
            status: response.status.as_u16(),
            headers,
            withheld,
            body,
            is_complete: response.is_complete,
        }
    }

    pub(super) fn restore(&self, body: Vec<u8>) -> Response {
        Response {
            status: StatusCode::from_u16(self.status).unwrap_or_default(),
            headers: restored(&self.headers),
            body: body.into(),
            is_complete: self.is_complete,
        }
    }
}

impl Evidence {
    /// The error for evidence that does not fit together.
    pub(super) fn malformed(&self, reason: impl Into<String>) -> PayFault {
        PayFault::EvidenceMalformed {
            id: self.id.clone(),
            reason: reason.into(),
        }
    }

    /// The answer, if there is one.
    pub(super) fn response(&self, folder: &EvidenceFolder) -> Result<Option<Response>, PayFault> {
        let Some(answer) = &self.answer else {
            return Ok(None);
        };
        let body = folder.body(self, &answer.body)?;
        Ok(Some(answer.restore(body)))
    }

    /// Whether money moved, before the chain is asked.
    pub(super) fn money_unasked(&self) -> Money {
        let seen = self.money.clone();
        seen.unwrap_or_else(|| self.money_unsettled())
    }

    /// Whether money moved, as the chain says. A payment that was seen stays seen by one look that does not find it (R36,
    /// X402-66).
    pub(super) fn money_in(&self, state: &AuthorizationState) -> Money {
        use AuthorizationState::{Expired, Unused, Used};
        match (state, &self.money) {
            (
                Unused | Expired | Used { transaction: None },
                Some(settled @ Money::Settled { .. }),
            ) => settled.clone(),
            (Used { transaction }, _) => Money::Settled {
                transaction: transaction.clone(),
            },
            _ if self.payment.is_none() => Money::NotSent,
            (Unused, _) => self.money_unsettled(),
            _ => Money::Void,
        }
    }

    /// Whether money may still move later: anyone who has the signed bytes can submit them.
    pub(super) fn money_unsettled(&self) -> Money {
        match &self.payment {
            Some(payment) if self.state >= PurchaseState::Sent => Money::Unknown {
                payment: payment.clone(),
                deadline: self.authorization.deadline(),
            },
            _ => Money::NotSent,
        }
    }
}

/// Headers in order, and the names of those that are secret.
fn recorded(headers: &HeaderMap) -> (Vec<(String, String)>, Vec<String>) {
    let is_secret =
        |name: &HeaderName, value: &HeaderValue| value.is_sensitive() || WITHHELD.contains(name);
    let (mut kept, mut withheld) = (Vec::new(), Vec::new());
    for (name, value) in headers {
        let name_text = name.to_string();
        if !is_secret(name, value) {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            kept.push((name_text, value));
        } else if !withheld.contains(&name_text) {
            withheld.push(name_text);
        }
    }
    (kept, withheld)
}

fn restored(headers: &[(String, String)]) -> HeaderMap {
    let pairs = headers.iter().filter_map(|(name, value)| {
        let name = HeaderName::try_from(name).ok()?;
        Some((name, HeaderValue::try_from(value).ok()?))
    });
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(name, value);
    }
    headers
}
