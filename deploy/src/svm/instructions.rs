//! Instructions of the program, and of the precompile before them, built for addresses.
use super::addresses::{
    ASSOCIATED_TOKEN, ED25519, INSTRUCTIONS_SYSVAR, TOKEN_2022, address, client_index,
    event_authority, extra_account_metas, feedback_entry, identity, key, program, registry,
    token_account,
};
use agent_registry::{accounts, instruction, instructions::initialize::PROGRAM_DATA};
use anchor_lang::{InstructionData, ToAccountMetas};
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};
use solana_sdk_ids::system_program;

/// R9: names the cluster, once. `upgrade_authority` signs and pays.
pub fn initialize(upgrade_authority: Address, chain: &str) -> Instruction {
    call(
        &accounts::Initialize {
            upgrade_authority: key(upgrade_authority),
            registry: key(registry()),
            program_data: PROGRAM_DATA,
            system_program: key(system_program::ID),
        },
        &instruction::Initialize {
            chain: chain.to_owned(),
        },
    )
}

/// R4: mints the agent's token to `owner`, who signs and pays; `mint` signs.
pub fn register_agent(owner: Address, mint: Address, uri: &str) -> Instruction {
    call(
        &accounts::RegisterAgent {
            owner: key(owner),
            nft_mint: key(mint),
            agent: key(identity(&mint)),
            token_account: key(token_account(&owner, &mint)),
            extra_account_metas: key(extra_account_metas(&mint)),
            token_program: key(TOKEN_2022),
            associated_token_program: key(ASSOCIATED_TOKEN),
            system_program: key(system_program::ID),
            event_authority: key(event_authority()),
            program: key(program()),
        },
        &instruction::RegisterAgent {
            uri: uri.to_owned(),
        },
    )
}

/// `reviewer`, who signs and pays for the entry, about the agent of `mint`. What authorizes it
/// stands in the precompile's instruction before this one (R11).
pub fn give_feedback(
    reviewer: Address,
    mint: Address,
    arguments: &instruction::GiveFeedback,
) -> Instruction {
    let index = arguments.feedback_index;
    call(
        &accounts::GiveFeedback {
            reviewer: key(reviewer),
            registry: key(registry()),
            agent: key(identity(&mint)),
            nft_mint: key(mint),
            client_index: key(client_index(&mint, &reviewer)),
            feedback_entry: key(feedback_entry(&mint, &reviewer, index)),
            instructions_sysvar: key(INSTRUCTIONS_SYSVAR),
            system_program: key(system_program::ID),
            event_authority: key(event_authority()),
            program: key(program()),
        },
        arguments,
    )
}

/// R11's one layout: 16 header bytes, then key, signature and message.
///
/// # Panics
/// On a message of more than 65,535 bytes, which no transaction can carry.
pub fn ed25519(signer: &[u8; 32], signature: &[u8; 64], message: &[u8]) -> Instruction {
    const HERE: [u8; 2] = u16::MAX.to_le_bytes();
    let offset = u16::to_le_bytes;
    let length = u16::try_from(message.len()).expect("a message that fits a transaction");
    let header = [
        [1, 0],
        offset(48),
        HERE,
        offset(16),
        HERE,
        offset(112),
        offset(length),
        HERE,
    ];
    Instruction {
        program_id: ED25519,
        accounts: Vec::new(),
        data: [header.as_flattened(), signer, signature, message].concat(),
    }
}

/// An instruction of the program with these accounts and arguments.
pub fn call(accounts: &impl ToAccountMetas, arguments: &impl InstructionData) -> Instruction {
    let metas = accounts.to_account_metas(None).into_iter();
    Instruction {
        program_id: program(),
        accounts: metas
            .map(|meta| AccountMeta {
                pubkey: address(meta.pubkey),
                is_signer: meta.is_signer,
                is_writable: meta.is_writable,
            })
            .collect(),
        data: arguments.data(),
    }
}
