//! The JSON Schema of the protocol, generated from the types that the harness itself reads and writes.
//! `CONCORD_BLESS=1 cargo test --workspace --lib adapter::schema` writes it anew.
use super::{
    PROTOCOL, SCHEMA,
    message::{Ask, Done, Executed, Hello, Refusal, Snapshot, Viewed},
};
use crate::{
    backend::views::{AskedView, Shape, asked_of_adapters},
    model::{
        Actor, Agent, Bytes, Bytes32, CanonicalState, Chain, Integer, PaddedTag, Verdict,
        WideInteger,
    },
};
use concord_canonical::error_class;
use schemars::{
    JsonSchema, Schema, SchemaGenerator,
    generate::{Contract, SchemaSettings},
    json_schema,
};
use serde_json::{Map, Value, json};
use std::{borrow::Cow, env, fs, path::PathBuf};

/// What the harness asks, by name, in the order of docs/ADAPTER.md.
const QUESTIONS: [&str; 6] = ["hello", "reset", "execute", "state", "agent_state", "view"];

macro_rules! schema_of {
    ($name:ident, $description:literal, $schema:expr) => {
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let mut schema = $schema;
                schema.insert("description".to_owned(), $description.into());
                schema
            }
        }
    };
}

const LABEL: &str = "^([a-z][a-z0-9-]{0,31}|unlabelled:.*)$";
const DIGITS: &str = "^(0|-?[1-9][0-9]*)$";

schema_of!(
    Actor,
    "A key holder's label, or `unlabelled:` and an address without a label.",
    json_schema!({"type": "string", "pattern": LABEL})
);
schema_of!(
    Agent,
    "An agent's label, or `unlabelled:` and an id without a label.",
    json_schema!({"type": "string", "pattern": LABEL})
);
schema_of!(
    Bytes32,
    "32 bytes.",
    json_schema!({"type": "string", "pattern": "^0x[0-9a-f]{64}$"})
);
schema_of!(
    Bytes,
    "Bytes of any number.",
    json_schema!({"type": "string", "pattern": "^0x([0-9a-f]{2})*$"})
);
schema_of!(
    PaddedTag,
    "A tag of 32 bytes: its text, or 0x and 64 hex digits where it is none.",
    json_schema!({"type": "string", "maxLength": 66})
);
schema_of!(
    Integer,
    "A signed integer of 128 bits in decimal digits.",
    json_schema!({"type": "string", "pattern": DIGITS})
);
schema_of!(
    WideInteger,
    "A signed integer of 256 bits in decimal digits.",
    json_schema!({"type": "string", "pattern": DIGITS})
);
schema_of!(
    Verdict,
    "What came of an operation: `ok`, or the error class of the rule that was broken.",
    json_schema!({"type": "string", "enum": outcomes()})
);

schema_of!(
    Refusal,
    "The error class of the rule that was broken.",
    json_schema!({"type": "string", "enum": classes()})
);

fn classes() -> Vec<&'static str> {
    error_class::ALL.iter().map(|class| class.name()).collect()
}

fn outcomes() -> Vec<&'static str> {
    ["ok", "unsupported"].into_iter().chain(classes()).collect()
}

fn generator(contract: Contract) -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12();
    settings.contract = contract;
    settings.into_generator()
}

/// A line that the harness writes: an id beside each alternative of [`Ask`].
fn question(generator: &mut SchemaGenerator) -> Value {
    let mut asks = Ask::json_schema(generator).to_value();
    for ask in asks["oneOf"]
        .as_array_mut()
        .expect("an enum has alternatives")
    {
        ask["properties"]["id"] = id();
        let required = ask["required"].as_array_mut();
        required.expect("a member is required").push("id".into());
        if ask["properties"]["view"].is_object() {
            ask["properties"]["view"] = view_question();
        }
    }
    asks
}

fn id() -> Value {
    json!({"type": "integer", "minimum": 1, "description": "Counts up from 1; the answer repeats it."})
}

/// A line that the adapter writes: `ok` with this content, or `error`.
fn answer<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    let content = generator.subschema_for::<T>().to_value();
    let with = |member: &str, schema: Value| {
        json!({
            "type": "object",
            "properties": {"id": id(), member: schema},
            "required": ["id", member],
            "additionalProperties": false,
        })
    };
    let reason = json!({"type": "string", "description": "What has no error class (R25)."});
    json!({"oneOf": [with("ok", content), with("error", reason)]})
}

/// A view by its name, with its arguments.
fn view_question() -> Value {
    let each = all_views().into_iter().map(|asked| {
        json!({
            "type": "object",
            "properties": {
                "view": {"const": asked.view.to_string()},
                "arguments": form(&asked.arguments),
            },
            "required": ["view", "arguments"],
            "additionalProperties": false,
        })
    });
    json!({"oneOf": each.collect::<Value>()})
}

fn all_views() -> Vec<AskedView> {
    Chain::ALL.into_iter().flat_map(asked_of_adapters).collect()
}

/// What each view returns, by its name.
fn returned() -> Value {
    let each = all_views()
        .into_iter()
        .map(|it| (it.view.to_string(), form(&it.returns)));
    json!({
        "description": "What each view returns, by its name.",
        "type": "object",
        "properties": each.collect::<Map<_, _>>(),
        "additionalProperties": false,
    })
}

/// The schema of a form.
fn form(shape: &Shape) -> Value {
    let part = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
    match shape {
        Shape::Agent => part("Agent"),
        Shape::Actor => part("Actor"),
        Shape::MaybeActor => json!({"anyOf": [part("Actor"), {"type": "null"}]}),
        Shape::Text => json!({"type": "string"}),
        Shape::Tag => part("PaddedTag"),
        Shape::Flag => json!({"type": "boolean"}),
        Shape::Number => json!({"type": "integer", "format": "uint64", "minimum": 0}),
        Shape::Digits => part("WideInteger"),
        Shape::Bytes => part("Bytes"),
        Shape::Word => part("Bytes32"),
        Shape::Many(item) => json!({"type": "array", "items": form(item)}),
        Shape::Record(members) => {
            let names: Vec<_> = members.iter().map(|(name, _)| name).collect();
            let forms = members
                .iter()
                .map(|(name, shape)| ((*name).to_owned(), form(shape)));
            json!({
                "type": "object",
                "properties": forms.collect::<Map<_, _>>(),
                "required": names,
                "additionalProperties": false,
            })
        }
    }
}

/// One document: a definition for the questions, one for the answers to each, and their parts.
fn schema() -> Value {
    let mut asking = generator(Contract::Serialize);
    let mut answering = generator(Contract::Deserialize);
    let mut lines = Map::new();
    lines.insert("question".to_owned(), question(&mut asking));
    for name in QUESTIONS {
        let of = match name {
            "hello" => answer::<Hello>,
            "reset" => answer::<Done>,
            "execute" => answer::<Executed>,
            "state" => answer::<CanonicalState>,
            "view" => answer::<Viewed>,
            _ => answer::<Snapshot>,
        };
        lines.insert(format!("answer_to_{name}"), of(&mut answering));
    }
    let alternatives: Vec<_> = lines
        .keys()
        .map(|name| json!({"$ref": format!("#/$defs/{name}")}))
        .collect();
    lines.insert("returned_by_view".to_owned(), returned());
    for (name, part) in asking
        .take_definitions(true)
        .into_iter()
        .chain(answering.take_definitions(true))
    {
        let known = lines.insert(name.clone(), part.clone());
        assert!(known.is_none_or(|it| it == part), "two meanings of {name}");
    }
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("Concord adapter protocol {PROTOCOL}"),
        "description": "Every line between `concord conform --adapter` and an adapter (docs/ADAPTER.md).",
        "anyOf": alternatives,
        "$defs": lines,
    });
    plain_words(&mut schema);
    schema
}

/// Links of the Rust documentation as plain names.
fn plain_words(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(words)) = members.get_mut("description") {
                *words = words.replace("[`", "`").replace("`]", "`");
            }
            members.values_mut().for_each(plain_words);
        }
        Value::Array(items) => items.iter_mut().for_each(plain_words),
        _ => (),
    }
}

#[test]
fn the_committed_schema_is_that_of_the_types() {
    let text = format!("{:#}\n", schema());
    if env::var_os("CONCORD_BLESS").is_some() {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/adapters/schema.json");
        fs::write(path, &text).expect("tests/adapters is writable");
        return;
    }
    assert_eq!(
        SCHEMA, text,
        "run with CONCORD_BLESS=1 and read the difference"
    );
}

mod lines {
    use super::*;
    use crate::{
        backend::{
            evm, svm,
            views::{Draw, Known},
        },
        model::{Model, Operation, Records, Referee},
        scenario::{self, Scenario},
    };
    use jsonschema::Validator;

    /// A validator of one kind of line.
    fn of(name: &str) -> Validator {
        let mut document: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
        document["anyOf"] = json!([{"$ref": format!("#/$defs/{name}")}]);
        jsonschema::validator_for(&document).expect("the schema is one")
    }

    fn assert_fits(schema: &Validator, line: &Value) {
        let faults: Vec<_> = schema.iter_errors(line).map(|it| it.to_string()).collect();
        assert!(faults.is_empty(), "{line}: {faults:#?}");
    }

    /// The result of the model in every committed scenario, as an adapter would answer it.
    #[test]
    fn every_operation_event_and_state_of_the_scenarios_fits() {
        let scenarios = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios");
        let (asked, executed, state) = (
            of("question"),
            of("answer_to_execute"),
            of("answer_to_state"),
        );
        let returned = of("returned_by_view");
        let (mut played, mut views) = (0, 0);
        for file in scenario::find_files(&scenarios).expect("the clone has scenarios") {
            let scenario = scenario::load(&file).expect("a committed scenario is one");
            for chain in Chain::ALL {
                let mut model = Model::new(chain);
                for step in &scenario.steps {
                    let (operation, time) = (&step.operation, step.time);
                    let ask = json!({"id": 1, "execute": {"operation": operation, "time": time}});
                    assert_fits(&asked, &ask);
                    let outcome = Referee::apply(&mut model, operation, time);
                    let mut ok = json!({"outcome": outcome.verdict, "events": outcome.events});
                    if let Some(summary) = outcome.summary {
                        ok["summary"] = json!(summary);
                    }
                    assert_fits(&executed, &json!({"id": 1, "ok": ok}));
                    played += 1;
                }
                assert_fits(&state, &json!({"id": 1, "ok": model.state()}));
                views += assert_views_fit(&scenario, &asked, &returned, chain);
            }
        }
        assert!(played > 1_000);
        assert!(views > 10_000);
    }

    /// Every question that an adapter is asked at the end, and the answer that must come; how many.
    fn assert_views_fit(
        scenario: &Scenario,
        asked: &Validator,
        returned: &Validator,
        chain: Chain,
    ) -> usize {
        let (mut model, mut records) = (Model::new(chain), Records::default());
        for step in &scenario.steps {
            let outcome = Referee::apply(&mut model, &step.operation, step.time);
            records.note(&step.operation, &outcome, step.time);
        }
        let state = model.state();
        let known = Known {
            state,
            records: &records,
        };
        let draw = &mut Draw::of(&state.digest());
        let questions = match chain {
            Chain::Evm => evm::view_questions(known, &scenario.actors, draw),
            Chain::Svm => svm::view_questions(known, &scenario.actors, draw),
        };
        let all = asked_of_adapters(chain);
        let mut fit = 0;
        for question in questions {
            let Some(form) = all.iter().find(|it| it.view == question.view) else {
                continue; // of a deployment
            };
            let view = question.view.to_string();
            let arguments = &question.arguments;
            let line = json!({"id": 1, "view": {"view": view, "arguments": arguments}});
            if fit % 50 == 0 {
                assert_fits(asked, &line); // a slow check of many alternatives
            }
            assert_eq!(form.arguments.check(arguments), Ok(()), "{view}");
            if let Ok(value) = question.expected {
                assert_eq!(form.returns.check(&value), Ok(()), "{view}");
                assert_fits(returned, &json!({view: value}));
            }
            fit += 1;
        }
        fit
    }

    #[test]
    fn what_the_protocol_does_not_have_does_not_fit() {
        let event = json!({"AgentRegistered": {"agent": "desk", "owner": "alice"}}); // no uri
        for (name, line) in [
            ("question", json!({"id": 1, "state": {}, "hello": {}})),
            ("question", json!({"state": {}})),
            ("answer_to_reset", json!({"id": 1})),
            ("answer_to_reset", json!({"id": 1, "ok": {}, "error": "x"})),
            (
                "answer_to_execute",
                json!({"id": 1, "ok": {"outcome": "Nonsense"}}),
            ),
            (
                "answer_to_execute",
                json!({"id": 1, "ok": {"outcome": "ok", "gas": 1}}),
            ),
            (
                "answer_to_execute",
                json!({"id": 1, "ok": {"outcome": "ok", "events": [event]}}),
            ),
            (
                "answer_to_hello",
                json!({"id": 1, "ok": {"protocol": 1, "name": "x"}}),
            ),
            (
                "answer_to_agent_state",
                json!({"id": 1, "ok": {"agent": {"owner": "alice"}}}),
            ),
            (
                "answer_to_state",
                json!({"id": 1, "ok": {"time": 1, "agents": {"Big": {}}}}),
            ),
        ] {
            assert!(!of(name).is_valid(&line), "{name}: {line}");
        }
    }

    #[test]
    fn every_question_and_operation_has_a_definition() {
        let schema = schema();
        let asks = schema["$defs"]["question"]["oneOf"].as_array().unwrap();
        let named = |name: &str| asks.iter().any(|it| it["properties"][name].is_object());
        assert!(QUESTIONS.into_iter().all(named));
        assert_eq!(asks.len(), QUESTIONS.len());
        let operations = schema["$defs"]["Operation"].to_string();
        assert!(
            Operation::NAMES
                .iter()
                .all(|it| operations.contains(&format!("\"{it}\"")))
        );
    }
}
