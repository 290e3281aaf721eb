//! The tests of this crate from outside, as one executable.
mod bundles;
mod online;
