use http::HeaderMap;

use crate::wire::{
    PAYMENT_REQUIRED, PAYMENT_RESPONSE, PAYMENT_SIGNATURE, X_PAYMENT, X_PAYMENT_RESPONSE,
};

/// x402's headers, of both versions, and their forms with `X-`.
const PAYMENT_HEADERS: [&str; 7] = [
    PAYMENT_REQUIRED,
    PAYMENT_SIGNATURE,
    PAYMENT_RESPONSE,
    X_PAYMENT,
    X_PAYMENT_RESPONSE,
    "X-PAYMENT-REQUIRED",
    "X-PAYMENT-SIGNATURE",
];

/// Removes x402's headers. They are the paywall's: what is behind it gets none, and none of its own may look like a settlement,
/// which [`super::InteractionLayer`] would sign. x402-axum returns a handler's 4xx and 5xx answers unsettled, with their headers.
pub fn remove_payment_headers(headers: &mut HeaderMap) {
    for name in PAYMENT_HEADERS {
        headers.remove(name);
    }
}
