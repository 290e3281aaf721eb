use std::{num::NonZeroU32, str::FromStr, time::Duration};

/// How many requests an endpoint takes within any window of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    /// Of one method.
    pub per_method: NonZeroU32,
    /// Of all methods together.
    pub in_total: NonZeroU32,
    /// How long the counts go back.
    pub window: Duration,
}

/// Hosts of Solana's public endpoints. Their limits are those of Solana's documentation of clusters.
const SOLANA_PUBLIC: [&str; 4] = [
    "api.devnet.solana.com",
    "api.testnet.solana.com",
    "api.mainnet-beta.solana.com",
    "api.mainnet.solana.com",
];

impl RequestLimits {
    /// The window of Solana's public endpoints, taken for every endpoint that does not name its own.
    pub const WINDOW: Duration = Duration::from_secs(10);

    /// Returns the documented limits of a public endpoint.
    #[must_use]
    pub fn documented(host: &str) -> Option<Self> {
        let is_public = SOLANA_PUBLIC.contains(&&*host.to_ascii_lowercase());
        is_public.then_some(Self {
            per_method: NonZeroU32::MIN.saturating_add(39),
            in_total: NonZeroU32::MIN.saturating_add(99),
            window: Self::WINDOW,
        })
    }
}

impl FromStr for RequestLimits {
    type Err = String;

    /// Parses requests per ten seconds, of one method and in total, such as `40/100`.
    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('/').and_then(|(per_method, in_total)| {
            Some(Self {
                per_method: per_method.parse().ok()?,
                in_total: in_total.parse().ok()?,
                window: Self::WINDOW,
            })
        });
        parsed.ok_or_else(|| {
            "not two numbers from 1 on, of one method and in total, such as 40/100".to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_and_known_for_public_hosts() {
        let devnet = RequestLimits::documented("api.devnet.solana.com").unwrap();
        assert_eq!("40/100".parse(), Ok(devnet));
        assert_eq!(devnet.window, Duration::from_secs(10));
        assert_eq!(RequestLimits::documented("devnet.example"), None);
        for text in ["40", "0/100", "40/0", "-1/5", "40/100/1", ""] {
            assert!(text.parse::<RequestLimits>().is_err(), "{text}");
        }
    }
}
