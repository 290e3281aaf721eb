//! Searches, summaries and facts, compared with sums over the given feedback, one by one.
mod agents;
mod facts;
mod feedback;
mod many;
mod oracle;
