//! `/v1` over a store with two chains.
mod client;
mod command;
mod connections;
#[path = "../worlds/database.rs"]
mod database;
mod described;
mod explorer;
mod export;
mod furnished;
#[path = "../worlds/given.rs"]
mod given;
#[path = "../worlds/http.rs"]
mod http;
mod limits;
mod pages;
mod searches;
mod server;
mod solana;
mod subgraph;
mod subgraph_limits;
mod summaries;
