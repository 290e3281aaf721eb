use concord_files::RawJson;
use http::HeaderValue;

use super::{
    Offer, PAYMENT_SIGNATURE,
    error::WireError,
    header::{decode, encode},
    json::{Node, parse},
    payment_required::{check_version, read_extensions},
};

/// What a paid request carries in `PAYMENT-SIGNATURE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentPayload {
    /// The offer that is accepted, as it was made.
    pub accepted: Offer,
    /// What the payer signed, in the scheme's form.
    pub payload: RawJson,
    /// The `resource` of the 402 answer, echoed.
    pub resource: Option<RawJson>,
    /// The `extensions` of the 402 answer, echoed.
    pub extensions: Option<RawJson>,
}

impl PaymentPayload {
    /// Reads the header's value.
    ///
    /// # Errors
    /// Refuses a value beyond the limits, another version than 2, and the first member of another form.
    pub fn from_header(value: &[u8]) -> Result<Self, WireError> {
        let text = decode(PAYMENT_SIGNATURE, value)?;
        let value = parse(PAYMENT_SIGNATURE, &text)?;
        let root = Node::root(PAYMENT_SIGNATURE, &value);
        root.object()?;
        check_version(&root)?;
        let payload = root.need("payload")?;
        payload.object()?;
        let resource = root.optional("resource");
        Ok(Self {
            accepted: Offer::read(&root.need("accepted")?)?,
            payload: payload.raw()?,
            resource: resource.map(|node| node.raw()).transpose()?,
            extensions: read_extensions(&root)?,
        })
    }

    /// The JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        let member = |key: &str, value: &Option<RawJson>| match value {
            Some(value) => format!(",\"{key}\":{}", value.as_str()),
            None => String::new(),
        };
        format!(
            "{{\"x402Version\":2,\"accepted\":{},\"payload\":{}{}{}}}",
            self.accepted.original().as_str(),
            self.payload.as_str(),
            member("resource", &self.resource),
            member("extensions", &self.extensions),
        )
    }

    /// The header's value.
    ///
    /// # Errors
    /// [`super::WireRule::Size`].
    pub fn to_header(&self) -> Result<HeaderValue, WireError> {
        encode(PAYMENT_SIGNATURE, &self.to_json())
    }
}
