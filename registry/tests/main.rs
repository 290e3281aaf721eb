//! The tests of this crate from outside, as one executable.
mod dependencies;
#[cfg(feature = "evm")]
mod evm;
mod svm;
