//! What the registries report, in one type for both chains (§3a).
//!
//! A decoder answers with [`Decoded`]: the events in order, and whatever came from a registry and
//! did not decode, raw. Nothing is dropped but native extras that repeat another event.
use crate::svm::Address;
use alloc::{string::String, vec::Vec};
use borsh::{BorshDeserialize, BorshSerialize};
use concord_canonical::{Word, word::Decimal};
use core::fmt;

/// An agent's id (R1). It is written as a decimal number on EVM and in base58 on Solana.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, BorshSerialize, BorshDeserialize,
)]
pub enum AgentId {
    /// A uint256, big-endian.
    Evm(Word),
    /// The agent's mint.
    Svm(Address),
}

/// An account: a person, a contract, a program.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, BorshSerialize, BorshDeserialize,
)]
pub enum AccountId {
    /// An EVM address. It is written in lower case.
    Evm([u8; 20]),
    /// A Solana address.
    Svm(Address),
}

impl From<Address> for AgentId {
    fn from(mint: Address) -> Self {
        Self::Svm(mint)
    }
}

impl From<Address> for AccountId {
    fn from(address: Address) -> Self {
        Self::Svm(address)
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evm(id) => Decimal(*id).fmt(f),
            Self::Svm(mint) => mint.fmt(f),
        }
    }
}

impl fmt::Display for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evm(address) => {
                let mut text = [b'0'; 2 + 2 * 20];
                text[1] = b'x';
                hex::encode_to_slice(address, &mut text[2..]).map_err(|_| fmt::Error)?;
                f.write_str(core::str::from_utf8(&text).map_err(|_| fmt::Error)?)
            }
            Self::Svm(address) => address.fmt(f),
        }
    }
}

/// Which kind of feedback.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, BorshSerialize, BorshDeserialize,
)]
pub enum Profile {
    /// With the agent's authorization: scores from 0 to 100 (R5 to R15).
    Authorized,
    /// Anyone's: fixed-point values (R16 to R18).
    Open,
}

/// The signature that authorized a feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, BorshSerialize, BorshDeserialize)]
pub struct AuthorizedBy {
    /// 1 = x84, 2 = bounded (R10).
    pub scheme: u8,
    /// Ed25519, as the precompile verified it (R11).
    pub signature: [u8; 64],
}

/// The tag of a validation (R14).
#[derive(Debug, Clone, PartialEq, Eq, Hash, BorshSerialize, BorshDeserialize)]
pub enum ValidationTag {
    /// As on EVM.
    Text(String),
    /// As on Solana: opaque.
    Bytes([u8; 32]),
}

/// An event of a registry: §3a's canonical events, and settings that only one chain has.
///
/// Its Borsh form is what an index stores, so a variant's place and fields stay as they are, and new
/// variants come last.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
#[non_exhaustive]
pub enum Event {
    /// An agent was registered. Its wallet is `owner` (R3).
    AgentRegistered {
        /// The new agent.
        agent: AgentId,
        /// Its owner and wallet.
        owner: AccountId,
        /// Where its registration file is.
        uri: String,
    },
    /// The agent has another owner. On Solana it has no wallet and no feedback authority
    /// now, and its auth schemes are the default (R4); on EVM an [`Event::AgentWalletSet`] says
    /// that the wallet is gone.
    AgentTransferred {
        /// The agent.
        agent: AgentId,
        /// Its former owner.
        from: AccountId,
        /// Its owner.
        to: AccountId,
    },
    /// The agent has another URI.
    AgentUriSet {
        /// The agent.
        agent: AgentId,
        /// Who set it.
        by: AccountId,
        /// Where the registration file is now.
        uri: String,
    },
    /// A metadata value was set, new or in place of another.
    MetadataSet {
        /// The agent.
        agent: AgentId,
        /// The key.
        key: String,
        /// The value.
        value: Vec<u8>,
    },
    /// The agent has another wallet, or none (R3).
    AgentWalletSet {
        /// The agent.
        agent: AgentId,
        /// Where it is paid.
        wallet: Option<AccountId>,
    },
    /// E: an account may act for one agent, or no account may (ERC-721's Approval).
    ApprovalSet {
        /// The agent.
        agent: AgentId,
        /// Its owner.
        owner: AccountId,
        /// Who is approved.
        approved: Option<AccountId>,
    },
    /// E: an account may act for every agent of an owner, or no longer (ERC-721's ApprovalForAll).
    OperatorSet {
        /// The owner.
        owner: AccountId,
        /// The operator.
        operator: AccountId,
        /// Whether it may.
        approved: bool,
    },
    /// S: another key signs the agent's authorizations (R7).
    FeedbackAuthoritySet {
        /// The agent.
        agent: AgentId,
        /// Its owner.
        owner: AccountId,
        /// The key; `None` for the owner's.
        authority: Option<AccountId>,
    },
    /// S: other schemes authorize feedback about the agent (R10).
    AuthSchemesSet {
        /// The agent.
        agent: AgentId,
        /// Its owner.
        owner: AccountId,
        /// 1 = x84, 2 = bounded, 3 = both.
        schemes: u8,
    },
    /// A client gave authorized feedback.
    AuthorizedFeedback {
        /// The agent.
        agent: AgentId,
        /// The reviewer.
        client: AccountId,
        /// Counts from 1, per agent and client.
        index: u64,
        /// 0 to 100.
        score: u8,
        /// Opaque (R14).
        tag1: [u8; 32],
        /// Opaque (R14).
        tag2: [u8; 32],
        /// Where the feedback file is.
        uri: String,
        /// Its hash (R21).
        hash: [u8; 32],
        /// S: the authorization. On EVM it is in the call's input.
        authorized_by: Option<AuthorizedBy>,
    },
    /// S: a facilitator proved an authorized feedback's payment (R13).
    PaymentProven {
        /// The agent.
        agent: AgentId,
        /// The reviewer, who paid.
        client: AccountId,
        /// The index of the feedback.
        index: u64,
        /// Who was paid; by the facilitator's word, the agent's wallet at `paid_at`.
        payee: AccountId,
        /// The token's mint.
        token: AccountId,
        /// In the token's smallest unit.
        amount: u64,
        /// keccak256 of the task reference's dedupe key.
        task_ref_hash: [u8; 32],
        /// When the payment settled, in Unix seconds.
        paid_at: u64,
        /// The proof's expiry, in Unix seconds.
        expiry: u64,
        /// Who stated it.
        facilitator: AccountId,
        /// The facilitator's signature.
        signature: [u8; 64],
    },
    /// A client gave open feedback.
    OpenFeedback {
        /// The agent.
        agent: AgentId,
        /// The client.
        client: AccountId,
        /// Counts from 1, per agent and client.
        index: u64,
        /// It means `value / 10^decimals`.
        value: i128,
        /// 0 to 18.
        decimals: u8,
        /// May be empty (R14).
        tag1: String,
        /// May be empty (R14).
        tag2: String,
        /// What was used of the agent.
        endpoint: String,
        /// Where the feedback file is.
        uri: String,
        /// Its hash (R21).
        hash: [u8; 32],
    },
    /// A client revoked a feedback.
    FeedbackRevoked {
        /// Of which kind.
        profile: Profile,
        /// The agent.
        agent: AgentId,
        /// The client.
        client: AccountId,
        /// The index of the feedback.
        index: u64,
    },
    /// Somebody responded to a feedback (R19).
    ResponseAppended {
        /// To which kind.
        profile: Profile,
        /// The agent.
        agent: AgentId,
        /// Whose feedback it is.
        client: AccountId,
        /// The index of the feedback.
        index: u64,
        /// Who responded.
        responder: AccountId,
        /// Where the response file is.
        uri: String,
        /// Its hash (R21).
        hash: [u8; 32],
    },
    /// A validator was asked (R20).
    ValidationRequested {
        /// The agent.
        agent: AgentId,
        /// Who was asked.
        validator: AccountId,
        /// The request's hash.
        request: [u8; 32],
        /// Where the request file is.
        uri: String,
        /// S: opaque.
        tag: Option<[u8; 32]>,
    },
    /// A validator responded, for the first time or again (R20).
    ValidationResponded {
        /// The agent.
        agent: AgentId,
        /// The validator.
        validator: AccountId,
        /// The request's hash.
        request: [u8; 32],
        /// 0 to 100.
        score: u8,
        /// Where the evidence is.
        uri: String,
        /// Its hash (R21).
        hash: [u8; 32],
        /// In the chain's own form.
        tag: ValidationTag,
    },
    /// S: the registry was initialized (R9).
    ProgramInitialized {
        /// Its first authority.
        authority: AccountId,
        /// The cluster's CAIP-2 id.
        chain: String,
    },
    /// S: the registry's authority named its successor; `None` withdrew the name.
    RegistryAuthorityProposed {
        /// The authority.
        authority: AccountId,
        /// The successor.
        proposed: Option<AccountId>,
    },
    /// S: the successor accepted.
    RegistryAuthorityAccepted {
        /// The former authority.
        from: AccountId,
        /// The authority.
        to: AccountId,
    },
    /// S: payments in a token count from now on, or no longer (R13).
    PaymentTokenListed {
        /// The token's mint.
        token: AccountId,
        /// Whether they count.
        listed: bool,
    },
    /// S: proofs by a facilitator count from now on, or no longer (R13).
    FacilitatorListed {
        /// The facilitator.
        facilitator: AccountId,
        /// Whether they count.
        listed: bool,
    },
    /// E: a canonical registry runs other code (ERC-1967's Upgraded). Ours cannot (R2).
    RegistryUpgraded {
        /// The code's address.
        implementation: AccountId,
    },
    /// E: a canonical registry's proxy was initialized. Ours have no initializer (R2).
    RegistryInitialized {
        /// The initializer's version.
        version: u64,
    },
    /// E: a canonical registry has another owner, who can upgrade it. Ours have none (R2).
    RegistryOwnerSet {
        /// The former owner.
        from: AccountId,
        /// The owner; all zero for none.
        to: AccountId,
    },
}

impl Event {
    /// Returns the agent that the event is about; `None` for what concerns a whole registry, or
    /// every agent of an owner.
    pub const fn agent(&self) -> Option<AgentId> {
        match self {
            Self::AgentRegistered { agent, .. }
            | Self::AgentTransferred { agent, .. }
            | Self::AgentUriSet { agent, .. }
            | Self::MetadataSet { agent, .. }
            | Self::AgentWalletSet { agent, .. }
            | Self::ApprovalSet { agent, .. }
            | Self::FeedbackAuthoritySet { agent, .. }
            | Self::AuthSchemesSet { agent, .. }
            | Self::AuthorizedFeedback { agent, .. }
            | Self::PaymentProven { agent, .. }
            | Self::OpenFeedback { agent, .. }
            | Self::FeedbackRevoked { agent, .. }
            | Self::ResponseAppended { agent, .. }
            | Self::ValidationRequested { agent, .. }
            | Self::ValidationResponded { agent, .. } => Some(*agent),
            Self::OperatorSet { .. }
            | Self::ProgramInitialized { .. }
            | Self::RegistryAuthorityProposed { .. }
            | Self::RegistryAuthorityAccepted { .. }
            | Self::PaymentTokenListed { .. }
            | Self::FacilitatorListed { .. }
            | Self::RegistryUpgraded { .. }
            | Self::RegistryInitialized { .. }
            | Self::RegistryOwnerSet { .. } => None,
        }
    }
}

/// A block, or a slot on Solana.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Block {
    /// Its number; on Solana the slot.
    pub number: u64,
    /// Its hash, if the node returned it: two forks have blocks of one number.
    pub hash: Option<[u8; 32]>,
}

/// A transaction's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TransactionId {
    /// Its hash.
    Evm([u8; 32]),
    /// Its first signature.
    Svm([u8; 64]),
}

/// Where in its block or transaction an event is. Positions of one transaction are ordered as their
/// events were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Position {
    /// The index of the log in its block.
    Evm {
        /// Counts from 0.
        log: u64,
    },
    /// The call that carries the event.
    Svm {
        /// The index of the top-level instruction, from 0.
        instruction: u32,
        /// The number of the call among those that the instruction made, from 1; 0 for the
        /// instruction itself.
        call: u32,
        /// 0 for an event by self-CPI. For one in the log, its number among those of the call, from
        /// 1.
        line: u32,
    },
}

/// Where an event comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The chain's CAIP-2 id.
    pub chain: String,
    /// The contract that emitted it, or the program.
    pub registry: AccountId,
    /// Its block.
    pub block: Block,
    /// Its transaction.
    pub transaction: TransactionId,
    /// Its place.
    pub position: Position,
}

/// An event, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emitted {
    /// Where it comes from.
    pub origin: Origin,
    /// The chain's time in Unix seconds, if the event states it: on Solana each does, on EVM only
    /// authorized feedback (R15).
    pub timestamp: Option<i64>,
    /// What happened.
    pub event: Event,
}

/// An event's bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RawEvent {
    /// A log.
    Evm {
        /// Its topics.
        topics: Vec<[u8; 32]>,
        /// Its data.
        data: Vec<u8>,
    },
    /// Discriminator and fields.
    Svm(Vec<u8>),
}

impl RawEvent {
    /// Decodes it as an event of any of the registries: whose it was, and what followed it, is not known. `None`: it says
    /// nothing of its own.
    ///
    /// # Errors
    /// [`EventError`].
    pub fn decode(&self) -> Result<Option<Event>, EventError> {
        match self {
            #[cfg(feature = "evm")]
            Self::Evm { topics, data } => crate::evm::decode_alone(topics, data),
            #[cfg(not(feature = "evm"))]
            Self::Evm { .. } => Err(EventError::Unknown),
            Self::Svm(data) => crate::svm::events::decode_alone(data).map(Some),
        }
    }
}

/// What a registry emitted and this crate cannot decode: it is of a later version, or its parts
/// contradict each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecoded {
    /// Where it comes from.
    pub origin: Origin,
    /// Its bytes.
    pub raw: RawEvent,
    /// Why it does not decode.
    pub reason: EventError,
}

/// Why an event does not decode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// No event of the registry begins so.
    #[error("no event of this registry has this topic or discriminator")]
    Unknown,
    /// The bytes are not the event's, or bytes are left over.
    #[error("the bytes are not one {event}")]
    Malformed {
        /// The event that the beginning names.
        event: &'static str,
    },
    /// An indexed text's topic is not its hash.
    #[error("the topic of {event} is not the hash of the text in its data")]
    TopicMismatch {
        /// The event.
        event: &'static str,
    },
    /// The authorized registry's NewFeedback lacks the FeedbackIndexed that follows it (R15).
    #[error("NewFeedback is not followed by its FeedbackIndexed")]
    NotIndexed,
    /// The wallet's metadata value is neither empty nor an address (R3).
    #[error("the agentWallet entry has {length} bytes; expected 0 or 20")]
    WalletLength {
        /// Its length.
        length: usize,
    },
}

/// What was decoded from a list of logs, or from a transaction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decoded {
    /// In the order of their positions.
    pub events: Vec<Emitted>,
    /// What did not decode.
    pub undecoded: Vec<Undecoded>,
    /// S: the runtime cut the log off. An [`Event::AgentTransferred`] at the deepest call level is
    /// only in the log (R4), so the owners of agents whose hook was called
    /// ([`Program::hooked`](crate::svm::Program::hooked)) have to be read from their accounts.
    pub is_log_truncated: bool,
}

impl Decoded {
    /// Adds the result of one attempt.
    pub(crate) fn push(
        &mut self,
        origin: Origin,
        decoded: Result<(Event, Option<i64>), EventError>,
        raw: impl FnOnce() -> RawEvent,
    ) {
        match decoded {
            Ok((event, timestamp)) => self.events.push(Emitted {
                origin,
                timestamp,
                event,
            }),
            Err(reason) => self.undecoded.push(Undecoded {
                origin,
                raw: raw(),
                reason,
            }),
        }
    }
}
