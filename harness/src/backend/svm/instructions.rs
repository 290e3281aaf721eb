//! Instructions of the program and of Token-2022, built for labels.
use super::addresses::{
    ASSOCIATED_TOKEN, INSTRUCTIONS_SYSVAR, SYSTEM, TOKEN_2022, address, client_index,
    event_authority, extra_account_metas, feedback_entry, identity, key, program, registry,
    token_account,
};
use crate::model::Feedback;
use agent_registry::{
    FeedbackAuthorization, accounts, instruction, instructions::initialize::PROGRAM_DATA,
};
use anchor_lang::{InstructionData, ToAccountMetas};
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};

fn call(accounts: &impl ToAccountMetas, arguments: &impl InstructionData) -> Instruction {
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

pub fn initialize(upgrade_authority: Address, chain: &str) -> Instruction {
    call(
        &accounts::Initialize {
            upgrade_authority: key(upgrade_authority),
            registry: key(registry()),
            program_data: PROGRAM_DATA,
            system_program: key(SYSTEM),
        },
        &instruction::Initialize {
            chain: chain.to_owned(),
        },
    )
}

pub fn register(owner: Address, mint: Address, uri: &str) -> Instruction {
    call(
        &accounts::RegisterAgent {
            owner: key(owner),
            nft_mint: key(mint),
            agent: key(identity(&mint)),
            token_account: key(token_account(&owner, &mint)),
            extra_account_metas: key(extra_account_metas(&mint)),
            token_program: key(TOKEN_2022),
            associated_token_program: key(ASSOCIATED_TOKEN),
            system_program: key(SYSTEM),
            event_authority: key(event_authority()),
            program: key(program()),
        },
        &instruction::RegisterAgent {
            uri: uri.to_owned(),
        },
    )
}

pub fn give_feedback(
    reviewer: Address,
    mint: Address,
    index: u64,
    feedback: &Feedback,
    auth: FeedbackAuthorization,
) -> Instruction {
    call(
        &accounts::GiveFeedback {
            reviewer: key(reviewer),
            registry: key(registry()),
            agent: key(identity(&mint)),
            nft_mint: key(mint),
            client_index: key(client_index(&mint, &reviewer)),
            feedback_entry: key(feedback_entry(&mint, &reviewer, index)),
            instructions_sysvar: key(INSTRUCTIONS_SYSVAR),
            system_program: key(SYSTEM),
            event_authority: key(event_authority()),
            program: key(program()),
        },
        &instruction::GiveFeedback {
            feedback_index: index,
            score: feedback.score,
            tag1: feedback.tag1.0,
            tag2: feedback.tag2.0,
            detail_uri: feedback.uri.clone(),
            detail_hash: feedback.hash.0,
            auth,
        },
    )
}

pub fn revoke_feedback(reviewer: Address, mint: Address, index: u64) -> Instruction {
    call(
        &accounts::RevokeFeedback {
            reviewer: key(reviewer),
            agent: key(identity(&mint)),
            nft_mint: key(mint),
            feedback_entry: key(feedback_entry(&mint, &reviewer, index)),
            event_authority: key(event_authority()),
            program: key(program()),
        },
        &instruction::RevokeFeedback {
            feedback_index: index,
        },
    )
}

/// Makes the receiver's associated token account where there is none: instruction 1,
/// CreateIdempotent. It has ImmutableOwner, which R4 asks for.
pub fn open_token_account(payer: Address, owner: Address, mint: Address) -> Instruction {
    Instruction {
        program_id: ASSOCIATED_TOKEN,
        accounts: vec![
            AccountMeta::new(payer, true),
            AccountMeta::new(token_account(&owner, &mint), false),
            AccountMeta::new_readonly(owner, false),
            AccountMeta::new_readonly(mint, false),
            AccountMeta::new_readonly(SYSTEM, false),
            AccountMeta::new_readonly(TOKEN_2022, false),
        ],
        data: vec![1],
    }
}

/// Token-2022's TransferChecked of the one token, 0 decimals, with the hook's accounts.
pub fn transfer(authority: Address, from: Address, to: Address, mint: Address) -> Instruction {
    const TRANSFER_CHECKED: u8 = 12;
    Instruction {
        program_id: TOKEN_2022,
        accounts: vec![
            AccountMeta::new(token_account(&from, &mint), false),
            AccountMeta::new_readonly(mint, false),
            AccountMeta::new(token_account(&to, &mint), false),
            AccountMeta::new_readonly(authority, true),
            AccountMeta::new(identity(&mint), false),
            AccountMeta::new_readonly(event_authority(), false),
            AccountMeta::new_readonly(program(), false),
            AccountMeta::new_readonly(extra_account_metas(&mint), false),
        ],
        data: [&[TRANSFER_CHECKED], &1u64.to_le_bytes()[..], &[0]].concat(),
    }
}
