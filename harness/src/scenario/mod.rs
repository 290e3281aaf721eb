//! Scenarios: language-neutral JSON with actor labels instead of addresses, and times counted
//! from a start. Written once, run on every chain.
//!
//! [`Document`] is the file as it is on disk, [`Scenario`] the checked scenario that a runner
//! plays, [`fill`] writes what the model expects into a document.
mod check;
mod clock;
mod document;
mod fill;
mod flag;
mod layout;
mod load;
mod rule;
mod timeline;

pub use document::{Document, Expectation, Foreign, Only, Step, Variance};
pub use fill::fill;
pub use flag::{Flag, HEAD_START};
pub use load::{ScenarioFault, find_files, load, load_document, store_document};
pub use rule::Rule;
pub use timeline::{Scenario, TimedStep};
