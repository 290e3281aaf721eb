//! Probes the services of registered agents and publishes reliability signals as open feedback (BP, R60).
//!
//! [`Watch`] reads registration files, asks each service at an interval, and keeps a sample of each answer in
//! the [`Store`]. When a day or a week ends (UTC), [`signals_of_ended_windows`] writes down one signal per
//! (agent, endpoint, tag, window), its evidence file included, before anything is signed. A [`Publisher`] for
//! each registry then submits them within its budget. Each step is on disk before the next, so that a restart
//! never publishes twice, wherever the process was killed.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod budget;
#[cfg(feature = "cli")]
pub mod cli;
mod error;
mod evidence;
mod own;
mod ownership;
mod probe;
mod publisher;
mod revenues;
mod signal;
mod store;
mod tally;
mod target;
mod watch;
mod window;

pub use budget::Budget;
pub use error::WatchtowerError;
pub use own::OwnAccounts;
pub use ownership::is_owned;
pub use probe::{Finding, Outcome, Prober};
pub use publisher::{PassReport, Publisher};
pub use revenues::{Paid, Revenue, RevenueSource, Revenues, Unit, revenue_signals, sum_in_cents};
pub use signal::{Draft, Tag, signals_of_ended_windows};
pub use store::{Sample, Signal, SignalState, Store, StoreError, StoreRecord};
pub use tally::Tally;
pub use target::{Agent, ServiceKind, Target, targets_of};
pub use watch::{RoundReport, Settings, Survey, Watch};
pub use window::{Window, WindowKind};
