/// How many blocks are asked for at once: halved if an endpoint refuses, doubled while it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    blocks: u64,
    most: u64,
    /// Answers since the last refusal.
    answered: u32,
}

/// Before that many answers a range does not grow: else every second request would be refused.
const PATIENCE: u32 = 4;

impl Range {
    /// Begins with `blocks`, and never asks for more than `most`.
    #[must_use]
    pub fn new(blocks: u64, most: u64) -> Self {
        Self {
            blocks: blocks.clamp(1, most.max(1)),
            most: most.max(1),
            answered: PATIENCE,
        }
    }

    /// Returns the last block to ask for, from `from` on.
    #[must_use]
    pub fn end(&self, from: u64, to: u64) -> u64 {
        to.min(from.saturating_add(self.blocks - 1))
    }

    /// The endpoint refused so many blocks. False: it cannot be asked for fewer.
    pub fn shrink(&mut self, refused: u64) -> bool {
        self.answered = 0;
        self.blocks = (refused / 2).max(1);
        refused > 1
    }

    /// The endpoint answered so many blocks with so many logs.
    pub fn grow(&mut self, blocks: u64, logs: usize) {
        self.answered = self.answered.saturating_add(1);
        if blocks == self.blocks && logs < ENOUGH && self.answered > PATIENCE {
            self.blocks = self.blocks.saturating_mul(2).min(self.most);
        }
    }
}

/// An answer with so many logs is large enough: several endpoints refuse more than 10,000.
const ENOUGH: usize = 4_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_grows_while_it_is_answered_and_is_halved_by_a_refusal() {
        let mut range = Range::new(1_000, 3_000);
        assert_eq!((range.end(5, 10_000), range.end(5, 9)), (1_004, 9));
        range.grow(1_000, 10);
        assert_eq!(range.end(0, 10_000), 1_999);
        range.grow(2_000, 10);
        assert_eq!(range.end(0, 10_000), 2_999);
        assert!(range.shrink(3_000));
        assert_eq!(range.end(0, 10_000), 1_499);
        for _ in 0..PATIENCE {
            range.grow(1_500, 10);
        }
        assert_eq!(range.end(0, 10_000), 1_499);
        range.grow(1_500, 10);
        assert_eq!(range.end(0, 10_000), 2_999);
    }

    #[test]
    fn a_full_answer_is_not_made_larger_and_one_block_is_the_least() {
        let mut range = Range::new(100, 1_000);
        range.grow(100, ENOUGH);
        assert_eq!(range.end(0, 10_000), 99);
        assert!(range.shrink(2));
        assert!(!range.shrink(1));
        assert_eq!(range.end(7, 10_000), 7);
    }
}
