//! One file per instruction: its accounts, its arguments, its checks in SPEC 3a's order, its
//! effects. `owner_setting` and `registry_change` hold the accounts that several share.
pub mod accept_registry_authority;
pub mod add_facilitator;
pub mod add_payment_token;
pub mod attach_payment_proof;
pub mod give_feedback;
pub mod initialize;
pub mod owner_setting;
pub mod propose_registry_authority;
pub mod register_agent;
pub mod registry_change;
pub mod remove_facilitator;
pub mod remove_payment_token;
pub mod revoke_feedback;
pub mod set_agent_uri;
pub mod set_agent_wallet;
pub mod set_auth_schemes;
pub mod set_feedback_authority;
pub mod set_metadata;
pub mod transfer_hook;
pub mod unset_agent_wallet;

pub use attach_payment_proof::*;
pub use give_feedback::*;
pub use initialize::*;
pub use owner_setting::*;
pub use register_agent::*;
pub use registry_change::*;
pub use revoke_feedback::*;
pub use set_agent_uri::*;
pub use set_agent_wallet::*;
pub use set_metadata::*;
pub use transfer_hook::*;
