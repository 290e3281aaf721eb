//! x402's messages: what is read, what is refused and where, and that nothing panics.
mod authorization;
mod fuzzed;
mod messages;
