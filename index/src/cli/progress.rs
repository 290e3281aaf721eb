use crate::Progress;
use std::time::{Duration, Instant};

/// Between two lines about a backfill.
const PERIOD: Duration = Duration::from_secs(2);

/// Says how fast a backfill is, and how long it will take.
pub struct Meter {
    begun: Instant,
    printed: Option<Instant>,
    first: Option<u64>,
    events: u64,
    through: u64,
    /// Before each line.
    name: String,
}

impl Meter {
    pub fn new(start: u64, name: String) -> Self {
        Self {
            begun: Instant::now(),
            printed: None,
            first: None,
            events: 0,
            through: start,
            name,
        }
    }

    pub fn show(&mut self, progress: Progress) {
        match progress {
            Progress::Advanced {
                from,
                through,
                head,
                events,
            } => {
                self.first.get_or_insert(from);
                self.events += events as u64;
                self.through = through;
                if through == head
                    || self
                        .printed
                        .is_none_or(|printed| printed.elapsed() > PERIOD)
                {
                    self.printed = Some(Instant::now());
                    eprintln!("{}", self.line(head, self.begun.elapsed()));
                }
            }
            Progress::Reorganised { fork, depth } => {
                let name = &self.name;
                eprintln!("{name}reorganised: {depth} blocks after {fork} were taken back");
            }
            Progress::Idle { .. } => (),
        }
    }

    fn line(&self, head: u64, elapsed: Duration) -> String {
        let seconds = elapsed.as_secs_f64().max(0.001);
        let rate = self.events as f64 / seconds;
        let done = self.through.saturating_sub(self.first.unwrap_or_default()) + 1;
        let left = head.saturating_sub(self.through);
        let time = left as f64 * seconds / done as f64;
        format!(
            "{}block {} of {head}: {} events, {rate:.0}/s, {time:.0} s left",
            self.name, self.through, self.events
        )
    }

    pub fn finish(&self, head: u64) {
        eprintln!("{}everything up to block {head} is indexed", self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backfill_says_its_speed_and_the_time_that_is_left() {
        let mut meter = Meter::new(100, "eip155:1: ".to_owned());
        let elapsed = Duration::from_secs(10);
        let batch = |from, through, events| Progress::Advanced {
            from,
            through,
            head: 399,
            events,
        };
        meter.show(batch(100, 149, 300));
        meter.show(batch(150, 199, 200));
        // 100 of 300 blocks in 10 seconds: the other 200 take 20.
        let line = "eip155:1: block 199 of 399: 500 events, 50/s, 20 s left";
        assert_eq!(meter.line(399, elapsed), line);
        meter.show(batch(200, 399, 0));
        let line = "eip155:1: block 399 of 399: 500 events, 50/s, 0 s left";
        assert_eq!(meter.line(399, elapsed), line);
    }
}
