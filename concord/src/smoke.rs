//! `concord smoke`: one scenario on a deployment, with its transactions and their cost.
use super::{
    arguments::Smoke,
    code_of, colours,
    error::CliError,
    files::scenario_files,
    live::{Place, Played},
    show,
};
use concord_chain::{ChainId, network};
use concord_deploy::{DeployError, report::table};
use concord_harness::{
    report,
    runner::{MODEL, StepRecord},
    scenario,
};
use serde_json::{Value, json};

/// Flagged `live`.
const SCENARIO: &str = "lifecycle/smoke";

/// `concord smoke`: the exit code.
pub(super) fn smoke(options: &Smoke) -> Result<u8, CliError> {
    let place = Place::of(&options.run)?;
    let files = scenario_files(&[SCENARIO.into()])?;
    let scenarios = files.iter().map(|file| scenario::load(file));
    let scenarios = scenarios.collect::<Result<Vec<_>, _>>()?;
    let played = place.play(&options.run, options.artifacts.as_deref(), &scenarios)?;
    let shown = if options.json {
        format!("{:#}\n", as_json(&played, &place.chain))
    } else {
        as_text(&played, &place.chain)
    };
    let printed = show(shown.as_bytes());
    printed.map_err(|fault| DeployError::Unshown(Box::new(fault.into())))?;
    let code = code_of(&played.run);
    played.given_back?;
    Ok(code)
}

/// The deployment's steps.
fn steps(played: &Played) -> impl Iterator<Item = &StepRecord> {
    let records = played.run.records.iter();
    records.filter(|record| record.participant != MODEL)
}

fn link(record: &StepRecord, chain: &ChainId) -> Option<String> {
    let transaction = record.observed.as_ref()?.transaction.as_ref()?;
    network::link(chain, "tx", transaction)
}

fn as_json(played: &Played, chain: &ChainId) -> Value {
    let step = |record: &StepRecord| {
        json!({
            "operation": record.operation,
            "result": record.result.name(),
            "observed": record.observed,
            "link": link(record, chain),
        })
    };
    json!({
        "agree": played.run.agrees(),
        "steps": steps(played).map(step).collect::<Vec<_>>(),
        "failures": played.run.failures().collect::<Vec<_>>(),
        "spent": played.spent,
    })
}

fn as_text(played: &Played, chain: &ChainId) -> String {
    let rows: Vec<_> = steps(played).map(|record| row(record, chain)).collect();
    let header = ["step", "result", "cost", "transaction", "link"];
    let mut text = table(&header, &rows);
    if let Some(spent) = played.spent {
        text += &format!("\ncost: {}\n", played.coin.cost(spent));
    }
    text + &report::outcome(&played.run, colours())
}

fn row(record: &StepRecord, chain: &ChainId) -> Vec<String> {
    let observed = record.observed.as_ref();
    let cost = observed.and_then(|it| it.cost);
    let transaction = observed.and_then(|it| it.transaction.clone());
    let or_dash = |cell: Option<String>| cell.unwrap_or_else(|| "-".to_owned());
    vec![
        record.operation.to_owned(),
        record.result.name().to_owned(),
        or_dash(cost.map(|cost| cost.to_string())),
        or_dash(transaction),
        or_dash(link(record, chain)),
    ]
}
