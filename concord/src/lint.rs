//! Are the scenario files as they should be, and do they show every rule, both holding and refusing?
use super::{AGREE, USAGE, arguments::Files, error::CliError, files::scenario_files, show};
use concord_deploy::report::print_status;
use concord_harness::{
    model::Verdict,
    report::plain,
    scenario::{self, Rule, Scenario, ScenarioFault},
};
use std::{collections::BTreeSet, fmt, path::Path};

/// How a step shows a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Showing {
    /// The operation is accepted.
    Positive,
    /// The operation is refused.
    Negative,
}

/// What no chain can show, and why.
const NOT_ON_CHAIN: &[(Rule, Showing, &str)] = &[
    (
        Rule::Ruling(2),
        Showing::Negative,
        "an ABI refuses nothing: goldens hold it",
    ),
    (
        Rule::Ruling(14),
        Showing::Negative,
        "on chain a 32-byte tag is opaque: vectors refuse tags",
    ),
    (
        Rule::Ruling(21),
        Showing::Negative,
        "on chain a hash is opaque: vectors refuse files",
    ),
    (Rule::Ruling(22), Showing::Positive, JSON_IS_OFF_CHAIN),
    (Rule::Ruling(22), Showing::Negative, JSON_IS_OFF_CHAIN),
    (Rule::Ruling(23), Showing::Positive, SIGNED_OFF_CHAIN),
    (Rule::Ruling(23), Showing::Negative, SIGNED_OFF_CHAIN),
    (Rule::Ruling(24), Showing::Positive, HASHED_OFF_CHAIN),
    (Rule::Ruling(24), Showing::Negative, HASHED_OFF_CHAIN),
];
const JSON_IS_OFF_CHAIN: &str = "no chain reads JSON: vectors show it";
const SIGNED_OFF_CHAIN: &str = "what it says of chains is R6's and R11's: vectors show the rest";
const HASHED_OFF_CHAIN: &str = "no chain reads interaction hashes: vectors show it";

/// `concord lint`: findings on stdout, one a line; 2 where there are any.
pub(super) fn lint(options: &Files) -> Result<u8, CliError> {
    let mut findings = Vec::new();
    let mut scenarios = Vec::new();
    for file in scenario_files(&options.scenario)? {
        match examine(&file) {
            Ok(scenario) => scenarios.push(scenario),
            Err(fault) => findings.push(fault.to_string()),
        }
    }
    if options.scenario.is_empty() {
        findings.extend(coverage(&scenarios));
    }
    let report: String = findings
        .iter()
        .map(|finding| format!("{finding}\n"))
        .collect();
    show(plain(&report).as_bytes())?;
    match findings.len() {
        0 => print_status(format_args!("{} scenarios: nothing found", scenarios.len())),
        many => print_status(format_args!("{many} found")),
    }
    Ok(if findings.is_empty() { AGREE } else { USAGE })
}

fn examine(file: &Path) -> Result<Scenario, ScenarioFault> {
    let document = scenario::load_document(file)?;
    let mut filled = document.clone();
    scenario::fill(&mut filled, file)?;
    let at_fault = |path: String, message: &str| ScenarioFault {
        file: file.to_owned(),
        path,
        message: message.to_owned(),
    };
    for (at, (committed, filled)) in document.steps.iter().zip(&filled.steps).enumerate() {
        if committed != filled {
            let message = "differs from the model: `concord fill` writes it";
            return Err(at_fault(format!("steps[{at}]"), message));
        }
    }
    scenario::load(file)
}

/// A sentence for each rule that is not shown as it should be.
fn coverage(scenarios: &[Scenario]) -> Vec<String> {
    let shown: BTreeSet<_> = scenarios.iter().flat_map(showings).collect();
    let mut findings = Vec::new();
    for rule in Rule::all() {
        for showing in [Showing::Positive, Showing::Negative] {
            let is_excused = NOT_ON_CHAIN
                .iter()
                .any(|(excused, how, _)| (*excused, *how) == (rule, showing));
            if !is_excused && !shown.contains(&(rule, showing)) {
                findings.push(format!("{rule}: no scenario shows it {showing}"));
            }
        }
    }
    findings
}

fn showings(scenario: &Scenario) -> Vec<(Rule, Showing)> {
    let chains: Vec<_> = scenario.chains().collect();
    let mut found = Vec::new();
    for step in &scenario.steps {
        for chain in &chains {
            let showing = match step.source.expectation(*chain).map(|it| it.outcome) {
                Some(Verdict::Ok) => Showing::Positive,
                Some(Verdict::Refused(_)) => Showing::Negative,
                Some(Verdict::Unsupported) | None => continue,
            };
            found.extend(step.rules.iter().map(|rule| (*rule, showing)));
        }
    }
    found
}

impl fmt::Display for Showing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Positive => "holding (in an accepted step)",
            Self::Negative => "refusing (in a refused step)",
        })
    }
}
