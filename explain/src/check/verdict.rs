use crate::{Fact, Finding, NotApplicable, State, Step, evidence::Gap};

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Found {
        state: State,
        detail: String,
        evidence: Vec<Fact>,
    },
    /// The feedback has no such step.
    NotApplicable(String),
}

/// A check's verdict, or why there is none.
pub(super) type Checked = Result<Verdict, Gap>;

impl Verdict {
    fn of(state: State, detail: impl ToString) -> Self {
        Self::Found {
            state,
            detail: detail.to_string(),
            evidence: Vec::new(),
        }
    }

    pub(super) fn verified() -> Self {
        Self::of(State::Verified, "")
    }

    pub(super) fn verified_since(detail: impl ToString) -> Self {
        Self::of(State::Verified, detail)
    }

    pub(super) fn refuted(detail: impl ToString) -> Self {
        Self::of(State::Refuted, detail)
    }

    pub(super) fn claimed(detail: impl ToString) -> Self {
        Self::of(State::Claimed, detail)
    }

    pub(super) fn cannot_check(detail: impl ToString) -> Self {
        Self::of(State::CannotCheck, detail)
    }

    pub(super) fn not_applicable(reason: impl ToString) -> Self {
        Self::NotApplicable(reason.to_string())
    }

    /// With a piece of evidence.
    pub(super) fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        if let Self::Found { evidence, .. } = &mut self {
            evidence.push(Fact::new(name, value));
        }
        self
    }

    pub(super) const fn state(&self) -> Option<State> {
        match self {
            Self::Found { state, .. } => Some(*state),
            Self::NotApplicable(_) => None,
        }
    }
}

/// The state to which a check came; `None` if it does not apply.
pub(super) fn state_of(checked: &Checked) -> Option<State> {
    match checked {
        Ok(verdict) => verdict.state(),
        Err(Gap::Broken(_)) => Some(State::Refuted),
        Err(Gap::CannotCheck(_) | Gap::Needs(_)) => Some(State::CannotCheck),
    }
}

/// Writes a check's result into the report.
pub(super) fn file_away(
    step: Step,
    checked: Checked,
    findings: &mut Vec<Finding>,
    not_applicable: &mut Vec<NotApplicable>,
) {
    let verdict = checked.unwrap_or_else(|gap| match gap {
        Gap::CannotCheck(reason) => Verdict::cannot_check(reason),
        Gap::Broken(reason) => Verdict::refuted(reason),
        Gap::Needs(step) => Verdict::cannot_check(format!("needs {step}")),
    });
    match verdict {
        Verdict::NotApplicable(reason) => not_applicable.push(NotApplicable { step, reason }),
        Verdict::Found {
            state,
            detail,
            evidence,
        } => findings.push(Finding {
            step,
            state,
            detail,
            evidence,
        }),
    }
}
