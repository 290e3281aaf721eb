//! The store: kills, full disks, second writers, schemas, gaps. No chain is needed.
mod ahead;
mod commits;
mod completeness;
mod dying;
mod failures;
mod growth;
mod killed;
mod repair;
mod state;
mod together;
mod versions;
mod world;
mod writers;
