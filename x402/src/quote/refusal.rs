use core::fmt;

/// The checks before a payment, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // the names are those of the specification
pub enum PreStep {
    P1,
    P2,
    P3,
    P4,
    P5,
    P6,
    P7,
    P8,
    P9,
    P10,
}

/// Why an offer is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // the names are those of the specification
pub enum PreClass {
    PaymentRequiredMalformed,
    ResourceMismatch,
    NoAcceptableOffer,
    IdentityMissing,
    IdentityMalformed,
    RegistryUnknown,
    AgentNotFound,
    ContentMismatch,
    RegistrationMalformed,
    RegistrationNotClaimed,
    WalletUndeclared,
    WalletConflict,
    PayToMismatch,
    OriginUnbound,
}

/// Why there is no quote. Nothing was signed and no money moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The check that failed.
    pub step: PreStep,
    /// The class; `None` if the check could not be made, which is neither a refusal nor a success (R36).
    pub class: Option<PreClass>,
    /// The values that were compared, or why nothing could be.
    pub detail: String,
}

impl Refusal {
    pub(super) fn new(step: PreStep, class: PreClass, detail: impl Into<String>) -> Self {
        Self {
            step,
            class: Some(class),
            detail: detail.into(),
        }
    }

    pub(super) fn cannot_check(step: PreStep, why: impl Into<String>) -> Self {
        Self {
            step,
            class: None,
            detail: why.into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.class {
            Some(class) => write!(f, "{:?} {class:?}: {}", self.step, self.detail)?,
            None => write!(f, "{:?} cannot be checked: {}", self.step, self.detail)?,
        }
        write!(f, "; nothing was signed")
    }
}

impl std::error::Error for Refusal {}
