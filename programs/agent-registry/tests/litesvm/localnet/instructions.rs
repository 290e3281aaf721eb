//! The program's instructions, byte by byte.

use super::{NOW, pda, program_data, program_id, token_2022};
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};

pub fn system_program() -> Address {
    Address::default()
}

pub fn instructions_sysvar() -> Address {
    Address::from_str_const("Sysvar1nstructions1111111111111111111111111")
}

pub fn registry() -> Address {
    pda(&[b"registry"])
}

/// The mint of the agent that `payer` pays for with `nonce`.
pub fn agent_mint(payer: &Address, nonce: u64) -> Address {
    pda(&[b"mint", payer.as_ref(), &nonce.to_le_bytes()])
}

pub fn agent_identity(mint: &Address) -> Address {
    pda(&[b"agent", mint.as_ref()])
}

pub fn extra_account_metas(mint: &Address) -> Address {
    pda(&[b"extra-account-metas", mint.as_ref()])
}

pub fn client_index(mint: &Address, client: &Address) -> Address {
    pda(&[b"client", mint.as_ref(), client.as_ref()])
}

pub fn feedback_entry(mint: &Address, client: &Address, index: u64) -> Address {
    let index = index.to_le_bytes();
    pda(&[b"feedback", mint.as_ref(), client.as_ref(), &index])
}

pub fn event_authority() -> Address {
    pda(&[b"__event_authority"])
}

pub fn signer_and_payer(address: Address) -> AccountMeta {
    AccountMeta::new(address, true)
}

pub fn signer(address: Address) -> AccountMeta {
    AccountMeta::new_readonly(address, true)
}

pub fn writable(address: Address) -> AccountMeta {
    AccountMeta::new(address, false)
}

pub fn readonly(address: Address) -> AccountMeta {
    AccountMeta::new_readonly(address, false)
}

/// `instruction`, which creates accounts, with `payer` in place of who else pays.
pub fn sponsored(mut instruction: Instruction, payer: &Address) -> Instruction {
    assert!(instruction.accounts[1].is_signer && instruction.accounts[1].is_writable);
    instruction.accounts[1].pubkey = *payer;
    instruction
}

pub fn text(value: &[u8]) -> Vec<u8> {
    let length = u32::try_from(value.len()).unwrap().to_le_bytes();
    [&length[..], value].concat()
}

pub fn initialize(authority: &Address, chain: &str) -> Instruction {
    let discriminator = [175, 175, 109, 31, 13, 152, 155, 237];
    Instruction {
        program_id: program_id(),
        accounts: vec![
            signer(*authority),
            signer_and_payer(*authority),
            writable(registry()),
            readonly(program_data()),
            readonly(system_program()),
            readonly(event_authority()),
            readonly(program_id()),
        ],
        data: [&discriminator[..], &text(chain.as_bytes())].concat(),
    }
}

/// Owned and paid for by `owner`.
pub fn register_agent(owner: &Address, nonce: u64, uri: &str) -> Instruction {
    register_agent_bytes(owner, owner, nonce, uri.as_bytes())
}

/// Owned by `owner`; `payer` pays, and is part of the mint's address.
pub fn register_agent_bytes(
    owner: &Address,
    payer: &Address,
    nonce: u64,
    uri: &[u8],
) -> Instruction {
    let discriminator = [135, 157, 66, 195, 2, 113, 175, 30];
    let mint = &agent_mint(payer, nonce);
    Instruction {
        program_id: program_id(),
        accounts: vec![
            signer(*owner),
            signer_and_payer(*payer),
            writable(*mint),
            writable(agent_identity(mint)),
            writable(token_2022::token_account(owner, mint)),
            writable(extra_account_metas(mint)),
            readonly(token_2022::program()),
            readonly(token_2022::associated_token_program()),
            readonly(system_program()),
            readonly(event_authority()),
            readonly(program_id()),
        ],
        data: [&discriminator[..], &nonce.to_le_bytes(), &text(uri)].concat(),
    }
}

/// The arguments of `give_feedback`, and whom they concern.
#[derive(Clone)]
pub struct GiveFeedback {
    pub mint: Address,
    pub client: Address,
    pub feedback_index: u64,
    pub score: u8,
    pub tag1: [u8; 32],
    pub tag2: [u8; 32],
    pub detail_uri: Vec<u8>,
    pub detail_hash: [u8; 32],
    pub index_limit: u64,
    pub expiry: u64,
}

impl GiveFeedback {
    /// A client's first feedback, good for an hour.
    pub fn new(mint: &Address, client: &Address) -> Self {
        Self {
            mint: *mint,
            client: *client,
            feedback_index: 1,
            score: 85,
            tag1: [0x11; 32],
            tag2: [0x22; 32],
            detail_uri: b"https://feedback.example/1.json".to_vec(),
            detail_hash: [0x33; 32],
            index_limit: 1,
            expiry: NOW as u64 + 3600,
        }
    }

    pub fn instruction(&self) -> Instruction {
        let discriminator = [145, 136, 123, 3, 215, 165, 98, 41];
        let data = [
            &discriminator[..],
            &self.feedback_index.to_le_bytes(),
            &[self.score],
            &self.tag1,
            &self.tag2,
            &text(&self.detail_uri),
            &self.detail_hash,
            &[0], // bounded
            &self.index_limit.to_le_bytes(),
            &self.expiry.to_le_bytes(),
        ]
        .concat();
        Instruction {
            program_id: program_id(),
            accounts: vec![
                signer(self.client),
                signer_and_payer(self.client),
                readonly(registry()),
                writable(agent_identity(&self.mint)),
                readonly(self.mint),
                writable(client_index(&self.mint, &self.client)),
                writable(feedback_entry(
                    &self.mint,
                    &self.client,
                    self.feedback_index,
                )),
                readonly(instructions_sysvar()),
                readonly(system_program()),
                readonly(event_authority()),
                readonly(program_id()),
            ],
            data,
        }
    }
}

pub fn revoke_feedback(client: &Address, mint: &Address, index: u64) -> Instruction {
    let discriminator = [211, 37, 230, 82, 118, 216, 137, 206];
    Instruction {
        program_id: program_id(),
        accounts: vec![
            signer(*client),
            writable(agent_identity(mint)),
            readonly(*mint),
            writable(feedback_entry(mint, client, index)),
            readonly(event_authority()),
            readonly(program_id()),
        ],
        data: [&discriminator[..], &index.to_le_bytes()].concat(),
    }
}
