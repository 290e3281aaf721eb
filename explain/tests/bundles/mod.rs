//! Bundles that `tests/record/record.py` recorded from anvil, with encoders of its own.
mod completed;
mod encoded;
mod flips;
mod recorded;
mod states;
