//! The registries on EVM chains.

mod account;
mod authorize;
mod calls;
mod reads;

pub use account::EvmAccount;
pub use reads::EvmRegistries;
