use super::node::Node;
use crate::{Amount, Fault};
use alloy::{
    primitives::{Address, U256, address, utils::parse_units},
    sol,
    sol_types::SolCall,
};

sol! {
    /// The oracle of OP-stack chains (Base among them): what a transaction costs on the chain below,
    /// which no gas estimate contains.
    function getL1FeeUpperBound(uint256 unsignedTxSize) external view returns (uint256);
}

const OP_STACK_ORACLE: Address = address!("420000000000000000000000000000000000000F");

const GWEI: u128 = 1_000_000_000;

/// What is offered for a unit of gas, in wei.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fees {
    pub max: u128,
    pub priority: u128,
}

/// The most that may be offered for a unit of gas, in wei.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FeeLimit(Option<u128>);

impl FeeLimit {
    /// From gwei, such as `1.5`.
    pub fn parse(text: Option<&str>) -> Result<Self, Fault> {
        let Some(text) = text else {
            return Ok(Self(None));
        };
        let decimals = text
            .split_once('.')
            .map_or(0, |(_, decimals)| decimals.len());
        let gwei = parse_units(text, "gwei").ok();
        let wei = gwei
            .filter(|parsed| decimals <= 9 && !parsed.is_negative())
            .and_then(|parsed| u128::try_from(parsed.get_absolute()).ok());
        wei.map(|wei| Self(Some(wei))).ok_or_else(|| Fault::Option {
            option: "max-fee",
            value: text.to_owned(),
            reason: "not a number of gwei with at most 9 decimals".to_owned(),
        })
    }

    /// These fees, or less where the limit is lower.
    ///
    /// # Errors
    /// [`Fault::FeeAboveLimit`] where the chain does not take the limit at this moment.
    fn hold(self, least: u128, fees: Fees) -> Result<Fees, Fault> {
        match self.0 {
            Some(limit) if limit < least => Err(Fault::FeeAboveLimit {
                found: gwei(least),
                limit: gwei(limit),
            }),
            Some(limit) => Ok(Fees {
                max: fees.max.min(limit),
                priority: fees.priority.min(limit),
            }),
            None => Ok(fees),
        }
    }

    pub fn allows(self, fee: u128) -> bool {
        self.0.is_none_or(|limit| fee <= limit)
    }
}

impl Fees {
    /// What gets a transaction mined now, and for as long as the base fee at most doubles.
    pub fn current(node: &Node, limit: FeeLimit) -> Result<Self, Fault> {
        let base = node.base_fee()?;
        let priority = node.priority_fee()?;
        let fees = Self {
            max: base.saturating_mul(2).saturating_add(priority),
            priority,
        };
        limit.hold(base.saturating_add(priority), fees)
    }

    /// A quarter more than `before`, and no less than what is current: nodes ask an eighth or a
    /// tenth more of a replacement.
    pub fn above(before: Self, current: Self) -> Self {
        let raised = |fee: u128| fee.saturating_add(fee / 4).saturating_add(1);
        Self {
            max: raised(before.max).max(current.max),
            priority: raised(before.priority).max(current.priority),
        }
    }

    /// The most that this much gas can cost.
    pub fn cost(self, gas: u64) -> Amount {
        Amount(self.max.saturating_mul(gas.into()))
    }
}

/// What a transaction of so many bytes can cost on the chain below; zero where there is none.
pub(super) fn layer_one_fee(node: &Node, bytes: usize) -> Result<Amount, Fault> {
    if node.code(OP_STACK_ORACLE)?.is_empty() {
        return Ok(Amount::default());
    }
    let call = getL1FeeUpperBoundCall {
        unsignedTxSize: U256::from(bytes),
    };
    let fee = node.read(OP_STACK_ORACLE, &call)?;
    fee.map(|wei| Amount(u128::try_from(wei).unwrap_or(u128::MAX)))
        .map_err(|reason| Fault::SimulationFailed {
            title: format!("{} of {OP_STACK_ORACLE}", getL1FeeUpperBoundCall::SIGNATURE),
            reason,
        })
}

/// Wei as gwei, without digits that say nothing.
pub(super) fn gwei(wei: u128) -> String {
    let text = format!("{}.{:09}", wei / GWEI, wei % GWEI);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
