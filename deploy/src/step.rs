use crate::{Amount, ChainId};
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
    /// Where it will stand, as its chain writes addresses. Known beforehand.
    pub address: String,
    pub action: Action,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<Needs>,
    /// The most it can cost, fees and rent together.
    pub cost: Amount,
    /// What the deployer then still has. `None`: his balance does not reach this far.
    pub balance_after: Option<Amount>,
    /// Whether it may be on its way together with its neighbours that may be, too.
    #[serde(skip)]
    pub parallel: bool,
}

/// What carrying out the step comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// It stands there already: nothing is sent.
    Exists,
    /// Nothing stands there yet.
    Create,
    /// What stands there is changed, such as a program that is upgraded.
    Change,
}

impl Action {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Exists => "exists",
            Self::Create => "create",
            Self::Change => "change",
        }
    }

    pub const fn sends(self) -> bool {
        !matches!(self, Self::Exists)
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

impl Step {
    /// A step that stands already and costs nothing.
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
            parallel: false,
        }
    }

    /// The same step, which need not wait for its like before it.
    #[must_use]
    pub fn parallel(self) -> Self {
        Self {
            parallel: true,
            ..self
        }
    }

    /// The same step, to be carried out.
    pub fn sending(self, action: Action, needs: Needs, cost: Amount) -> Self {
        Self {
            action,
            needs: Some(needs),
            cost,
            ..self
        }
    }
}
