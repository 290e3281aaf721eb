//! The watchtower over real registries: anvil and a local cluster, and services that behave as strangers' do.
mod both_chains;
mod budget;
mod cluster;
mod command;
#[path = "../../../aggregator/tests/service/config_schema.rs"]
mod config_schema;
mod finality;
#[path = "../../../deploy/tests/shared/http.rs"]
mod http;
mod killed;
mod own;
mod probing;
mod revenues;
mod schema;
mod services;
#[path = "../../../aggregator/tests/service/stopping.rs"]
mod stopping;
mod tls;
mod world;
