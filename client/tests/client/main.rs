//! Every operation on both chains: our registries on anvil, the program on a local cluster.
#![allow(
    unreachable_pub,
    reason = "modules that other suites share say pub, and a test is no library"
)]
#[allow(dead_code)] // written for the tests of chain/
#[path = "../../../chain/tests/evm/anvil.rs"]
mod anvil;
mod canonical;
mod chain;
#[allow(dead_code)] // written for x402's tests
#[path = "../../../x402/tests/settled/cluster.rs"]
mod cluster;
#[path = "../../../x402/tests/settled/errand.rs"]
mod errand;
mod killed;
mod limits;
mod operations;
#[allow(dead_code)] // the same
#[path = "../../../x402/tests/settled/proxy.rs"]
mod proxy;
mod refusals;
#[path = "../../../x402/tests/settled/stopping_key.rs"]
mod stopping_key;
mod store_down;
mod summaries;
mod texts;
mod together;
mod world;
