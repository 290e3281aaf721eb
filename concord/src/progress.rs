//! What a person sees while a run goes on: bars where stderr is a terminal; else a line for each
//! scenario and participant, or for each tenth of the steps.
use concord_deploy::report::print_status;
use concord_harness::report::plain;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    collections::BTreeMap,
    io::{self, IsTerminal},
    sync::atomic::{AtomicU64, Ordering},
};

pub(super) enum Progress {
    Lines,
    Bars {
        all: MultiProgress,
        bars: BTreeMap<String, ProgressBar>,
        scenarios: u64,
    },
}

impl Progress {
    /// For a run of this many scenarios.
    pub fn on_stderr(scenarios: usize) -> Self {
        if !io::stderr().is_terminal() {
            return Self::Lines;
        }
        Self::Bars {
            all: MultiProgress::with_draw_target(ProgressDrawTarget::stderr()),
            bars: BTreeMap::new(),
            scenarios: scenarios as u64,
        }
    }

    pub fn print_status(&mut self, scenario: &str, participant: &str, failed: usize) {
        let line = match failed {
            0 => format!("{participant:12} {scenario}"),
            _ => format!("{participant:12} {scenario}: FAILED"),
        };
        let line = plain(&line);
        match self {
            Self::Lines => print_status(line),
            Self::Bars {
                all,
                bars,
                scenarios,
            } => {
                if failed > 0 {
                    let _ = all.println(&line); // a terminal that is gone needs no progress
                }
                let bar = bars
                    .entry(participant.to_owned())
                    .or_insert_with(|| all.add(bar(participant, *scenarios)));
                bar.set_message(scenario.to_owned());
                bar.inc(1);
            }
        }
    }

    /// Leaves the terminal to the report.
    pub fn end(&self) {
        if let Self::Bars { all, .. } = self {
            let _ = all.clear();
        }
    }
}

/// Of a run of so many steps, whose workers all report.
pub(super) struct Steps {
    bar: Option<ProgressBar>,
    total: u64,
    /// Tenths that have been reported.
    reported: AtomicU64,
}

impl Steps {
    pub fn on_stderr(total: u64) -> Self {
        let is_seen = io::stderr().is_terminal();
        let bar = is_seen.then(|| bar("steps", total));
        Self {
            bar,
            total,
            reported: AtomicU64::new(0),
        }
    }

    pub fn print_status(&self, steps: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(steps);
            return;
        }
        let tenths = steps / (self.total / 10).max(1);
        if self.reported.fetch_max(tenths, Ordering::Relaxed) < tenths {
            print_status(format_args!("{steps} steps"));
        }
    }

    /// Leaves the terminal to the report.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(participant: &str, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:12} {bar:30} {pos}/{len} {msg}")
        .expect("the template is one");
    ProgressBar::new(length)
        .with_style(style)
        .with_prefix(participant.to_owned())
}
