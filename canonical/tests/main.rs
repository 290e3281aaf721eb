//! The tests of this crate from outside, as one executable.
mod eip712_mail;
mod json_properties;
mod sign_properties;
mod vectors;
mod wycheproof;
