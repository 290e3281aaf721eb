//! Against a real anvil, and against servers that do not answer as they should.
mod endpoint;
mod resumed;
mod submission;
mod subscriptions;
