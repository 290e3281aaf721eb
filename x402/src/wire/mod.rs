//! The messages of x402 version 2 and the headers that carry them.
//!
//! Every reader is bounded: a header is at most [`HEADER_MAX`] bytes, its JSON is strict (R22), and a list
//! of offers has at most [`OFFERS_MAX`] entries. An error names the header, the JSON path, the value found
//! there and the limit.

mod error;
#[cfg(feature = "network")]
mod extensions;
mod header;
mod json;
mod offer;
mod payment_payload;
mod payment_required;
mod request_target;
mod settlement;

pub use error::{WireError, WireRule};
pub use header::{
    HEADER_MAX, PAYMENT_REQUIRED, PAYMENT_RESPONSE, PAYMENT_SIGNATURE, X_PAYMENT,
    X_PAYMENT_RESPONSE, decode, encode, find,
};
pub use offer::{OFFERS_MAX, Offer};
pub use payment_payload::PaymentPayload;
pub use payment_required::{PaymentRequired, Resource};
pub use request_target::{ExternalPrefix, request_target};
pub use settlement::Settlement;

#[cfg(feature = "network")]
pub(crate) use extensions::{insert_extensions, insert_extensions_of_checked};

/// The version of x402 that this crate speaks.
pub const VERSION: u64 = 2;
