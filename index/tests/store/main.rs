//! The store: kills, full disks, second writers, schemas, gaps. No chain is needed.
mod ahead;
#[path = "../worlds/asked.rs"]
mod asked;
#[path = "../worlds/changed.rs"]
mod changed;
mod commits;
mod completeness;
#[path = "../worlds/database.rs"]
mod database;
mod dying;
#[path = "../worlds/earlier.rs"]
mod earlier;
mod failures;
mod growth;
mod killed;
mod repair;
mod state;
mod together;
mod versions;
mod world;
mod writers;
