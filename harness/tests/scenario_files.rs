//! The committed scenarios: of the schema's shape; and what the loader refuses. That they have the
//! model's expectations is a test of the model.
use concord_harness::{
    model::{Chain, Verdict},
    scenario::{self, Flag, find_files, load, load_document},
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, fs, path::PathBuf};

fn clone_root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn committed() -> Vec<PathBuf> {
    let files = find_files(&clone_root().join("tests/scenarios")).unwrap();
    assert!(files.len() >= 15);
    files
}

fn schema() -> jsonschema::Validator {
    let text = fs::read_to_string(clone_root().join("tests/scenarios/schema.json")).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).expect("the schema is one")
}

/// A small correct scenario, to be broken.
fn sample() -> Value {
    let file = clone_root().join("tests/scenarios/authorized/corrupted-signature.json");
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// The loader's words about `scenario`, without the file's name.
fn refusal(scenario: &Value) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broken.json");
    fs::write(&file, scenario.to_string()).unwrap();
    let fault = load(&file).expect_err("the loader refuses it");
    assert_eq!(fault.file, file);
    format!("{}: {}", fault.path, fault.message)
}

fn broken(pointer: &str, value: Value) -> Value {
    let mut scenario = sample();
    *scenario.pointer_mut(pointer).unwrap() = value;
    scenario
}

#[test]
fn every_file_has_the_schema_s_shape() {
    let schema = schema();
    for file in committed() {
        let text = fs::read_to_string(&file).unwrap();
        let faults: Vec<_> = schema
            .iter_errors(&serde_json::from_str(&text).unwrap())
            .map(|fault| format!("{}: {fault}", fault.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{}: {faults:#?}", file.display());
    }
}

#[test]
fn filling_brings_back_events_and_digests_that_were_removed() {
    let file = clone_root().join("tests/scenarios/authorized/revoke.json");
    let whole = load_document(&file).unwrap();
    let mut bare = whole.clone();
    for expect in bare
        .steps
        .iter_mut()
        .filter_map(|step| step.expect.as_mut())
    {
        (expect.events, expect.digest) = (None, None);
    }
    scenario::fill(&mut bare, &file).unwrap();
    assert_eq!(bare, whole);
}

#[test]
fn filling_refuses_an_outcome_that_differs_from_the_models() {
    let file = clone_root().join("tests/scenarios/authorized/revoke.json");
    let mut document = load_document(&file).unwrap();
    document.steps[0].expect.as_mut().unwrap().outcome = "AgentNotFound".parse().unwrap();
    let fault = scenario::fill(&mut document, &file).unwrap_err();
    assert_eq!(fault.path, "steps[0].expect");
    let words = "outcome: the file says AgentNotFound, the model says ok on evm";
    assert_eq!(fault.message, words);
}

#[test]
fn filling_refuses_a_difference_between_chains_that_is_not_declared() {
    let file = clone_root().join("tests/scenarios/authorized/corrupted-signature.json");
    let mut document = load_document(&file).unwrap();
    document.steps[3].variance.clear();
    let fault = scenario::fill(&mut document, &file).unwrap_err();
    assert_eq!(fault.path, "steps[3].expect");
}

/// R22
#[test]
fn a_key_that_stands_twice_is_refused_at_any_depth() {
    let once = sample().to_string();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("twice.json");
    for (key, twice) in [
        ("\"by\":", "\"by\":\"bob\",\"by\":"),
        ("{\"register\":", "{\"register\":{},\"register\":"),
    ] {
        fs::write(&file, once.replacen(key, twice, 1)).unwrap();
        let fault = load(&file).expect_err("the loader refuses it");
        assert!(fault.message.contains("twice"), "{fault}");
    }
}

#[test]
fn filling_refuses_to_leave_out_a_chain_with_the_same_result() {
    let file = clone_root().join("tests/scenarios/identity/register.json");
    let mut document = load_document(&file).unwrap();
    document.only =
        serde_json::from_value(json!({"chain": "evm", "kind": 7, "reason": "so"})).unwrap();
    let fault = scenario::fill(&mut document, &file).unwrap_err();
    assert_eq!(fault.path, "only");
    assert!(fault.message.contains("have the same result"), "{fault}");

    let file = clone_root().join("tests/scenarios/identity/burn.json");
    let mut burnt = load_document(&file).unwrap();
    burnt.only.as_mut().unwrap().kind = 6;
    let fault = scenario::fill(&mut burnt, &file).unwrap_err();
    assert!(fault.message.contains("by variance 7"), "{fault}");
}

#[test]
fn a_broken_shape_is_refused_by_schema_and_loader_alike() {
    let cases = [
        ("/start", json!("soon"), "start: "),
        ("/start", json!(1), "start: "),
        ("/start", json!(253_402_300_800_u64), "start: "),
        ("/start", json!(u64::MAX), "start: "),
        ("/steps", json!([]), "steps: calls no registry"),
        ("/rules", json!([]), "rules: "),
        ("/rules/0", json!("R26"), "rules[0]: "),
        ("/actors/0", json!("Alice"), "actors[0]: "),
        ("/steps/0/do", json!({"regster": {}}), "steps[0].do"),
        (
            "/steps/0/do/register/by",
            json!(7),
            "steps[0].do.register.by: ",
        ),
        (
            "/steps/3/expect/digest",
            json!("0xAB"),
            "steps[3].expect.digest: ",
        ),
        (
            "/steps/1/do/authorize/index_limit",
            json!(-1),
            "steps[1].do.authorize.index_limit: ",
        ),
        (
            "/steps/1/do/authorize/tamper",
            json!("burn"),
            "steps[1].do.authorize.tamper",
        ),
        (
            "/steps/2/do/give_feedback/score",
            json!(256),
            "steps[2].do.give_feedback.score: ",
        ),
        (
            "/steps/3/variance/0/kind",
            json!(8),
            "steps[3].variance[0].kind: ",
        ),
        (
            "/steps/3/variance/0/reason",
            json!(""),
            "steps[3].variance[0].reason: ",
        ),
        ("/steps/3/expect", json!(null), "steps[3].expect: "),
    ];
    let schema = schema();
    for (pointer, value, path) in cases {
        let scenario = broken(pointer, value);
        assert!(!schema.is_valid(&scenario), "the schema takes {pointer}");
        let refusal = refusal(&scenario);
        assert!(refusal.starts_with(path), "{pointer}: {refusal}");
    }
}

#[test]
fn an_unknown_field_is_refused_wherever_it_stands() {
    let schema = schema();
    for pointer in [
        "",
        "/steps/0",
        "/steps/0/do/register",
        "/steps/0/expect",
        "/steps/3/variance/0",
    ] {
        let mut scenario = sample();
        scenario.pointer_mut(pointer).unwrap()["surprise"] = json!(1);
        assert!(
            !schema.is_valid(&scenario),
            "the schema takes {pointer}/surprise"
        );
        let refusal = refusal(&scenario);
        assert!(
            refusal.contains("unknown field `surprise`"),
            "{pointer}: {refusal}"
        );
    }
}

#[test]
fn names_that_nothing_stands_behind_are_refused() {
    let cases = [
        (
            "/steps/0/do/register/by",
            json!("bab"),
            "steps[0].do: `bab` is not in `actors`",
        ),
        (
            "/steps/1/do/authorize/signer",
            json!("eve"),
            "steps[1].do: `eve` is not in `actors`",
        ),
        (
            "/steps/2/do/give_feedback/authorization",
            json!("worse"),
            "steps[2].do.give_feedback.authorization: `worse` is not made by an earlier step",
        ),
        (
            "/steps/4/do/authorize/name",
            json!("bad"),
            "steps[4].do.authorize.name: `bad` is made twice",
        ),
        (
            "/steps/0/expect/outcome",
            json!("Refused"),
            "steps[0].expect.outcome: `Refused` is neither `ok`, nor `unsupported`, nor an error class",
        ),
    ];
    for (pointer, value, words) in cases {
        let refusal = refusal(&broken(pointer, value));
        assert!(refusal.starts_with(words), "{pointer}: {refusal}");
    }
}

#[test]
fn a_variance_that_does_not_vary_is_refused() {
    let shared = sample()["steps"][3]["expect"].clone();
    let words = "steps[3].variance[0].expect: is what the step expects of every chain: no variance";
    assert_eq!(
        refusal(&broken("/steps/3/variance/0/expect", shared)),
        words
    );
}

#[test]
fn a_step_before_the_one_before_it_is_refused() {
    let mut scenario = sample();
    scenario["steps"][2]["at"] = json!(1);
    let words = "steps[2].at: 1 is not after 1, the time of the step before";
    assert_eq!(refusal(&scenario), words);
}

#[test]
fn an_agent_that_is_used_before_its_registration_is_refused() {
    let mut scenario = sample();
    scenario["steps"].as_array_mut().unwrap().swap(0, 1);
    let words = "steps[1].do.register.agent: `desk` is used by an earlier step";
    assert_eq!(refusal(&scenario), words);
}

#[test]
fn an_expectation_that_is_not_filled_is_refused() {
    // The digests: of a step whose chains differ, and of the last one.
    for (at, member) in [(0, "events"), (3, "digest"), (7, "digest")] {
        let mut scenario = sample();
        let expect = scenario["steps"][at]["expect"].as_object_mut().unwrap();
        expect.remove(member).unwrap();
        let words = format!(
            "steps[{at}].expect.{member}: is missing: `concord fill` writes it from the model"
        );
        assert_eq!(refusal(&scenario), words);
    }
}

#[test]
fn a_feedback_file_must_be_what_the_step_says() {
    // R21: the hashes in the committed scenario come from two other implementations.
    let source = clone_root().join("tests/scenarios/authorized");
    let text = fs::read_to_string(source.join("profile-examples.json")).unwrap();
    let whole: Value = serde_json::from_str(&text).unwrap();
    let cases = [
        (
            "/steps/4/do/give_feedback/hash",
            json!(format!("0x{:064x}", 1)),
            "its hash is 0x8adff5b0",
        ),
        (
            "/steps/4/do/give_feedback/score",
            json!(94),
            "its score is not 94",
        ),
        (
            "/steps/4/do/give_feedback/tag2",
            json!("speed"),
            "its tag2 is not `speed`",
        ),
        (
            "/steps/4/do/give_feedback/file",
            json!("files/none.json"),
            "No such file",
        ),
    ];
    for (pointer, value, words) in cases {
        let folder = tempfile::tempdir_in(clone_root().join("target")).unwrap();
        std::os::unix::fs::symlink(source.join("files"), folder.path().join("files")).unwrap();
        let mut scenario = whole.clone();
        *scenario.pointer_mut(pointer).unwrap() = value;
        let file = folder.path().join("broken.json");
        fs::write(&file, scenario.to_string()).unwrap();
        let fault = load(&file).expect_err("the loader refuses it");
        assert_eq!(fault.path, "steps[4].do.give_feedback.file");
        assert!(
            fault.message.contains(words),
            "{pointer}: {}",
            fault.message
        );
    }
}

/// A live scenario, broken at one place.
fn broken_live(name: &str, flag: &str, pointer: &str, value: Value) -> Value {
    let file = clone_root().join("tests/scenarios").join(name);
    let text = fs::read_to_string(file.with_extension("json")).unwrap();
    let mut scenario: Value = serde_json::from_str(&text).unwrap();
    scenario["flags"] = json!([flag]);
    let (parent, member) = pointer.rsplit_once('/').unwrap();
    scenario.pointer_mut(parent).unwrap()[member] = value;
    scenario
}

#[test]
fn a_flag_is_refused_if_a_live_chain_could_have_another_result() {
    let (client, wallet) = (
        "lifecycle/client-reviews",
        "identity/wallet-unset-by-others",
    );
    let expiry = "/steps/1/do/authorize/expiry";
    let cases = [
        (
            client,
            "live",
            expiry,
            json!(60),
            "steps[2].do: expiry 60 is neither over",
        ),
        (
            client,
            "live",
            expiry,
            json!(31),
            "steps[2].do: expiry 31 is neither over",
        ),
        (
            client,
            "live",
            "/steps/3/at",
            json!(50),
            "steps[3].at: the clock of a live chain",
        ),
        (
            client,
            "live",
            "/actors",
            json!(["alice", "bob", "mallory", "deployer"]),
            "actors: `deployer` is not an actor",
        ),
        (
            client,
            "read_only",
            "/title",
            json!("t"),
            "steps[0].expect: is accepted",
        ),
        (
            wallet,
            "live",
            "/steps/1/do/consent/deadline",
            json!(301),
            "steps[2].do: deadline 301",
        ),
        (
            "identity/wallet-without-consent",
            "live",
            "/title",
            json!("t"),
            "steps[1].do: has no consent",
        ),
        (
            "identity/operator-before-the-agent",
            "live",
            "/title",
            json!("t"),
            "flags: `oscar` is still an operator of `alice` in the end",
        ),
        (
            "identity/ten-agents",
            "live",
            "/title",
            json!("t"),
            "flags: `live` with ",
        ),
    ];
    for (name, flag, pointer, value, words) in cases {
        let refusal = refusal(&broken_live(name, flag, pointer, value));
        assert!(refusal.starts_with(words), "{name}{pointer}: {refusal}");
    }
}

/// What no registry refuses: an approval of everybody to everybody, a sum of what is there.
const NEVER_REFUSED: [&str; 2] = ["set_operator", "summary"];

#[test]
fn live_scenarios_show_every_operation_accepted_and_refused() {
    let scenarios: Vec<_> = committed().iter().map(|file| load(file).unwrap()).collect();
    let shown = |is_live: bool| -> BTreeSet<(&str, bool)> {
        scenarios
            .iter()
            .filter(|it| it.chains().any(|chain| chain == Chain::Evm))
            .filter(|it| !is_live || it.flags.contains(&Flag::Live))
            .flat_map(|it| &it.steps)
            .filter_map(|step| {
                let outcome = step.source.expectation(Chain::Evm)?.outcome;
                let is_played = outcome != Verdict::Unsupported;
                is_played.then(|| (step.operation.name(), outcome == Verdict::Ok))
            })
            .collect()
    };
    let missing: BTreeSet<_> = shown(false).difference(&shown(true)).copied().collect();
    let expected = |(operation, is_accepted): &(&str, bool)| {
        !*is_accepted && NEVER_REFUSED.contains(operation)
    };
    assert!(missing.iter().all(expected), "{missing:?}");
}
