//! The deployment rehearsed: the built program against a real anvil with Base Sepolia's chain id.
mod address_book;
mod addresses;
mod attaching;
mod draft_form;
mod explorer;
mod interruptions;
mod keys;
mod limits;
mod local_chain;
mod program;
mod refusals;
mod registry;
mod rehearsal;
mod rpc_faults;
mod secrets;
mod unsigned;

#[path = "../shared/fault_proxy.rs"]
mod fault_proxy;
#[path = "../shared/http.rs"]
mod http;
#[path = "../shared/limiting_proxy.rs"]
mod limiting_proxy;
#[path = "../shared/process.rs"]
mod process;
