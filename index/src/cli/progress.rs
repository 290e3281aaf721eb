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
                    eprintln!("{}", self.line(head));
                }
            }
            Progress::Reorganised { fork, depth } => {
                let name = &self.name;
                eprintln!("{name}reorganised: {depth} blocks after {fork} were taken back");
            }
            Progress::Idle { .. } => (),
        }
    }

    fn line(&self, head: u64) -> String {
        let seconds = self.begun.elapsed().as_secs_f64().max(0.001);
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
