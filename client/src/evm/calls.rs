//! The contract and the input of each operation.

use alloy::primitives::{Address, Bytes, U256};
use concord_canonical::{tag::Tag, word};
use concord_registry::evm::calls;

use super::EvmRegistries;
use crate::{
    ClientError, Feedback, Kind, Operation, Rating, Registration, Response, ValidationAnswer,
    ValidationRequest, WalletSetting,
    operation::{bytes_of, malformed},
};

impl EvmRegistries {
    /// The contract that takes the operation, and its input.
    ///
    /// # Errors
    /// [`ClientError`] if a field breaks its form, or the registry is not configured.
    pub fn call(&self, operation: &Operation) -> Result<(Address, Bytes), ClientError> {
        let identity = self.addresses.identity;
        Ok(match operation {
            Operation::Register(it) => (identity, register(it)),
            Operation::SetWallet(it) => (identity, set_wallet(it)?),
            Operation::Give(it) => self.give(it)?,
            Operation::Revoke(it) => {
                let agent_id = agent_id(&it.agent)?;
                let to = self.reputation(it.kind)?;
                (to, calls::revoke_feedback(agent_id, it.index))
            }
            Operation::Respond(it) => (self.reputation(it.kind)?, respond(it)?),
            Operation::RequestValidation(it) => (self.validation()?, request(it)?),
            Operation::AnswerValidation(it) => (self.validation()?, answer(it)),
        })
    }

    fn give(&self, feedback: &Feedback) -> Result<(Address, Bytes), ClientError> {
        let to = self.reputation(feedback.rating.kind())?;
        let agent_id = agent_id(&feedback.agent)?;
        let Feedback {
            tag1, tag2, uri, ..
        } = feedback;
        let input = match &feedback.rating {
            Rating::Open {
                value,
                decimals,
                endpoint,
            } => calls::give_open_feedback(&calls::GiveOpenFeedback {
                agent_id,
                value: (value.parse()).map_err(|_| malformed("value", value, "an int128"))?,
                decimals: *decimals,
                tag1,
                tag2,
                endpoint,
                uri,
                hash: feedback.hash,
            }),
            Rating::Authorized { score, auth } => calls::give_feedback(&calls::GiveFeedback {
                agent_id,
                score: *score,
                tag1: Tag::new(tag1)?.padded(), // R14
                tag2: Tag::new(tag2)?.padded(),
                uri,
                hash: feedback.hash,
                authorization: &bytes_of("authorization", &auth.authorization)?,
            }),
        };
        Ok((to, input))
    }

    /// The contract of a kind of feedback.
    pub(super) fn reputation(&self, kind: Kind) -> Result<Address, ClientError> {
        let (address, name) = match kind {
            Kind::Open => (self.addresses.open_reputation, "open"),
            Kind::Authorized => (self.addresses.authorized_reputation, "authorized"),
        };
        let missing = format!("no {name} reputation registry is configured");
        address.ok_or_else(|| self.refused(missing))
    }

    pub(super) fn validation(&self) -> Result<Address, ClientError> {
        let address = self.addresses.validation;
        address.ok_or_else(|| self.refused("no validation registry is configured"))
    }
}

/// Reads an agent's id.
pub(super) fn agent_id(text: &str) -> Result<U256, ClientError> {
    // what the event is read back by: U256's own parser takes more forms
    let id = word::parse_decimal("agent", text).map(U256::from_be_bytes);
    id.map_err(|_| malformed("agent", text, "a decimal uint256 without leading zeros"))
}

/// Reads an address.
pub(super) fn address(field: &'static str, text: &str) -> Result<Address, ClientError> {
    let address = text.starts_with("0x").then(|| text.parse().ok()).flatten();
    address.ok_or_else(|| malformed(field, text, "0x and 40 hexadecimal digits"))
}

fn register(registration: &Registration) -> Bytes {
    let metadata: Vec<(&str, &[u8])> = (registration.metadata.iter())
        .map(|(key, value)| (&**key, value.as_bytes()))
        .collect();
    calls::register(&registration.uri, &metadata)
}

fn set_wallet(setting: &WalletSetting) -> Result<Bytes, ClientError> {
    let expected = "the wallet's signature (R3)";
    let consent = setting.consent.as_ref();
    let consent = consent.ok_or_else(|| malformed("consent", "none", expected))?;
    let signature = bytes_of("consent.signature", &consent.signature)?;
    let wallet = address("wallet", &setting.wallet)?;
    let agent_id = agent_id(&setting.agent)?;
    let deadline = consent.deadline;
    Ok(calls::set_agent_wallet(
        agent_id, wallet, deadline, &signature,
    ))
}

fn respond(response: &Response) -> Result<Bytes, ClientError> {
    Ok(calls::append_response(&calls::AppendResponse {
        agent_id: agent_id(&response.agent)?,
        client: address("client", &response.client)?,
        index: response.index,
        uri: &response.uri,
        hash: response.hash,
    }))
}

fn request(request: &ValidationRequest) -> Result<Bytes, ClientError> {
    if !request.tag.is_empty() {
        return Err(malformed(
            "tag",
            &request.tag,
            "none: EVM requests have none",
        ));
    }
    let validator = address("validator", &request.validator)?;
    let agent_id = agent_id(&request.agent)?;
    Ok(calls::request_validation(
        agent_id,
        validator,
        &request.uri,
        request.request,
    ))
}

fn answer(answer: &ValidationAnswer) -> Bytes {
    calls::respond_to_validation(&calls::RespondToValidation {
        request_hash: answer.request,
        score: answer.score,
        uri: &answer.uri,
        hash: answer.hash,
        tag: &answer.tag,
    })
}
