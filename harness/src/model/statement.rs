//! Statements that are signed off chain, symbolically: the signer, the content, and what changed the bytes.
use super::{Actor, Agent};
use serde::{Deserialize, Serialize};

/// Who allowed whom to review which agent: the seven fields of R5.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Authorization {
    /// The signer that the signed text names, and whose key signs unless `tamper` says other.
    pub signer: Actor,
    pub agent: Agent,
    pub client: Actor,
    /// Exclusive upper bound of the client's last index (R8).
    pub index_limit: u64,
    /// Seconds after the scenario's start; the authorization holds strictly before it.
    pub expiry: u64,
    #[serde(default, skip_serializing_if = "Form::is_bounded")]
    pub form: Form,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tamper: Option<Tamper>,
}

/// The text that is signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// EIP-712 on EVM (R6), the 56 bytes of R9 on Solana.
    #[default]
    Bounded,
    /// The first draft's EIP-191 form on EVM (R6); on Solana as `bounded`.
    DraftV1,
    /// X84's 64 bytes, which have no bounds and no domain: Solana only (R10).
    X84,
}

/// The holder of `wallet` agrees that `owner`'s agent is paid there (R3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Consent {
    /// Whose key signs.
    pub signer: Actor,
    pub agent: Agent,
    pub wallet: Actor,
    pub owner: Actor,
    /// Seconds after the scenario's start. EVM only: a Solana wallet signs the transaction itself.
    pub deadline: u64,
}

/// A facilitator states that a payment took place (R13). Solana only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Payment {
    /// The facilitator that the signed text names, and whose key signs unless `tamper` says other.
    pub facilitator: Actor,
    pub agent: Agent,
    pub payer: Actor,
    /// By the facilitator's word, the agent's wallet at the time of the payment.
    pub payee: Actor,
    /// The label that the token's mint is derived from.
    pub token: Actor,
    /// In the token's smallest unit.
    pub amount: u64,
    /// Stands for a task reference of its own: equal texts are one payment.
    pub task: String,
    /// When it settled: seconds after the scenario's start.
    #[serde(default, skip_serializing_if = "is_start")]
    pub paid_at: u64,
    /// Seconds after the scenario's start; the statement holds strictly before it.
    pub expiry: u64,
    #[serde(default, skip_serializing_if = "ProofVersion::is_current")]
    pub version: ProofVersion,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tamper: Option<Tamper>,
}

/// The message that a facilitator signs (R13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProofVersion {
    /// The first version, without the payment's time: refused.
    V1,
    #[default]
    V2,
}

/// How a statement is changed between its signer and the registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Tamper {
    /// The signed text names another chain.
    WrongChain,
    /// The signed text names another registry: on EVM another identity registry, on Solana
    /// another program.
    WrongRegistry,
    /// One bit of the signature is flipped.
    CorruptSignature,
    /// The other signature that the same key and text have: s, or S, is replaced by its
    /// counterpart. Refused on both chains (R23).
    MalleateSignature,
    /// Another actor's key signs the text that names the signer.
    SignedBy(Actor),
    /// Nothing is sent: an empty blob on EVM, no precompile instruction on Solana.
    Empty,
    /// The last byte is cut off the blob, or off the precompile instruction's data.
    Truncated,
    /// A zero byte follows the blob, or the precompile instruction's data.
    Extended,
    /// A byte that has to be zero is not (R6), or a header byte is not the template's (R11).
    Dirty,
}

fn is_start(time: &u64) -> bool {
    *time == 0
}

impl ProofVersion {
    fn is_current(&self) -> bool {
        *self == Self::V2
    }
}

impl Form {
    fn is_bounded(&self) -> bool {
        *self == Self::Bounded
    }
}

impl Tamper {
    /// Would the signature not verify under the key that the text names as `signer`?
    pub(super) fn breaks_signature(&self, signer: &Actor) -> bool {
        match self {
            Self::CorruptSignature | Self::MalleateSignature => true,
            Self::SignedBy(actor) => actor != signer,
            _ => false,
        }
    }
}
