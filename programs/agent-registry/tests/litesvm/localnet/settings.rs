//! What an agent's owner may change, byte by byte.

use super::{
    instructions::{
        agent_identity, event_authority, instructions_sysvar, readonly, signer, signer_and_payer,
        system_program, writable,
    },
    pda, program_id, token_2022,
};
use sha2::{Digest, Sha256};
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};

pub fn metadata_entry(mint: &Address, key: &[u8]) -> Address {
    pda(&[b"metadata", mint.as_ref(), &Sha256::digest(key)])
}

/// u32 LE length, then the bytes: Borsh's text and byte vector alike.
pub fn counted(value: &[u8]) -> Vec<u8> {
    let length = u32::try_from(value.len()).unwrap().to_le_bytes();
    [&length[..], value].concat()
}

fn instruction(accounts: Vec<AccountMeta>, data: Vec<u8>) -> Instruction {
    Instruction {
        program_id: program_id(),
        accounts,
        data,
    }
}

fn of_owner(owner: &Address, mint: &Address, data: Vec<u8>) -> Instruction {
    let accounts = vec![
        signer(*owner),
        writable(agent_identity(mint)),
        readonly(*mint),
        readonly(event_authority()),
        readonly(program_id()),
    ];
    instruction(accounts, data)
}

pub fn set_agent_uri(owner: &Address, mint: &Address, uri: &[u8]) -> Instruction {
    let accounts = vec![
        signer(*owner),
        signer_and_payer(*owner),
        writable(agent_identity(mint)),
        writable(*mint),
        readonly(token_2022::program()),
        readonly(system_program()),
        readonly(event_authority()),
        readonly(program_id()),
    ];
    let discriminator = [43, 254, 168, 104, 192, 51, 39, 46];
    instruction(accounts, [&discriminator[..], &counted(uri)].concat())
}

pub fn set_metadata(owner: &Address, mint: &Address, key: &[u8], value: &[u8]) -> Instruction {
    let accounts = vec![
        signer(*owner),
        signer_and_payer(*owner),
        writable(agent_identity(mint)),
        readonly(*mint),
        writable(metadata_entry(mint, key)),
        readonly(system_program()),
        readonly(event_authority()),
        readonly(program_id()),
    ];
    let discriminator = [78, 157, 75, 242, 151, 20, 121, 144];
    let data = [&discriminator[..], &counted(key), &counted(value)].concat();
    instruction(accounts, data)
}

/// With `wallet` as a signer that is not writable.
pub fn set_agent_wallet(owner: &Address, mint: &Address, wallet: &Address) -> Instruction {
    let data = vec![154, 87, 251, 23, 51, 12, 4, 150];
    naming(owner, mint, signer(*wallet), data)
}

/// The owner's instruction that names a key, which may have to consent.
fn naming(owner: &Address, mint: &Address, named: AccountMeta, data: Vec<u8>) -> Instruction {
    let mut instruction = of_owner(owner, mint, data);
    let consent = [named, readonly(instructions_sysvar())];
    instruction.accounts.splice(3..3, consent);
    instruction
}

pub fn unset_agent_wallet(owner: &Address, mint: &Address) -> Instruction {
    of_owner(owner, mint, vec![41, 78, 249, 220, 92, 210, 139, 64])
}

/// With `authority` as a signer that is not writable, unless it is the default key.
pub fn set_feedback_authority(owner: &Address, mint: &Address, authority: &Address) -> Instruction {
    let data = vec![147, 190, 232, 190, 80, 77, 59, 84];
    let none = *authority == Address::default();
    let named = AccountMeta::new_readonly(*authority, !none);
    naming(owner, mint, named, data)
}

pub fn set_auth_schemes(owner: &Address, mint: &Address, schemes: u8) -> Instruction {
    let discriminator = [108, 132, 82, 59, 46, 68, 109, 189];
    of_owner(owner, mint, [&discriminator[..], &[schemes]].concat())
}
