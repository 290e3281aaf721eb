//! One file per instruction: its accounts, its arguments, its checks in SPEC 3a's order, its
//! effects. `agent_accounts`, `owner_setting` and `registry_change` hold the accounts that several share.
pub mod accept_registry_authority;
pub mod agent_accounts;
pub mod append_open_response;
pub mod append_response;
pub mod attach_payment_proof;
pub mod give_feedback;
pub mod give_open_feedback;
pub mod initialize;
pub mod open_summary;
pub mod open_summary_part;
pub mod owner_setting;
pub mod propose_registry_authority;
pub mod register_agent;
pub mod registry_change;
pub mod request_validation;
pub mod respond_to_validation;
pub mod revoke_feedback;
pub mod revoke_open_feedback;
pub mod set_agent_uri;
pub mod set_agent_wallet;
pub mod set_auth_schemes;
pub mod set_facilitator;
pub mod set_feedback_authority;
pub mod set_metadata;
pub mod set_payment_token;
pub mod transfer_hook;
pub mod unset_agent_wallet;

pub use agent_accounts::*;
pub use append_open_response::*;
pub use append_response::*;
pub use attach_payment_proof::*;
pub use give_feedback::*;
pub use give_open_feedback::*;
pub use initialize::*;
pub use open_summary::*;
pub use open_summary_part::*;
pub use owner_setting::*;
pub use register_agent::*;
pub use registry_change::*;
pub use request_validation::*;
pub use respond_to_validation::*;
pub use revoke_feedback::*;
pub use revoke_open_feedback::*;
pub use set_agent_uri::*;
pub use set_agent_wallet::*;
pub use set_feedback_authority::*;
pub use set_metadata::*;
pub use transfer_hook::*;

// What most of the files above use.
use crate::{
    ConcordError,
    account_data::{Derived, Placed, Record, Slot, find, load, store},
    error::{account_mismatch, refusal, require},
    event_emission::*,
    events::*,
    portable_text::require_portable,
    state::*,
};
use anchor_lang::{prelude::*, system_program::System};
use concord_canonical::{limits::*, pda::Account as Place};
