use std::time::Duration;

use alloy::primitives::U256;
use concord_canonical::Word;

use super::{Authorization, Evidence, Money, PayFault};
use crate::account::is_same_address;

/// What may be spent of a token in a period, over all purchases of an evidence folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The chain, CAIP-2.
    pub network: String,
    /// The token's address.
    pub asset: String,
    /// In the token's smallest unit, big-endian.
    pub amount_max: Word,
    /// The period, which ends now.
    pub period: Duration,
}

impl Budget {
    fn covers(&self, payment: &Authorization) -> bool {
        self.network == payment.network()
            && is_same_address(&self.network, &self.asset, &payment.asset())
    }

    /// Refuses a purchase beyond the budget. A payment that can no longer settle was not spent.
    pub(super) fn check(
        &self,
        payment: &Authorization,
        earlier: &[Evidence],
        now: u64,
    ) -> Result<(), PayFault> {
        if !self.covers(payment) {
            return Ok(());
        }
        let seconds = self.period.as_secs();
        let from = now.saturating_sub(seconds);
        let spent = earlier
            .iter()
            .filter(|it| it.quote.at >= from && it.money != Some(Money::Void))
            .filter(|it| self.covers(&it.authorization))
            .fold(U256::ZERO, |sum, it| {
                sum.saturating_add(it.authorization.amount())
            });
        let limit = U256::from_be_bytes(self.amount_max);
        let (amount, asset) = (payment.amount(), &self.asset);
        if spent.saturating_add(amount) <= limit {
            Ok(())
        } else {
            Err(PayFault::OverBudget(format!(
                "{spent} of {asset} were spent in {seconds} seconds, {amount} more exceed {limit}"
            )))
        }
    }
}
