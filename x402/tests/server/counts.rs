//! The layer's metrics.
use crate::server::paywall::*;
use axum::{
    Router,
    http::{StatusCode, header},
    routing::get,
};
use concord_x402::server::describe_metrics;
use metrics::{
    Counter, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, atomic::AtomicU64, atomic::Ordering},
};

/// Keeps counters by name and label, and the values of histograms.
#[derive(Default)]
struct Counts {
    counters: Mutex<BTreeMap<String, Arc<AtomicU64>>>,
    recorded: Arc<Values>,
    described: Mutex<Vec<String>>,
}

#[derive(Default)]
struct Values(Mutex<Vec<f64>>);

impl HistogramFn for Values {
    fn record(&self, value: f64) {
        self.0.lock().unwrap().push(value);
    }
}

impl Recorder for Counts {
    fn describe_counter(&self, key: KeyName, _: Option<Unit>, _: SharedString) {
        self.described.lock().unwrap().push(key.as_str().to_owned());
    }

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, key: KeyName, _: Option<Unit>, _: SharedString) {
        self.described.lock().unwrap().push(key.as_str().to_owned());
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let labels: Vec<_> = key
            .labels()
            .map(|it| format!(" {}={}", it.key(), it.value()))
            .collect();
        let name = format!("{}{}", key.name(), labels.concat());
        let mut counters = self.counters.lock().unwrap();
        Counter::from_arc(counters.entry(name).or_default().clone())
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.recorded.clone())
    }
}

#[tokio::test]
async fn counts_what_is_announced_signed_and_not_signed_with_the_reason() {
    let counts = Counts::default();
    let _guard = metrics::set_default_local_recorder(&counts);
    describe_metrics();
    let stream = async || ([(header::CONTENT_TYPE, "text/event-stream")], "data: 1\n\n");
    let paid_for = Router::new()
        .route("/signed", get(async || "answer"))
        .route("/stream", get(stream));
    let required =
        async |value: &'static str| (StatusCode::PAYMENT_REQUIRED, [("payment-required", value)]);
    let router = settled(paid_for)
        .route("/unpaid", get(async move || required("e30=").await))
        .route("/unreadable", get(async move || required("!").await))
        .layer(layer(options()).await);
    for target in ["/signed", "/signed", "/stream", "/unpaid", "/unreadable"] {
        ask(router.clone(), paid("GET", target, "")).await;
    }
    let counters = counts.counters.lock().unwrap();
    let found: Vec<_> = counters
        .iter()
        .map(|(name, it)| (&**name, it.load(Ordering::SeqCst)))
        .collect();
    let expected = [
        ("x402_announcements_total outcome=added", 1),
        ("x402_announcements_total outcome=unreadable", 1),
        ("x402_interactions_signed_total", 2),
        ("x402_interactions_unsigned_total reason=event-stream", 1),
    ];
    assert_eq!(found, expected);
    let recorded = counts.recorded.0.lock().unwrap();
    assert!(
        recorded.len() == 2 && recorded.iter().all(|it| *it > 0.0),
        "{recorded:?}"
    );
    assert_eq!(counts.described.lock().unwrap().len(), 4);
}
