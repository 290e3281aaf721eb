//! `/v1` over a store with two chains.
mod client;
mod command;
mod connections;
mod described;
mod explorer;
mod export;
mod furnished;
mod limits;
mod pages;
mod searches;
mod server;
mod solana;
mod subgraph;
mod subgraph_limits;
mod summaries;
