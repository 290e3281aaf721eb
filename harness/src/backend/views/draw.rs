use crate::model::Bytes32;

/// Choices that follow from a state's digest, so that a run, a fuzzer's finding and its replay ask
/// the same questions.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// The choices of a state.
    pub fn of(digest: &Bytes32) -> Self {
        let mut start = [0; 8];
        start.copy_from_slice(&digest.0[..8]);
        Self(u64::from_be_bytes(start))
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// 0 to `limit` - 1, and 0 if `limit` is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next().checked_rem(limit).unwrap_or(0)
    }

    pub fn coin(&mut self) -> bool {
        self.below(2) == 1
    }

    /// One of `from`.
    pub fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        let at = self.below(from.len() as u64);
        from.get(usize::try_from(at).ok()?).cloned()
    }

    /// At most `most` of `from`, in any order, perhaps one of them twice.
    pub fn list<T: Clone>(&mut self, from: &[T], most: u64) -> Vec<T> {
        let length = self.below(most.saturating_add(1));
        (0..length).filter_map(|_| self.pick(from)).collect()
    }

    /// Start and limit of a window over `length` items: within, across the end, beyond it, or with
    /// bounds at their greatest.
    pub fn window(&mut self, length: u64) -> (u64, u64) {
        let near = length.saturating_add(2);
        let start = match self.below(8) {
            0 => u64::MAX,
            _ => self.below(near),
        };
        let limit = match self.below(4) {
            0 => u64::MAX,
            _ => self.below(near),
        };
        (start, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_draws_the_same_every_time_and_another_state_something_else() {
        let draws = |byte| {
            let mut draw = Draw::of(&Bytes32([byte; 32]));
            [0; 8].map(|_: u8| draw.below(u64::MAX))
        };
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
    }

    #[test]
    fn a_list_has_at_most_what_was_asked_for_and_nothing_else() {
        let mut draw = Draw::of(&Bytes32([3; 32]));
        let lists: Vec<_> = (0..200).map(|_| draw.list(&[1, 2, 3], 4)).collect();
        assert!(lists.iter().all(|it| it.len() <= 4));
        assert!(lists.iter().any(Vec::is_empty));
        assert!(lists.iter().any(|it| it.len() == 4));
        assert!(draw.list::<u8>(&[], 4).is_empty());
    }

    #[test]
    fn windows_reach_across_and_beyond_the_end() {
        let mut draw = Draw::of(&Bytes32([4; 32]));
        let windows: Vec<_> = (0..400).map(|_| draw.window(3)).collect();
        for is in [
            |it: &(u64, u64)| it.0 < 2 && it.1 == 1,
            |it: &(u64, u64)| it.0 < 3 && it.1 == u64::MAX,
            |it: &(u64, u64)| it.0 == u64::MAX,
            |it: &(u64, u64)| it.0 == 4 && it.1 > 0,
            |it: &(u64, u64)| it.1 == 0,
        ] {
            assert!(windows.iter().any(is));
        }
    }
}
