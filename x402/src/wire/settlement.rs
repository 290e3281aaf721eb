use concord_canonical::caip::TaskRef;
use concord_files::{Found, InteractionData, RawJson, interaction_from_extensions};

use super::{
    PAYMENT_RESPONSE,
    error::{WireError, WireRule},
    header::decode,
    json::{Node, parse},
    payment_required::{extension_error, read_extensions},
};

/// What the answer to a paid request says about the payment: `PAYMENT-RESPONSE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// Whether the payment settled.
    pub success: bool,
    /// The transaction; empty if there is none.
    pub transaction: String,
    /// The payment chain, CAIP-2; empty if a failure names none.
    pub network: String,
    /// Who paid.
    pub payer: Option<String>,
    /// Why it failed.
    pub error_reason: Option<String>,
    /// The `extensions` object.
    pub extensions: Option<RawJson>,
}

impl Settlement {
    /// Reads the header's value.
    ///
    /// # Errors
    /// Refuses a value beyond the limits and the first member of another form. A success must name its
    /// network and its transaction.
    pub fn from_header(value: &[u8]) -> Result<Self, WireError> {
        Self::parse(&decode(PAYMENT_RESPONSE, value)?)
    }

    /// Reads the JSON text.
    ///
    /// # Errors
    /// As [`Self::from_header`].
    pub fn parse(text: &str) -> Result<Self, WireError> {
        let value = parse(PAYMENT_RESPONSE, text)?;
        let root = Node::root(PAYMENT_RESPONSE, &value);
        root.object()?;
        let success = root.need("success")?.bool()?;
        let required = |key| {
            if success {
                root.need(key)?.string()
            } else {
                Ok(root.optional_string(key)?.unwrap_or_default())
            }
        };
        Ok(Self {
            success,
            transaction: required("transaction")?,
            network: required("network")?,
            payer: root.optional_string("payer")?,
            error_reason: root.optional_string("errorReason")?,
            extensions: read_extensions(&root)?,
        })
    }

    /// The payment's reference: network, a colon, transaction, byte for byte (R31).
    ///
    /// # Errors
    /// Names the part that is malformed.
    pub fn task_ref(&self) -> Result<String, WireError> {
        // R31
        let text = format!("{}:{}", self.network, self.transaction);
        match TaskRef::parse(&text) {
            Ok(_) => Ok(text),
            Err(error) => {
                let rule = WireRule::Form(error);
                Err(WireError::new(PAYMENT_RESPONSE, "$.transaction", rule).found(&text))
            }
        }
    }

    /// The interaction data under each profile's key, there or under `.info` (R26, R35).
    ///
    /// # Errors
    /// Names the field that is malformed.
    pub fn interactions(&self) -> Result<Vec<Found<InteractionData>>, WireError> {
        let Some(extensions) = &self.extensions else {
            return Ok(Vec::new());
        };
        interaction_from_extensions(extensions.as_str().as_bytes())
            .map_err(|error| extension_error(PAYMENT_RESPONSE, &error))
    }
}
