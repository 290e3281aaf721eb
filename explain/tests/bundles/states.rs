use crate::bundles::recorded::{CHAIN, SOUND, anchored, explained, json, text, trust};
use concord_explain::{Bundle, State, Step, Trust, explain, offline::explain_text};
use serde_json::json;

/// The result of each step of a recorded bundle; a step that is not listed does not apply.
fn expected(name: &str) -> Vec<(Step, State)> {
    let hosted = match name {
        "hosted" => State::Claimed,
        _ => State::Verified,
    };
    let mut steps = vec![
        (Step::Event, State::Verified),
        (Step::Inclusion, State::Verified),
        (Step::Registry, State::Verified),
        (Step::NotRevoked, State::Verified),
        (Step::File, hosted),
        (Step::FileHash, State::Verified),
        (Step::FileAgrees, State::Verified),
        (Step::Authorship, State::Verified),
        (Step::SelfFeedback, State::Verified),
        (Step::Registration, State::Verified),
    ];
    if name == "authorized" {
        steps.insert(9, (Step::Authorization, State::Verified));
    }
    steps
}

#[test]
fn a_sound_bundle_is_verified_step_by_step() {
    for name in SOUND {
        let bundle = json(name);
        let explained = explained(&bundle, &trust(&bundle)).expect("a bundle");
        let found = explained.report.findings.iter();
        let found: Vec<_> = found.map(|it| (it.step, it.state)).collect();
        assert_eq!(found, expected(name), "{name}: {:#?}", explained.report);
        assert!(explained.needs.is_empty(), "{name}: {:?}", explained.needs);
        assert_eq!(
            explained.report.findings.len() + explained.report.not_applicable.len(),
            Step::ALL.len()
        );
    }
}

#[test]
fn a_bundle_has_one_text() {
    for name in SOUND {
        let text = text(&format!("{name}.json"));
        let bundle = Bundle::parse(&text).expect("a bundle");
        assert_eq!(bundle.to_canonical().expect("JSON"), text);
    }
}

/// The state of a later block, and a header that leads back to the feedback's.
#[test]
fn a_revoked_feedback_is_refuted_and_the_rest_holds() {
    let bundle = json("revoked");
    let report = explained(&bundle, &trust(&bundle))
        .expect("a bundle")
        .report;
    let refuted = report
        .findings
        .iter()
        .filter(|it| it.state == State::Refuted);
    let refuted: Vec<_> = refuted.map(|it| it.step).collect();
    assert_eq!(refuted, [Step::NotRevoked], "{report:#?}");
    assert_eq!(report.state_of(Step::Event), Some(State::Verified));
    assert_eq!(report.state_of(Step::Inclusion), Some(State::Verified));
}

#[test]
fn without_a_trusted_block_the_inclusion_cannot_be_checked() {
    let bundle = json("open");
    let mut trust = Trust::default();
    trust
        .add_address_book(&text("addresses.json"))
        .expect("an address book");
    let report = explained(&bundle, &trust).expect("a bundle").report;
    assert_eq!(report.state_of(Step::Inclusion), Some(State::CannotCheck));
    let anchor = bundle["evm"][CHAIN]["anchor"].as_str().expect("an anchor");
    assert_eq!(report.rests_on, [format!("{CHAIN}: block {anchor}")]);
}

#[test]
fn another_trusted_block_refutes_the_inclusion_and_verifies_nothing_on_chain() {
    let bundle = json("open");
    let mut trust = trust(&bundle);
    trust.add_block(CHAIN, [7; 32]);
    let report = explained(&bundle, &trust).expect("a bundle").report;
    assert_eq!(report.state_of(Step::Inclusion), Some(State::Refuted));
    assert_eq!(report.count(State::Verified), 0, "{report:#?}");
    assert_eq!(report.count(State::Refuted), 1, "{report:#?}");
}

/// R28
#[test]
fn an_unlisted_registry_is_refuted() {
    let bundle = json("open");
    let report = explained(&bundle, &Trust::canonical())
        .expect("a bundle")
        .report;
    assert_eq!(report.state_of(Step::Registry), Some(State::Refuted));
}

/// R28: of two deployments each is listed, and the same number names another agent in each.
#[test]
fn registries_of_two_deployments_are_not_taken_for_one() {
    let bundle = json("open");
    let book: serde_json::Value = serde_json::from_str(&text("addresses.json")).expect("JSON");
    let of = |contract: &str| {
        let record = book["chains"][CHAIN]["contracts"][contract].clone();
        let contracts = json!({ contract: record });
        json!({ "chains": { CHAIN: { "contracts": contracts } } }).to_string()
    };
    let mut apart = anchored(&bundle);
    for contract in ["IdentityRegistry", "ReputationRegistry"] {
        let added = apart.add_address_book(&of(contract));
        added.expect("an address book");
    }
    let report = explained(&bundle, &apart).expect("a bundle").report;
    let registry = report.finding(Step::Registry).expect("a finding");
    assert_eq!(registry.state, State::Refuted, "{report:#?}");
    assert!(
        registry.detail.contains("two deployments"),
        "{}",
        registry.detail
    );
    assert_ne!(report.state_of(Step::NotRevoked), Some(State::Verified));
    let together = explained(&bundle, &trust(&bundle))
        .expect("a bundle")
        .report;
    assert_eq!(together.state_of(Step::Registry), Some(State::Verified));
}

/// The state of an earlier block says nothing of what was given or revoked since.
#[test]
fn a_state_before_the_block_that_is_trusted_is_not_checked() {
    let mut bundle = json("revoked");
    let newest = bundle["feedback"]["atBlock"].as_u64().expect("a number");
    let trust = trust(&bundle);
    let earlier = (0..newest).rev().find_map(|number| {
        bundle["feedback"]["atBlock"] = json!(number);
        let report = explained(&bundle, &trust).expect("a bundle").report;
        let finding = report.finding(Step::NotRevoked).expect("a finding").clone();
        finding.detail.contains("is a later one").then_some(finding)
    });
    assert_eq!(earlier.expect("a header").state, State::CannotCheck);
}

/// R36: what is missing is asked for, and refutes nothing.
#[test]
fn an_empty_bundle_asks_and_refutes_nothing() {
    let mut bundle = json("open");
    let trust = trust(&bundle);
    bundle["evm"] = json!({});
    let explained = explained(&bundle, &trust).expect("a bundle");
    assert_eq!(
        explained.report.count(State::Refuted),
        0,
        "{:#?}",
        explained.report
    );
    assert_eq!(
        explained.report.count(State::Verified),
        0,
        "{:#?}",
        explained.report
    );
    assert!(!explained.needs.is_empty());
}

#[test]
fn what_could_not_be_read_is_not_asked_for_again() {
    let mut bundle = json("hosted");
    let trust = trust(&bundle);
    let uri = "https://files.example/feedback.json";
    bundle["files"] = json!({});
    let asked = explained(&bundle, &trust).expect("a bundle").needs;
    let need = json!({ "file": { "uri": uri } });
    assert_eq!(serde_json::to_value(&asked).expect("JSON"), json!([need]));
    bundle["unavailable"] = json!([{ "need": need, "reason": "HTTP status 404" }]);
    let again = explained(&bundle, &trust).expect("a bundle");
    assert!(again.needs.is_empty());
    let file = again.report.finding(Step::File).expect("a finding");
    assert_eq!(file.state, State::CannotCheck);
    assert!(file.detail.contains("HTTP status 404"), "{}", file.detail);
}

#[test]
fn a_bundle_without_a_feedback_is_refused_with_the_field() {
    let mut bundle = json("open");
    bundle["feedback"]["index"] = json!(0);
    let bundle = Bundle::parse(&bundle.to_string()).expect("a bundle");
    let error = explain(&bundle, &Trust::default()).expect_err("index 0");
    assert_eq!(
        error.to_string(),
        "feedback.index: is 0; indices count from 1 (R44)"
    );
    let program = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
    let other = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";
    let mut bundle = json("open");
    for member in ["agentId", "client", "reputationRegistry"] {
        bundle["feedback"][member] = json!(other);
    }
    bundle["feedback"]["agentRegistry"] = json!(format!("solana:localnet:{program}"));
    let bundle = Bundle::parse(&bundle.to_string()).expect("a bundle");
    let error = explain(&bundle, &Trust::default()).expect_err("another program");
    assert_eq!(
        error.to_string(),
        format!(
            "feedback.reputationRegistry: is {other}; on Solana it is the program again, {program}"
        )
    );
}

/// R46, R47: a number over the one client of a bundle, whose first feedback has the last index. The names are those of the page's types.
#[test]
fn r46_a_number_is_explained_for_programs_as_a_feedback_is() {
    let read = json("open");
    let subject = &read["feedback"];
    let mut query = subject.clone();
    for member in ["client", "index", "transaction"] {
        query.as_object_mut().expect("a query").remove(member);
    }
    query["reviewers"] = json!({ "listed": [subject["client"]] });
    query["tag1"] = json!("");
    query["tag2"] = json!("");
    let format = "concord-explain-reputation/1";
    let number = json!({ "format": format, "query": query, "feedbacks": [subject], "read": read });
    let of_number = explain_text(&number.to_string(), &trust(&read)).expect("a bundle");
    let of_feedback = explain_text(&read.to_string(), &trust(&read)).expect("a bundle");
    assert_eq!(of_number.state(), State::Verified, "{of_number:#?}");
    let (of_number, of_feedback) = (of_number.to_json(), of_feedback.to_json());
    assert_eq!(of_number["counted"]["verified"], 1);
    let one = &of_number["report"]["feedbacks"][0]["report"];
    for member in ["feedback", "restsOn", "findings", "notApplicable"] {
        assert!(!one[member].is_null(), "{member}");
        assert_eq!(one[member], of_feedback[member], "{member}");
    }
}
