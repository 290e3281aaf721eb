/// How many blocks are asked for at once: halved if an endpoint refuses or an answer is long, doubled while answers are short
/// (IDX-50).
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
    pub fn answered(&mut self, blocks: u64, logs: usize) {
        self.answered = self.answered.saturating_add(1);
        if logs > TOO_MANY {
            self.blocks = (blocks / 2).max(1);
        } else if blocks == self.blocks && logs < ENOUGH && self.answered > PATIENCE {
            self.blocks = self.blocks.saturating_mul(2).min(self.most);
        }
    }
}

/// An answer with so many logs is large enough.
const ENOUGH: usize = 4_000;
/// With more than these it is too large: several endpoints refuse more than 10,000, and while it is read nothing is written.
const TOO_MANY: usize = 2 * ENOUGH;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_grows_while_it_is_answered_and_is_halved_by_a_refusal() {
        let mut range = Range::new(1_000, 3_000);
        assert_eq!((range.end(5, 10_000), range.end(5, 9)), (1_004, 9));
        range.answered(1_000, 10);
        assert_eq!(range.end(0, 10_000), 1_999);
        range.answered(2_000, 10);
        assert_eq!(range.end(0, 10_000), 2_999);
        assert!(range.shrink(3_000));
        assert_eq!(range.end(0, 10_000), 1_499);
        for _ in 0..PATIENCE {
            range.answered(1_500, 10);
        }
        assert_eq!(range.end(0, 10_000), 1_499);
        range.answered(1_500, 10);
        assert_eq!(range.end(0, 10_000), 2_999);
    }

    #[test]
    fn a_full_answer_is_not_made_larger_and_one_block_is_the_least() {
        let mut range = Range::new(100, 1_000);
        range.answered(100, ENOUGH);
        assert_eq!(range.end(0, 10_000), 99);
        range.answered(100, TOO_MANY);
        assert_eq!(range.end(0, 10_000), 99);
        assert!(range.shrink(2));
        assert!(!range.shrink(1));
        assert_eq!(range.end(7, 10_000), 7);
    }

    /// IDX-50
    #[test]
    fn an_answer_that_is_too_long_halves_the_range() {
        let mut range = Range::new(100, 1_000);
        range.answered(60, TOO_MANY + 1); // up to the newest block
        assert_eq!(range.end(0, 10_000), 29);
        for _ in 0..10 {
            range.answered(30, TOO_MANY + 1);
        }
        assert_eq!(range.end(0, 10_000), 14);
        range.answered(1, TOO_MANY + 1);
        assert_eq!(range.end(7, 10_000), 7);
        range.answered(1, 0);
        assert_eq!(range.end(7, 10_000), 8);
    }
}
