//! EVM chains over JSON-RPC.
mod call_chain;
mod client;
mod confirmations;
mod contract_signature;
mod fees;
mod node;
mod receipt;
mod transactions;

pub use call_chain::{CallChain, CallJob};
pub use client::{Client, ClientOptions, transfer};
pub use confirmations::Confirmations;
pub use fees::{FeeLimit, Fees, gwei, layer_one_fee};
pub use node::{Node, returned_or_reverted, view_request};
pub use receipt::TxReceipt;
pub use transactions::{Transactions, TxCall, decode};

/// Gas of a transfer of the chain's coin to an account without code.
pub const TRANSFER_GAS: u64 = 21_000;
