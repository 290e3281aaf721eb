//! Instructions that only answer: simulated, never sent.
use super::{labels, ledger::Ledger};
use crate::backend::StepFault;
use concord_canonical::ErrorClass;
use concord_registry::svm::{Program, views::View};
use solana_instruction::Instruction;

/// Why the program gave no answer.
pub struct Refusal {
    pub class: ErrorClass,
    /// In the chain's words.
    pub native: String,
}

/// The program's return data, every byte of which must belong to the answer.
pub fn call<T: View>(
    ledger: &impl Ledger,
    program: &Program,
    instruction: &Instruction,
) -> Result<Result<T, Refusal>, StepFault> {
    let done = match ledger.simulate(instruction)? {
        Ok(done) => done,
        Err(failed) => {
            let class = labels::class_of(
                program,
                &failed.fault,
                std::slice::from_ref(instruction),
                &failed.logs,
            )?;
            let native = format!("{:?}", failed.fault);
            return Ok(Err(Refusal { class, native }));
        }
    };
    let (returned_by, returned) = done.returned;
    program
        .decode_view(&returned_by, &returned)
        .map(Ok)
        .map_err(|fault| StepFault::UnexplainedState(fault.to_string()))
}
