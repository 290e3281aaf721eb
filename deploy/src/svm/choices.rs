//! What a deployer chooses.
use crate::{Fault, Setting, Settings};
use solana_address::Address;
use std::{fmt, str::FromStr};

/// Who can replace the program once everything stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpgradeAuthority {
    /// The deployer.
    Keep,
    /// Another key: a person's, or a multisignature's.
    Key(Address),
    /// Nobody, for ever.
    None,
}

impl UpgradeAuthority {
    /// Whom the deployer names instead of himself; `None` ends it. Meaningless for
    /// [`Self::Keep`].
    pub(super) fn successor(self) -> Option<Address> {
        match self {
            Self::Key(key) => Some(key),
            Self::Keep | Self::None => None,
        }
    }
}

impl FromStr for UpgradeAuthority {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "keep" => Ok(Self::Keep),
            "none" => Ok(Self::None),
            key => (key.parse().map(Self::Key))
                .map_err(|_| "not `keep`, `none` or a public key in base58".to_owned()),
        }
    }
}

impl fmt::Display for UpgradeAuthority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keep => f.write_str("keep"),
            Self::None => f.write_str("none"),
            Self::Key(key) => key.fmt(f),
        }
    }
}

/// The choices behind a deployment on Solana.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choices {
    pub authority: UpgradeAuthority,
    /// Whether another program at the address is to be replaced.
    pub upgrade: bool,
    /// Whether the deployer's other buffers are closed.
    pub reclaim: bool,
}

const AUTHORITY: &str = "upgradeAuthority";
const UPGRADE: &str = "upgrade";
const RECLAIM: &str = "reclaimBuffers";

impl Choices {
    pub fn settings(&self) -> Settings {
        Settings::from([
            (
                AUTHORITY.to_owned(),
                Setting::Text(self.authority.to_string()),
            ),
            (UPGRADE.to_owned(), Setting::Flag(self.upgrade)),
            (RECLAIM.to_owned(), Setting::Flag(self.reclaim)),
        ])
    }

    /// Those of a run file or of the address book.
    pub fn recorded(settings: &Settings) -> Option<Self> {
        let flag = |name| match settings.get(name) {
            Some(Setting::Flag(flag)) => Some(*flag),
            _ => None,
        };
        match settings.get(AUTHORITY) {
            Some(Setting::Text(authority)) => Some(Self {
                authority: authority.parse().ok()?,
                upgrade: flag(UPGRADE)?,
                reclaim: flag(RECLAIM)?,
            }),
            _ => None,
        }
    }
}

/// What a transaction pays beside its signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorityFee {
    /// Microlamports for a compute unit, at first.
    pub first: u64,
    /// The most, after being raised.
    pub most: u64,
}

impl PriorityFee {
    /// What a price is raised from where none was paid: a usual one.
    const FLOOR: u64 = 10_000;

    /// # Errors
    /// [`Fault::Option`] where the first is above the most.
    pub fn new(first: u64, most: u64) -> Result<Self, Fault> {
        match first <= most {
            true => Ok(Self { first, most }),
            false => Err(Fault::Option {
                option: "priority-fee",
                value: first.to_string(),
                reason: format!("above --max-priority-fee {most}"),
            }),
        }
    }

    /// After so many transactions that were not taken: twice as much for each.
    pub(super) fn after(self, expired: usize) -> u64 {
        let Some(doublings) = expired.checked_sub(1) else {
            return self.first;
        };
        let factor = 1u64.checked_shl(doublings as u32).unwrap_or(u64::MAX);
        let raised = self.first.max(Self::FLOOR / 2).saturating_mul(2);
        raised.saturating_mul(factor).min(self.most)
    }
}

/// Lamports that a transaction of so many signatures and units costs at most.
pub(super) fn fee(signatures: u64, units: u32, price: u64) -> u64 {
    const SIGNATURE: u64 = 5_000;
    let priority = u128::from(units) * u128::from(price);
    let priority = u64::try_from(priority.div_ceil(1_000_000)).unwrap_or(u64::MAX);
    signatures
        .saturating_mul(SIGNATURE)
        .saturating_add(priority)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_doubles_up_to_the_most() {
        let free = PriorityFee::new(0, 30_000).unwrap();
        assert_eq!(
            [0, 1, 2, 3, 99].map(|expired| free.after(expired)),
            [0, 10_000, 20_000, 30_000, 30_000]
        );
        let paid = PriorityFee::new(40_000, 1_000_000).unwrap();
        assert_eq!(
            [0, 1, 2].map(|expired| paid.after(expired)),
            [40_000, 80_000, 160_000]
        );
        assert!(PriorityFee::new(2, 1).is_err());
    }

    #[test]
    fn a_fee_is_for_signatures_and_units() {
        // Solana's documentation of fees: 5,000 lamports a signature; price × limit in
        // microlamports, rounded up
        assert_eq!(fee(1, 3_000, 0), 5_000);
        assert_eq!(fee(2, 200_000, 1), 10_001);
        assert_eq!(fee(1, 200_000, 1_000_000), 205_000);
    }

    #[test]
    fn choices_are_what_was_recorded() {
        for authority in [
            "keep",
            "none",
            "SysvarC1ock11111111111111111111111111111111",
        ] {
            let choices = Choices {
                authority: authority.parse().unwrap(),
                upgrade: true,
                reclaim: false,
            };
            assert_eq!(choices.authority.to_string(), authority);
            assert_eq!(Choices::recorded(&choices.settings()), Some(choices));
        }
        assert_eq!(Choices::recorded(&Settings::new()), None);
        assert!("nobody".parse::<UpgradeAuthority>().is_err());
    }
}
