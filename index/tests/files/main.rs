//! Files that events refer to: fetched, verified, and what comes of them.
#[path = "../worlds/database.rs"]
mod database;
mod fetched;
mod host;
mod signed;
mod world;
