use serde::Deserialize;

const DAY: u64 = 86_400;
const WEEK: u64 = 7 * DAY;
/// 1970-01-01 was a Thursday: that week had begun three days before.
const MONDAY_TO_EPOCH: u64 = 3 * DAY;

/// The lengths of windows (R60).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WindowKind {
    /// From 00:00 UTC to 00:00 UTC.
    Day,
    /// From Monday 00:00 UTC to Monday 00:00 UTC, as ISO 8601 counts weeks.
    Week,
}

impl WindowKind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Day, Self::Week];

    /// What `tag2` says.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
        }
    }

    /// The kind with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Its length.
    #[must_use]
    pub const fn seconds(self) -> u64 {
        match self {
            Self::Day => DAY,
            Self::Week => WEEK,
        }
    }
}

/// A day or a week, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    /// Which of the two.
    pub kind: WindowKind,
    /// Its first second, in unix seconds.
    pub start: u64,
}

impl Window {
    /// The window that a time, in unix seconds, is in. Before 1970-01-05 no week has begun.
    #[must_use]
    pub const fn containing(kind: WindowKind, time: u64) -> Self {
        let start = match kind {
            WindowKind::Day => time - time % DAY,
            WindowKind::Week => {
                let into = (time + MONDAY_TO_EPOCH) % WEEK;
                time.saturating_sub(into)
            }
        };
        Self { kind, start }
    }

    /// The first second after it, in unix seconds.
    #[must_use]
    pub const fn end(self) -> u64 {
        self.start.saturating_add(self.kind.seconds())
    }

    /// The last window that had ended at a time; `None` if none had.
    #[must_use]
    pub const fn last_ended(kind: WindowKind, time: u64) -> Option<Self> {
        let current = Self::containing(kind, time);
        match current.start.checked_sub(kind.seconds()) {
            Some(start) => Some(Self { kind, start }),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Window, WindowKind};

    /// By GNU date: `date -u -d '2026-11-23' +%s` (a Monday) and the like.
    const MONDAY: u64 = 1_795_392_000;
    const NEXT_MONDAY: u64 = 1_795_996_800;
    const NEW_YEAR_2027: u64 = 1_798_761_600; // a Friday
    const MONDAY_BEFORE_NEW_YEAR: u64 = 1_798_416_000;
    const LEAP_DAY_2028: u64 = 1_835_395_200; // 2028-02-29, a Tuesday

    #[test]
    fn r60_a_day_and_a_week_have_utc_bounds() {
        for (kind, time, start) in [
            (WindowKind::Day, MONDAY, MONDAY),
            (WindowKind::Day, MONDAY + 86_399, MONDAY),
            (WindowKind::Day, MONDAY + 86_400, MONDAY + 86_400),
            (WindowKind::Day, MONDAY - 1, MONDAY - 86_400),
            (WindowKind::Week, MONDAY, MONDAY),
            (WindowKind::Week, NEXT_MONDAY - 1, MONDAY),
            (WindowKind::Week, NEXT_MONDAY, NEXT_MONDAY),
            (WindowKind::Week, NEW_YEAR_2027, MONDAY_BEFORE_NEW_YEAR),
            (WindowKind::Week, LEAP_DAY_2028, LEAP_DAY_2028 - 86_400),
        ] {
            let window = Window::containing(kind, time);
            assert_eq!(window.start, start, "{kind:?} {time}");
            assert!((window.start..window.end()).contains(&time));
        }
    }

    #[test]
    fn a_window_has_ended_at_its_end_and_not_before() {
        let last = |kind, time| Window::last_ended(kind, time).map(|it| it.start);
        assert_eq!(last(WindowKind::Day, MONDAY + 86_400), Some(MONDAY));
        assert_eq!(
            last(WindowKind::Day, MONDAY + 86_399),
            Some(MONDAY - 86_400)
        );
        assert_eq!(last(WindowKind::Week, NEXT_MONDAY), Some(MONDAY));
        assert_eq!(
            last(WindowKind::Week, NEXT_MONDAY - 1),
            Some(MONDAY - 7 * 86_400)
        );
        assert_eq!(last(WindowKind::Day, 86_399), None);
    }
}
