//! The crate and the Anchor program state the same bytes: addresses, instructions, accounts, events
//! and error codes. The program is linked here and nowhere else.
mod accounts;
mod addresses;
mod errors;
mod events;
mod instructions;
mod log_events;
mod payment_tokens;
mod tokens;

use anchor_lang::prelude::Pubkey;
use concord_registry::svm::{Address, Program};

/// The program under the id that it was built for.
fn program() -> Program {
    Program::new(address(agent_registry::ID))
}

fn address(key: Pubkey) -> Address {
    Address::new_from_array(key.to_bytes())
}

fn key(address: Address) -> Pubkey {
    Pubkey::new_from_array(address.to_bytes())
}

fn some_address(byte: u8) -> Address {
    Address::new_from_array([byte; 32])
}

fn some_key(byte: u8) -> Pubkey {
    Pubkey::new_from_array([byte; 32])
}
