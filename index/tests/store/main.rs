//! The store: kills, full disks, second writers, schemas, gaps. No chain is needed.
mod completeness;
#[path = "../worlds/database.rs"]
mod database;
mod failures;
mod killed;
mod repair;
mod world;
