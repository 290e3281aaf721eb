//! Sums over feedback, one by one, in whole numbers.
use crate::worlds::given::Given;
use concord_registry::event::Profile;
use std::cmp::Ordering;

/// Which feedback counts.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    pub profile: Profile,
    /// `None` for everyone.
    pub clients: Option<&'static [u8]>,
    pub tag: &'static str,
    pub tag1: &'static str,
    pub tag2: &'static str,
}

impl Wanted {
    pub fn admits(&self, it: &Given) -> bool {
        let is = |wanted: &str, tag: &str| wanted.is_empty() || wanted == tag;
        it.profile == self.profile
            && !it.is_revoked
            && self
                .clients
                .is_none_or(|clients| clients.contains(&it.client))
            && is(self.tag1, it.tag1)
            && is(self.tag2, it.tag2)
            && (is(self.tag, it.tag1) || is(self.tag, it.tag2))
    }

    pub fn of<'a>(&self, given: &'a [Given], agent: u8) -> Vec<&'a Given> {
        let mut found: Vec<&Given> = given.iter().collect();
        found.retain(|it| it.agent == agent && self.admits(it));
        found
    }
}

/// A fraction whose divisor is above 0.
#[derive(Debug, Clone, Copy)]
pub struct Fraction(pub i128, pub i128);

impl Fraction {
    /// With values of at most two decimals.
    pub fn average(of: &[&Given]) -> Self {
        let cents = |it: &&Given| it.value * 10i128.pow(2 - u32::from(it.decimals));
        Self(of.iter().map(cents).sum(), 100 * of.len() as i128)
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.0 * other.1).cmp(&(other.0 * self.1))
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Fraction {}
