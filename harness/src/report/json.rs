use crate::runner::Run;
use serde_json::{Map, Value};

/// The whole report as one JSON object: `agree`, `participants`, `scenarios`, `matrix` (by rule,
/// then participant: `passed`, `failed`, `not_reached` steps), `totals`, `failures`, `variances`
/// and `rules_without_steps`.
pub fn json(run: &Run) -> Value {
    let matrix: Map<String, Value> = run
        .matrix()
        .into_iter()
        .map(|(rule, row)| (rule.to_string(), serde_json::json!(row)))
        .collect();
    serde_json::json!({
        "agree": run.agrees(),
        "participants": run.participants,
        "scenarios": run.scenarios(),
        "matrix": matrix,
        "totals": run.totals(),
        "failures": run.failures().collect::<Vec<_>>(),
        "variances": run.variances,
        "rules_without_steps": run.rules_without_steps(),
    })
}
