//! Every operation on both chains: our registries on anvil, the program on a local cluster.
#![allow(
    unreachable_pub,
    reason = "modules that other suites share say pub, and a test is no library"
)]
mod canonical;
mod chain;
mod killed;
mod limits;
mod operations;
mod refusals;
mod store_down;
mod summaries;
mod texts;
mod together;
mod world;
