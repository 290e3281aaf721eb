use super::call;
use crate::backend::svm::addresses::{
    INSTRUCTIONS_SYSVAR, SYSTEM, TOKEN_2022, event_authority, identity, key, metadata_entry,
    program,
};
use agent_registry::{accounts, instruction};
use anchor_lang::InstructionData;
use solana_address::Address;
use solana_instruction::Instruction;

pub fn set_agent_uri(owner: Address, mint: Address, uri: &str) -> Instruction {
    call(
        &accounts::SetAgentUri {
            owner: key(owner),
            agent: key(identity(&mint)),
            nft_mint: key(mint),
            token_program: key(TOKEN_2022),
            system_program: key(SYSTEM),
            event_authority: key(event_authority()),
            program: key(program()),
        },
        &instruction::SetAgentUri {
            uri: uri.to_owned(),
        },
    )
}

pub fn set_metadata(owner: Address, mint: Address, entry: &str, value: &[u8]) -> Instruction {
    call(
        &accounts::SetMetadata {
            owner: key(owner),
            agent: key(identity(&mint)),
            nft_mint: key(mint),
            metadata_entry: key(metadata_entry(&mint, entry)),
            system_program: key(SYSTEM),
            event_authority: key(event_authority()),
            program: key(program()),
        },
        &instruction::SetMetadata {
            key: entry.to_owned(),
            value: value.to_owned(),
        },
    )
}

/// The new wallet's place among the accounts of `set_agent_wallet`.
const NEW_WALLET: usize = 3;

/// R3: the wallet is not writable, and signs where it consents.
pub fn set_agent_wallet(
    owner: Address,
    mint: Address,
    wallet: Address,
    consents: bool,
) -> Instruction {
    let mut instruction = call(
        &accounts::SetAgentWallet {
            owner: key(owner),
            agent: key(identity(&mint)),
            nft_mint: key(mint),
            new_wallet: key(wallet),
            instructions_sysvar: key(INSTRUCTIONS_SYSVAR),
            event_authority: key(event_authority()),
            program: key(program()),
        },
        &instruction::SetAgentWallet {},
    );
    instruction.accounts[NEW_WALLET].is_signer = consents;
    instruction
}

pub fn unset_agent_wallet(owner: Address, mint: Address) -> Instruction {
    owner_setting(owner, mint, &instruction::UnsetAgentWallet {})
}

/// The default key: the owner's own counts again (R7).
pub fn set_feedback_authority(owner: Address, mint: Address, authority: Address) -> Instruction {
    let authority = key(authority);
    owner_setting(
        owner,
        mint,
        &instruction::SetFeedbackAuthority { authority },
    )
}

pub fn set_auth_schemes(owner: Address, mint: Address, schemes: u8) -> Instruction {
    owner_setting(owner, mint, &instruction::SetAuthSchemes { schemes })
}

fn owner_setting(owner: Address, mint: Address, arguments: &impl InstructionData) -> Instruction {
    call(
        &accounts::OwnerSetting {
            owner: key(owner),
            agent: key(identity(&mint)),
            nft_mint: key(mint),
            event_authority: key(event_authority()),
            program: key(program()),
        },
        arguments,
    )
}
