//! The result of a run: a matrix for people, JSON for programs, JUnit for build servers, and one
//! HTML file to look into.
mod cell;
mod html;
mod json;
mod junit;
mod kind;
mod provenance;
mod terminal;
mod text;

pub use cell::plain;
pub use html::html;
pub use json::json;
pub use junit::junit;
pub(crate) use junit::printable;
pub use provenance::{Artifact, Fact, Provenance, Version};
pub use terminal::Colours;
pub(crate) use terminal::{Terminal, Tone};
pub use text::{Detail, outcome, scenario_count, text};
