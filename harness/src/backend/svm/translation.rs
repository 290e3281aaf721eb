//! Native errors and inner instructions, in the model's terms.
use super::{
    Agents,
    addresses::{ED25519, SYSTEM, TOKEN_2022, address, event_authority, program},
};
use crate::{
    backend::StepFault,
    model::{Bytes32, Event},
};
use anchor_lang::{AnchorDeserialize, Discriminator, event::EVENT_IX_TAG_LE, prelude::Pubkey};
use concord_canonical::{
    ErrorClass,
    error_class::{
        Framework, class_of_anchor_code, class_of_framework_error, class_of_runtime_error,
    },
};
use litesvm::types::TransactionMetadata;
use solana_address::Address;
use solana_transaction::{InstructionError, Message, TransactionError};

/// Who numbers its errors, by address.
const FRAMEWORKS: [(Address, Framework); 3] = [
    (SYSTEM, Framework::System),
    (TOKEN_2022, Framework::Token2022),
    (ED25519, Framework::Ed25519),
];

/// The class of a failed transaction, of which `logs` says what the runtime logged (R25).
pub fn class_of(
    fault: &TransactionError,
    message: &Message,
    logs: &[String],
) -> Result<ErrorClass, StepFault> {
    let class = match fault {
        TransactionError::InstructionError(at, InstructionError::Custom(code)) => {
            let failing = failing_program(logs).or_else(|| called_program(message, *at));
            failing.and_then(|program| class_of_number(&program, *code))
        }
        TransactionError::InstructionError(_, error) => class_of_runtime_error(&variant(error)),
        error => class_of_runtime_error(&variant(error)),
    };
    class.ok_or_else(|| StepFault::UnmappedError(format!("{fault:?}")))
}

/// A number means what the program that raised it means by it.
fn class_of_number(raised_by: &str, code: u32) -> Option<ErrorClass> {
    if raised_by == program().to_string() {
        return class_of_anchor_code(code)
            .or_else(|| class_of_framework_error(Framework::Anchor, code));
    }
    let (_, framework) = FRAMEWORKS
        .iter()
        .find(|(address, _)| address.to_string() == raised_by)?;
    class_of_framework_error(*framework, code)
}

/// The innermost program that failed: its failure is logged first. A program's own words begin
/// with "Program log:", so it cannot put another's name here.
fn failing_program(logs: &[String]) -> Option<String> {
    logs.iter().find_map(|line| {
        let (program, _) = line.strip_prefix("Program ")?.split_once(" failed: ")?;
        (!program.contains(' ')).then(|| program.to_owned())
    })
}

/// The program of a top-level instruction. Precompiles log nothing.
fn called_program(message: &Message, at: u8) -> Option<String> {
    let instruction = message.instructions.get(usize::from(at))?;
    let index = usize::from(instruction.program_id_index);
    message.account_keys.get(index).map(Address::to_string)
}

/// The variant's name without its fields.
fn variant(error: &impl std::fmt::Debug) -> String {
    let text = format!("{error:?}");
    text.chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect()
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
            tag1: Bytes32(given.tag1),
            tag2: Bytes32(given.tag2),
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

    fn custom(code: u32) -> TransactionError {
        TransactionError::InstructionError(0, InstructionError::Custom(code))
    }

    fn failed(program: Address) -> String {
        format!("Program {program} failed: custom program error: 0x1")
    }

    #[test]
    fn numbers_mean_what_the_program_that_raised_them_means() {
        // R25
        let message = Message::default();
        let class = |program, code| class_of(&custom(code), &message, &[failed(program)]).ok();
        assert_eq!(class(ED25519, 2), Some(ErrorClass::AuthNotGranted));
        assert_eq!(class(TOKEN_2022, 1), Some(ErrorClass::TransferNotAllowed));
        assert_eq!(class(SYSTEM, 1), Some(ErrorClass::InsufficientLamports));
        assert_eq!(class(program(), 6001), Some(ErrorClass::AgentNotFound));
        assert_eq!(class(program(), 3010), Some(ErrorClass::SignatureMissing));
        assert_eq!(class(ED25519, 1), None);
        assert_eq!(class(program(), 1), None);
        assert_eq!(class(TOKEN_2022, 6001), None);
    }

    #[test]
    fn the_innermost_program_is_asked_whatever_others_say() {
        let logs = [
            format!("Program log: Program {SYSTEM} failed: lie"),
            failed(program()),
            failed(TOKEN_2022),
        ];
        let class = class_of(&custom(6016), &Message::default(), &logs);
        assert_eq!(class.ok(), Some(ErrorClass::TransferRefused));
    }

    #[test]
    fn errors_without_a_number_go_by_their_name() {
        let class = |fault| class_of(&fault, &Message::default(), &[]).ok();
        assert_eq!(
            class(TransactionError::InstructionError(
                0,
                InstructionError::InvalidSeeds
            )),
            Some(ErrorClass::AccountMismatch)
        );
        assert_eq!(
            class(TransactionError::InsufficientFundsForRent { account_index: 0 }),
            Some(ErrorClass::InsufficientLamports)
        );
    }

    #[test]
    fn an_error_without_a_class_is_a_fault() {
        // R25
        let message = Message::default();
        for fault in [
            TransactionError::ClusterMaintenance,
            TransactionError::InstructionError(0, InstructionError::ProgramFailedToComplete),
            custom(3012),
            custom(6999),
        ] {
            assert!(
                matches!(
                    class_of(&fault, &message, &[failed(program())]),
                    Err(StepFault::UnmappedError(_))
                ),
                "{fault:?}"
            );
        }
    }
}
