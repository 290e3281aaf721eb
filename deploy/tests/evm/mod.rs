//! The deployment rehearsed: the built program against a real anvil with Base Sepolia's chain id.
mod address_book;
mod addresses;
mod attaching;
mod draft_form;
mod explorer;
mod interruptions;
mod keys;
pub(crate) mod local_chain;
pub(crate) mod program;
mod refusals;
mod registry;
mod rehearsal;
mod rpc_faults;
mod secrets;
mod unsigned;
