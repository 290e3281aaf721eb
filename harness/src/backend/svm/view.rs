//! Instructions that only answer: simulated, never sent.
use super::{addresses::program, ledger::Ledger, translation};
use crate::backend::StepFault;
use anchor_lang::AnchorDeserialize;
use concord_canonical::ErrorClass;
use solana_instruction::Instruction;

/// Why the program gave no answer.
pub struct Refusal {
    pub class: ErrorClass,
    /// In the chain's words.
    pub native: String,
}

/// The program's return data, every byte of which must belong to the answer.
pub fn call<T: AnchorDeserialize>(
    ledger: &impl Ledger,
    instruction: &Instruction,
) -> Result<Result<T, Refusal>, StepFault> {
    let done = match ledger.simulate(instruction)? {
        Ok(done) => done,
        Err(failed) => {
            let class = translation::class_of(
                &failed.fault,
                std::slice::from_ref(instruction),
                &failed.logs,
            )?;
            let native = format!("{:?}", failed.fault);
            return Ok(Err(Refusal { class, native }));
        }
    };
    let (returned_by, returned) = done.returned;
    if returned_by != program() {
        return Err(StepFault::UnexplainedState(format!(
            "return data of {returned_by}"
        )));
    }
    T::try_from_slice(&returned).map(Ok).map_err(|_| {
        StepFault::UnexplainedState(format!("return data 0x{}", hex::encode(&returned)))
    })
}
