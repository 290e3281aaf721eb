//! What takes long: `scripts/test full` runs it, and `scripts/test` does not.
mod evm_limits;
mod svm_limits;
