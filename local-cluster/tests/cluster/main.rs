//! The cluster as its clients see it: questions over HTTP, by a client written for these tests.
mod chain;
mod client;
mod command;
mod deployment;
mod errors;
mod features;
mod in_process;
mod lookup_tables;
mod networks;
mod precompile;
mod program;
mod sending;
mod shapes;
