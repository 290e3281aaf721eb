//! The built program in a real Solana VM: the ELF of `scripts/build-program`, litesvm's Token-2022,
//! precompiles and system calls.
//!
//! Everything these tests send or expect is written out by hand: instruction data, account
//! layouts, seeds, messages. Neither `concord-canonical` nor the program's own types take part,
//! except in `interface`, which holds the program's constants against literals.

mod calls_by_programs;
mod check_order;
mod compute_units;
mod feedback_authorization;
mod give_feedback;
mod initialize;
mod interface;
mod localnet;
mod precompile_attacks;
mod prefunded_addresses;
mod register_agent;
mod revoke_feedback;
mod transaction_size;
mod transfer_hook;
mod transfer_hook_attacks;

mod append_open_response;
mod append_response;
mod compute_units_open;
mod give_open_feedback;
mod give_open_feedback_accounts;
mod open_feedback_sequences;
mod open_summary;
mod open_summary_vectors;
mod revoke_open_feedback;
mod transaction_size_open;
mod validation_request;
mod validation_response;
