use super::{Provenance, text::not_declared};
use crate::{
    runner::{Run, StepRecord},
    scenario::{Scenario, TimedStep},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The whole report as one JSON object: `agree`, `versions`, `artifacts`, `facts` (what the command line says of
/// registries that are not ours), `left_out` (scenarios that could not be played, and why), `participants`, `matrix`
/// (by rule, then participant: how many steps ended how), `totals`, `failures`, `variances`,
/// `news` (what registries of others have that is not known here, by participant), `conclusion` (`agrees`, `nothing_played`, `not_declared`, `lost`, `differs`), `not_declared` (profiles by
/// participant), `lost` (who stopped answering where), `views` (how many answers were right, and which
/// views were asked how often, or never), `rules_without_steps`, and `scenarios`, each with its steps: what is expected, and by participant
/// the `result`, outcome, events, digest, cost, and the transaction if a live chain has it.
pub fn json(run: &Run, provenance: &Provenance) -> Value {
    let names: Vec<_> = run.participants.iter().map(|it| &it.name).collect();
    let matrix: Map<String, Value> = run
        .matrix()
        .into_iter()
        .map(|(rule, row)| (rule.to_string(), json!(row)))
        .collect();
    let scenarios: Vec<_> = run
        .by_scenario()
        .map(|(played, records)| scenario(played, records))
        .collect();
    json!({
        "agree": run.agrees(),
        "conclusion": run.conclusion(),
        "versions": provenance.versions,
        "artifacts": provenance.artifacts,
        "facts": provenance.facts,
        "left_out": run.left_out,
        "participants": names,
        "matrix": matrix,
        "totals": run.totals(),
        "failures": run.failures().collect::<Vec<_>>(),
        "variances": run.variances(),
        "rules_without_steps": run.rules_without_steps(),
        "not_declared": not_declared(run).into_iter().collect::<BTreeMap<_, _>>(),
        "lost": run.lost,
        "news": run.news,
        "views": {
            "totals": run.view_counts(),
            "asked": run.views_asked(),
            "not_asked": run.views_not_asked(),
        },
        "scenarios": scenarios,
    })
}

fn scenario(scenario: &Scenario, records: &[StepRecord]) -> Value {
    let steps: Vec<_> = scenario
        .steps
        .iter()
        .map(|step| step_json(step, records))
        .collect();
    json!({
        "name": scenario.name,
        "title": scenario.title,
        "only": scenario.only,
        "steps": steps,
    })
}

fn step_json(step: &TimedStep, records: &[StepRecord]) -> Value {
    let own = records.iter().filter(|it| it.step == step.number);
    let participants: Map<String, Value> = own
        .map(|record| (record.participant.clone(), played(record)))
        .collect();
    json!({
        "step": step.number,
        "operation": step.operation.name(),
        "time": step.time,
        "rules": step.rules,
        "source": step.source,
        "participants": participants,
    })
}

fn played(record: &StepRecord) -> Value {
    json!({
        "result": record.result.name(),
        "observed": record.observed,
        "difference": record.result.difference(),
    })
}
