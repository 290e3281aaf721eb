use super::{Divergence, START, Transition, recipe::Recipe, world::actors};
use crate::{
    model::{CanonicalState, Chain, Model, Operation, Outcome, Verdict},
    scenario::{Document, Expectation, Rule, Step, Variance},
};
use concord_canonical::ErrorClass;
use serde_json::{Map, Value, json};

/// The world as a scenario whose expectations are the model's. A difference between the chains
/// that the specification declares becomes a variance.
pub fn document(steps: &[Transition], divergence: &Divergence, recipe: &Recipe) -> Document {
    let mut writer = ScenarioWriter::default();
    for step in steps {
        writer.add(step);
    }
    Document {
        schema: Some("../schema.json".to_owned()),
        title: format!(
            "Found by fuzzing (world {recipe}): {}",
            divergence.verdict()
        ),
        rules: vec![Rule::OrderOfChecks],
        sources: Vec::new(),
        flags: Vec::new(),
        start: START,
        actors: actors(steps),
        only: None,
        steps: writer.steps,
    }
}

struct ScenarioWriter {
    steps: Vec<Step>,
    models: [Model; 2],
    time: u64,
    statements: usize,
    /// The declared variance that made the chains' states differ last.
    kind: u8,
}

impl Default for ScenarioWriter {
    fn default() -> Self {
        Self {
            steps: Vec::new(),
            models: Chain::ALL.map(Model::new),
            time: 0,
            statements: 0,
            kind: 2,
        }
    }
}

impl ScenarioWriter {
    fn add(&mut self, step: &Transition) {
        let operation = &step.operation;
        let at = (!operation.is_read()).then(|| {
            self.time += step.wait;
            self.time
        });
        let time = self.time;
        let [on_evm, on_svm] = self.models.each_mut().map(|model| {
            let outcome = model.apply(operation, time);
            (outcome, model.state().clone())
        });
        let action = self.action(operation);
        let (expect, variance) = self.expectations(operation, on_evm, on_svm);
        self.steps.push(Step {
            note: step.mutation.map(|mutation| mutation.name.to_owned()),
            rules: Vec::new(),
            at,
            action,
            expect: Some(expect),
            variance,
            foreign: Vec::new(),
        });
    }

    /// The operation's JSON, with its statements made by steps before it.
    fn action(&mut self, operation: &Operation) -> Map<String, Value> {
        let Value::Object(mut action) = json!(operation) else {
            return Map::new();
        };
        for (member, step) in [
            ("authorization", "authorize"),
            ("consent", "consent"),
            ("payment", "payment"),
        ] {
            let arguments = action.values_mut().next().and_then(Value::as_object_mut);
            let Some(statement) = arguments.and_then(|it| it.get_mut(member)) else {
                continue;
            };
            let Value::Object(made) = statement.take() else {
                continue;
            };
            self.statements += 1;
            let name = format!("{member}-{}", self.statements);
            *statement = json!(name);
            let named = [("name".to_owned(), json!(name))].into_iter().chain(made);
            let making = (step.to_owned(), Value::Object(named.collect()));
            self.steps.push(off_chain(making));
        }
        action
    }

    fn expectations(
        &mut self,
        operation: &Operation,
        (evm, evm_state): (Outcome, CanonicalState),
        (svm, svm_state): (Outcome, CanonicalState),
    ) -> (Expectation, Vec<Variance>) {
        if evm == svm && evm_state == svm_state {
            return (expectation(&evm), Vec::new());
        }
        let mut reason = "The chains' states differ since a declared variance before.";
        if let Some((_, kind, words)) = operation.absence() {
            (self.kind, reason) = (kind, words);
        } else if evm.verdict != svm.verdict {
            self.kind = kind_of(evm.verdict, svm.verdict);
            reason = "The outcomes differ as declared.";
        }
        let (expect, chain, varied) = match evm.verdict {
            Verdict::Unsupported => (&svm, Chain::Evm, &evm),
            _ => (&evm, Chain::Svm, &svm),
        };
        let variance = Variance {
            kind: self.kind,
            chain,
            reason: reason.to_owned(),
            expect: expectation(varied),
        };
        (expectation(expect), vec![variance])
    }
}

fn off_chain((name, statement): (String, Value)) -> Step {
    Step {
        note: None,
        rules: Vec::new(),
        at: None,
        action: Map::from_iter([(name, statement)]),
        expect: None,
        variance: Vec::new(),
        foreign: Vec::new(),
    }
}

/// Events and digest are filled in from the model, as in any scenario.
fn expectation(outcome: &Outcome) -> Expectation {
    Expectation {
        outcome: outcome.verdict,
        summary: outcome.summary,
        events: None,
        digest: None,
    }
}

/// The declared variance (specification §3a) behind two verdicts that differ.
fn kind_of(evm: Verdict, svm: Verdict) -> u8 {
    match (evm, svm) {
        // Only a contract judges a signature of another length.
        (
            Verdict::Refused(ErrorClass::AuthNotGranted),
            Verdict::Refused(ErrorClass::AuthMalformed),
        ) => 6,
        (_, Verdict::Refused(ErrorClass::LengthLimit | ErrorClass::FeedbackIndexStale)) => 2,
        (_, Verdict::Refused(ErrorClass::RequestExists | ErrorClass::RequestPrefixCollision))
        | (Verdict::Refused(ErrorClass::RequestExists), _) => 3,
        (_, Verdict::Refused(ErrorClass::TransferRefused)) => 7,
        (_, Verdict::Refused(ErrorClass::AuthMalformed | ErrorClass::AuthNotGranted)) => 1,
        _ => 6,
    }
}
