//! Counts, for whichever recorder the application installs.

use std::time::Duration;

use metrics::{Unit, counter, describe_counter, describe_histogram, histogram};

use super::unsigned::Unsigned;

const SIGNED: &str = "x402_interactions_signed_total";
const UNSIGNED: &str = "x402_interactions_unsigned_total";
const ANNOUNCED: &str = "x402_announcements_total";
const SIGNING: &str = "x402_interaction_signing_seconds";

/// Describes the metrics to the recorder. Call it once, after the recorder is installed.
pub fn describe_metrics() {
    describe_counter!(SIGNED, "Paid responses that were signed");
    describe_counter!(
        UNSIGNED,
        "Paid responses that were returned unsigned, by reason"
    );
    describe_counter!(
        ANNOUNCED,
        "402 answers, by whether the extension could be added"
    );
    describe_histogram!(
        SIGNING,
        Unit::Seconds,
        "Time to hash and sign one paid response"
    );
}

pub(super) fn signed(took: Duration) {
    counter!(SIGNED).increment(1);
    histogram!(SIGNING).record(took.as_secs_f64());
}

pub(super) fn unsigned(reason: &Unsigned) {
    counter!(UNSIGNED, "reason" => reason.name()).increment(1);
}

pub(super) fn announced(is_added: bool) {
    let outcome = if is_added { "added" } else { "unreadable" };
    counter!(ANNOUNCED, "outcome" => outcome).increment(1);
}
