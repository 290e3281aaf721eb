//! The model, rule by rule. Expected values are worked out by hand.
use concord_canonical::ErrorClass::{self, *};
use concord_harness::model::{
    Actor, Agent, Authorization, Bytes32, CanonicalState, Chain, Damage, Domain, Event, Feedback,
    Model, Operation, Outcome, Summary, Verdict, first_difference,
};
use serde_json::json;

const BOTH: [Chain; 2] = Chain::ALL;

/// A model with agent `desk` of `alice`, registered at second 1.
fn registered(chain: Chain) -> Model {
    let mut model = Model::new(chain);
    let done = model.apply(&register("desk", "alice", "https://a.example"), 1);
    assert_eq!(done.verdict, Verdict::Ok);
    model
}

fn register(agent: &str, by: &str, uri: &str) -> Operation {
    Operation::Register {
        agent: agent.into(),
        by: by.into(),
        uri: uri.to_owned(),
    }
}

fn transfer(by: &str, to: &str) -> Operation {
    Operation::Transfer {
        agent: "desk".into(),
        by: by.into(),
        to: to.into(),
    }
}

fn revoke(by: &str, index: u64) -> Operation {
    Operation::RevokeFeedback {
        agent: "desk".into(),
        by: by.into(),
        index,
    }
}

fn summary(model: &mut Model) -> (u64, u8) {
    let agent = Agent::from("desk");
    let answer = model.apply(&Operation::Summary { agent }, 0).summary;
    let Summary { count, average } = answer.expect("a summary answers");
    (count, average)
}

/// Alice lets Bob review `desk` nine times, until second 100.
fn granted() -> Authorization {
    Authorization {
        agent: "desk".into(),
        client: "bob".into(),
        index_limit: 9,
        expiry: 100,
        chain: Domain::Here,
        registry: Domain::Here,
        signer: "alice".into(),
        damage: None,
    }
}

fn feedback(by: &str, score: u8, authorization: Option<Authorization>) -> Feedback {
    Feedback {
        agent: "desk".into(),
        by: by.into(),
        score,
        tag1: Bytes32::default(),
        tag2: Bytes32::default(),
        uri: String::new(),
        hash: Bytes32::default(),
        index: None,
        authorization,
    }
}

fn give(model: &mut Model, feedback: Feedback, now: u64) -> Outcome {
    model.apply(&Operation::GiveFeedback(Box::new(feedback)), now)
}

fn given(model: &mut Model, score: u8, now: u64) {
    let outcome = give(model, feedback("bob", score, Some(granted())), now);
    assert_eq!(outcome.verdict, Verdict::Ok);
}

/// Bob's feedback under a grant that `change` spoils, at second 50.
fn spoilt(chain: Chain, change: impl FnOnce(&mut Authorization)) -> Verdict {
    let mut authorization = granted();
    change(&mut authorization);
    let feedback = feedback("bob", 50, Some(authorization));
    give(&mut registered(chain), feedback, 50).verdict
}

fn refused(class: ErrorClass) -> Verdict {
    Verdict::Refused(class)
}

#[test]
fn r3_the_owner_is_the_wallet_until_a_transfer_to_another() {
    let mut model = registered(Chain::Evm);
    let wallet = |model: &Model| model.state().agents[&"desk".into()].wallet.clone();
    assert_eq!(wallet(&model), Some(Actor::from("alice")));
    assert_eq!(
        model.apply(&transfer("alice", "alice"), 2),
        Outcome::accepted(vec![])
    );
    assert_eq!(wallet(&model), Some(Actor::from("alice")));
    let cleared = Event::AgentWalletSet {
        agent: "desk".into(),
        wallet: None,
    };
    assert_eq!(
        model.apply(&transfer("alice", "bob"), 3),
        Outcome::accepted(vec![cleared])
    );
    assert_eq!(wallet(&model), None);
    assert_eq!(
        model.state().agents[&"desk".into()].owner,
        Actor::from("bob")
    );
}

#[test]
fn r4_only_the_holder_transfers() {
    let mut model = registered(Chain::Svm);
    let stranger = model.apply(&transfer("mallory", "bob"), 2);
    assert_eq!(stranger.verdict, refused(TransferNotAllowed));
    model.apply(&transfer("alice", "bob"), 3);
    let previous = model.apply(&transfer("alice", "alice"), 4);
    assert_eq!(previous.verdict, refused(TransferNotAllowed));
}

#[test]
fn r5_each_field_binds() {
    let spoil: [fn(&mut Authorization); 5] = [
        |it| it.agent = "lyric".into(),
        |it| it.client = "carol".into(),
        |it| it.chain = Domain::Elsewhere,
        |it| it.registry = Domain::Elsewhere,
        |it| it.signer = "bob".into(),
    ];
    for chain in BOTH {
        for change in spoil {
            assert_eq!(spoilt(chain, change), refused(AuthNotGranted));
        }
        assert_eq!(spoilt(chain, |_| ()), Verdict::Ok);
    }
}

#[test]
fn r6_a_blob_of_another_length_is_malformed_and_none_is_missing() {
    for chain in BOTH {
        let with = |damage| spoilt(chain, |it| it.damage = Some(damage));
        assert_eq!(with(Damage::Truncated), refused(AuthMalformed));
        assert_eq!(with(Damage::Extended), refused(AuthMalformed));
        assert_eq!(with(Damage::Missing), refused(AuthMissing));
        let none = give(&mut registered(chain), feedback("bob", 50, None), 2);
        assert_eq!(none.verdict, refused(AuthMissing));
    }
}

#[test]
fn r7_the_owner_of_now_signs() {
    let mut model = registered(Chain::Evm);
    given(&mut model, 50, 2);
    model.apply(&transfer("alice", "carol"), 3);
    let stale = give(&mut model, feedback("bob", 50, Some(granted())), 4);
    assert_eq!(stale.verdict, refused(AuthNotGranted));
    let renewed = Authorization {
        signer: "carol".into(),
        ..granted()
    };
    let fresh = give(&mut model, feedback("bob", 50, Some(renewed)), 5);
    assert_eq!(fresh.verdict, Verdict::Ok);
}

#[test]
fn r7_a_signature_by_another_key_or_with_a_flipped_bit_grants_nothing() {
    for chain in BOTH {
        let with = |damage| spoilt(chain, |it| it.damage = Some(damage));
        assert_eq!(with(Damage::SignatureCorrupted), refused(AuthNotGranted));
        assert_eq!(
            with(Damage::SignedBy("bob".into())),
            refused(AuthNotGranted)
        );
        assert_eq!(with(Damage::SignedBy("alice".into())), Verdict::Ok);
    }
}

#[test]
fn r8_the_limit_is_exclusive_and_the_expiry_strict() {
    for chain in BOTH {
        assert_eq!(
            spoilt(chain, |it| it.index_limit = 0),
            refused(AuthIndexLimit)
        );
        assert_eq!(spoilt(chain, |it| it.index_limit = 1), Verdict::Ok);
        assert_eq!(spoilt(chain, |it| it.expiry = 50), refused(AuthExpired));
        assert_eq!(spoilt(chain, |it| it.expiry = 51), Verdict::Ok);
    }
}

#[test]
fn r8_indices_count_per_agent_and_client_and_survive_revocation() {
    let mut model = registered(Chain::Evm);
    given(&mut model, 50, 2);
    model.apply(&revoke("bob", 1), 3);
    let outcome = give(&mut model, feedback("bob", 60, Some(granted())), 4);
    let [Event::AuthorizedFeedback { index, time, .. }] = &outcome.events[..] else {
        panic!("one event, not {:?}", outcome.events)
    };
    assert_eq!((*index, *time), (2, 4));
    let once = Authorization {
        client: "carol".into(),
        index_limit: 1,
        ..granted()
    };
    let first = give(&mut model, feedback("carol", 70, Some(once.clone())), 5);
    assert_eq!(first.verdict, Verdict::Ok);
    let second = give(&mut model, feedback("carol", 70, Some(once)), 6);
    assert_eq!(second.verdict, refused(AuthIndexLimit));
}

#[test]
fn r12_an_explicit_index_must_be_the_next_on_solana_only() {
    for (chain, verdict) in [
        (Chain::Evm, Verdict::Ok),
        (Chain::Svm, refused(FeedbackIndexStale)),
    ] {
        for index in [0, 2, u64::MAX] {
            let mut stale = feedback("bob", 50, Some(granted()));
            stale.index = Some(index);
            assert_eq!(give(&mut registered(chain), stale, 2).verdict, verdict);
        }
        let mut next = feedback("bob", 50, Some(granted()));
        next.index = Some(1);
        assert_eq!(give(&mut registered(chain), next, 2).verdict, Verdict::Ok);
    }
}

#[test]
fn r15_the_summary_is_floored_and_leaves_out_what_is_revoked() {
    let mut model = registered(Chain::Svm);
    assert_eq!(summary(&mut model), (0, 0));
    for (now, score) in [(2, 100), (3, 99), (4, 100)] {
        given(&mut model, score, now);
    }
    assert_eq!(summary(&mut model), (3, 99)); // 299 / 3 = 99.67
    model.apply(&revoke("bob", 2), 5);
    assert_eq!(summary(&mut model), (2, 100));
    model.apply(&revoke("bob", 1), 6);
    model.apply(&revoke("bob", 3), 7);
    assert_eq!(summary(&mut model), (0, 0));
}

#[test]
fn r17_portable_lengths_bind_on_solana_only() {
    let (longest, longer) = ("u".repeat(200), "u".repeat(201));
    for (uri, on_solana) in [
        (longest.as_str(), Verdict::Ok),
        (longer.as_str(), refused(LengthLimit)),
        ("é".repeat(101).as_str(), refused(LengthLimit)),
        ("nul\0", refused(LengthLimit)),
    ] {
        let verdict = |chain| {
            Model::new(chain)
                .apply(&register("a", "alice", uri), 1)
                .verdict
        };
        assert_eq!(verdict(Chain::Evm), Verdict::Ok);
        assert_eq!(verdict(Chain::Svm), on_solana);
    }
}

#[test]
fn r18_the_owner_does_not_review_its_agent() {
    for chain in BOTH {
        let own = Authorization {
            client: "alice".into(),
            ..granted()
        };
        let outcome = give(&mut registered(chain), feedback("alice", 50, Some(own)), 2);
        assert_eq!(outcome.verdict, refused(SelfFeedback));
    }
}

#[test]
fn scores_above_100_are_refused() {
    for score in [101, 255] {
        let outcome = give(
            &mut registered(Chain::Evm),
            feedback("bob", score, Some(granted())),
            2,
        );
        assert_eq!(outcome.verdict, refused(ScoreOutOfRange));
    }
    let mut model = registered(Chain::Evm);
    given(&mut model, 0, 2);
    given(&mut model, 100, 3);
}

#[test]
fn revoking_what_is_not_there_finds_nothing() {
    let mut model = registered(Chain::Evm);
    given(&mut model, 50, 2);
    for (by, index) in [
        ("bob", 0),
        ("bob", 2),
        ("bob", u64::MAX),
        ("carol", 1),
        ("alice", 1),
    ] {
        let outcome = model.apply(&revoke(by, index), 3);
        assert_eq!(outcome.verdict, refused(FeedbackNotFound), "{by} {index}");
    }
    assert_eq!(model.apply(&revoke("bob", 1), 4).verdict, Verdict::Ok);
    assert_eq!(
        model.apply(&revoke("bob", 1), 5).verdict,
        refused(AlreadyRevoked)
    );
    let unknown = Model::new(Chain::Evm).apply(&revoke("bob", 1), 1);
    assert_eq!(unknown.verdict, refused(FeedbackNotFound));
}

/// §3a: one more rule is broken at each step, from the last of the order to the first; the first
/// in the order always answers.
#[test]
fn the_first_broken_rule_of_the_order_is_reported() {
    type Breaks = fn(&mut Feedback);
    fn sent(feedback: &mut Feedback) -> &mut Authorization {
        feedback.authorization.get_or_insert_with(granted)
    }
    let order: [(Breaks, ErrorClass); 10] = [
        (|it| sent(it).client = "carol".into(), AuthNotGranted),
        (|it| sent(it).index_limit = 0, AuthIndexLimit),
        (|it| sent(it).expiry = 0, AuthExpired),
        (|it| sent(it).damage = Some(Damage::Extended), AuthMalformed),
        (|it| it.authorization = None, AuthMissing),
        (|it| it.index = Some(7), FeedbackIndexStale),
        (|it| it.uri = "u".repeat(201), LengthLimit),
        (|it| it.by = "alice".into(), SelfFeedback),
        (|it| it.agent = "ghost".into(), AgentNotFound),
        (|it| it.score = 101, ScoreOutOfRange),
    ];
    let on_solana_only = [FeedbackIndexStale, LengthLimit];
    for chain in BOTH {
        let mut spoilt = feedback("bob", 50, Some(granted()));
        let mut reported = None;
        for (break_rule, class) in &order {
            break_rule(&mut spoilt);
            if chain == Chain::Svm || !on_solana_only.contains(class) {
                reported = Some(refused(*class));
            }
            let verdict = give(&mut registered(chain), spoilt.clone(), 2).verdict;
            assert_eq!(Some(verdict), reported, "{chain}");
        }
    }
}

#[test]
fn variance_1_a_bad_signature_wins_over_every_other_rule_on_solana() {
    for (damage, on_solana) in [
        (Damage::SignatureCorrupted, AuthNotGranted),
        (Damage::SignedBy("mallory".into()), AuthNotGranted),
        (Damage::Truncated, AuthMalformed),
    ] {
        let verdict = |chain| {
            let authorization = Authorization {
                damage: Some(damage.clone()),
                ..granted()
            };
            let feedback = feedback("bob", 101, Some(authorization));
            give(&mut registered(chain), feedback, 2).verdict
        };
        assert_eq!(verdict(Chain::Evm), refused(ScoreOutOfRange));
        assert_eq!(verdict(Chain::Svm), refused(on_solana));
    }
}

#[test]
fn a_refused_operation_changes_the_time_and_a_read_not_even_that() {
    let mut model = registered(Chain::Evm);
    let before = model.state().clone();
    summary(&mut model);
    assert_eq!(*model.state(), before);
    model.apply(&transfer("mallory", "bob"), 9);
    assert_eq!(*model.state(), CanonicalState { time: 9, ..before });
}

/// Digests of two states, made with npm's `canonicalize` and `@noble/hashes` from the JSON that
/// `CanonicalState` documents.
#[test]
fn digests_equal_those_of_other_implementations() {
    let empty = "0xcb7b6e1cd00b2b930aeb229b9708a780bbb8e5cc8e9e293a95601f8593328fb6";
    assert_eq!(Model::new(Chain::Evm).state().digest().to_string(), empty);
    let mut model = registered(Chain::Svm);
    let mut tagged = feedback("bob", 95, Some(granted()));
    tagged.tag1.0[..4].copy_from_slice(b"defi");
    give(&mut model, tagged, 7);
    model.apply(&revoke("bob", 1), 8);
    let expected = json!({
        "time": 8,
        "agents": { "desk": {
            "owner": "alice", "uri": "https://a.example", "wallet": "alice", "metadata": {},
            "authorized": {
                "count": 0, "sum": 0, "average": 0, "clients": ["bob"],
                "entries": { "bob": [{
                    "score": 95,
                    "tag1": format!("0x64656669{}", "0".repeat(56)),
                    "tag2": format!("0x{}", "0".repeat(64)),
                    "time": 7, "revoked": true, "responses": 0,
                }] },
            },
            "open": { "clients": [], "entries": {} },
            "validations": {},
        } },
    });
    assert_eq!(first_difference(&expected, &model.state().to_json()), None);
    let revoked = "0xa2def5a7f99b4b456bb79a1673e5a2cd3debfd348790c798c338e3bf350b2027";
    assert_eq!(model.state().digest().to_string(), revoked);
}

#[test]
fn the_first_difference_is_found_in_key_order() {
    let left = json!({"a": {"x": 1, "y": [1, 2]}, "b": 1});
    let cases = [
        (
            json!({"a": {"x": 1, "y": [1, 3]}, "b": 2}),
            "$.a.y[1]",
            json!(2),
            json!(3),
        ),
        (
            json!({"a": {"x": 1, "y": [1]}, "b": 1}),
            "$.a.y[1]",
            json!(2),
            json!(null),
        ),
        (
            json!({"a": {"x": 1, "y": [1, 2]}}),
            "$.b",
            json!(1),
            json!(null),
        ),
        (json!({"a": 0, "b": 1}), "$.a", left["a"].clone(), json!(0)),
    ];
    for (right, path, expected, actual) in cases {
        let found = first_difference(&left, &right);
        assert_eq!(found, Some((path.to_owned(), expected, actual)));
    }
    assert_eq!(first_difference(&left, &left.clone()), None);
}
