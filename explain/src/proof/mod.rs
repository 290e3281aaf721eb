//! What an EVM bundle's bytes prove: headers, receipts, accounts, slots. Pure functions.
pub(crate) mod account;
pub(crate) mod header;
pub(crate) mod receipt;
pub(crate) mod rlp;
pub(crate) mod transaction;
pub(crate) mod trie;
