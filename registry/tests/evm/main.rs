//! Interfaces, calls and events of the Solidity registries.
#![cfg(feature = "evm")]
mod abi;
mod calls;
mod events;
mod text;
