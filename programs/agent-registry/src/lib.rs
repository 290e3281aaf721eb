//! Concord's ERC-8004 registry for Solana.
//!
//! This file is a table of contents. Each instruction lives in its own file under
//! [`instructions`], each account type with its transitions under [`state`]; every preimage
//! and every PDA seed comes from `concord-canonical`.
use anchor_lang::prelude::*;

pub mod account_creation;
pub mod account_data;
pub mod agent_mint;
pub mod consent;
pub mod ed25519;
pub mod error;
pub mod event_emission;
pub mod events;
pub mod extra_account_metas;
#[cfg(all(
    target_os = "solana",
    feature = "custom-heap",
    not(feature = "no-entrypoint")
))]
mod heap;
pub mod instructions;
pub mod portable_text;
pub mod state;
pub mod transfer_in_progress;

#[cfg(target_os = "solana")]
use sbf_rt as _;

pub use error::ConcordError;
pub use events::*;
pub use instructions::*;
pub use state::*;

// build.rs chooses it.
declare_id!(Pubkey::from_str_const(env!("CONCORD_PROGRAM_ID")));

// Where to report a vulnerability, readable in the deployed bytes.
#[cfg(not(feature = "no-entrypoint"))]
solana_security_txt::security_txt! {
    name: "Concord agent registry",
    project_url: "https://github.com/concord-registries/concord",
    contacts: "link:https://github.com/concord-registries/concord/security/advisories/new",
    policy: "https://github.com/concord-registries/concord/blob/main/SECURITY.md",
    source_code: "https://github.com/concord-registries/concord"
}

#[program]
#[allow(clippy::too_many_arguments)] // x84's ABI passes them flat
pub mod agent_registry {
    use super::*;

    /// Stores the chain's CAIP-2 id (R9). Once, by the program's upgrade authority, which becomes
    /// the registry's.
    ///
    /// Errors, in order: `NotUpgradeAuthority`, `AlreadyInitialized`, `MalformedChainId`.
    pub fn initialize(ctx: Context<Initialize>, chain: String) -> Result<()> {
        ctx.accounts.initialize(&chain)
    }

    /// Mints a new agent to `owner`, at `payer`'s cost (R4). The agent's id is the address that `payer` and `nonce`
    /// derive; `nonce` is any number that this payer has not used. `uri`: at most 200 bytes of UTF-8 without NUL (R17).
    ///
    /// Errors, in order: `LengthLimit`, `AccountMismatch` (mint), `AlreadyInitialized`, `AccountMismatch`.
    pub fn register_agent(ctx: Context<RegisterAgent>, nonce: u64, uri: String) -> Result<()> {
        ctx.accounts.register_agent(nonce, uri)
    }

    /// Token-2022 calls this in every transfer of an agent's mint (R4); nobody else can.
    ///
    /// Errors, in order: `NotInTransfer`, `TransferRefused`.
    #[instruction(discriminator = extra_account_metas::EXECUTE)]
    pub fn transfer_hook(ctx: Context<TransferHook>, amount: u64) -> Result<()> {
        ctx.accounts.transfer_hook(amount)
    }

    /// Gives the agent's token another URI of at most 200 bytes (R17). By the owner.
    ///
    /// Errors, in order: `AgentNotFound`, `NotAuthorized`, `LengthLimit`.
    pub fn set_agent_uri(ctx: Context<SetAgentUri>, uri: String) -> Result<()> {
        ctx.accounts.set_agent_uri(uri)
    }

    /// Sets the metadata value of `key`: at most 256 bytes under at most 32 (R17). By the owner.
    ///
    /// Errors, in order: `AgentNotFound`, `NotAuthorized`, `ReservedKey`, `LengthLimit`.
    pub fn set_metadata(ctx: Context<SetMetadata>, key: String, value: Vec<u8>) -> Result<()> {
        ctx.accounts.set_metadata(key, value)
    }

    /// Sets where the agent is paid (R3). By the owner; the new wallet signs too. Unless it is the
    /// owner's key, the transaction's message does not let it be written, whoever makes this call.
    ///
    /// Errors, in order: `AgentNotFound`, `NotAuthorized`, `WalletZero`, `WalletConsentMissing`.
    pub fn set_agent_wallet(ctx: Context<SetAgentWallet>) -> Result<()> {
        ctx.accounts.set_agent_wallet()
    }

    /// Leaves the agent without a wallet. By the owner.
    ///
    /// Errors, in order: `AgentNotFound`, `NotAuthorized`.
    pub fn unset_agent_wallet(ctx: Context<OwnerSetting>) -> Result<()> {
        ctx.accounts.unset_agent_wallet()
    }

    /// Names the one key whose authorizations count (R7); the default key for the owner's own.
    /// By the owner; the new authority signs too, as a new wallet does.
    ///
    /// Errors, in order: `AgentNotFound`, `NotAuthorized`, `AuthorityConsentMissing`.
    pub fn set_feedback_authority(ctx: Context<SetFeedbackAuthority>) -> Result<()> {
        ctx.accounts.set_feedback_authority()
    }

    /// Chooses the authorization schemes that count: 1 = x84, 2 = bounded, 3 = both (R10). By
    /// the owner.
    ///
    /// Errors, in order: `AgentNotFound`, `NotAuthorized`, `AuthSchemeUnknown`.
    pub fn set_auth_schemes(ctx: Context<OwnerSetting>, schemes: u8) -> Result<()> {
        ctx.accounts.set_auth_schemes(schemes)
    }

    /// Names the successor of the registry's authority, who then accepts; the default key
    /// withdraws. By the authority.
    ///
    /// Errors: `NotAuthorized`.
    pub fn propose_registry_authority(
        ctx: Context<RegistryChange>,
        successor: Pubkey,
    ) -> Result<()> {
        ctx.accounts.propose_registry_authority(successor)
    }

    /// Makes the caller, whom the authority has proposed, the authority.
    ///
    /// Errors: `NotAuthorized`.
    pub fn accept_registry_authority(ctx: Context<RegistryChange>) -> Result<()> {
        ctx.accounts.accept_registry_authority()
    }

    /// Whether payments in `token`, a mint, count (R13); at most 8 do. What was proven stays. By the
    /// registry's authority.
    ///
    /// Errors, in order: `NotAuthorized`, `ListTooLong`.
    pub fn set_payment_token(
        ctx: Context<RegistryChange>,
        token: Pubkey,
        listed: bool,
    ) -> Result<()> {
        ctx.accounts.set_payment_token(token, listed)
    }

    /// Whether payment proofs by `facilitator` count (R13); those of at most 16 do. What was proven
    /// stays. By the registry's authority.
    ///
    /// Errors, in order: `NotAuthorized`, `ListTooLong`.
    pub fn set_facilitator(
        ctx: Context<RegistryChange>,
        facilitator: Pubkey,
        listed: bool,
    ) -> Result<()> {
        ctx.accounts.set_facilitator(facilitator, listed)
    }

    /// Gives the reviewer's entry its payment proof (R13). The Ed25519 precompile instruction
    /// with the facilitator's signature stands directly before this one (R11).
    ///
    /// Errors, in order (SPEC 3a): `FeedbackNotFound`, `NotAuthorized`, `AlreadyRevoked`,
    /// `PaymentAlreadyProven`, `PaymentSpent`, `AuthMissing`, `AuthMalformed`, `AuthExpired`,
    /// `PaymentWrongPayer`, `PaymentWrongToken`, `PaymentZeroAmount`, `PaymentInFuture`,
    /// `PaymentWrongFacilitator`, `AuthWrongSigner`, `AuthWrongMessage`.
    pub fn attach_payment_proof(
        ctx: Context<AttachPaymentProof>,
        feedback_index: u64,
        payment: Payment,
    ) -> Result<()> {
        ctx.accounts.attach_payment_proof(feedback_index, payment)
    }

    /// Records authorized feedback by `reviewer` about the agent (R5, R8 to R12).
    ///
    /// The Ed25519 precompile instruction that carries the agent's signature stands directly
    /// before this one (R11). `feedback_index` is the reviewer's last index for this agent
    /// plus one; `score` is 0 to 100; tags and hash are opaque; `detail_uri` is at most 200
    /// bytes of UTF-8 without NUL and goes to the event only.
    ///
    /// Errors, in order (SPEC 3a): `ScoreOutOfRange`, `AgentNotFound`, `SelfFeedback`,
    /// `LengthLimit`, `FeedbackIndexStale`, `AuthMissing`, `AuthMalformed`, `AuthExpired`,
    /// `AuthIndexLimit`, `AuthWrongSigner`, `AuthWrongMessage`, `CounterExhausted`.
    pub fn give_feedback(
        ctx: Context<GiveFeedback>,
        feedback_index: u64,
        score: u8,
        tag1: [u8; 32],
        tag2: [u8; 32],
        detail_uri: String,
        detail_hash: [u8; 32],
        auth: FeedbackAuthorization,
    ) -> Result<()> {
        ctx.accounts.give_feedback(Feedback {
            feedback_index,
            score,
            tag1,
            tag2,
            detail_uri,
            detail_hash,
            auth,
        })
    }

    /// Marks the reviewer's own entry as revoked; it leaves the counters, never the index.
    ///
    /// Errors, in order: `FeedbackNotFound`, `AlreadyRevoked`.
    pub fn revoke_feedback(ctx: Context<RevokeFeedback>, feedback_index: u64) -> Result<()> {
        ctx.accounts.revoke_feedback(feedback_index)
    }

    /// Responds to an authorized feedback (R19): anyone, also to a revoked one. `response_uri`
    /// is 1 to 200 bytes of UTF-8 without NUL; it and the opaque hash go to the event only.
    ///
    /// Errors, in order (SPEC 3a): `FeedbackNotFound` (index 0), `EmptyUri`, `FeedbackNotFound`
    /// (beyond the last), `LengthLimit`, `CounterExhausted`.
    pub fn append_response(
        ctx: Context<AppendResponse>,
        client: Pubkey,
        feedback_index: u64,
        response_uri: String,
        response_hash: [u8; 32],
    ) -> Result<()> {
        ctx.accounts
            .append_response(client, feedback_index, response_uri, response_hash)
    }

    /// Records open feedback by `client` about the agent (R16 to R18): anyone but the agent's
    /// owner and feedback authority.
    ///
    /// `feedback_index` is the client's last index for this agent plus one. The feedback says
    /// `value / 10^value_decimals`. Tags are at most 32 bytes of UTF-8 without NUL, endpoint
    /// and URI at most 200; any may be empty. Endpoint, URI and hash go to the event only.
    ///
    /// Errors, in order (SPEC 3a): `DecimalsOutOfRange`, `ValueOutOfRange`, `AgentNotFound`,
    /// `SelfFeedback`, `LengthLimit`, `FeedbackIndexStale`, `CounterExhausted`.
    pub fn give_open_feedback(
        ctx: Context<GiveOpenFeedback>,
        feedback_index: u64,
        value: i128,
        value_decimals: u8,
        tag1: String,
        tag2: String,
        endpoint: String,
        feedback_uri: String,
        feedback_hash: [u8; 32],
    ) -> Result<()> {
        ctx.accounts.give_open_feedback(OpenFeedbackArguments {
            feedback_index,
            value,
            value_decimals,
            tag1,
            tag2,
            endpoint,
            feedback_uri,
            feedback_hash,
        })
    }

    /// Marks the client's own open entry as revoked; it leaves the summaries, never the index.
    ///
    /// Errors, in order: `FeedbackNotFound`, `AlreadyRevoked`.
    pub fn revoke_open_feedback(
        ctx: Context<RevokeOpenFeedback>,
        feedback_index: u64,
    ) -> Result<()> {
        ctx.accounts.revoke_open_feedback(feedback_index)
    }

    /// Responds to an open feedback, as `append_response` does to an authorized one.
    pub fn append_open_response(
        ctx: Context<AppendOpenResponse>,
        client: Pubkey,
        feedback_index: u64,
        response_uri: String,
        response_hash: [u8; 32],
    ) -> Result<()> {
        ctx.accounts
            .append_open_response(client, feedback_index, response_uri, response_hash)
    }

    /// Returns the summary of the listed clients' open feedback (R16) as return data; changes
    /// nothing. An empty tag matches all. A client listed twice counts twice.
    ///
    /// Further accounts, for each client as listed: the client's `OpenClientIndex` address, then
    /// their entries 1 to last.
    ///
    /// Errors, in order: `EmptyClients`, `SummaryGap`, `CounterExhausted`.
    pub fn open_summary<'info>(
        ctx: Context<'info, OpenEntries<'info>>,
        clients: Vec<Pubkey>,
        tag1: String,
        tag2: String,
    ) -> Result<OpenSummary> {
        ctx.accounts
            .open_summary(ctx.remaining_accounts, &clients, &tag1, &tag2)
    }

    /// Returns what `open_summary` computes its answer from. Parts over different clients, or over
    /// ranges of one client's entries that do not overlap, add up field by field (R16).
    ///
    /// With `range` exactly one client is listed, and the further accounts are that client's index
    /// and the entries of the range.
    ///
    /// Errors, in order: `EmptyClients`, `SummaryRange`, `SummaryGap`, `CounterExhausted`.
    pub fn open_summary_part<'info>(
        ctx: Context<'info, OpenEntries<'info>>,
        clients: Vec<Pubkey>,
        tag1: String,
        tag2: String,
        range: Option<EntryRange>,
    ) -> Result<OpenSummaryPart> {
        ctx.accounts
            .open_summary_part(ctx.remaining_accounts, &clients, &tag1, &tag2, range)
    }

    /// The owner asks `validator` to validate the agent (R20). Hash and tag are opaque;
    /// `request_uri` is at most 200 bytes of UTF-8 without NUL and goes to the event only.
    ///
    /// Errors, in order (SPEC 3a): `ValidatorZero`, `RequestExists`, `AgentNotFound`,
    /// `NotAuthorized`, `RequestPrefixCollision`, `LengthLimit`.
    pub fn validation_request(
        ctx: Context<RequestValidation>,
        validator: Pubkey,
        request_hash: [u8; 32],
        tag: [u8; 32],
        request_uri: String,
    ) -> Result<()> {
        ctx.accounts
            .validation_request(validator, request_hash, tag, request_uri)
    }

    /// The validator responds to a request, or responds to it again (R20). `score` is
    /// 0 to 100; `evidence_uri` is at most 200 bytes of UTF-8 without NUL and goes to the event
    /// only.
    ///
    /// Errors, in order (SPEC 3a): `RequestNotFound`, `NotValidator`, `ScoreOutOfRange`,
    /// `LengthLimit`, `CounterExhausted`.
    pub fn validation_response(
        ctx: Context<RespondToValidation>,
        request_hash: [u8; 32],
        score: u8,
        tag: [u8; 32],
        evidence_uri: String,
        evidence_hash: [u8; 32],
    ) -> Result<()> {
        ctx.accounts
            .validation_response(request_hash, score, tag, evidence_uri, evidence_hash)
    }
}
