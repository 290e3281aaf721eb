//! What a command prints: a table for people, JSON for programs.
use crate::{Check, DeployError, Needs, Plan, RunFile, StatusRow, Step};
use concord_chain::{Amount, Coin, network, submission::TxRecord};
use serde_json::{Value, json};
use std::{
    fmt,
    io::{self, Write},
};

/// Columns as wide as their widest cell, two spaces between them.
#[must_use]
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let lines: Vec<Vec<&str>> = std::iter::once(header.to_vec())
        .chain(
            rows.iter()
                .map(|row| row.iter().map(String::as_str).collect()),
        )
        .collect();
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let cells: Vec<String> = line
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// The plan's steps, what they need and cost, and what is left.
#[must_use]
pub fn plan(plan: &Plan) -> String {
    let rows: Vec<Vec<String>> = plan.groups().map(|group| plan_row(plan, group)).collect();
    let header = [
        "step",
        "chain",
        "address",
        "action",
        needs_header(plan),
        "cost at most",
        "balance after",
    ];
    let mut text = table(&header, &rows);
    text.push_str(&format!(
        "\n{} ({}), deployer {} with {}; all steps together cost at most {}\n",
        plan.chain,
        network::name_of(&plan.chain),
        plan.deployer,
        plan.coin.balance(plan.balance),
        plan.coin.cost(plan.total),
    ));
    for note in &plan.notes {
        text.push_str(&format!("{note}\n"));
    }
    text
}

/// Steps of one group, which are alike, share a row.
fn plan_row(plan: &Plan, group: &[Step]) -> Vec<String> {
    let [first, .., last] = group else {
        return group.iter().flat_map(|step| step_row(plan, step)).collect();
    };
    let sending: Vec<&Step> = group.iter().filter(|step| step.action.sends()).collect();
    let costs = sending.iter().map(|step| step.cost);
    let whole = Step {
        id: format!("{} to {}", first.id, last.id),
        action: sending.first().map_or(first.action, |step| step.action),
        needs: sending.first().and_then(|step| step.needs),
        cost: costs.sum(),
        ..last.clone()
    };
    let mut row = step_row(plan, &whole);
    if let (Some(each), true) = (row.get_mut(NEEDS), sending.len() > 1) {
        *each = format!("{} × ({each})", sending.len());
    }
    row
}

/// The column of what a step needs.
const NEEDS: usize = 4;

fn step_row(plan: &Plan, step: &Step) -> Vec<String> {
    let cost = if step.action.sends() {
        plan.coin.cost(step.cost).to_string()
    } else {
        "-".to_owned()
    };
    let left = match step.balance_after {
        Some(balance) => plan.coin.balance(balance).to_string(),
        None => "short".to_owned(),
    };
    vec![
        step.id.clone(),
        step.chain.to_string(),
        step.address.clone(),
        step.action.word().to_owned(),
        step.needs.map_or_else(|| "-".to_owned(), needs),
        cost,
        left,
    ]
}

fn needs_header(plan: &Plan) -> &'static str {
    match plan.coin {
        Coin::SOL => "compute + rent",
        _ => "gas",
    }
}

fn needs(needs: Needs) -> String {
    match needs {
        Needs::Gas(gas) => gas.to_string(),
        Needs::Compute { units, rent } => format!("{units} + {}", rent.0),
    }
}

/// The result of a run: every step with its transaction.
#[must_use]
pub fn run(plan: &Plan, run: &RunFile) -> String {
    let rows: Vec<Vec<String>> = plan
        .groups()
        .map(|group| run_row(plan, run, group))
        .collect();
    table(&["step", "address", "transaction", "block", "cost"], &rows)
}

fn run_row(plan: &Plan, run: &RunFile, group: &[Step]) -> Vec<String> {
    let dash = || "-".to_owned();
    let landings: Vec<_> = group
        .iter()
        .filter_map(|step| run.landing(&step.id))
        .collect();
    // What failed before was paid for, too.
    let failed = group.iter().flat_map(|step| run.failed(&step.id));
    let landed = landings.iter().map(|landing| landing.cost);
    let cost: Amount = failed.map(|(_, cost)| cost).chain(landed).sum();
    let refund: Amount = landings.iter().map(|landing| landing.refund).sum();
    let id = match group {
        [first, .., last] => format!("{} to {}", first.id, last.id),
        _ => group.iter().map(|step| step.id.clone()).collect(),
    };
    let block = landings.last().map(|landing| landing.block.to_string());
    vec![
        id,
        group.first().map_or_else(dash, |step| step.address.clone()),
        match &landings[..] {
            [] => dash(),
            [landing] => landing.transaction.clone(),
            several => format!("{} transactions", several.len()),
        },
        block.unwrap_or_else(dash),
        match landings.is_empty() {
            true => dash(),
            false if refund > cost => format!("{} back", plan.coin.balance(refund)),
            false => plan.coin.cost(cost).to_string(),
        },
    ]
}

/// As [`run`], for programs.
#[must_use]
pub fn run_json(plan: &Plan, run: &RunFile) -> Value {
    let steps: Vec<Value> = plan
        .steps
        .iter()
        .map(|step| {
            json!({
                "id": step.id,
                "address": step.address,
                "attempts": run.transactions(&step.id).len(),
                "failed": run.failed(&step.id),
                "landing": run.landing(&step.id),
            })
        })
        .collect();
    json!({ "chain": plan.chain, "deployer": plan.deployer, "steps": steps })
}

/// Every fact compared; what differs shows both sides.
#[must_use]
pub fn checks(checks: &[Check]) -> String {
    let rows: Vec<Vec<String>> = checks
        .iter()
        .map(|check| {
            let (word, detail) = if check.holds() {
                ("ok", check.found.clone())
            } else {
                (
                    "DIFFERS",
                    format!("{}, expected {}", check.found, check.expected),
                )
            };
            vec![
                check.subject.clone(),
                check.fact.clone(),
                word.to_owned(),
                detail,
            ]
        })
        .collect();
    table(&["what", "fact", "", "found"], &rows)
}

/// # Errors
/// [`DeployError::Output`].
pub fn print(text: &str) -> Result<(), DeployError> {
    Ok(concord_chain::stdout::show(text)?)
}

/// Prints a line on stderr. A closed stderr stops no run.
pub fn print_status(line: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Address book, build and chain side by side.
#[must_use]
pub fn status_rows(status_rows: &[StatusRow]) -> String {
    let rows: Vec<Vec<String>> = status_rows
        .iter()
        .map(|one| {
            let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
            vec![
                one.title.clone(),
                or_dash(&one.recorded),
                one.built.clone(),
                one.on_chain.clone(),
                or_dash(&one.drift),
            ]
        })
        .collect();
    let header = [
        "contract",
        "address book",
        "local build",
        "on chain",
        "drift",
    ];
    table(&header, &rows)
}
