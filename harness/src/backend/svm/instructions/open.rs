use super::call;
use crate::{
    backend::svm::addresses::{
        SYSTEM, event_authority, identity, key, open_client_index, open_feedback, program,
    },
    model::{OpenFeedback, Response},
};
use agent_registry::{accounts, instruction};
use anchor_lang::InstructionData;
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};

pub fn give_open_feedback(
    client: Address,
    mint: Address,
    index: u64,
    feedback: &OpenFeedback,
) -> Instruction {
    call(
        &accounts::GiveOpenFeedback {
            client: key(client),
            agent: key(identity(&mint)),
            nft_mint: key(mint),
            open_client_index: key(open_client_index(&mint, &client)),
            open_feedback: key(open_feedback(&mint, &client, index)),
            system_program: key(SYSTEM),
            event_authority: key(event_authority()),
            program: key(program()),
        },
        &instruction::GiveOpenFeedback {
            feedback_index: index,
            value: feedback.value.0,
            value_decimals: feedback.decimals,
            tag1: feedback.tag1.clone(),
            tag2: feedback.tag2.clone(),
            endpoint: feedback.endpoint.clone(),
            feedback_uri: feedback.uri.clone(),
            feedback_hash: feedback.hash.0,
        },
    )
}

pub fn revoke_open_feedback(client: Address, mint: Address, index: u64) -> Instruction {
    call(
        &accounts::RevokeOpenFeedback {
            client: key(client),
            nft_mint: key(mint),
            open_feedback: key(open_feedback(&mint, &client, index)),
            event_authority: key(event_authority()),
            program: key(program()),
        },
        &instruction::RevokeOpenFeedback {
            feedback_index: index,
        },
    )
}

pub fn append_open_response(
    responder: Address,
    mint: Address,
    client: Address,
    response: &Response,
) -> Instruction {
    call(
        &accounts::AppendOpenResponse {
            responder: key(responder),
            nft_mint: key(mint),
            open_feedback: key(open_feedback(&mint, &client, response.index)),
            event_authority: key(event_authority()),
            program: key(program()),
        },
        &instruction::AppendOpenResponse {
            client: key(client),
            feedback_index: response.index,
            response_uri: response.uri.clone(),
            response_hash: response.hash.0,
        },
    )
}

/// A client, and how many open feedbacks he gave the agent.
pub type Listed = (Address, u64);

/// Accounts of a summary that one transaction can lock: 64, without payer, program and mint.
pub const ACCOUNTS_MAX: u64 = 64 - 3;

/// How many accounts a summary over these clients reads.
pub fn accounts(clients: &[Listed]) -> u64 {
    let each = clients.iter().map(|(_, last)| last.saturating_add(1));
    each.fold(0, u64::saturating_add)
}

pub fn open_summary(mint: Address, clients: &[Listed], tag1: &str, tag2: &str) -> Instruction {
    let arguments = instruction::OpenSummary {
        clients: keys(clients),
        tag1: tag1.to_owned(),
        tag2: tag2.to_owned(),
    };
    over_entries(mint, clients, &arguments)
}

pub fn open_summary_part(mint: Address, clients: &[Listed], tag1: &str, tag2: &str) -> Instruction {
    let arguments = instruction::OpenSummaryPart {
        clients: keys(clients),
        tag1: tag1.to_owned(),
        tag2: tag2.to_owned(),
    };
    over_entries(mint, clients, &arguments)
}

fn keys(clients: &[Listed]) -> Vec<anchor_lang::prelude::Pubkey> {
    clients.iter().map(|(client, _)| key(*client)).collect()
}

/// R16: for each client as listed, his index and his entries 1 to last.
fn over_entries(
    mint: Address,
    clients: &[Listed],
    arguments: &impl InstructionData,
) -> Instruction {
    let accounts = accounts::OpenEntries {
        nft_mint: key(mint),
    };
    let mut instruction = call(&accounts, arguments);
    for (client, last) in clients {
        let index = open_client_index(&mint, client);
        let entries = (1..=*last).map(|index| open_feedback(&mint, client, index));
        let addresses = std::iter::once(index).chain(entries);
        let metas = addresses.map(|address| AccountMeta::new_readonly(address, false));
        instruction.accounts.extend(metas);
    }
    instruction
}
