//! Anvil reorganises, and lies in several ways. The index must have the tables of a fresh one, over a sound
//! connection. Needs what `scripts/build` makes, and anvil on PATH or in CONCORD_ANVIL.
mod chain;
mod command;
mod depths;
mod faults;
mod faulty;
mod state;
mod texts;
