//! Searches, summaries and facts, compared with sums over the given feedback, one by one.
mod agents;
#[path = "../worlds/asked.rs"]
mod asked;
#[path = "../worlds/database.rs"]
mod database;
mod facts;
mod feedback;
#[path = "../worlds/given.rs"]
mod given;
mod many;
mod oracle;
