use core::fmt;

use concord_files::X402Profile;
use serde::{Deserialize, Serialize};

/// The checks after a payment, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Step {
    /// `PAYMENT-RESPONSE` is readable.
    S1,
    /// The settlement succeeded; network and payer match.
    S2,
    /// Interaction data is present.
    S3,
    /// It is well formed.
    S4,
    /// Its registration was announced.
    S5,
    /// Its task reference is the payment's (R31).
    S6,
    /// The data hash, recomputed.
    S7,
    /// The interaction hash, recomputed.
    S8,
    /// The signer is known and valid (R29, R30).
    S9,
    /// The signature holds.
    S10,
    /// The payment is on chain, from payer to the agent.
    S11,
}

impl Step {
    /// Every step.
    pub const ALL: [Self; 11] = [
        Self::S1,
        Self::S2,
        Self::S3,
        Self::S4,
        Self::S5,
        Self::S6,
        Self::S7,
        Self::S8,
        Self::S9,
        Self::S10,
        Self::S11,
    ];
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// What a step found (R36). Later states outweigh earlier ones in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It holds.
    Verified,
    /// Only the agent's own file says so.
    Claimed,
    /// It could not be checked; the detail says why.
    CannotCheck,
    /// It does not hold.
    Refuted,
}

impl State {
    /// The state's stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Claimed => "claimed",
            Self::CannotCheck => "cannot-check",
            Self::Refuted => "refuted",
        }
    }
}

/// Why a step is refuted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[allow(missing_docs)] // the names are those of the specification
pub enum Class {
    SettlementMissing,
    SettlementFailed,
    SettlementMismatch,
    NotSigned,
    InteractionMalformed,
    IdentityChanged,
    TaskRefMismatch,
    DataMismatch,
    InteractionHashMismatch,
    SignerUnknown,
    SignerNotValid,
    SignatureInvalid,
    PaymentNotFound,
    PaymentMismatch,
}

/// The result of one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepResult {
    /// Which.
    pub step: Step,
    /// What it found.
    pub state: State,
    /// Why it is refuted.
    pub class: Option<Class>,
    /// The values that were compared, or why nothing could be; empty if there is nothing to add.
    pub detail: String,
}

impl StepResult {
    pub(super) fn new(step: Step, state: State, detail: impl Into<String>) -> Self {
        Self {
            step,
            state,
            class: None,
            detail: detail.into(),
        }
    }

    pub(super) fn verified(step: Step) -> Self {
        Self::new(step, State::Verified, "")
    }

    pub(crate) fn cannot_check(step: Step, why: impl Into<String>) -> Self {
        Self::new(step, State::CannotCheck, why)
    }

    pub(crate) fn refuted(step: Step, class: Class, detail: impl Into<String>) -> Self {
        Self {
            class: Some(class),
            ..Self::new(step, State::Refuted, detail)
        }
    }

    /// Verified if two values are equal, else refuted with both of them.
    pub(super) fn equal(step: Step, class: Class, found: &str, expected: &str) -> Self {
        if found == expected {
            Self::verified(step)
        } else {
            let detail = format!("found {found}, expected {expected}");
            Self::refuted(step, class, detail)
        }
    }

    /// This result unless another one is refuted.
    pub(super) fn and(self, other: Self) -> Self {
        if self.state == State::Refuted {
            self
        } else {
            other
        }
    }
}

/// The result of every step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// S1 to S11.
    pub steps: Vec<StepResult>,
    /// The profile of the key under which the data was found (R26).
    pub profile: Option<X402Profile>,
}

impl Report {
    /// The state of the whole: the worst of its steps (R36).
    #[must_use]
    pub fn state(&self) -> State {
        let states = self.steps.iter().map(|step| step.state);
        states.max().unwrap_or(State::CannotCheck)
    }

    /// Whether every step is verified.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        self.state() == State::Verified
    }

    /// A step's result.
    #[must_use]
    pub fn step(&self, step: Step) -> Option<&StepResult> {
        self.steps.iter().find(|it| it.step == step)
    }

    /// Replaces the result of the same step.
    #[cfg(feature = "network")]
    pub(crate) fn replace(&mut self, result: StepResult) {
        let same = self.steps.iter_mut().find(|it| it.step == result.step);
        if let Some(step) = same {
            *step = result;
        }
    }

    /// The class of the first step that is refuted.
    #[must_use]
    pub fn refused_for(&self) -> Option<Class> {
        self.steps.iter().find_map(|step| step.class)
    }
}
