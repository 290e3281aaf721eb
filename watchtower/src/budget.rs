use concord_chain::Amount;

use crate::WatchtowerError;

/// The most that a publisher spends, fees and rent together, in the chain's smallest unit. A signal is only signed
/// if the most that it can cost is within both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// From 00:00 UTC to 00:00 UTC.
    pub per_day: Amount,
    /// In one pass over what is due.
    pub per_run: Amount,
}

impl Budget {
    /// Requires that both budgets have as much left.
    ///
    /// # Errors
    /// [`WatchtowerError::OverBudget`].
    pub fn require(
        &self,
        cost: Amount,
        spent_today: Amount,
        spent_in_run: Amount,
    ) -> Result<(), WatchtowerError> {
        for (budget, limit, spent) in [
            ("day", self.per_day, spent_today),
            ("run", self.per_run, spent_in_run),
        ] {
            let left = limit.checked_sub(spent).unwrap_or_default();
            if cost > left {
                return Err(WatchtowerError::OverBudget {
                    budget,
                    limit: limit.0.to_string(),
                    left: left.0.to_string(),
                    cost: cost.0.to_string(),
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_kept_to_the_smallest_unit() {
        let budget = Budget {
            per_day: Amount(100),
            per_run: Amount(30),
        };
        let fits = |cost, today, run| {
            let within = budget.require(Amount(cost), Amount(today), Amount(run));
            within.map_err(|error| error.to_string())
        };
        assert_eq!(fits(30, 70, 0), Ok(()));
        assert_eq!(fits(10, 90, 20), Ok(()));
        let day = "the day budget of 100 has 29 left, and this can cost 30";
        assert_eq!(fits(30, 71, 0), Err(day.to_owned()));
        let run = "the run budget of 30 has 29 left, and this can cost 30";
        assert_eq!(fits(30, 0, 1), Err(run.to_owned()));
        assert!(fits(1, 200, 0).is_err(), "spent beyond it");
        assert!(fits(u128::MAX, 0, 0).is_err());
    }
}
