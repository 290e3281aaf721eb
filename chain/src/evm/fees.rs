use super::Node;
use crate::{Amount, ChainError};
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
pub struct Fees {
    pub max: u128,
    pub priority: u128,
}

/// The most that may be offered for a unit of gas, in wei.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeeLimit(Option<u128>);

impl FeeLimit {
    /// Parses gwei, such as `1.5`; `None` is no limit.
    ///
    /// # Errors
    /// [`ChainError::FeeLimitMalformed`].
    pub fn parse(text: Option<&str>) -> Result<Self, ChainError> {
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
        wei.map(|wei| Self(Some(wei)))
            .ok_or_else(|| ChainError::FeeLimitMalformed(text.to_owned()))
    }

    /// Lowers the fees to the limit.
    ///
    /// # Errors
    /// [`ChainError::FeeAboveLimit`] if the chain does not take the limit at this moment.
    fn hold(self, least: u128, fees: Fees) -> Result<Fees, ChainError> {
        match self.0 {
            Some(limit) if limit < least => Err(ChainError::FeeAboveLimit {
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

    /// Returns whether so many wei per unit of gas may be offered.
    #[must_use]
    pub fn allows(self, fee: u128) -> bool {
        self.0.is_none_or(|limit| fee <= limit)
    }
}

impl Fees {
    /// Reads what gets a transaction mined now, and for as long as the base fee at most doubles.
    ///
    /// # Errors
    /// [`ChainError::FeeAboveLimit`], [`ChainError::Unreachable`].
    pub async fn current(node: &Node, limit: FeeLimit) -> Result<Self, ChainError> {
        let base = node.base_fee().await?;
        let priority = node.priority_fee().await?;
        let fees = Self {
            max: base.saturating_mul(2).saturating_add(priority),
            priority,
        };
        limit.hold(base.saturating_add(priority), fees)
    }

    /// Offers a quarter more than `before`, and no less than what is current: nodes ask an eighth or
    /// a tenth more of a replacement.
    #[must_use]
    pub fn above(before: Self, current: Self) -> Self {
        let raised = |fee: u128| fee.saturating_add(fee / 4).saturating_add(1);
        Self {
            max: raised(before.max).max(current.max),
            priority: raised(before.priority).max(current.priority),
        }
    }

    /// Returns the most that this much gas can cost.
    #[must_use]
    pub fn cost(self, gas: u64) -> Amount {
        Amount(self.max.saturating_mul(gas.into()))
    }
}

/// Returns what a transaction of so many bytes can cost on the chain below; zero if there is none.
///
/// # Errors
/// [`ChainError::Unreachable`], [`ChainError::SimulationFailed`].
pub async fn layer_one_fee(node: &Node, bytes: usize) -> Result<Amount, ChainError> {
    if node.code(OP_STACK_ORACLE).await?.is_empty() {
        return Ok(Amount::default());
    }
    let call = getL1FeeUpperBoundCall {
        unsignedTxSize: U256::from(bytes),
    };
    let fee = node.read(OP_STACK_ORACLE, &call).await?;
    fee.map(|wei| Amount(u128::try_from(wei).unwrap_or(u128::MAX)))
        .map_err(|reason| ChainError::SimulationFailed {
            title: format!("{} of {OP_STACK_ORACLE}", getL1FeeUpperBoundCall::SIGNATURE),
            reason,
        })
}

/// Shows wei as gwei, without trailing zeros.
#[must_use]
pub fn gwei(wei: u128) -> String {
    let text = format!("{}.{:09}", wei / GWEI, wei % GWEI);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
