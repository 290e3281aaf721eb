//! Instructions that only answer: simulated, never sent.
use super::{
    addresses::{actor_key, program},
    ledger::Ledger,
    translation,
};
use crate::{
    backend::StepFault,
    model::{Actor, DEPLOYER},
};
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
    ledger: &Ledger,
    instruction: &Instruction,
) -> Result<Result<T, Refusal>, StepFault> {
    let payer = actor_key(&Actor::from(DEPLOYER));
    let done = match ledger.simulate(&payer, instruction)? {
        Ok(done) => done,
        Err(fault) => {
            let class = translation::class_of(
                &fault.err,
                std::slice::from_ref(instruction),
                &fault.meta.logs,
            )?;
            let native = format!("{:?}", fault.err);
            return Ok(Err(Refusal { class, native }));
        }
    };
    let returned = done.return_data;
    if returned.program_id != program() {
        return Err(StepFault::UnexplainedState(format!(
            "return data of {}",
            returned.program_id
        )));
    }
    T::try_from_slice(&returned.data).map(Ok).map_err(|_| {
        StepFault::UnexplainedState(format!("return data 0x{}", hex::encode(&returned.data)))
    })
}
