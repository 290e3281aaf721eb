//! How many requests there were, of which kind, and how long they took.
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// Upper bounds of the histogram, in seconds.
const BOUNDS: [f64; 9] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0];

/// Requests by route and status. Routes are the API's own, so their number is bounded.
#[derive(Debug, Default)]
pub struct Metrics(Mutex<BTreeMap<(String, u16), Requests>>);

#[derive(Debug, Default, Clone, Copy)]
struct Requests {
    count: u64,
    seconds: f64,
    within: [u64; BOUNDS.len()],
}

impl Metrics {
    pub(super) fn note(&self, route: &str, status: u16, took: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let requests = all.entry((route.to_owned(), status)).or_default();
        let seconds = took.as_secs_f64();
        requests.count += 1;
        requests.seconds += seconds;
        for (within, bound) in requests.within.iter_mut().zip(BOUNDS) {
            *within += u64::from(seconds <= bound);
        }
    }

    /// Prometheus's text format.
    pub(super) fn text(&self) -> String {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = "concord_index_request_seconds";
        let help = "How long requests took.";
        let mut text = format!("# HELP {name} {help}\n# TYPE {name} histogram\n");
        for ((route, status), requests) in all.iter() {
            let labels = format!("route=\"{}\",status=\"{status}\"", label(route));
            let count = requests.count;
            let buckets = BOUNDS.iter().map(ToString::to_string).zip(requests.within);
            for (bound, within) in buckets.chain([("+Inf".to_owned(), count)]) {
                // A String takes any text.
                let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{bound}\"}} {within}");
            }
            let _ = writeln!(text, "{name}_sum{{{labels}}} {}", requests.seconds);
            let _ = writeln!(text, "{name}_count{{{labels}}} {count}");
        }
        text
    }
}

/// A label's value, escaped.
pub(super) fn label(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_in_every_bucket_that_holds_them() {
        let metrics = Metrics::default();
        metrics.note("/v1/\"x\"", 200, Duration::from_millis(2));
        metrics.note("/v1/\"x\"", 200, Duration::from_secs(60));
        let text = metrics.text();
        let line = |end: &str| {
            let name = "concord_index_request_seconds";
            let labels = r#"route="/v1/\"x\"",status="200""#;
            format!("{name}{}", end.replace("LABELS", labels))
        };
        for expected in [
            line(r#"_bucket{LABELS,le="0.001"} 0"#),
            line(r#"_bucket{LABELS,le="0.0025"} 1"#),
            line(r#"_bucket{LABELS,le="10"} 1"#),
            line(r#"_bucket{LABELS,le="+Inf"} 2"#),
            line("_sum{LABELS} 60.002"),
            line("_count{LABELS} 2"),
        ] {
            assert!(text.lines().any(|it| it == expected), "{expected}\n{text}");
        }
    }
}
