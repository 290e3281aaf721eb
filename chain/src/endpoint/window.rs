//! The requests of one kind that were sent to an endpoint within its window of time.
use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// Fewer requests than these teach no limit. An endpoint may refuse the first one, because others share
/// the address that it counts.
const LEAST: u32 = 20;
/// Windows without a refusal before a learned limit is tried again: at first, and at most. Each time
/// that it is learned anew doubles them.
const PATIENCE: u32 = 2;
const PATIENCE_MAX: u32 = 64;

/// When a request may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    Now,
    At(Instant),
    /// Once one that is on its way has been answered.
    AfterAnswer,
}

/// A sliding window. A request leaves it one window's length after its answer. The endpoint has
/// counted it before that, however slow the network is.
#[derive(Debug)]
pub(super) struct Window {
    length: Duration,
    /// What the endpoint states.
    stated: Option<u32>,
    /// What is sent at most, never above `stated`.
    limit: Option<u32>,
    in_flight: u32,
    answered: VecDeque<Answered>,
    /// Refused in a row, and how many the endpoint had taken when they were.
    refusals: u32,
    taken: u32,
    /// What it had taken when it refused some before.
    suspected: Option<u32>,
    held_until: Option<Instant>,
    /// When the limit was learned, or widened.
    changed: Instant,
    patience: u32,
}

#[derive(Clone, Copy, Debug)]
struct Answered {
    at: Instant,
    is_refused: bool,
}

impl Window {
    pub(crate) fn new(length: Duration, stated: Option<u32>, now: Instant) -> Self {
        Self {
            length,
            stated,
            limit: stated,
            in_flight: 0,
            answered: VecDeque::new(),
            refusals: 0,
            taken: u32::MAX,
            suspected: None,
            held_until: None,
            changed: now,
            patience: PATIENCE,
        }
    }

    /// Returns when `count` more may be sent.
    pub(crate) fn admission(&mut self, count: u32, now: Instant) -> Admission {
        self.forget(now);
        if let Some(until) = self.held_until.filter(|until| *until > now) {
            return Admission::At(until);
        }
        if self.refusals > 0 && self.in_flight > 0 {
            return Admission::AfterAnswer; // while it refuses, it is asked one at a time
        }
        self.widen(now);
        let used = self.used();
        let Some(limit) = self.limit.filter(|_| used > 0) else {
            return Admission::Now;
        };
        let surplus = used.saturating_add(count).saturating_sub(limit);
        let Some(last) = surplus.min(used).checked_sub(1) else {
            return Admission::Now;
        };
        match self.answered.get(last as usize) {
            Some(answered) => Admission::At(answered.at + self.length),
            None => Admission::AfterAnswer,
        }
    }

    pub(crate) fn enter(&mut self, count: u32) {
        self.in_flight += count;
    }

    pub(crate) fn leave(&mut self, count: u32, is_refused: bool, now: Instant) {
        self.in_flight -= count;
        if !is_refused && self.refusals > 0 {
            self.learn(now);
        }
        let answered = Answered {
            at: now,
            is_refused,
        };
        self.answered.extend((0..count).map(|_| answered));
    }

    /// Waits before the next request: as long as the endpoint says, else `pause`, which doubles while
    /// it keeps refusing. Called before the refused request leaves.
    pub(crate) fn refuse(&mut self, retry_after: Option<Duration>, pause: Duration, now: Instant) {
        self.forget(now);
        if self.held_until.is_none_or(|until| until <= now) {
            self.refusals += 1; // else it was sent together with the one that was refused first
        }
        let doublings = self.refusals.saturating_sub(2).min(16);
        let doubled = pause.saturating_mul(1 << doublings);
        let wait = retry_after.unwrap_or_else(|| doubled.min(self.length / 2));
        self.held_until = self.held_until.max(Some(now + wait));
        let refused = self.answered.iter().filter(|it| it.is_refused).count();
        let refused = u32::try_from(refused).unwrap_or(u32::MAX).saturating_add(1);
        self.taken = self.taken.min(self.used().saturating_sub(refused));
    }

    /// Takes for the limit what was refused twice: once may have been an accident.
    fn learn(&mut self, now: Instant) {
        self.refusals = 0;
        let taken = std::mem::replace(&mut self.taken, u32::MAX);
        if taken < LEAST {
            return;
        }
        let before = self.suspected.replace(taken);
        let Some(before) = before.filter(|before| before.abs_diff(taken) <= taken / 4) else {
            return;
        };
        let learned = before.max(taken);
        self.limit = Some(self.limit.map_or(learned, |limit| limit.min(learned)));
        self.changed = now;
        self.patience = (self.patience * 2).min(PATIENCE_MAX);
    }

    /// How many requests the endpoint counts, at most.
    pub(crate) fn used(&self) -> u32 {
        let answered = u32::try_from(self.answered.len()).unwrap_or(u32::MAX);
        self.in_flight.saturating_add(answered)
    }

    /// A learned limit may be too low: others may have used up the rest, or it has been raised.
    fn widen(&mut self, now: Instant) {
        let Some(limit) = self.limit.filter(|limit| Some(*limit) != self.stated) else {
            return;
        };
        if now.duration_since(self.changed) < self.length * self.patience {
            return;
        }
        let wider = limit.saturating_add((limit / 4).max(1));
        self.limit = Some(self.stated.map_or(wider, |stated| wider.min(stated)));
        self.changed = now;
    }

    fn forget(&mut self, now: Instant) {
        let length = self.length;
        let is_over = |it: &Answered| now.duration_since(it.at) >= length;
        while self.answered.front().is_some_and(is_over) {
            self.answered.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: Duration = Duration::from_secs(10);
    const PAUSE: Duration = Duration::from_secs(1);

    fn second(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    fn send(window: &mut Window, count: u32, now: Instant) {
        for _ in 0..count {
            assert_eq!(window.admission(1, now), Admission::Now);
            window.enter(1);
            window.leave(1, false, now);
        }
    }

    fn refused(window: &mut Window, retry_after: Option<Duration>, now: Instant) {
        window.enter(1);
        window.refuse(retry_after, PAUSE, now);
        window.leave(1, true, now);
    }

    #[test]
    fn a_stated_limit_holds_in_every_window() {
        let start = Instant::now();
        let mut window = Window::new(LENGTH, Some(3), start);
        send(&mut window, 2, start);
        send(&mut window, 1, second(start, 4));
        let free = Admission::At(second(start, 10));
        assert_eq!(window.admission(1, second(start, 9)), free);
        assert_eq!(window.admission(2, second(start, 9)), free);
        let third = Admission::At(second(start, 14));
        assert_eq!(window.admission(3, second(start, 9)), third);
        send(&mut window, 2, second(start, 10));
        assert_eq!(window.admission(1, second(start, 11)), third);
    }

    #[test]
    fn a_request_counts_until_a_window_after_its_answer() {
        let start = Instant::now();
        let mut window = Window::new(LENGTH, Some(1), start);
        window.enter(1);
        let after = Admission::AfterAnswer;
        assert_eq!(window.admission(1, second(start, 60)), after);
        window.leave(1, false, second(start, 60));
        let free = Admission::At(second(start, 70));
        assert_eq!(window.admission(1, second(start, 61)), free);
    }

    /// Else it could never be sent.
    #[test]
    fn a_batch_above_the_limit_is_sent_alone() {
        let start = Instant::now();
        let mut window = Window::new(LENGTH, Some(3), start);
        assert_eq!(window.admission(5, start), Admission::Now);
        window.enter(5);
        window.leave(5, false, start);
        let free = Admission::At(second(start, 10));
        assert_eq!(window.admission(5, start), free);
    }

    #[test]
    fn a_limit_is_learned_from_two_refusals_and_tried_again_later() {
        let start = Instant::now();
        let mut window = Window::new(LENGTH, None, start);
        for (time, taken, limit) in [(0, 40, None), (20, 36, Some(40))] {
            let now = second(start, time);
            send(&mut window, taken, now);
            refused(&mut window, None, now);
            let held = Admission::At(second(start, time + 1));
            assert_eq!(window.admission(1, now), held);
            send(&mut window, 1, second(start, time + 10));
            assert_eq!(window.limit, limit);
        }
        send(&mut window, 39, second(start, 30));
        let free = Admission::At(second(start, 40));
        assert_eq!(window.admission(1, second(start, 30)), free);
        // four windows after it was learned, a quarter more
        send(&mut window, 50, second(start, 70));
        assert_ne!(window.admission(1, second(start, 70)), Admission::Now);
    }

    #[test]
    fn refusals_of_the_first_requests_are_waited_for_and_teach_nothing() {
        let start = Instant::now();
        let mut window = Window::new(LENGTH, None, start);
        for _ in 0..3 {
            for wait in [1, 1, 2, 4, 5, 5] {
                let now = window.held_until.unwrap_or(start);
                refused(&mut window, None, now);
                assert_eq!(window.held_until, Some(second(now, wait)));
            }
            let now = window.held_until.unwrap_or(start);
            send(&mut window, 1, now);
        }
        assert_eq!(window.limit, None);
    }

    #[test]
    fn an_endpoint_that_refuses_is_asked_one_at_a_time() {
        let start = Instant::now();
        let mut window = Window::new(LENGTH, None, start);
        window.enter(8);
        for _ in 0..8 {
            window.refuse(None, PAUSE, start);
            window.leave(1, true, start);
        }
        let now = second(start, 1);
        assert_eq!(window.admission(1, start), Admission::At(now));
        assert_eq!(window.admission(1, now), Admission::Now);
        window.enter(1);
        assert_eq!(window.admission(1, now), Admission::AfterAnswer);
        window.leave(1, false, now);
        assert_eq!(window.admission(1, now), Admission::Now);
    }

    #[test]
    fn an_endpoint_says_how_long_it_refuses() {
        let start = Instant::now();
        let mut window = Window::new(LENGTH, Some(40), start);
        refused(&mut window, Some(Duration::from_secs(30)), start);
        refused(&mut window, Some(Duration::from_secs(7)), start);
        let free = Admission::At(second(start, 30));
        assert_eq!(window.admission(1, start), free);
    }

    #[test]
    fn a_stated_limit_can_be_narrowed_and_is_never_exceeded() {
        let start = Instant::now();
        let mut window = Window::new(LENGTH, Some(40), start);
        for (time, limit) in [(0, 40), (20, 30)] {
            send(&mut window, 30, second(start, time));
            refused(&mut window, None, second(start, time));
            send(&mut window, 1, second(start, time + 10));
            assert_eq!(window.limit, Some(limit));
        }
        for time in [100, 200, 300] {
            window.admission(1, second(start, time));
        }
        assert_eq!(window.limit, Some(40));
    }
}
