//! What Prometheus reads. docs/AGGREGATOR.md has a line for each.

use std::fmt::Write as _;

use crate::store::{Store, StoreError};

/// Prometheus text. `now`: unix seconds.
pub(crate) fn metrics(store: &Store, now: u64) -> Result<String, StoreError> {
    let backlog = store.backlog()?;
    let mut text = String::new();
    let by_state = |all: Vec<_>| -> Vec<(&'static str, u64)> {
        let named = all
            .into_iter()
            .map(|(state, count): (crate::store::RowState, u64)| (state.name(), count));
        named.collect()
    };
    let sponsored = store.sponsored_counts()?.into_iter();
    let sponsored = sponsored.map(|(state, count)| (state.name(), count));
    for (name, counts) in [
        ("submissions", by_state(backlog.submissions)),
        ("revocations", by_state(backlog.revocations)),
        ("responses", by_state(backlog.responses)),
        ("sponsored", sponsored.collect()),
    ] {
        let _ = writeln!(text, "# TYPE concord_aggregator_{name} gauge");
        for (state, count) in counts {
            let _ = writeln!(
                text,
                "concord_aggregator_{name}{{state=\"{state}\"}} {count}"
            );
        }
    }
    let age = backlog.oldest.map_or(0, |it| now.saturating_sub(it));
    for (name, value) in [("late", backlog.late), ("oldest_open_seconds", age)] {
        let _ = writeln!(text, "# TYPE concord_aggregator_{name} gauge");
        let _ = writeln!(text, "concord_aggregator_{name} {value}");
    }
    Ok(text)
}
