//! The registries on Solana.

mod account;
mod authorize;
mod instructions;
mod reads;
mod submitting;
mod tries;

pub use account::SvmAccount;
pub use reads::SvmRegistries;
