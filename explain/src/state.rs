use core::fmt;
use serde::Serialize;

/// What a step found (R36). In a report the last of these outweighs the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It holds.
    Verified,
    /// Only one side's own file says so.
    Claimed,
    /// It could not be checked. Never a success, and never a refusal.
    CannotCheck,
    /// It does not hold.
    Refuted,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 4] = [
        Self::Verified,
        Self::Claimed,
        Self::CannotCheck,
        Self::Refuted,
    ];

    /// The state as a report shows it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Verified => "VERIFIED",
            Self::Claimed => "CLAIMED",
            Self::CannotCheck => "CANNOT CHECK",
            Self::Refuted => "REFUTED",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
