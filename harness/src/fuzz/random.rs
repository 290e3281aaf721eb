use concord_canonical::hash::keccak256v;
use proptest::{
    prelude::Rng,
    test_runner::{RngAlgorithm, TestRng},
};

/// Random choices.
pub struct Random(pub TestRng);

impl Random {
    /// The same for the same purpose, seed and number.
    pub fn of(purpose: &[u8], seed: u64, number: u64) -> Self {
        let (seed, number) = (seed.to_be_bytes(), number.to_be_bytes());
        let seed = keccak256v(&[b"concord fuzz", purpose, &seed, &number]);
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
    }

    /// 0 to `limit` - 1, and 0 if `limit` is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64().checked_rem(limit).unwrap_or(0)
    }

    pub fn number(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let at = self.below(from.len() as u64);
        from.get(usize::try_from(at).ok()?)
    }

    /// One of `from`, by weight.
    pub fn weigh<T: Copy>(&mut self, from: &[(u64, T)]) -> Option<T> {
        let mut left = self.below(from.iter().map(|(weight, _)| weight).sum());
        from.iter()
            .find(|(weight, _)| {
                let is_it = left < *weight;
                left = left.saturating_sub(*weight);
                is_it
            })
            .map(|(_, item)| *item)
    }

    pub fn word(&mut self) -> [u8; 32] {
        let mut word = [0; 32];
        self.0.fill_bytes(&mut word);
        word
    }

    /// Any integer, small ones and powers of ten more often.
    pub fn integer(&mut self, magnitude: u32) -> i128 {
        let digits = u32::try_from(self.below(u64::from(magnitude) + 1)).unwrap_or(0);
        let limit = 10i128.pow(digits);
        let value = match self.below(4) {
            0 => limit,
            1 => limit - 1,
            _ => i128::from(self.0.next_u64())
                .checked_mul(limit)
                .map_or(limit, |it| it % limit),
        };
        if self.percent(40) { -value } else { value }
    }
}
