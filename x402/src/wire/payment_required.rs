use concord_files::{Found, RawJson, ReputationInfo, info_from_extensions};

use super::{
    OFFERS_MAX, Offer, PAYMENT_REQUIRED, PaymentPayload, VERSION,
    error::{WireError, WireRule},
    header::decode,
    json::{Node, parse},
};

/// What a 402 answer asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentRequired {
    /// What is sold.
    pub resource: Option<Resource>,
    /// The offers that could be read, in the server's order.
    pub accepts: Vec<Offer>,
    /// Why others could not be read. A scheme of tomorrow must not hide an offer of today.
    pub unreadable: Vec<WireError>,
    /// What the server says is wrong.
    pub error: Option<String>,
    /// The `extensions` object, which a payment must echo.
    pub extensions: Option<RawJson>,
    /// The `resource` as it was written, which a payment must echo.
    resource_original: Option<RawJson>,
    /// The whole message.
    original: RawJson,
}

/// What is sold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its URL.
    pub url: String,
    /// What it is.
    pub description: Option<String>,
    /// Its media type.
    pub mime_type: Option<String>,
}

impl PaymentRequired {
    /// Reads the value of a `PAYMENT-REQUIRED` header.
    ///
    /// # Errors
    /// Refuses a value beyond the limits, another version than 2, and the first member of another form. An
    /// offer that cannot be read is listed in [`Self::unreadable`].
    pub fn from_header(value: &[u8]) -> Result<Self, WireError> {
        Self::parse(&decode(PAYMENT_REQUIRED, value)?)
    }

    /// Reads the JSON text.
    ///
    /// # Errors
    /// As [`Self::from_header`].
    pub fn parse(text: &str) -> Result<Self, WireError> {
        let value = parse(PAYMENT_REQUIRED, text)?;
        let root = Node::root(PAYMENT_REQUIRED, &value);
        root.object()?;
        check_version(&root)?;
        let offers = root.need("accepts")?;
        let offers = offers.elements("offers", OFFERS_MAX)?;
        let (mut accepts, mut unreadable) = (Vec::new(), Vec::new());
        for offer in offers {
            match Offer::read(&offer) {
                Ok(offer) => accepts.push(offer),
                Err(error) => unreadable.push(error),
            }
        }
        Ok(Self {
            resource: Resource::read(&root)?,
            accepts,
            unreadable,
            error: root.optional_string("error")?,
            extensions: read_extensions(&root)?,
            resource_original: root.optional("resource").map(|it| it.raw()).transpose()?,
            original: root.raw()?,
        })
    }

    /// The whole message, RFC 8785.
    #[must_use]
    pub fn original(&self) -> &RawJson {
        &self.original
    }

    /// The payment of one of the offers, which echoes what the message says.
    #[must_use]
    pub fn payment(&self, accepted: &Offer, payload: RawJson) -> PaymentPayload {
        PaymentPayload {
            accepted: accepted.clone(),
            payload,
            resource: self.resource_original.clone(),
            extensions: self.extensions.clone(),
        }
    }

    /// The agent's announcement under each profile's key (R26, R35).
    ///
    /// # Errors
    /// Names the field that is malformed.
    pub fn reputation(&self) -> Result<Vec<Found<ReputationInfo>>, WireError> {
        let Some(extensions) = &self.extensions else {
            return Ok(Vec::new());
        };
        info_from_extensions(extensions.as_str().as_bytes())
            .map_err(|error| extension_error(PAYMENT_REQUIRED, &error))
    }
}

impl Resource {
    fn read(root: &Node<'_>) -> Result<Option<Self>, WireError> {
        let Some(node) = root.optional("resource") else {
            return Ok(None);
        };
        node.object()?;
        Ok(Some(Self {
            url: node.need("url")?.string()?,
            description: node.optional_string("description")?,
            mime_type: node.optional_string("mimeType")?,
        }))
    }
}

pub(super) fn check_version(root: &Node<'_>) -> Result<(), WireError> {
    let version = root.need("x402Version")?;
    match version.u53("x402Version")? {
        VERSION => Ok(()),
        _ => Err(version.refused(WireRule::Version)),
    }
}

pub(super) fn read_extensions(root: &Node<'_>) -> Result<Option<RawJson>, WireError> {
    let Some(node) = root.optional("extensions") else {
        return Ok(None);
    };
    node.object()?;
    node.raw().map(Some)
}

/// An error of the files crate, whose paths begin at `extensions`.
pub(super) fn extension_error(header: &'static str, error: &concord_files::Error) -> WireError {
    let path = error.path().replacen('$', "$.extensions", 1);
    let refused = WireError::new(header, path, WireRule::Extension(error.rule().clone()));
    match error.value() {
        Some(value) => refused.found(value),
        None => refused,
    }
}
