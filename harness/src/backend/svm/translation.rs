//! Native errors and inner instructions, in the model's terms.
use super::{
    Agents,
    addresses::{ED25519, TOKEN_2022, address, event_authority, program},
};
use crate::{
    backend::StepFault,
    model::{Bytes32, Event, PaddedTag, Profile},
};
use anchor_lang::{AnchorDeserialize, Discriminator, event::EVENT_IX_TAG_LE, prelude::Pubkey};
use concord_canonical::{ErrorClass, error_class::class_of_anchor_code};
use litesvm::types::TransactionMetadata;
use solana_address::Address;
use solana_transaction::{InstructionError, Message, TransactionError};

/// Anchor numbers a program's own errors from here on; below lie the frameworks' numbers.
const OWN_ERRORS: u32 = 6000;

/// Errors of the runtime's programs that a user can cause (R25): which program, its number, its
/// class. A number below [`OWN_ERRORS`] means what the failing top-level instruction's program
/// means by it.
const FRAMEWORK_ERRORS: &[(Address, u32, ErrorClass)] = &[
    (ED25519, 0, ErrorClass::AuthNotGranted), // InvalidPublicKey
    (ED25519, 2, ErrorClass::AuthNotGranted), // InvalidSignature: declared variance 1
    (ED25519, 3, ErrorClass::AuthMalformed),  // InvalidDataOffsets
    (ED25519, 4, ErrorClass::AuthMalformed),  // InvalidInstructionDataSize
    (TOKEN_2022, 1, ErrorClass::TransferNotAllowed), // InsufficientFunds: the token is elsewhere
    (TOKEN_2022, 4, ErrorClass::TransferNotAllowed), // OwnerMismatch: a stranger signs
];

/// The class of a failed transaction.
pub fn class_of(fault: &TransactionError, message: &Message) -> Result<ErrorClass, StepFault> {
    let unmapped = || StepFault::UnmappedError(format!("{fault:?}"));
    let TransactionError::InstructionError(at, InstructionError::Custom(code)) = fault else {
        return Err(unmapped());
    };
    if *code >= OWN_ERRORS {
        return class_of_anchor_code(*code).ok_or_else(unmapped);
    }
    let failing = message
        .instructions
        .get(usize::from(*at))
        .and_then(|instruction| {
            message
                .account_keys
                .get(usize::from(instruction.program_id_index))
        })
        .ok_or_else(unmapped)?;
    class_of_framework_error(failing, *code).ok_or_else(unmapped)
}

fn class_of_framework_error(program: &Address, code: u32) -> Option<ErrorClass> {
    FRAMEWORK_ERRORS
        .iter()
        .find(|(owner, number, _)| owner == program && *number == code)
        .map(|(_, _, class)| *class)
}

/// What the program reported by calling itself, in the order of the calls.
pub fn events(
    sent: &TransactionMetadata,
    message: &Message,
    agents: &Agents,
    start: u64,
) -> Result<Vec<Event>, StepFault> {
    let reader = EventReader { agents, start };
    sent.inner_instructions
        .iter()
        .flatten()
        .filter_map(|inner| event_data(&inner.instruction, message))
        .map(|data| reader.read(data))
        .collect()
}

/// The bytes behind the event tag, where this is the program's call of itself that only its event
/// authority can sign.
fn event_data<'a>(
    instruction: &'a solana_transaction::CompiledInstruction,
    message: &Message,
) -> Option<&'a [u8]> {
    let key = |at: u8| message.account_keys.get(usize::from(at));
    let is_ours = key(instruction.program_id_index) == Some(&program())
        && instruction.accounts.first().and_then(|at| key(*at)) == Some(&event_authority());
    instruction
        .data
        .strip_prefix(EVENT_IX_TAG_LE)
        .filter(|_| is_ours)
}

struct EventReader<'a> {
    agents: &'a Agents,
    start: u64,
}

impl EventReader<'_> {
    fn read(&self, data: &[u8]) -> Result<Event, StepFault> {
        if let Some(registered) = decode::<agent_registry::AgentRegistered>(data)? {
            return Ok(Event::AgentRegistered {
                agent: self.agent(registered.nft_mint),
                owner: self.actor(registered.owner),
                uri: registered.metadata_uri,
            });
        }
        // R4: the new owner starts without a wallet.
        if let Some(transferred) = decode::<agent_registry::AgentTransferred>(data)? {
            return Ok(Event::AgentWalletSet {
                agent: self.agent(transferred.nft_mint),
                wallet: None,
            });
        }
        if let Some(given) = decode::<agent_registry::FeedbackGiven>(data)? {
            return self.feedback(given);
        }
        if let Some(revoked) = decode::<agent_registry::FeedbackRevoked>(data)? {
            return Ok(Event::FeedbackRevoked {
                profile: Profile::Authorized,
                agent: self.agent(revoked.nft_mint),
                client: self.actor(revoked.reviewer),
                index: revoked.feedback_index,
            });
        }
        Err(unexplained(data))
    }

    fn feedback(&self, given: agent_registry::FeedbackGiven) -> Result<Event, StepFault> {
        let time = seconds_after_start(given.timestamp, self.start)
            .ok_or_else(|| StepFault::UnexplainedEvent(format!("timestamp {}", given.timestamp)))?;
        Ok(Event::AuthorizedFeedback {
            agent: self.agent(given.nft_mint),
            client: self.actor(given.reviewer),
            index: given.feedback_index,
            score: given.score,
            tag1: PaddedTag(given.tag1),
            tag2: PaddedTag(given.tag2),
            uri: given.detail_uri,
            hash: Bytes32(given.detail_hash),
            time,
        })
    }

    fn agent(&self, mint: Pubkey) -> crate::model::Agent {
        self.agents.agent(address(mint))
    }

    fn actor(&self, key: Pubkey) -> crate::model::Actor {
        self.agents.actor(address(key))
    }
}

/// The event, where `data` begins with its discriminator; every byte must belong to it.
fn decode<E: AnchorDeserialize + Discriminator>(data: &[u8]) -> Result<Option<E>, StepFault> {
    data.strip_prefix(E::DISCRIMINATOR)
        .map(|fields| E::try_from_slice(fields).map_err(|_| unexplained(data)))
        .transpose()
}

fn unexplained(data: &[u8]) -> StepFault {
    StepFault::UnexplainedEvent(format!("event data 0x{}", hex::encode(data)))
}

/// None before the start, or where the clock is negative.
pub fn seconds_after_start(timestamp: i64, start: u64) -> Option<u64> {
    u64::try_from(timestamp).ok()?.checked_sub(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framework_errors_are_read_by_the_failing_program() {
        let class = |program, code| class_of_framework_error(&program, code);
        assert_eq!(class(ED25519, 2), Some(ErrorClass::AuthNotGranted));
        assert_eq!(class(TOKEN_2022, 4), Some(ErrorClass::TransferNotAllowed));
        assert_eq!(class(ED25519, 1), None);
        assert_eq!(class(program(), 2), None);
    }

    #[test]
    fn an_error_without_a_class_is_a_fault() {
        // R25
        let message = Message::default();
        for fault in [
            TransactionError::AccountNotFound,
            TransactionError::InstructionError(0, InstructionError::InvalidAccountData),
            TransactionError::InstructionError(0, InstructionError::Custom(3012)),
            TransactionError::InstructionError(0, InstructionError::Custom(6999)),
        ] {
            assert!(
                matches!(class_of(&fault, &message), Err(StepFault::UnmappedError(_))),
                "{fault:?}"
            );
        }
    }
}
