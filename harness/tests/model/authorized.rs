//! The authorized profile.
use super::*;
use concord_canonical::ErrorClass::*;
use concord_harness::model::{Event, SetAuthSchemes, SetFeedbackAuthority, Tamper};

#[test]
fn r5_each_field_binds() {
    let changes: [fn(&mut Authorization); 5] = [
        |it| it.agent = "lyric".into(),
        |it| it.client = "carol".into(),
        |it| it.tamper = Some(Tamper::WrongChain),
        |it| it.tamper = Some(Tamper::WrongRegistry),
        |it| it.signer = "bob".into(),
    ];
    for chain in BOTH {
        for change in changes {
            assert_eq!(broken(chain, change), refused(AuthNotGranted));
        }
        assert_eq!(broken(chain, |_| ()), Verdict::Ok);
    }
}

#[test]
fn r6_a_blob_of_another_length_is_malformed_and_none_is_missing() {
    for chain in BOTH {
        let with = |tamper| broken(chain, |it| it.tamper = Some(tamper));
        assert_eq!(with(Tamper::Truncated), refused(AuthMalformed));
        assert_eq!(with(Tamper::Extended), refused(AuthMalformed));
        assert_eq!(with(Tamper::Empty), refused(AuthMissing));
        let none = give(&mut registered(chain), feedback("bob", 50, None), 2);
        assert_eq!(none.verdict, refused(AuthMissing));
    }
}

/// On Solana a contract is a key like any other (declared variance 6).
#[test]
fn r6_a_contract_judges_signatures_of_any_length_on_evm() {
    for (chain, verdict) in [
        (Chain::Evm, refused(AuthNotGranted)),
        (Chain::Svm, refused(AuthMalformed)),
    ] {
        for tamper in [Tamper::Truncated, Tamper::Extended] {
            let with = |it: &mut Authorization| {
                (it.signer, it.tamper) = ("contract-gail".into(), Some(tamper.clone()));
            };
            assert_eq!(broken(chain, with), verdict, "{tamper:?}");
        }
        let dirty = |it: &mut Authorization| {
            (it.signer, it.tamper) = ("contract-gail".into(), Some(Tamper::Dirty));
        };
        assert_eq!(broken(chain, dirty), refused(AuthMalformed));
    }
}

#[test]
fn an_authorization_names_every_form_but_the_usual_one() {
    let json = |form| serde_json::to_value(Authorization { form, ..granted() }).unwrap();
    assert_eq!(json(Form::Bounded).get("form"), None);
    assert_eq!(json(Form::DraftV1)["form"], "draft_v1");
    assert_eq!(json(Form::X84)["form"], "x84");
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
        let with = |tamper| broken(chain, |it| it.tamper = Some(tamper));
        assert_eq!(with(Tamper::CorruptSignature), refused(AuthNotGranted));
        assert_eq!(
            with(Tamper::SignedBy("bob".into())),
            refused(AuthNotGranted)
        );
        assert_eq!(with(Tamper::SignedBy("alice".into())), Verdict::Ok);
    }
}

#[test]
fn r8_the_limit_is_exclusive_and_the_expiry_strict() {
    for chain in BOTH {
        assert_eq!(
            broken(chain, |it| it.index_limit = 0),
            refused(AuthIndexLimit)
        );
        assert_eq!(broken(chain, |it| it.index_limit = 1), Verdict::Ok);
        assert_eq!(broken(chain, |it| it.expiry = 50), refused(AuthExpired));
        assert_eq!(broken(chain, |it| it.expiry = 51), Verdict::Ok);
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
        (|it| sent(it).tamper = Some(Tamper::Extended), AuthMalformed),
        (|it| it.authorization = None, AuthMissing),
        (|it| it.index = Some(7), FeedbackIndexStale),
        (|it| it.uri = "u".repeat(201), LengthLimit),
        (|it| it.by = "alice".into(), SelfFeedback),
        (|it| it.agent = "ghost".into(), AgentNotFound),
        (|it| it.score = 101, ScoreOutOfRange),
    ];
    let on_solana_only = [FeedbackIndexStale, LengthLimit];
    for chain in BOTH {
        let mut broken = feedback("bob", 50, Some(granted()));
        let mut reported = None;
        for (break_rule, class) in &order {
            break_rule(&mut broken);
            if chain == Chain::Svm || !on_solana_only.contains(class) {
                reported = Some(refused(*class));
            }
            let verdict = give(&mut registered(chain), broken.clone(), 2).verdict;
            assert_eq!(Some(verdict), reported, "{chain}");
        }
    }
}

#[test]
fn variance_1_a_bad_signature_wins_over_every_other_rule_on_solana() {
    for (tamper, on_solana) in [
        (Tamper::CorruptSignature, AuthNotGranted),
        (Tamper::SignedBy("mallory".into()), AuthNotGranted),
        (Tamper::Truncated, AuthMalformed),
    ] {
        let verdict = |chain| {
            let authorization = Authorization {
                tamper: Some(tamper.clone()),
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
fn r6_a_dirty_word_is_malformed_and_the_draft_s_form_is_as_good() {
    for chain in BOTH {
        let dirty = broken(chain, |it| it.tamper = Some(Tamper::Dirty));
        assert_eq!(dirty, refused(AuthMalformed));
        assert_eq!(broken(chain, |it| it.form = Form::DraftV1), Verdict::Ok);
    }
}

#[test]
fn r23_the_other_signature_of_the_same_text_grants_nothing() {
    for chain in BOTH {
        let malleated = broken(chain, |it| it.tamper = Some(Tamper::MalleateSignature));
        assert_eq!(malleated, refused(AuthNotGranted));
    }
}

fn schemes(schemes: u8) -> Operation {
    Operation::SetAuthSchemes(SetAuthSchemes {
        agent: "desk".into(),
        by: "alice".into(),
        schemes,
    })
}

/// X84's message for Bob, whose bounds mean nothing.
fn unbounded() -> Feedback {
    let authorization = Authorization {
        form: Form::X84,
        index_limit: 0,
        expiry: 0,
        ..granted()
    };
    feedback("bob", 50, Some(authorization))
}

#[test]
fn r10_x84_counts_while_the_owner_opts_in_and_for_ever() {
    let mut model = registered(Chain::Svm);
    let x84 = || Operation::GiveFeedback(Box::new(unbounded()));
    expect(&mut model, 2, x84(), refused(AuthNotGranted));
    expect(&mut model, 3, schemes(3), Verdict::Ok);
    for now in [4, 5, 1_000_000_000] {
        expect(&mut model, now, x84(), Verdict::Ok);
    }
    expect(&mut model, 1_000_000_001, schemes(2), Verdict::Ok);
    expect(&mut model, 1_000_000_002, x84(), refused(AuthNotGranted));
}

#[test]
fn r10_bounded_authorizations_end_when_the_owner_takes_x84_alone() {
    let mut model = registered(Chain::Svm);
    expect(&mut model, 2, schemes(1), Verdict::Ok);
    let bounded = give(&mut model, feedback("bob", 50, Some(granted())), 3);
    assert_eq!(bounded.verdict, refused(AuthNotGranted));
    for unknown in [0, 4, 255] {
        expect(&mut model, 4, schemes(unknown), refused(AuthSchemeUnknown));
    }
}

#[test]
fn r7_on_solana_a_feedback_authority_signs_in_the_owner_s_place() {
    let mut model = registered(Chain::Svm);
    let authority = |authority: Option<&str>| {
        Operation::SetFeedbackAuthority(SetFeedbackAuthority {
            agent: "desk".into(),
            by: "alice".into(),
            authority: authority.map(Into::into),
        })
    };
    expect(&mut model, 2, authority(Some("dana")), Verdict::Ok);
    let by_owner = give(&mut model, feedback("bob", 50, Some(granted())), 3);
    assert_eq!(by_owner.verdict, refused(AuthNotGranted));
    let delegated = Authorization {
        signer: "dana".into(),
        ..granted()
    };
    let by_authority = give(&mut model, feedback("bob", 50, Some(delegated.clone())), 4);
    assert_eq!(by_authority.verdict, Verdict::Ok);
    let own = Authorization {
        client: "dana".into(),
        ..delegated
    };
    let itself = give(&mut model, feedback("dana", 50, Some(own)), 5); // R18
    assert_eq!(itself.verdict, refused(SelfFeedback));
    expect(&mut model, 6, authority(None), Verdict::Ok);
    let again = give(&mut model, feedback("bob", 50, Some(granted())), 7);
    assert_eq!(again.verdict, Verdict::Ok);
}
