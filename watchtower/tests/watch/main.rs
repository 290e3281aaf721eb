//! The watchtower over real registries: anvil and a local cluster, and services that behave as strangers' do.
mod both_chains;
mod budget;
mod cluster;
mod command;
mod finality;
mod killed;
mod own;
mod probing;
mod revenues;
mod schema;
mod services;
mod tls;
mod world;
