//! The tests of this crate from outside, as one executable.
mod peers;
mod quote;
mod server;
mod settled;
mod verify;
mod wire;
