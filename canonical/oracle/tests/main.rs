//! The tests of this crate from outside, as one executable.
mod error_classes;
mod oracle;
mod vectors;
