//! Feedback grants: who pays may rate (R41).
//!
//! [`EvmGrants`] and [`SvmGrants`] issue them for the server's layer, off unless they are installed.
//! [`FeedbackGrant`] is what a buyer finds in the extension `8004-feedback-auth` of a settled response.

mod evm;
mod extension;
mod issuers;
mod svm;

pub use evm::EvmGrants;
pub use extension::{FeedbackGrant, GrantMalformed};
pub use issuers::GrantIssuers;
pub use svm::SvmGrants;

use std::time::Duration;

use crate::server::{GRANT_EXPIRY_MAX, GrantRequest, SignerError};

/// How long a grant is valid if nothing else is said.
pub const GRANT_VALIDITY: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// R41: at most 30 days from the settlement.
fn expiry(request: &GrantRequest<'_>, validity: Duration) -> u64 {
    let settled_at = request.expiry_max.saturating_sub(GRANT_EXPIRY_MAX);
    let expiry = settled_at.saturating_add(validity.as_secs());
    expiry.min(request.expiry_max)
}

fn failed(error: impl ToString) -> SignerError {
    SignerError(error.to_string())
}
