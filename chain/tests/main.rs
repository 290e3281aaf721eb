//! The tests of this crate from outside, as one executable.
mod evm;
mod fetch;
mod server;
mod svm;
