//! Events, emitted by self-CPI so that a full transaction log cannot swallow them.
//! Names, and with them the discriminators, are X84's where X84 has the event.
use anchor_lang::prelude::*;

/// An agent was minted. Its wallet is `owner`.
#[event]
pub struct AgentRegistered {
    pub nft_mint: Pubkey,
    pub owner: Pubkey,
    pub metadata_uri: String,
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// The agent's token went to another owner. The agent has no wallet and no feedback authority
/// now, and its auth schemes are the default (R4): the canonical `AgentWalletSet` (none).
#[event]
pub struct AgentTransferred {
    pub nft_mint: Pubkey,
    pub from: Pubkey,
    pub to: Pubkey,
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// The owner gave the agent's token another URI.
#[event]
pub struct AgentUriSet {
    pub nft_mint: Pubkey,
    pub owner: Pubkey,
    pub metadata_uri: String,
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// The owner set a metadata value, new or in place of another.
#[event]
pub struct MetadataSet {
    pub nft_mint: Pubkey,
    pub owner: Pubkey,
    pub metadata_key: String,
    pub metadata_value: Vec<u8>,
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// The agent has another wallet, or none: then `agent_wallet` is all zero (R3).
#[event]
pub struct AgentWalletSet {
    pub nft_mint: Pubkey,
    pub owner: Pubkey,
    pub agent_wallet: Pubkey,
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// Another key signs authorizations; all zero = the owner's (R7).
#[event]
pub struct FeedbackAuthoritySet {
    pub nft_mint: Pubkey,
    pub owner: Pubkey,
    pub feedback_authority: Pubkey,
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// Other schemes authorize feedback: 1 = x84, 2 = bounded, 3 = both (R10).
#[event]
pub struct AuthSchemesSet {
    pub nft_mint: Pubkey,
    pub owner: Pubkey,
    pub auth_schemes: u8,
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// The registry was initialized for the cluster with this CAIP-2 id (R9).
#[event]
pub struct RegistryInitialized {
    pub authority: Pubkey,
    pub chain: String,
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// The registry's authority named its successor; all zero = withdrew the name.
#[event]
pub struct RegistryAuthorityProposed {
    pub authority: Pubkey,
    pub proposed_authority: Pubkey,
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// The successor accepted.
#[event]
pub struct RegistryAuthorityAccepted {
    pub from: Pubkey,
    pub to: Pubkey,
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// Payments in `token` count from now on, or count no longer (R13).
#[event]
pub struct PaymentTokenListed {
    pub token: Pubkey,
    pub listed: bool,
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// Proofs by `facilitator` count from now on, or count no longer (R13).
#[event]
pub struct FacilitatorListed {
    pub facilitator: Pubkey,
    pub listed: bool,
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// A feedback got its payment proof; its score moved to the verified counters (R13). With the
/// chain and the program id it holds every word that the facilitator signed.
#[event]
pub struct PaymentProven {
    pub nft_mint: Pubkey,
    /// Who paid.
    pub reviewer: Pubkey,
    pub feedback_index: u64,
    /// The agent's wallet at `paid_at`, by the facilitator's word: compare it with the
    /// `AgentWalletSet` and `AgentTransferred` events before that time.
    pub payee: Pubkey,
    pub payment_token: Pubkey,
    /// In the token's smallest unit.
    pub payment_amount: u64,
    /// keccak256 of the task reference's dedupe key.
    pub task_ref_hash: [u8; 32],
    /// When the payment settled, unix seconds, by the facilitator's word.
    pub paid_at: u64,
    /// The proof's, unix seconds.
    pub expiry: u64,
    pub facilitator: Pubkey,
    /// The facilitator's, read from the precompile's instruction (R11).
    pub signature: [u8; 64],
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// X84's fields in X84's order, then ours (R12).
#[event]
pub struct FeedbackGiven {
    pub nft_mint: Pubkey,
    pub reviewer: Pubkey,
    pub score: u8,
    pub tag1: [u8; 32],
    pub tag2: [u8; 32],
    pub has_payment_proof: bool,
    pub payment_amount: u64,
    pub detail_uri: String,
    pub detail_hash: [u8; 32],
    /// The signature that the precompile verified, read from its instruction (R11).
    pub feedback_auth: [u8; 64],
    /// The cluster's clock, seconds.
    pub timestamp: i64,
    pub feedback_index: u64,
    /// 1 = x84, 2 = bounded.
    pub auth_scheme: u8,
}

/// The reviewer withdrew an entry.
#[event]
pub struct FeedbackRevoked {
    pub nft_mint: Pubkey,
    pub reviewer: Pubkey,
    pub feedback_index: u64,
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// Somebody responded to an authorized feedback.
#[event]
pub struct ResponseAppended {
    pub nft_mint: Pubkey,
    pub client: Pubkey,
    pub feedback_index: u64,
    pub responder: Pubkey,
    pub response_uri: String,
    pub response_hash: [u8; 32],
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// A client gave open feedback: what the EVM registry's `NewFeedback` carries, in its order.
#[event]
pub struct OpenFeedbackGiven {
    pub nft_mint: Pubkey,
    pub client: Pubkey,
    pub feedback_index: u64,
    pub value: i128,
    pub value_decimals: u8,
    pub tag1: String,
    pub tag2: String,
    pub endpoint: String,
    pub feedback_uri: String,
    pub feedback_hash: [u8; 32],
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// The client withdrew an open feedback.
#[event]
pub struct OpenFeedbackRevoked {
    pub nft_mint: Pubkey,
    pub client: Pubkey,
    pub feedback_index: u64,
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// Somebody responded to an open feedback.
#[event]
pub struct OpenResponseAppended {
    pub nft_mint: Pubkey,
    pub client: Pubkey,
    pub feedback_index: u64,
    pub responder: Pubkey,
    pub response_uri: String,
    pub response_hash: [u8; 32],
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// The agent's owner asked a validator. X84's fields in X84's order, then ours.
#[event]
pub struct ValidationRequested {
    pub nft_mint: Pubkey,
    pub validator: Pubkey,
    pub request_hash: [u8; 32],
    pub tag: [u8; 32],
    pub request_uri: String,
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}

/// The validator responded, for the first time or again (R20). X84's fields in X84's order,
/// then ours.
#[event]
pub struct ValidationResponded {
    pub nft_mint: Pubkey,
    pub validator: Pubkey,
    pub score: u8,
    pub tag: [u8; 32],
    pub evidence_uri: String,
    pub evidence_hash: [u8; 32],
    pub request_hash: [u8; 32],
    /// The cluster's clock, seconds.
    pub timestamp: i64,
}
