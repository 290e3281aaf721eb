//! The tests of this crate from outside, as one executable.
mod api;
mod cluster;
mod files;
mod full_tier;
mod reorg;
mod replay;
mod search;
mod store;
mod worlds;
