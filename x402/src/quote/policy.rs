use concord_canonical::{Word, word};

use crate::{account::is_same_address, wire::Offer};

/// A token that may be spent, and how much of it for one purchase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The chain, CAIP-2.
    pub network: String,
    /// The token's address.
    pub asset: String,
    /// In the token's smallest unit, big-endian.
    pub amount_max: Word,
}

/// What one purchase may cost. Nothing is allowed that is not listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpendPolicy {
    /// Tokens and amounts.
    pub allowances: Vec<Allowance>,
    /// Seconds that a payment may stay valid.
    pub timeout_max: u64,
}

impl SpendPolicy {
    /// Why an offer is outside the policy; `None` if it is within.
    pub(crate) fn objection(&self, offer: &Offer) -> Option<String> {
        if offer.scheme != "exact" {
            return Some(format!("the scheme is {}, expected exact", offer.scheme));
        }
        let (timeout, limit) = (offer.max_timeout_seconds, self.timeout_max);
        if timeout > limit {
            return Some(format!(
                "it is valid for {timeout} seconds, at most {limit} are allowed"
            ));
        }
        let allowed = self.allowances.iter().find(|it| {
            it.network == offer.network && is_same_address(&it.network, &it.asset, &offer.asset)
        });
        let Some(allowed) = allowed else {
            let (asset, network) = (&offer.asset, &offer.network);
            return Some(format!("{asset} on {network} is not allowed"));
        };
        match offer.amount_word() {
            Some(amount) if amount <= allowed.amount_max => None,
            _ => {
                let limit = word::to_u64(&allowed.amount_max);
                let limit = limit.map_or_else(|| "the limit".to_owned(), |it| it.to_string());
                Some(format!(
                    "the amount is {}, at most {limit} is allowed",
                    offer.amount
                ))
            }
        }
    }
}
