use std::borrow::Cow;

/// An offer that cannot be paid: which field, what was found, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the offer's {field} is {found}, expected {expected}")]
pub struct OfferUnpayable {
    field: &'static str,
    found: String,
    expected: Cow<'static, str>,
}

impl OfferUnpayable {
    pub(super) fn new(
        field: &'static str,
        found: &str,
        expected: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            field,
            found: found.chars().take(80).collect(),
            expected: expected.into(),
        }
    }

    /// The JSON path in the offer.
    #[must_use]
    pub fn field(&self) -> &'static str {
        self.field
    }
}
