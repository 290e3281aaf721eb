use super::check::{Conclusion, Finding, Run, Tally, Verdict};
use crate::report::{Colours, Terminal, Tone};
use serde_json::{Map, Value, json};
use std::fmt::{self, Write};

/// For a function's name.
const FIRST_COLUMN: usize = 30;
const COLUMNS: [&str; 5] = ["right", "wrong", "refused", "no answer", "not declared"];
/// Between two columns.
const GAP: usize = 2;
/// How many findings of a function are shown; the others are counted.
const SHOWN_MAX: usize = 5;
/// How much of a value is shown, in characters.
const VALUE_MAX: usize = 160;

impl Tally {
    /// In the order of the report's columns.
    fn columns(&self) -> [usize; 5] {
        [
            self.right,
            self.wrong,
            self.refused_wrongly,
            self.unanswered,
            self.not_declared,
        ]
    }
}

impl Verdict {
    /// As a finding begins.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "WRONG",
            Self::RefusedWrongly => "REFUSED WRONGLY",
            Self::Unanswered => "NO ANSWER",
            Self::NotDeclared => "not declared",
        }
    }
}

/// The report for a terminal: matrix, findings, verdict.
pub fn text(run: &Run, colours: Colours) -> String {
    let mut out = Terminal::new(colours);
    write(&mut out, run).expect("a String takes all text");
    out.into_text()
}

fn write(out: &mut Terminal, run: &Run) -> fmt::Result {
    write!(out, "{:FIRST_COLUMN$}", "function")?;
    for name in COLUMNS {
        write!(out, "{:>1$}", name, name.len() + GAP)?;
    }
    writeln!(out)?;
    for row in &run.rows {
        write_row(out, row.name, &row.tally)?;
    }
    write_row(out, "all", &run.total())?;
    for row in &run.rows {
        write_findings(out, row.name, &findings_of(run, row.name))?;
    }
    write_verdict(out, run)
}

fn write_row(out: &mut Terminal, name: &str, tally: &Tally) -> fmt::Result {
    write!(out, "{name:FIRST_COLUMN$}")?;
    for (at, (column, count)) in COLUMNS.iter().zip(tally.columns()).enumerate() {
        let cell = format!("{count:>0$}", column.len() + GAP);
        let tone = match (at, count) {
            (1..=3, 1..) => Tone::Bad,
            _ => Tone::Even,
        };
        out.paint(tone, &cell)?;
    }
    writeln!(out)
}

/// A file's name begins the ids of its vectors.
fn findings_of<'a>(run: &'a Run, name: &str) -> Vec<&'a Finding> {
    let is_of = |it: &&Finding| it.id.split('/').next() == Some(name);
    run.findings.iter().filter(is_of).collect()
}

fn write_findings(out: &mut Terminal, name: &str, findings: &[&Finding]) -> fmt::Result {
    for finding in findings.iter().take(SHOWN_MAX) {
        out.write_str("\n")?;
        out.paint(Tone::Bad, finding.verdict.words())?;
        writeln!(out, " {}: {}", finding.id, finding.comment)?;
        writeln!(out, "  expected {}", short(&finding.expected))?;
        writeln!(out, "  answered {}", short(&finding.answered))?;
    }
    match findings.len().saturating_sub(SHOWN_MAX) {
        0 => Ok(()),
        more => writeln!(out, "\nand {more} more of {name}: see --json or --junit"),
    }
}

/// What was answered or expected, in one line.
pub(super) fn short(value: &Value) -> String {
    let text = match value.get("none").and_then(Value::as_str) {
        Some(reason) => format!("nothing: {reason}"),
        None => value.to_string(),
    };
    match text.char_indices().nth(VALUE_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn write_verdict(out: &mut Terminal, run: &Run) -> fmt::Result {
    let total = run.total();
    let checked = total.right + total.wrong + total.refused_wrongly;
    if run.restarts > 0 {
        let times = if run.restarts == 1 { "time" } else { "times" };
        writeln!(
            out,
            "\nthe program was started again {} {times}",
            run.restarts
        )?;
    }
    let (tone, verdict) = match run.conclusion() {
        Conclusion::Agrees => (Tone::Good, format!("{checked} vectors: all right")),
        Conclusion::Differs => {
            let wrong = total.wrong + total.refused_wrongly;
            (Tone::Bad, format!("{checked} vectors: {wrong} not right"))
        }
        Conclusion::Lost => {
            let lost = total.unanswered;
            let verdict = format!("{checked} vectors: all right; {lost} have no answer");
            (Tone::Bad, verdict)
        }
        Conclusion::NotDeclared => {
            let rest = total.not_declared;
            let verdict = format!("{checked} vectors: all right; {rest} are not declared");
            (Tone::Good, verdict)
        }
    };
    out.write_str("\n")?;
    out.paint(tone, &verdict)?;
    out.write_str("\n")
}

/// The whole run: `conclusion` (`agrees`, `differs`, `lost`, `not_declared`), `restarts`, `functions`
/// (by file: how many vectors ended how), `total`, and `findings`, each with `id`, `comment`,
/// `flags`, `verdict`, `expected` and `answered`.
pub fn json(run: &Run) -> Value {
    let rows = run.rows.iter();
    let functions: Map<_, _> = rows
        .map(|row| (row.name.to_owned(), json!(row.tally)))
        .collect();
    json!({
        "conclusion": run.conclusion(),
        "restarts": run.restarts,
        "functions": functions,
        "total": run.total(),
        "findings": run.findings,
    })
}
