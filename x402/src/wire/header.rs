use base64::{
    Engine as _,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use http::{HeaderMap, HeaderValue};

use super::error::{WireError, WireRule};

/// What a 402 answer carries.
pub const PAYMENT_REQUIRED: &str = "PAYMENT-REQUIRED";
/// What a paid request carries.
pub const PAYMENT_SIGNATURE: &str = "PAYMENT-SIGNATURE";
/// What the answer to a paid request carries.
pub const PAYMENT_RESPONSE: &str = "PAYMENT-RESPONSE";
/// What a paid request of x402 version 1 carries.
pub const X_PAYMENT: &str = "X-PAYMENT";
/// What the answer to a paid request of x402 version 1 carries.
pub const X_PAYMENT_RESPONSE: &str = "X-PAYMENT-RESPONSE";

/// Bytes of a header's value.
pub const HEADER_MAX: usize = 16 << 10;

/// Standard alphabet. Padding is written; a reader does without it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Finds a header that must be there once.
///
/// # Errors
/// [`WireRule::NoHeader`], [`WireRule::Repeated`].
pub fn find<'h>(headers: &'h HeaderMap, name: &'static str) -> Result<&'h HeaderValue, WireError> {
    let mut values = headers.get_all(name).iter();
    let refused = |rule| WireError::new(name, "$", rule);
    let first = values.next().ok_or_else(|| refused(WireRule::NoHeader))?;
    match values.count() {
        0 => Ok(first),
        others => Err(refused(WireRule::Repeated { count: others + 1 })),
    }
}

/// Decodes a header's value: base64 of JSON text. The JSON itself is not read here.
///
/// # Errors
/// [`WireRule::Size`] above [`HEADER_MAX`], [`WireRule::Base64`], [`WireRule::Utf8`].
pub fn decode(header: &'static str, value: &[u8]) -> Result<String, WireError> {
    let refused = |rule| WireError::new(header, "$", rule);
    if value.len() > HEADER_MAX {
        return Err(refused(WireRule::Size {
            unit: "bytes",
            length: value.len(),
            limit: HEADER_MAX,
        }));
    }
    let shown = || String::from_utf8_lossy(value.get(..40).unwrap_or(value)).into_owned();
    let bytes = BASE64
        .decode(value)
        .map_err(|_| refused(WireRule::Base64).found(&shown()))?;
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        refused(WireRule::Utf8 { offset })
    })
}

/// Encodes JSON text as a header's value.
///
/// # Errors
/// [`WireRule::Size`] if the value would be longer than [`HEADER_MAX`].
pub fn encode(header: &'static str, json: &str) -> Result<HeaderValue, WireError> {
    let text = BASE64.encode(json);
    if text.len() > HEADER_MAX {
        let rule = WireRule::Size {
            unit: "bytes",
            length: text.len(),
            limit: HEADER_MAX,
        };
        return Err(WireError::new(header, "$", rule));
    }
    // base64 has no byte that a header refuses
    HeaderValue::try_from(text).map_err(|_| WireError::new(header, "$", WireRule::Base64))
}
