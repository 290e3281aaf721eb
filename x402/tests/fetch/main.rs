//! Fetching what strangers name: `concord_chain::fetch`, attacked.
mod gateway;
mod limits;
mod server;
mod ssrf;
