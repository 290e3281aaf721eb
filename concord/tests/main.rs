//! The tests of the command, as one executable.
mod adapter;
mod attach;
mod cli;
mod conform;
mod deploy;
mod deploying;
mod evm_failures;
mod full_tier;
mod gas;
mod invocation;
mod live;
mod live_svm;
mod readme;
