//! Pays an offer that [`crate::quote`] checked: EIP-3009's `exact` on EVM chains.
//!
//! [`Buyer`] signs one authorization for a purchase, and writes everything about it to [`Evidence`] before the
//! signed bytes leave the process. A purchase that was interrupted is resumed with the same bytes: the token
//! takes each nonce once, so whatever happens, at most one payment moves. The paid request goes to the quoted
//! URL and follows no redirect. Every error says whether [`Money`] moved.

mod authorization;
mod authorization_state;
mod budget;
mod buyer;
mod evidence;
mod fault;
mod folder;
mod http;
mod money;
mod payer;
mod purchase;
mod steps;

pub use authorization::{OfferUnpayable, TokenDomain, TransferAuthorization};
pub use authorization_state::{AuthorizationState, Authorizations};
pub use budget::Budget;
pub use buyer::{Asked, Buyer, BuyerReads, Offered, Terms};
pub use evidence::{
    Evidence, PurchaseState, RecordedAnswer, RecordedBody, RecordedQuote, RecordedRequest,
};
pub use fault::{PayError, PayFault};
pub use folder::EvidenceFolder;
pub use http::{HttpLimits, Request, RequestMalformed, Response};
pub use money::Money;
pub use payer::Payer;
pub use purchase::Purchase;

/// Unix seconds.
fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |it| it.as_secs())
}
