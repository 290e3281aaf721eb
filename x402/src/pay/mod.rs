//! Pays an offer that [`crate::quote`] checked: `exact` with EIP-3009 on EVM chains, and with SPL Token or
//! Token-2022 on Solana.
//!
//! [`Buyer`] signs one authorization for a purchase, and writes everything about it to [`Evidence`] before the
//! signed bytes leave the process. A purchase that was interrupted is resumed with the same bytes: an EVM token
//! takes each nonce once and Solana each message, so whatever happens, at most one payment moves. The paid request goes to the quoted
//! URL and follows no redirect. Every error says whether [`Money`] moved.

mod authorization;
mod authorization_state;
mod budget;
mod buyer;
mod content_encoding;
mod evidence;
mod evm_state;
mod fault;
mod folder;
mod http;
mod middleware;
mod money;
mod offer_unpayable;
mod payer;
mod purchase;
mod steps;
mod svm_state;
mod transfer_authorization;
mod transfer_transaction;

pub use authorization::{Authorization, Deadline};
pub use authorization_state::{AuthorizationState, Authorizations, Prepared};
pub use budget::Budget;
pub use buyer::{Asked, Buyer, BuyerReads, Offered, Terms};
pub use evidence::{
    Evidence, PurchaseState, RecordedAnswer, RecordedBody, RecordedQuote, RecordedRequest,
};
pub use fault::{PayError, PayFault};
pub use folder::EvidenceFolder;
pub use http::{HttpLimits, Request, RequestMalformed, Response};
pub use middleware::{Bought, BuyerMiddleware, PurchaseId};
pub use money::Money;
pub use offer_unpayable::OfferUnpayable;
pub use payer::{EvmPayer, Payers};
pub use purchase::Purchase;
pub use transfer_authorization::{TokenDomain, TransferAuthorization};
pub use transfer_transaction::TransferTransaction;

/// Unix seconds.
fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |it| it.as_secs())
}
