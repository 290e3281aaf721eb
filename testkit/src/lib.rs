//! Nodes, services and faults for tests: each real, of the test's own, and gone when it is dropped.
pub mod anvil;
#[cfg(feature = "purchases")]
pub mod chain;
#[cfg(feature = "purchases")]
pub mod cluster;
pub mod command;
pub mod errand;
#[cfg(feature = "purchases")]
pub mod gate;
#[cfg(feature = "purchases")]
pub mod hooked_registry;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod proxy;
#[cfg(feature = "purchases")]
pub mod shop;
pub mod stopping_key;
