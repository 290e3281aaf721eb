use super::{
    file::{Expected, Vector, VectorFile},
    program::{Answer, Command, Program, ProgramFault},
    secret,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// How often a program that stopped answering is started again in a run.
const RESTARTS_MAX: usize = 3;

/// What is checked.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// These functions alone; every one if there is none.
    pub functions: BTreeSet<String>,
    /// Also vectors about the form of requests.
    pub with_requests: bool,
}

/// How one vector ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Right,
    /// Another result, a result where an error was due, or an error of another class.
    Wrong,
    /// An error where a result was due.
    RefusedWrongly,
    /// The program died, hung or wrote what is not an answer.
    Unanswered,
    NotDeclared,
}

/// How many vectors ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    pub right: usize,
    pub wrong: usize,
    pub refused_wrongly: usize,
    pub unanswered: usize,
    pub not_declared: usize,
}

/// One file's vectors.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    pub function: String,
    pub tally: Tally,
    /// Ids of the vectors, each with how it ended, in order.
    pub verdicts: Vec<(String, Verdict)>,
}

/// A vector that was not answered right.
#[derive(Debug, Serialize)]
pub struct Finding {
    pub id: String,
    pub comment: String,
    pub flags: Vec<String>,
    pub verdict: Verdict,
    /// `{"ok": …}` or `{"error": class}`.
    pub expected: Value,
    /// The same, or why there is none.
    pub answered: Value,
}

/// The result of a run.
#[derive(Debug)]
pub struct Run {
    pub rows: Vec<Row>,
    /// Wrong answers and vectors that inconclusive, in order.
    pub findings: Vec<Finding>,
    /// How often the program was started again.
    pub restarts: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    Agrees,
    Differs,
    /// What was checked agrees; some vectors have no answer.
    Lost,
    /// What is declared agrees; some vectors are not declared.
    NotDeclared,
}

impl Tally {
    fn count(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Right => &mut self.right,
            Verdict::Wrong => &mut self.wrong,
            Verdict::RefusedWrongly => &mut self.refused_wrongly,
            Verdict::Unanswered => &mut self.unanswered,
            Verdict::NotDeclared => &mut self.not_declared,
        } += 1;
    }
}

impl Run {
    /// All rows together.
    pub fn total(&self) -> Tally {
        let verdicts = self.rows.iter().flat_map(|row| &row.verdicts);
        verdicts.fold(Tally::default(), |mut total, (_, verdict)| {
            total.count(*verdict);
            total
        })
    }

    pub fn conclusion(&self) -> Conclusion {
        let total = self.total();
        match total {
            _ if total.wrong + total.refused_wrongly > 0 => Conclusion::Differs,
            _ if total.unanswered > 0 => Conclusion::Lost,
            _ if total.not_declared > 0 => Conclusion::NotDeclared,
            _ => Conclusion::Agrees,
        }
    }
}

/// A program that may have stopped answering.
struct Subject<'a> {
    command: &'a Command,
    known: Vec<&'a str>,
    /// `None` after it stopped answering.
    program: Option<Program>,
    declared: BTreeSet<String>,
    restarts: usize,
}

impl Subject<'_> {
    /// Asks; a program that stopped answering is started again at the next vector.
    fn ask(&mut self, vector: &Vector) -> Result<Answer, String> {
        if self.program.is_none() {
            self.start_again()?;
        }
        let program = self.program.as_mut().ok_or("the program does not run")?;
        let answer = program.ask(vector);
        if answer.is_err() {
            self.program = None; // and killed
        }
        answer
    }

    fn start_again(&mut self) -> Result<(), String> {
        if self.restarts == RESTARTS_MAX {
            return Err(format!(
                "the program was started again {RESTARTS_MAX} times, and is not any more"
            ));
        }
        self.restarts += 1;
        let started = Program::start(self.command, &self.known);
        let program = started.map_err(|fault| fault.to_string())?;
        if program.functions.iter().cloned().collect::<BTreeSet<_>>() != self.declared {
            return Err("started again, it declares other functions than before".to_owned());
        }
        self.program = Some(program);
        Ok(())
    }
}

/// Gives the program every vector of `files` that `plan` asks for.
///
/// # Errors
/// The program does not start, or does not say which functions it has.
pub fn run(plan: &Plan, files: &[VectorFile], command: &Command) -> Result<Run, ProgramFault> {
    let known: Vec<_> = files.iter().map(|file| file.function.as_str()).collect();
    let program = Program::start(command, &known)?;
    let mut subject = Subject {
        command,
        declared: program.functions.iter().cloned().collect(),
        known,
        program: Some(program),
        restarts: 0,
    };
    let (mut rows, mut findings) = (Vec::new(), Vec::new());
    for file in files {
        if plan.functions.is_empty() || plan.functions.contains(&file.function) {
            rows.push(check_file(plan, file, &mut subject, &mut findings));
        }
    }
    Ok(Run {
        rows,
        findings,
        restarts: subject.restarts,
    })
}

fn check_file(
    plan: &Plan,
    file: &VectorFile,
    subject: &mut Subject<'_>,
    findings: &mut Vec<Finding>,
) -> Row {
    let is_declared = subject.declared.contains(&file.function);
    let mut row = Row {
        name: file.name,
        function: file.function.clone(),
        tally: Tally::default(),
        verdicts: Vec::new(),
    };
    let vectors = file.vectors.iter();
    for vector in vectors.filter(|it| plan.with_requests || !it.is_about_requests()) {
        let verdict = if is_declared {
            check(vector, subject.ask(vector), findings)
        } else {
            Verdict::NotDeclared
        };
        row.tally.count(verdict);
        row.verdicts.push((vector.id.clone(), verdict));
    }
    row
}

fn check(vector: &Vector, answer: Result<Answer, String>, findings: &mut Vec<Finding>) -> Verdict {
    let verdict = match (&answer, &vector.expected) {
        (Err(_), _) => Verdict::Unanswered,
        (Ok(Answer::Unsupported), _) => Verdict::NotDeclared,
        (Ok(Answer::Ok(found)), Expected::Ok(due)) if found == due => Verdict::Right,
        (Ok(Answer::Ok(found)), Expected::Member { name, value })
            if found.get(name) == Some(value) =>
        {
            Verdict::Right
        }
        (Ok(Answer::Error(None)), Expected::Error(_)) => Verdict::Right,
        (Ok(Answer::Error(Some(class))), Expected::Error(due)) if class == due => Verdict::Right,
        (Ok(Answer::Error(_)), Expected::Ok(_) | Expected::Member { .. }) => {
            Verdict::RefusedWrongly
        }
        (Ok(Answer::Ok(_) | Answer::Error(_)), _) => Verdict::Wrong,
    };
    if !matches!(verdict, Verdict::Right | Verdict::NotDeclared) {
        findings.push(finding(vector, verdict, answer));
    }
    verdict
}

fn finding(vector: &Vector, verdict: Verdict, answer: Result<Answer, String>) -> Finding {
    let answered = match answer {
        Ok(Answer::Ok(ok)) => json!({"ok": ok}),
        Ok(Answer::Error(class)) => json!({"error": class}),
        Ok(Answer::Unsupported) => json!({"error": "Unsupported"}),
        Err(reason) => json!({"none": reason}),
    };
    Finding {
        id: vector.id.clone(),
        comment: vector.comment.clone(),
        flags: vector.flags.clone(),
        verdict,
        expected: match &vector.expected {
            Expected::Ok(ok) => json!({"ok": ok}),
            Expected::Member { name, value } => json!({"ok": {*name: value}}),
            Expected::Error(class) => json!({"error": class}),
        },
        answered: without_secret(vector.secret(), answered),
    }
}

/// Every text of `value`, names of members too, without the secret.
fn without_secret(secret: Option<&str>, value: Value) -> Value {
    let shown = |text: &str| secret::without(secret, text);
    match value {
        Value::String(text) => shown(&text).into(),
        Value::Array(list) => {
            let list = list.into_iter();
            list.map(|it| without_secret(secret, it)).collect()
        }
        Value::Object(members) => {
            let members = members.into_iter();
            let members = members.map(|(name, it)| (shown(&name), without_secret(secret, it)));
            Value::Object(members.collect())
        }
        scalar => scalar,
    }
}
