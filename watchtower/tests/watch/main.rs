//! The watchtower over real registries: anvil and a local cluster, and services that behave as strangers' do.
mod both_chains;
mod budget;
mod cluster;
mod command;
#[path = "../../../x402/tests/settled/errand.rs"]
mod errand;
#[path = "../../../x402/tests/settled/hooked_registry.rs"]
mod hooked_registry;
mod killed;
mod own;
mod probing;
mod revenues;
mod services;
#[path = "../../../aggregator/tests/service/stopping.rs"]
mod stopping;
mod world;
