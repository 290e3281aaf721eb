//! Bundles that `tests/record/record.py` recorded from anvil, with encoders of its own.
mod completed;
mod encoded;
mod flips;
#[path = "../online/flips.rs"]
mod leaves;
mod recorded;
mod states;
