//! Files that events refer to: fetched, verified, and what comes of them.
#[path = "../worlds/asked.rs"]
mod asked;
#[path = "../worlds/database.rs"]
mod database;
#[path = "../worlds/earlier.rs"]
mod earlier;
mod fetched;
mod host;
mod signed;
mod world;
