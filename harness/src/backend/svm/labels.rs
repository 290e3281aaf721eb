//! The program's events and errors in the model's terms.
use super::{World, ledger::Done};
use crate::{
    backend::{
        StepFault,
        canonical_events::{Labels, canonical_events},
    },
    model::{Actor, Agent, Bytes32, Event},
};
use concord_canonical::ErrorClass;
use concord_registry::{
    event::{AccountId, AgentId, Block},
    svm::{self, FailedTransaction, RuntimeError, events::Transaction},
};
use solana_instruction::Instruction;
use solana_transaction::TransactionError;
use std::ops::RangeInclusive;

/// What was done, as the registry's decoder reads it.
pub fn transaction(done: &Done) -> Transaction {
    Transaction {
        signature: [0; 64], // not used: the events are known to be ours
        block: Block {
            number: 0,
            hash: None,
        },
        instructions: done.instructions.clone(),
        logs: done.logs.clone(),
    }
}

/// What the program reported, and the time, in Unix seconds, that it read from the cluster's clock.
/// Every event has it, and `clock` the limits of what the clock can have shown. A transaction
/// without an event that has a time is as if it was the last of these.
pub fn events(
    transaction: &Transaction,
    clock: &RangeInclusive<i64>,
    world: &World,
) -> Result<(Vec<Event>, i64), StepFault> {
    let decoded = world.program.events(&world.chain, transaction);
    let mut times = decoded.events.iter().map(|it| it.timestamp);
    let time = times.next().flatten().unwrap_or(*clock.end());
    let is_off = |it: &Option<i64>| *it != Some(time) || !clock.contains(&time);
    let mut times = decoded.events.iter().map(|it| it.timestamp);
    if let Some(other) = times.find(is_off) {
        return Err(StepFault::UnexplainedEvent(format!(
            "timestamp {other:?}, and the clock showed {} to {}",
            clock.start(),
            clock.end()
        )));
    }
    Ok((canonical_events(decoded, world)?, time))
}

impl Labels for World {
    fn agent(&self, id: &AgentId) -> Agent {
        match id {
            AgentId::Svm(mint) => self.agents.agent(*mint),
            AgentId::Evm(_) => Agent(format!("unlabelled:{id}")),
        }
    }

    fn actor(&self, id: &AccountId) -> Actor {
        match id {
            AccountId::Svm(address) => self.agents.actor(*address),
            AccountId::Evm(_) => Actor(format!("unlabelled:{id}")),
        }
    }

    fn request(&self, hash: [u8; 32]) -> Bytes32 {
        Bytes32(hash)
    }

    fn start(&self) -> u64 {
        self.start
    }

    /// The event's time was checked to be the latest transaction's.
    fn seconds(&self, _timestamp: Option<i64>) -> Result<u64, StepFault> {
        Ok(self.now.saturating_sub(self.start))
    }
}

/// The class of a failed transaction of these instructions, of which `logs` says what the runtime
/// logged (R25).
pub fn class_of(
    program: &svm::Program,
    fault: &TransactionError,
    instructions: &[Instruction],
    logs: &[String],
) -> Result<ErrorClass, StepFault> {
    let words = format!("{fault:?}");
    let called: Vec<_> = instructions.iter().map(|it| it.program_id).collect();
    let error = match fault {
        TransactionError::InstructionError(index, error) => RuntimeError::Instruction {
            index: *index,
            error,
        },
        _ => RuntimeError::Transaction { name: &words },
    };
    let failed = FailedTransaction {
        error,
        called: &called,
        logs,
    };
    svm::class_of(program, failed).ok_or(StepFault::UnmappedError(words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use solana_address::Address;
    use solana_transaction::InstructionError;

    #[test]
    fn r25_an_error_without_a_class_is_a_fault() {
        let program = svm::Program::new(Address::from([9; 32]));
        let class = |fault| class_of(&program, &fault, &[], &[]);
        let funds = TransactionError::InsufficientFundsForRent { account_index: 0 };
        assert_eq!(class(funds).ok(), Some(ErrorClass::InsufficientLamports));
        for fault in [
            TransactionError::ClusterMaintenance,
            TransactionError::InstructionError(0, InstructionError::ProgramFailedToComplete),
        ] {
            assert!(matches!(class(fault), Err(StepFault::UnmappedError(_))));
        }
    }
}
