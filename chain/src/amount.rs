use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, iter::Sum};

/// A sum of a chain's own coin in its smallest unit (wei, lamports). In JSON it is a decimal string,
/// because wei do not fit a double.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(pub u128);

impl Amount {
    /// Returns whether it is nothing.
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// Adds, up to the largest amount.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Subtracts; `None` below zero.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }
}

/// As [`Amount::saturating_add`].
impl Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), Self::saturating_add)
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let amount = text.parse().map(Self);
        // DEP-66: without the text
        amount.map_err(|_| serde::de::Error::custom("expected a decimal below 2^128, as a string"))
    }
}

/// A chain's own coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coin {
    /// The ticker.
    pub symbol: &'static str,
    /// One coin is 10^decimals of the smallest unit.
    pub decimals: u32,
}

/// Digits after the point that are shown: more would only make tables wider.
const SHOWN_DECIMALS: u32 = 9;

impl Coin {
    /// Ether, in wei.
    pub const ETH: Self = Self {
        symbol: "ETH",
        decimals: 18,
    };
    /// SOL, in lamports.
    pub const SOL: Self = Self {
        symbol: "SOL",
        decimals: 9,
    };

    /// Shows a cost in coins, rounded up to nine decimals.
    #[must_use]
    pub fn cost(self, amount: Amount) -> Rounded {
        let unit = self.shown_unit();
        Rounded(self, amount.0.div_ceil(unit).saturating_mul(unit))
    }

    /// Shows a balance in coins, rounded down to nine decimals.
    #[must_use]
    pub fn balance(self, amount: Amount) -> Rounded {
        let unit = self.shown_unit();
        Rounded(self, amount.0 / unit * unit)
    }

    const fn shown_unit(self) -> u128 {
        10u128.pow(self.decimals.saturating_sub(SHOWN_DECIMALS))
    }
}

/// A rounded amount with its symbol.
pub struct Rounded(Coin, u128);

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(coin, amount) = self;
        let one = 10u128.pow(coin.decimals);
        let shown = coin.decimals.min(SHOWN_DECIMALS) as usize;
        let fraction = (amount % one) / coin.shown_unit();
        let text = format!("{}.{fraction:0shown$} {}", amount / one, coin.symbol);
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_round_up_and_balances_down() {
        let amount = Amount(1_000_000_000_000_000_001);
        assert_eq!(Coin::ETH.cost(amount).to_string(), "1.000000001 ETH");
        assert_eq!(Coin::ETH.balance(amount).to_string(), "1.000000000 ETH");
        assert_eq!(Coin::SOL.cost(Amount(5_000)).to_string(), "0.000005000 SOL");
    }

    #[test]
    fn json_is_a_decimal_string() {
        let wei = Amount(u128::MAX);
        let text = serde_json::to_string(&wei).unwrap();
        assert_eq!(text, "\"340282366920938463463374607431768211455\"");
        assert_eq!(serde_json::from_str::<Amount>(&text).unwrap(), wei);
        assert!(serde_json::from_str::<Amount>("7").is_err());
        assert!(serde_json::from_str::<Amount>("\"-7\"").is_err());
    }
}
