use super::AccountType;
use alloc::string::String;
use borsh::BorshDeserialize;
use concord_canonical::limits::TAG_MAX;
use solana_address::Address;

/// One authorized feedback: X84's fields, then ours after `bump` (R12).
#[derive(Debug, Clone, PartialEq, Eq, BorshDeserialize)]
pub struct FeedbackEntry {
    /// The agent's mint.
    pub nft_mint: Address,
    /// The client who gave it.
    pub reviewer: Address,
    /// 0 to 100.
    pub score: u8,
    /// Opaque (R14).
    pub tag1: [u8; 32],
    /// Opaque (R14).
    pub tag2: [u8; 32],
    /// Always true (R10).
    pub auth_verified: bool,
    /// A facilitator proved its payment (R13).
    pub has_payment_proof: bool,
    /// In the token's smallest unit; 0 without proof.
    pub payment_amount: u64,
    /// The token's mint; all zero without proof.
    pub payment_token: Address,
    /// The client revoked it.
    pub revoked: bool,
    /// Unix seconds.
    pub created_at: i64,
    /// The bump of its address.
    pub bump: u8,
    /// The layout that the program wrote (R12).
    pub version: u8,
    /// Counts from 1, per agent and client (R8).
    pub feedback_index: u64,
    /// The scheme that authorized it: 1 = x84, 2 = bounded (R10).
    pub auth_scheme: u8,
    /// Responses appended to it (R19).
    pub response_count: u64,
    /// When it was given, the client was not the agent's owner, feedback authority or wallet (R13).
    pub by_stranger: bool,
}

impl AccountType for FeedbackEntry {
    const NAME: &'static str = "FeedbackEntry";
    const DISCRIMINATOR: [u8; 8] = [203, 62, 143, 114, 243, 30, 218, 29];
    const SPACE: usize = 208;
}

/// How far one client's authorized feedback about one agent has counted.
#[derive(Debug, Clone, PartialEq, Eq, BorshDeserialize)]
pub struct ClientIndex {
    /// The agent's mint.
    pub agent: Address,
    /// The client.
    pub client: Address,
    /// The index of the client's latest feedback.
    pub last_index: u64,
    /// 1 for the agent's first client, 2 for its second (R46).
    pub ordinal: u64,
    /// The bump of its address.
    pub bump: u8,
    /// The layout that the program wrote (R12).
    pub version: u8,
}

impl AccountType for ClientIndex {
    const NAME: &'static str = "ClientIndex";
    const DISCRIMINATOR: [u8; 8] = [238, 41, 224, 47, 148, 252, 219, 166];
    const SPACE: usize = 90;
}

/// One open feedback (R16).
#[derive(Debug, Clone, PartialEq, Eq, BorshDeserialize)]
pub struct OpenFeedback {
    /// The agent's mint.
    pub nft_mint: Address,
    /// The client who gave it.
    pub client: Address,
    /// Counts from 1, per agent and client (R8).
    pub feedback_index: u64,
    /// It means `value / 10^value_decimals`.
    pub value: i128,
    /// 0 to 18.
    pub value_decimals: u8,
    /// The client revoked it.
    pub revoked: bool,
    /// Unix seconds.
    pub created_at: i64,
    /// Responses appended to it (R19).
    pub response_count: u64,
    /// The bump of its address.
    pub bump: u8,
    /// The layout that the program wrote (R12).
    pub version: u8,
    /// At most 32 bytes (R14).
    pub tag1: String,
    /// At most 32 bytes (R14).
    pub tag2: String,
}

impl AccountType for OpenFeedback {
    const NAME: &'static str = "OpenFeedback";
    const DISCRIMINATOR: [u8; 8] = [141, 237, 192, 62, 31, 77, 132, 246];
    const SPACE: usize = 124 + 2 * TAG_MAX;
}

/// How far one client's open feedback about one agent has counted.
#[derive(Debug, Clone, PartialEq, Eq, BorshDeserialize)]
pub struct OpenClientIndex {
    /// The agent's mint.
    pub agent: Address,
    /// The client.
    pub client: Address,
    /// The index of the client's latest feedback.
    pub last_index: u64,
    /// 1 for the agent's first client, 2 for its second (R46).
    pub ordinal: u64,
    /// The bump of its address.
    pub bump: u8,
    /// The layout that the program wrote (R12).
    pub version: u8,
}

impl AccountType for OpenClientIndex {
    const NAME: &'static str = "OpenClientIndex";
    const DISCRIMINATOR: [u8; 8] = [173, 118, 236, 175, 216, 69, 4, 212];
    const SPACE: usize = 90;
}

/// Marks a payment that proved one feedback: it proves no other (R13).
#[derive(Debug, Clone, PartialEq, Eq, BorshDeserialize)]
pub struct SpentPayment {
    /// The agent of the feedback that it proved.
    pub nft_mint: Address,
    /// The client of that feedback.
    pub reviewer: Address,
    /// The index of that feedback.
    pub feedback_index: u64,
    /// The bump of its address.
    pub bump: u8,
    /// The layout that the program wrote (R12).
    pub version: u8,
}

impl AccountType for SpentPayment {
    const NAME: &'static str = "SpentPayment";
    const DISCRIMINATOR: [u8; 8] = [77, 205, 185, 208, 111, 79, 133, 247];
    const SPACE: usize = 82;
}
