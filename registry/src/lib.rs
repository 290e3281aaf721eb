#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod event;
#[cfg(feature = "evm")]
pub mod evm;
pub mod svm;

pub use concord_canonical as canonical;
pub use event::{AccountId, AgentId, Event};
