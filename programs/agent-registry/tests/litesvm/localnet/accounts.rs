//! The program's accounts and events, field by field, from their documented layouts.

use super::{Localnet, instructions as address};
use sha2::{Digest, Sha256};
use solana_address::Address;

/// Anchor's: sha256(name)[..8].
pub fn discriminator(name: &str) -> [u8; 8] {
    Sha256::digest(name)[..8].try_into().unwrap()
}

/// Takes fields off the front of an account's or event's bytes.
pub struct Fields(Vec<u8>);

impl Fields {
    /// Bytes that begin with `discriminator`.
    #[track_caller]
    pub fn of(bytes: &[u8], discriminator: [u8; 8]) -> Self {
        assert_eq!(bytes[..8], discriminator);
        Self(bytes[8..].to_vec())
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let rest = self.0.split_off(N);
        std::mem::replace(&mut self.0, rest).try_into().unwrap()
    }

    pub fn u8(&mut self) -> u8 {
        self.take::<1>()[0]
    }

    pub fn flag(&mut self) -> bool {
        match self.u8() {
            0 => false,
            1 => true,
            other => panic!("a flag is 0 or 1, not {other}"),
        }
    }

    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    pub fn i64(&mut self) -> i64 {
        i64::from_le_bytes(self.take())
    }

    pub fn i128(&mut self) -> i128 {
        i128::from_le_bytes(self.take())
    }

    pub fn bytes32(&mut self) -> [u8; 32] {
        self.take()
    }

    pub fn bytes64(&mut self) -> [u8; 64] {
        self.take()
    }

    pub fn key(&mut self) -> Address {
        self.bytes32().into()
    }

    pub fn text(&mut self) -> String {
        let length = u32::from_le_bytes(self.take()) as usize;
        let rest = self.0.split_off(length);
        String::from_utf8(std::mem::replace(&mut self.0, rest)).unwrap()
    }

    /// A vector of keys.
    pub fn keys(&mut self) -> Vec<Address> {
        let count = u32::from_le_bytes(self.take());
        (0..count).map(|_| self.key()).collect()
    }

    /// A vector of bytes.
    pub fn counted(&mut self) -> Vec<u8> {
        let length = u32::from_le_bytes(self.take()) as usize;
        let rest = self.0.split_off(length);
        std::mem::replace(&mut self.0, rest)
    }

    /// Room that is reserved and not in use.
    #[track_caller]
    pub fn end_in_zeros(self) {
        assert!(self.0.iter().all(|byte| *byte == 0), "{:?}", self.0);
    }

    /// Bytes that are not taken off yet.
    pub fn remaining(&self) -> usize {
        self.0.len()
    }

    #[track_caller]
    pub fn end(self) {
        assert_eq!(self.0, [0u8; 0]);
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentIdentity {
    pub nft_mint: Address,
    pub owner: Address,
    pub owner_version: u64,
    pub feedback_authority: Address,
    pub agent_wallet: Address,
    pub auth_schemes: u8,
    pub created_at: i64,
    pub updated_at: i64,
    /// Count and sum of scores.
    pub verified: (u64, u64),
    pub unverified: (u64, u64),
    pub validation_count: u64,
    pub client_count: u64,
    pub open_client_count: u64,
    pub wallet_set_at: i64,
}

pub struct ClientIndex {
    pub agent: Address,
    pub client: Address,
    pub last_index: u64,
    pub ordinal: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedbackEntry {
    pub nft_mint: Address,
    pub reviewer: Address,
    pub score: u8,
    pub tags: [[u8; 32]; 2],
    pub auth_verified: bool,
    pub has_payment_proof: bool,
    pub payment: (u64, Address),
    pub revoked: bool,
    pub created_at: i64,
    pub feedback_index: u64,
    pub auth_scheme: u8,
    pub response_count: u64,
    pub by_stranger: bool,
}

impl Localnet {
    pub fn identity(&self, mint: &Address) -> AgentIdentity {
        let (_, bump) =
            Address::find_program_address(&[b"agent", mint.as_ref()], &super::program_id());
        let account = self.account(&address::agent_identity(mint));
        let mut fields = Fields::of(&account.data, [11, 149, 31, 27, 186, 76, 241, 72]);
        let mut identity = AgentIdentity {
            nft_mint: fields.key(),
            owner: fields.key(),
            owner_version: fields.u64(),
            feedback_authority: fields.key(),
            agent_wallet: fields.key(),
            auth_schemes: fields.u8(),
            created_at: fields.i64(),
            updated_at: fields.i64(),
            verified: (fields.u64(), fields.u64()),
            unverified: (fields.u64(), fields.u64()),
            validation_count: fields.u64(),
            client_count: fields.u64(),
            open_client_count: fields.u64(),
            wallet_set_at: 0,
        };
        assert_eq!((fields.u8(), fields.u8()), (bump, 1)); // R12: version
        identity.wallet_set_at = fields.i64();
        assert_eq!(fields.remaining(), 56); // R12: reserve
        fields.end_in_zeros();
        identity
    }

    pub fn client_index(&self, mint: &Address, client: &Address) -> ClientIndex {
        let seeds: &[&[u8]] = &[b"client", mint.as_ref(), client.as_ref()];
        let (_, bump) = Address::find_program_address(seeds, &super::program_id());
        let account = self.account(&address::client_index(mint, client));
        let mut fields = Fields::of(&account.data, [238, 41, 224, 47, 148, 252, 219, 166]);
        let index = ClientIndex {
            agent: fields.key(),
            client: fields.key(),
            last_index: fields.u64(),
            ordinal: fields.u64(),
        };
        assert_eq!((fields.u8(), fields.u8()), (bump, 1)); // R12: version
        fields.end();
        index
    }

    /// X84's 189 bytes first, then ours (R12).
    pub fn entry(&self, mint: &Address, client: &Address, index: u64) -> FeedbackEntry {
        let bytes = index.to_le_bytes();
        let seeds: &[&[u8]] = &[b"feedback", mint.as_ref(), client.as_ref(), &bytes];
        let (at, stored_bump) = Address::find_program_address(seeds, &super::program_id());
        let account = self.account(&at);
        let mut fields = Fields::of(&account.data, [203, 62, 143, 114, 243, 30, 218, 29]);
        let (nft_mint, reviewer, score) = (fields.key(), fields.key(), fields.u8());
        let tags = [fields.bytes32(), fields.bytes32()];
        let (auth_verified, has_payment_proof) = (fields.flag(), fields.flag());
        let payment = (fields.u64(), fields.key());
        let (revoked, created_at) = (fields.flag(), fields.i64());
        assert_eq!(fields.u8(), stored_bump);
        assert_eq!(account.data.len() - fields.0.len(), 189);
        assert_eq!(fields.u8(), 1); // R12: version
        let entry = FeedbackEntry {
            nft_mint,
            reviewer,
            score,
            tags,
            auth_verified,
            has_payment_proof,
            payment,
            revoked,
            created_at,
            feedback_index: fields.u64(),
            auth_scheme: fields.u8(),
            response_count: fields.u64(),
            by_stranger: fields.flag(),
        };
        fields.end();
        entry
    }
}

impl Localnet {
    /// Names a feedback authority by hand, without the owner's instruction.
    pub fn set_feedback_authority(&mut self, mint: &Address, authority: &Address) {
        const OFFSET: usize = 8 + 32 + 32 + 8;
        let at = address::agent_identity(mint);
        let mut account = self.account(&at);
        account.data[OFFSET..OFFSET + 32].copy_from_slice(authority.as_ref());
        self.svm.set_account(at, account).unwrap();
    }
}
