use concord_chain::{Amount, ChainId, submission::TxJob};
use serde::Serialize;

/// One thing that a deployment makes or changes, with what it takes. At most one transaction of a
/// step ever lands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Unique in the plan and the same in every run, such as `identity-registry`.
    pub id: String,
    pub chain: ChainId,
    /// What a reader calls it, such as `IdentityRegistry`.
    pub title: String,
    /// Its address, as the chain writes addresses. Known beforehand.
    pub address: String,
    pub action: Action,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<Needs>,
    /// The most it can cost, fees and rent together.
    pub cost: Amount,
    /// The deployer's balance afterwards. `None`: it is not enough.
    pub balance_after: Option<Amount>,
    /// What to send, for a multisig or another signer. `None` if nothing is sent.
    #[serde(rename = "transaction", skip_serializing_if = "Option::is_none")]
    pub unsigned: Option<UnsignedTx>,
    /// Whether it may be pending together with its neighbours that may be, too.
    #[serde(skip)]
    pub parallel: bool,
}

/// What the step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// It is there already: nothing is sent.
    Exists,
    /// Nothing is there yet.
    Create,
    /// What is there is changed, such as a program that is upgraded.
    Change,
    /// It takes the signature of a key that is not the deployer's, such as a multisig's. It is shown
    /// and not sent.
    OtherSigner,
}

impl Action {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Exists => "exists",
            Self::Create => "create",
            Self::Change => "change",
            Self::OtherSigner => "other signer",
        }
    }

    pub const fn sends(self) -> bool {
        matches!(self, Self::Create | Self::Change)
    }
}

/// What a chain charges for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Needs {
    /// EVM: the gas limit.
    Gas(u64),
    /// Solana: compute units, and the lamports that make the new accounts exempt from rent.
    Compute { units: u64, rent: Amount },
}

/// A step's transaction without a signature, for another signer: a Safe, a Squads multisig, another
/// tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", untagged)]
pub enum UnsignedTx {
    /// EVM: a call.
    Call {
        to: String,
        /// Wei.
        value: Amount,
        /// Hex with `0x`.
        data: String,
    },
    /// EVM: a transaction that was signed in advance and that anyone can send.
    Presigned { raw: String },
    /// Solana: the instructions, in this order, in one transaction.
    Instructions { instructions: Vec<RawInstruction> },
}

/// An instruction of Solana.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RawInstruction {
    pub program: String,
    pub accounts: Vec<RawAccount>,
    /// Base64.
    pub data: String,
}

/// An account of an instruction, and what the instruction may do with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RawAccount {
    pub address: String,
    pub signer: bool,
    pub writable: bool,
}

impl TxJob for Step {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_one_of_many(&self) -> bool {
        self.parallel
    }
}

impl Step {
    /// A step that is done already and costs nothing.
    pub fn existing(id: &str, chain: &ChainId, title: &str, address: String) -> Self {
        Self {
            id: id.to_owned(),
            chain: chain.clone(),
            title: title.to_owned(),
            address,
            action: Action::Exists,
            needs: None,
            cost: Amount::default(),
            balance_after: None,
            unsigned: None,
            parallel: false,
        }
    }

    /// The same step, which need not wait for the similar step before it.
    #[must_use]
    pub fn parallel(self) -> Self {
        Self {
            parallel: true,
            ..self
        }
    }

    /// The same step, to be carried out.
    #[must_use]
    pub fn sending(self, action: Action, needs: Needs, cost: Amount, unsigned: UnsignedTx) -> Self {
        Self {
            action,
            needs: Some(needs),
            cost,
            unsigned: Some(unsigned),
            ..self
        }
    }
}
