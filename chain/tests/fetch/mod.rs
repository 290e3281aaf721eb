//! Fetching what strangers name: attacks on `concord_chain::fetch`.
mod gateway;
mod limits;
mod server;
mod ssrf;
