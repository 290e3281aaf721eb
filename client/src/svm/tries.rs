//! What a simulation's refusal means.

use concord_chain::svm::Simulation;
use concord_registry::svm::{FailedTransaction, Instruction, RuntimeError, class_of};
use solana_transaction_error::TransactionError;

use super::SvmRegistries;
use crate::ClientError;

/// The refusal of these instructions, with its class (R25).
pub(super) fn refusal(
    registries: &SvmRegistries,
    instructions: &[Instruction],
    simulation: Simulation,
) -> ClientError {
    let network = registries.network.clone();
    let logs = simulation.logs.unwrap_or_default();
    let words = simulation.err.to_string();
    let Ok(fault) = serde_json::from_value::<TransactionError>(simulation.err) else {
        let reason = words;
        return ClientError::Unclassified { network, reason };
    };
    let name = format!("{fault:?}");
    let error = match &fault {
        TransactionError::InstructionError(index, error) => RuntimeError::Instruction {
            index: *index,
            error,
        },
        _ => RuntimeError::Transaction { name: &name },
    };
    let called: Vec<_> = instructions.iter().map(|it| it.program_id).collect();
    let failed = FailedTransaction {
        error,
        called: &called,
        logs: &logs,
    };
    let class = class_of(&registries.program, failed);
    let reason = fault.to_string();
    match class {
        Some(class) => ClientError::Refused {
            network,
            class,
            reason,
        },
        None => ClientError::Unclassified { network, reason },
    }
}
