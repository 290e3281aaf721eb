use super::Node;
use crate::{Amount, ChainError};
use alloy::{
    primitives::{Address, FixedBytes, U256, address, utils::parse_units},
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

/// The fee history that tips are read from: so many blocks, and in each the tip that half of its
/// gas paid at most. One block alone can be far off, such as one with nothing but the deployment
/// proxy's transaction at 100 gwei.
const HISTORY_BLOCKS: u64 = 20;
const HISTORY_PERCENTILE: f64 = 50.0;
/// Wei per unit of gas that is offered as a tip at least: what OP-stack nodes suggest on an empty
/// chain.
const LEAST_TIP: u128 = 1_000_000;

/// What is offered for a unit of gas, in wei.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fees {
    /// The most in total: EIP-1559's `maxFeePerGas`.
    pub max: u128,
    /// The block's producer's part: EIP-1559's `maxPriorityFeePerGas`.
    pub priority: u128,
}

/// The most that may be offered for a unit of gas, in wei.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeeLimit(Option<u128>);

impl FeeLimit {
    /// Parses gwei, such as `1.5`; `None` means no limit.
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

    /// The limit that a plan at these fees sets: a quarter more, so that one replacement fits.
    #[must_use]
    pub fn of_plan(self, fees: Fees) -> Self {
        Self(Some(self.0.unwrap_or_else(|| raised(fees.max))))
    }

    /// Returns the limit in wei per unit of gas, if there is one.
    #[must_use]
    pub fn wei(self) -> Option<u128> {
        self.0
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
    /// Reads what gets a transaction mined now, and for as long as the base fee at most doubles: the
    /// next block's base fee, and the median tip of the last blocks, in which an empty block counts
    /// as no tip.
    ///
    /// # Errors
    /// [`ChainError::FeeAboveLimit`], [`ChainError::Unreachable`].
    pub async fn current(node: &Node, limit: FeeLimit) -> Result<Self, ChainError> {
        let history = (node.fee_history(HISTORY_BLOCKS, HISTORY_PERCENTILE)).await?;
        let base = history.next_block_base_fee().unwrap_or(0);
        let priority = median_tip(history.reward.unwrap_or_default()).max(LEAST_TIP);
        let fees = Self {
            max: base.saturating_mul(2).saturating_add(priority),
            priority,
        };
        limit.hold(base.saturating_add(priority), fees)
    }

    /// Offers a quarter more than `before`, and no less than what is current: nodes ask an eighth or
    /// a tenth more of a replacement. `None` if the limit does not leave as much.
    #[must_use]
    pub fn above(before: Self, current: Self, limit: FeeLimit) -> Option<Self> {
        let max = raised(before.max).max(current.max);
        let max = limit.0.map_or(max, |limit| max.min(limit));
        let priority = raised(before.priority).max(current.priority).min(max);
        let suffices = |new: u128, old: u128| new > old && new - old >= old.div_ceil(8);
        (suffices(max, before.max) && suffices(priority, before.priority))
            .then_some(Self { max, priority })
    }

    /// Lowers the most by less than a thirty-second of the base fee, by chance. Two equal calls of one key that two
    /// processes sign at once have one nonce. With equal fees they would be one transaction, which lands once and counts
    /// for both. At the limit there is no such room: less might be below the base fee.
    #[must_use]
    pub fn unlike_others(self, limit: FeeLimit) -> Self {
        if limit.0.is_some_and(|limit| limit <= self.max) {
            return self;
        }
        let room = self.max.saturating_sub(self.priority) / 64; // there, the base fee is twice
        let random = u128::from_le_bytes(FixedBytes::random().0);
        let lower = random.checked_rem(room).unwrap_or(0);
        Self {
            max: self.max - lower,
            ..self
        }
    }

    /// Returns the most that this much gas can cost.
    #[must_use]
    pub fn cost(self, gas: u64) -> Amount {
        Amount(self.max.saturating_mul(gas.into()))
    }
}

fn raised(fee: u128) -> u128 {
    fee.saturating_add(fee / 4).saturating_add(1)
}

/// Each block's tip, if it has one; the middle of them.
fn median_tip(rewards: Vec<Vec<u128>>) -> u128 {
    let first = |block: Vec<u128>| block.first().copied().unwrap_or(0);
    let mut tips: Vec<u128> = rewards.into_iter().map(first).collect();
    tips.sort_unstable();
    tips.get(tips.len() / 2).copied().unwrap_or(0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_block_far_off_does_not_move_the_tip() {
        let blocks = |tips: &[u128]| tips.iter().map(|tip| vec![*tip]).collect();
        assert_eq!(median_tip(blocks(&[0, 100 * GWEI, 0, 0])), 0);
        assert_eq!(median_tip(blocks(&[3, 100 * GWEI, 2, 4, 3])), 3);
        assert_eq!(median_tip(vec![vec![], vec![7], vec![7]]), 7);
        assert_eq!(median_tip(vec![]), 0);
    }

    #[test]
    fn fees_are_lowered_by_chance_and_by_little() {
        let (max, priority) = (2 * GWEI + LEAST_TIP, LEAST_TIP);
        let fees = Fees { max, priority };
        let drawn = [(); 9].map(|()| fees.unlike_others(FeeLimit::default()));
        assert!(drawn.iter().any(|it| *it != drawn[0]));
        for it in drawn {
            assert_eq!(it.priority, priority);
            assert!(it.max <= max && it.max > max - GWEI / 32, "{it:?}");
        }
        // without room there is no choice
        for max in [priority, priority + 63] {
            let fees = Fees { max, priority };
            assert_eq!(fees.unlike_others(FeeLimit::default()), fees);
        }
        // at the limit, less might be below the base fee
        let fees = Fees { max, priority };
        let limit = FeeLimit(Some(max));
        assert!([(); 9].iter().all(|()| fees.unlike_others(limit) == fees));
    }

    #[test]
    fn a_plan_s_limit_leaves_room_for_one_replacement() {
        let planned = Fees {
            max: 1_000,
            priority: 10,
        };
        let limit = FeeLimit::default().of_plan(planned);
        assert_eq!(limit.wei(), Some(1_251));
        let once = Fees::above(planned, planned, limit).unwrap();
        assert_eq!((once.max, once.priority), (1_251, 13));
        assert_eq!(Fees::above(once, planned, limit), None);
        let given = FeeLimit::parse(Some("7")).unwrap();
        assert_eq!(given.of_plan(planned), given);
    }
}
