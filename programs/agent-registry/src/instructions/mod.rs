//! One file per instruction: its accounts, its arguments, its checks in SPEC 3a's order, its
//! effects.
pub mod give_feedback;
pub mod initialize;
pub mod register_agent;
pub mod revoke_feedback;
pub mod transfer_hook;

pub mod append_open_response;
pub mod append_response;
pub mod give_open_feedback;
pub mod open_summary;
pub mod open_summary_part;
pub mod request_validation;
pub mod respond_to_validation;
pub mod revoke_open_feedback;

pub use give_feedback::*;
pub use initialize::*;
pub use register_agent::*;
pub use revoke_feedback::*;
pub use transfer_hook::*;

pub use append_open_response::*;
pub use append_response::*;
pub use give_open_feedback::*;
pub use open_summary::*;
pub use open_summary_part::*;
pub use request_validation::*;
pub use respond_to_validation::*;
pub use revoke_open_feedback::*;
