//! Anvil reorganises, and lies in several ways. The index must have the tables of a fresh one, over a sound
//! connection. Needs what `scripts/build` makes, and anvil on PATH or in CONCORD_ANVIL.
mod chain;
#[path = "../worlds/changed.rs"]
mod changed;
mod command;
mod depths;
mod faults;
mod faulty;
#[path = "../worlds/proxy.rs"]
mod proxy;
mod state;
mod texts;
