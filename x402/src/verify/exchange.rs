use concord_canonical::{Error, Word, interaction};
use concord_files::{Found, RegistrationId, ReputationInfo};
use http::HeaderMap;

use crate::wire::Offer;

/// What was announced, accepted, sent and received.
#[derive(Clone, Copy, Debug)]
pub struct PaidExchange<'a> {
    /// Path and query of the request, as they were sent (R33).
    pub target: &'a str,
    /// The request's body before any encoding; empty if there was none.
    pub request_body: &'a [u8],
    /// The response's body after decoding; empty for HEAD.
    pub response_body: &'a [u8],
    /// The response's headers.
    pub headers: &'a HeaderMap,
    /// The offer that was accepted.
    pub offer: &'a Offer,
    /// The payer's address on the payment chain.
    pub payer: &'a str,
    /// What the 402 answer announced.
    pub announced: &'a [Found<ReputationInfo>],
    /// The registration that was checked before the payment (P5 to P9): only this agent may sign.
    pub agent: &'a RegistrationId,
}

impl PaidExchange<'_> {
    /// The data hash of X402 §1.
    pub(super) fn data_hash(&self) -> Result<Word, Error> {
        // the method does not enter the hash (R33)
        let request = interaction::request_bytes("GET", self.target, self.request_body)?;
        interaction::data_hash(request, self.response_body)
    }
}
