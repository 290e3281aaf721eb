//! The tests of this crate from outside, as one executable.
mod evm;
mod shared;
mod svm;
