//! The vectors of the canonical functions, given to any program that answers the oracle's protocol.
//!
//! - `file`: the committed vectors, which the binary carries
//! - `program`: the program, line by line
//! - `check`: compares its answers
//! - `secret`: what no report repeats
//! - `report`, `junit`: the result
mod check;
mod file;
mod junit;
mod program;
mod report;
mod secret;

pub use check::{Conclusion, Finding, Plan, Row, Run, Tally, Verdict, run};
pub use file::{FILES, SCHEMA, Vector, VectorFile, all};
pub use junit::junit;
pub use program::{Command, ProgramFault};
pub use report::{json, text};
