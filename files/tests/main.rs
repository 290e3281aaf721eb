//! The tests of this crate from outside, as one executable.
mod differences;
mod hostile;
mod typed;
mod vectors;
