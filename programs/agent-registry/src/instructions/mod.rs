//! One file per instruction: its accounts, its arguments, its checks in SPEC 3a's order, its
//! effects.
pub mod give_feedback;
pub mod initialize;
pub mod register_agent;
pub mod revoke_feedback;
pub mod transfer_hook;

pub use give_feedback::*;
pub use initialize::*;
pub use register_agent::*;
pub use revoke_feedback::*;
pub use transfer_hook::*;
