//! Searches, summaries and facts, compared with sums over the given feedback, one by one.
mod agents;
#[path = "../worlds/database.rs"]
mod database;
mod facts;
mod feedback;
#[path = "../worlds/given.rs"]
mod given;
mod oracle;
