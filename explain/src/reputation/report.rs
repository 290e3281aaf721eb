use crate::{Report, State, Step};
use serde::Serialize;

/// Whether every feedback that can count is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Completeness {
    /// Its state.
    pub state: State,
    /// On what it rests, or why not.
    pub detail: String,
}

impl Completeness {
    pub(super) fn new(state: State, detail: &str) -> Self {
        Self {
            state,
            detail: detail.to_owned(),
        }
    }
}

/// What the registry's `getSummary` answers over these feedbacks (R47).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Number {
    /// How many feedbacks.
    pub count: u64,
    /// Their average, in units of `10^-decimals`.
    pub value: String,
    /// Its decimals.
    pub decimals: u8,
}

/// One feedback behind the number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Its id.
    pub feedback: String,
    /// `counted`, `revoked`, `filtered` or `unknown`.
    pub entry: &'static str,
    /// The worst of its steps.
    pub state: State,
    /// The steps.
    pub report: Report,
}

/// Why a number can be believed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReputationReport {
    /// What the number is over; it states its reviewers (R48).
    pub query: String,
    /// As in [`Report::rests_on`].
    pub rests_on: Vec<String>,
    /// Whether none is missing.
    pub complete: Completeness,
    /// The number; `None` if its sum is beyond what a registry holds.
    pub number: Option<Number>,
    /// The feedbacks.
    pub feedbacks: Vec<Counted>,
}

impl ReputationReport {
    /// The state of the whole: the worst of completeness and of the feedbacks that count (R36).
    #[must_use]
    pub fn state(&self) -> State {
        let counted = self.counted().map(|it| it.state);
        let unknown = self.feedbacks.iter().filter(|it| it.entry == "unknown");
        let unknown = unknown.map(|it| it.state.max(State::CannotCheck));
        let worst = counted.chain(unknown).max();
        worst.unwrap_or(State::Verified).max(self.complete.state)
    }

    /// The feedbacks that count.
    pub fn counted(&self) -> impl Iterator<Item = &Counted> {
        self.feedbacks.iter().filter(|it| it.entry == "counted")
    }

    /// How many of the feedbacks that count have a state.
    #[must_use]
    pub fn count(&self, state: State) -> usize {
        self.counted().filter(|it| it.state == state).count()
    }

    /// In how many of the feedbacks that count a step has a state.
    #[must_use]
    pub fn count_of_step(&self, step: Step, state: State) -> usize {
        let has = |it: &&Counted| it.report.state_of(step) == Some(state);
        self.counted().filter(has).count()
    }
}
