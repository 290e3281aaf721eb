//! The tests of this crate from outside, as one executable.
mod evm;
mod full_tier;
mod shared;
mod svm;
