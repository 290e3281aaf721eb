use alloy::primitives::U256;
use std::collections::BTreeMap;

/// The scenario's time behind a timestamp.
#[derive(Clone, Copy)]
pub(super) struct Clock<'a> {
    /// Unix seconds of the scenario's start.
    pub start: u64,
    /// On a live chain: the timestamps of the scenario's blocks, each with the time
    /// that the scenario has then.
    pub times: Option<&'a BTreeMap<u64, u64>>,
}

impl Clock<'_> {
    /// Seconds after the scenario's start.
    pub fn seconds(&self, timestamp: U256) -> Result<u64, String> {
        let start = self.start;
        let at = u64::try_from(timestamp).ok();
        match self.times {
            None => at.and_then(|at| at.checked_sub(start)).ok_or_else(|| {
                format!("timestamp {timestamp}, before the scenario's start {start}")
            }),
            Some(times) => at
                .and_then(|at| times.get(&at)?.checked_sub(start))
                .ok_or_else(|| format!("timestamp {timestamp}, of no block of the scenario")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_before_the_start_is_none_of_the_scenario() {
        let clock = Clock {
            start: 10,
            times: None,
        };
        assert_eq!(clock.seconds(U256::from(12)), Ok(2));
        assert!(clock.seconds(U256::from(9)).is_err());
        assert!(clock.seconds(U256::MAX).is_err());
    }

    #[test]
    fn a_timestamp_is_what_the_story_says_of_its_block() {
        let times = [(1_030, 12)].into();
        let clock = Clock {
            start: 10,
            times: Some(&times),
        };
        assert_eq!(clock.seconds(U256::from(1_030)), Ok(2));
        assert!(clock.seconds(U256::from(12)).is_err());
    }
}
