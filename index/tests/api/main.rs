//! `/v1` over a store with two chains.
mod limits;
mod searches;
mod server;
mod summaries;
#[path = "../worlds/given.rs"]
mod given;
