use super::{discriminators as d, readonly, signer, signer_writable, writable};
use crate::svm::{Program, programs::SYSTEM};
use solana_address::Address;
use solana_instruction::Instruction;

/// A request for validation (R20).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestValidation<'a> {
    /// Who is asked.
    pub validator: Address,
    /// Opaque; [`ValidationRequest::hash`](concord_canonical::validation::ValidationRequest::hash)
    /// computes the canonical one.
    pub request_hash: [u8; 32],
    /// Opaque (R14). Only Solana has it; zeros for none.
    pub tag: [u8; 32],
    /// At most 200 bytes (R17); in the event only.
    pub uri: &'a str,
}

/// A validator's response (R20).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RespondToValidation<'a> {
    /// The validator that the request names: whose account the request is.
    pub validator: Address,
    /// The request's whole hash.
    pub request_hash: [u8; 32],
    /// 0 to 100.
    pub score: u8,
    /// Opaque (R14).
    pub tag: [u8; 32],
    /// At most 200 bytes (R17); in the event only.
    pub evidence_uri: &'a str,
    /// Hash of the evidence file; opaque (R21).
    pub evidence_hash: [u8; 32],
}

impl Program {
    /// Asks a validator to validate the agent. `owner` signs and pays.
    pub fn request_validation(
        &self,
        owner: Address,
        mint: Address,
        request: &RequestValidation<'_>,
    ) -> Instruction {
        let (validator, hash) = (request.validator, request.request_hash);
        let accounts = [
            signer(owner),
            signer_writable(owner),
            readonly(self.agent(&mint)),
            readonly(mint),
            writable(self.validation_request(&mint, &validator, &hash)),
            readonly(SYSTEM),
        ];
        let arguments = (validator, hash, request.tag, request.uri);
        self.emitting(d::VALIDATION_REQUEST, &accounts, &arguments)
    }

    /// Responds to a request; again, if there is a response already. `caller` signs and pays for
    /// the first; the program refuses everyone but the validator.
    pub fn respond_to_validation(
        &self,
        caller: Address,
        mint: Address,
        response: &RespondToValidation<'_>,
    ) -> Instruction {
        let (validator, hash) = (response.validator, response.request_hash);
        let accounts = [
            signer(caller),
            signer_writable(caller),
            writable(self.agent(&mint)),
            readonly(mint),
            writable(self.validation_request(&mint, &validator, &hash)),
            writable(self.validation_response(&mint, &validator, &hash)),
            readonly(SYSTEM),
        ];
        let arguments = (
            hash,
            response.score,
            response.tag,
            response.evidence_uri,
            response.evidence_hash,
        );
        self.emitting(d::VALIDATION_RESPONSE, &accounts, &arguments)
    }
}
