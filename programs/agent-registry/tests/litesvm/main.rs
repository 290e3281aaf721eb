//! The built program in a real Solana VM: the ELF of `scripts/build-program`, litesvm's Token-2022,
//! precompiles and system calls.
//!
//! Everything these tests send or expect is written out by hand: instruction data, account
//! layouts, seeds, messages. Neither `concord-canonical` nor the program's own types take part,
//! except in `interface`, which holds the program's constants against literals, and in
//! `framework_errors`, which holds the list of error classes against the errors themselves.

mod account_swaps;
mod agent_mint_address;
mod append_response;
mod attach_payment_proof;
mod calls_by_programs;
mod check_order;
mod compute_units;
mod consent;
mod feedback_authorization;
mod framework_errors;
mod give_feedback;
mod give_open_feedback;
mod give_open_feedback_accounts;
mod initialize;
mod interface;
mod layout_upgrade;
mod localnet;
mod long_instructions;
mod open_summary;
mod open_summary_ranges;
mod open_summary_vectors;
mod owner_instructions;
mod payment_lists;
mod precompile_attacks;
mod prefunded_addresses;
mod program_id;
mod recording;
mod register_agent;
mod registry_authority;
mod registry_sequences;
mod revoke_feedback;
mod revoke_open_feedback;
mod security_contact;
mod set_agent_uri;
mod set_agent_wallet;
mod set_auth_schemes;
mod set_feedback_authority;
mod set_metadata;
mod sponsored_rent;
mod threat_model;
mod token_account_extensions;
mod transaction_size;
mod transfer_hook;
mod transfer_hook_attacks;
mod transfer_hook_multisig;
mod transfer_hook_variants;
mod two_clusters;
mod validation_request;
mod validation_response;
mod wallet_times;
mod x84_feedback;
