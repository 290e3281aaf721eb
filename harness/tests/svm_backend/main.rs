//! The Solana backend against the model: every operation, every class of refusal that it can come
//! to, and random lists. Needs the program that `scripts/build` builds.
mod authorized;
mod failures;
mod identity;
mod open;
mod payment;
mod validation;
mod world;
