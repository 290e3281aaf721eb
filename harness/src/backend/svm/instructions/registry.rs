use super::call;
use crate::backend::svm::addresses::{event_authority, key, program, registry};
use agent_registry::{accounts, instruction};
use anchor_lang::InstructionData;
use solana_address::Address;
use solana_instruction::Instruction;

pub fn list_payment_token(authority: Address, token: Address, listed: bool) -> Instruction {
    let token = key(token);
    if listed {
        change(authority, &instruction::AddPaymentToken { token })
    } else {
        change(authority, &instruction::RemovePaymentToken { token })
    }
}

pub fn list_facilitator(authority: Address, facilitator: Address, listed: bool) -> Instruction {
    let facilitator = key(facilitator);
    if listed {
        change(authority, &instruction::AddFacilitator { facilitator })
    } else {
        change(authority, &instruction::RemoveFacilitator { facilitator })
    }
}

pub fn propose_authority(authority: Address, successor: Address) -> Instruction {
    let successor = key(successor);
    change(
        authority,
        &instruction::ProposeRegistryAuthority { successor },
    )
}

pub fn accept_authority(successor: Address) -> Instruction {
    change(successor, &instruction::AcceptRegistryAuthority {})
}

fn change(authority: Address, arguments: &impl InstructionData) -> Instruction {
    call(
        &accounts::RegistryChange {
            authority: key(authority),
            registry: key(registry()),
            event_authority: key(event_authority()),
            program: key(program()),
        },
        arguments,
    )
}
