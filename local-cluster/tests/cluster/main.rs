//! The cluster as its clients see it: questions over HTTP, by a client written for these tests.
mod client;
mod deployment;
mod program;
