//! The Anchor program on Solana: addresses, instructions, accounts, events, views and errors.
//!
//! [`Program`] is a deployed program. Its methods derive every address, build every instruction
//! and decode every account and event.
pub mod accounts;
pub mod compute_budget;
pub mod ed25519;
mod errors;
pub mod events;
pub mod instructions;
mod program;
pub mod programs;
pub mod token;
pub mod views;

pub use errors::{FailedTransaction, RuntimeError, class_of};
pub use program::{Program, associated_token_account};
pub use solana_address::Address;
pub use solana_instruction::{AccountMeta, Instruction, error::InstructionError};
