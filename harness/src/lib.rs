//! Concord's harness: one scenario, every registry, one verdict.
//!
//! Dependencies run one way: `concord_canonical` ← [`model`] ← [`scenario`] ← [`backend`] ←
//! [`runner`] ← [`report`]. A layer does not depend on those after it.
pub mod backend;
pub mod fuzz;
pub mod live;
pub mod model;
pub mod report;
pub mod runner;
pub mod scenario;
pub mod vectors;
