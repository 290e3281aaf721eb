//! Validation requests and responses, byte by byte.

use super::{
    Localnet,
    accounts::Fields,
    instructions::{
        agent_identity, event_authority, readonly, signer, signer_and_payer, system_program, text,
        writable,
    },
    pda, program_id,
};
use solana_address::Address;
use solana_instruction::Instruction;

pub fn request_address(mint: &Address, validator: &Address, hash: &[u8; 32]) -> Address {
    pda(&[
        b"val_request",
        mint.as_ref(),
        validator.as_ref(),
        &hash[..8],
    ])
}

pub fn response_address(mint: &Address, validator: &Address, hash: &[u8; 32]) -> Address {
    pda(&[
        b"val_response",
        mint.as_ref(),
        validator.as_ref(),
        &hash[..8],
    ])
}

/// The arguments of `validation_request`, and whom they concern.
#[derive(Clone)]
pub struct Request {
    pub owner: Address,
    pub mint: Address,
    pub validator: Address,
    pub hash: [u8; 32],
    pub tag: [u8; 32],
    pub uri: Vec<u8>,
}

impl Request {
    pub fn new(owner: &Address, mint: &Address, validator: &Address) -> Self {
        Self {
            owner: *owner,
            mint: *mint,
            validator: *validator,
            hash: [0x66; 32],
            tag: [0x77; 32],
            uri: b"https://validation.example/request.json".to_vec(),
        }
    }

    pub fn instruction(&self) -> Instruction {
        let data = [
            &[4, 80, 247, 116, 126, 161, 170, 65][..],
            self.validator.as_ref(),
            &self.hash,
            &self.tag,
            &text(&self.uri),
        ]
        .concat();
        Instruction {
            program_id: program_id(),
            accounts: vec![
                signer(self.owner),
                signer_and_payer(self.owner),
                readonly(agent_identity(&self.mint)),
                readonly(self.mint),
                writable(request_address(&self.mint, &self.validator, &self.hash)),
                readonly(system_program()),
                readonly(event_authority()),
                readonly(program_id()),
            ],
            data,
        }
    }
}

/// The arguments of `validation_response`, and whom they concern.
#[derive(Clone)]
pub struct Answer {
    pub validator: Address,
    pub mint: Address,
    pub hash: [u8; 32],
    pub score: u8,
    pub tag: [u8; 32],
    pub uri: Vec<u8>,
    pub evidence_hash: [u8; 32],
}

impl Answer {
    pub fn new(validator: &Address, mint: &Address) -> Self {
        Self {
            validator: *validator,
            mint: *mint,
            hash: [0x66; 32],
            score: 90,
            tag: [0x88; 32],
            uri: b"https://validation.example/evidence.json".to_vec(),
            evidence_hash: [0x99; 32],
        }
    }

    pub fn instruction(&self) -> Instruction {
        let data = [
            &[151, 33, 222, 44, 230, 69, 231, 9][..],
            &self.hash,
            &[self.score],
            &self.tag,
            &text(&self.uri),
            &self.evidence_hash,
        ]
        .concat();
        Instruction {
            program_id: program_id(),
            accounts: vec![
                signer(self.validator),
                signer_and_payer(self.validator),
                writable(agent_identity(&self.mint)),
                readonly(self.mint),
                writable(request_address(&self.mint, &self.validator, &self.hash)),
                writable(response_address(&self.mint, &self.validator, &self.hash)),
                readonly(system_program()),
                readonly(event_authority()),
                readonly(program_id()),
            ],
            data,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationRequest {
    pub nft_mint: Address,
    pub validator: Address,
    pub request_hash: [u8; 32],
    pub tag: [u8; 32],
    pub responded: bool,
    pub created_at: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationResponse {
    pub nft_mint: Address,
    pub validator: Address,
    pub request_hash: [u8; 32],
    pub score: u8,
    pub tag: [u8; 32],
    pub created_at: i64,
    pub evidence_hash: [u8; 32],
    pub last_update: i64,
    pub response_count: u64,
}

impl Localnet {
    /// X84's 146 bytes, then the version (R12).
    pub fn request(
        &self,
        mint: &Address,
        validator: &Address,
        hash: &[u8; 32],
    ) -> ValidationRequest {
        let seeds: &[&[u8]] = &[
            b"val_request",
            mint.as_ref(),
            validator.as_ref(),
            &hash[..8],
        ];
        let (at, bump) = Address::find_program_address(seeds, &program_id());
        let account = self.account(&at);
        assert_eq!((account.owner, account.data.len()), (program_id(), 147));
        let mut fields = Fields::of(&account.data, [130, 174, 153, 111, 74, 241, 40, 140]);
        let request = ValidationRequest {
            nft_mint: fields.key(),
            validator: fields.key(),
            request_hash: fields.bytes32(),
            tag: fields.bytes32(),
            responded: fields.flag(),
            created_at: fields.i64(),
        };
        assert_eq!((fields.u8(), fields.u8()), (bump, 1)); // R12: version
        fields.end();
        request
    }

    /// X84's 146 bytes first, then ours (R12).
    pub fn response(
        &self,
        mint: &Address,
        validator: &Address,
        hash: &[u8; 32],
    ) -> ValidationResponse {
        let seeds: &[&[u8]] = &[
            b"val_response",
            mint.as_ref(),
            validator.as_ref(),
            &hash[..8],
        ];
        let (at, bump) = Address::find_program_address(seeds, &program_id());
        let account = self.account(&at);
        assert_eq!(account.owner, program_id());
        let mut fields = Fields::of(&account.data, [146, 167, 252, 222, 192, 143, 244, 20]);
        let (nft_mint, validator, request_hash) = (fields.key(), fields.key(), fields.bytes32());
        let (score, tag, created_at) = (fields.u8(), fields.bytes32(), fields.i64());
        assert_eq!(fields.u8(), bump);
        assert_eq!(account.data.len() - fields.remaining(), 146);
        assert_eq!(fields.u8(), 1); // R12: version
        let response = ValidationResponse {
            nft_mint,
            validator,
            request_hash,
            score,
            tag,
            created_at,
            evidence_hash: fields.bytes32(),
            last_update: fields.i64(),
            response_count: fields.u64(),
        };
        fields.end();
        response
    }
}
