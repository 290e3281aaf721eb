//! Interfaces, calls and events of the Solidity registries.
mod abi;
mod calls;
mod events;
mod text;
