//! The open profile.
use super::*;
use concord_canonical::ErrorClass::*;
use concord_harness::model::{Integer, OpenFeedback, OpenSummaryQuery, Revocation};

const VALUE_MAX: i128 = 10i128.pow(38);

pub fn open_feedback(by: &str, value: i128, decimals: u8) -> OpenFeedback {
    OpenFeedback {
        agent: "desk".into(),
        by: by.into(),
        value: Integer(value),
        decimals,
        tag1: String::new(),
        tag2: String::new(),
        endpoint: String::new(),
        uri: String::new(),
        hash: Bytes32::default(),
        index: None,
    }
}

pub fn value(by: &str, value: i128, decimals: u8) -> Operation {
    Operation::GiveOpenFeedback(Box::new(open_feedback(by, value, decimals)))
}

fn summary_of(model: &mut Model, clients: &[&str], tag1: &str) -> (u64, i128, u8) {
    let operation = Operation::OpenSummary(OpenSummaryQuery {
        agent: "desk".into(),
        clients: clients.iter().map(|client| (*client).into()).collect(),
        tag1: tag1.to_owned(),
        tag2: String::new(),
    });
    match model.apply(&operation, 0).summary {
        Some(Summary::Open {
            count,
            value,
            decimals,
        }) => (count, value.0, decimals),
        other => panic!("an open summary answers, not {other:?}"),
    }
}

#[test]
fn r16_decimals_and_magnitude_are_bounded_in_this_order() {
    for chain in BOTH {
        for (number, decimals, verdict) in [
            (VALUE_MAX, 18, Verdict::Ok),
            (-VALUE_MAX, 0, Verdict::Ok),
            (VALUE_MAX + 1, 0, refused(ValueOutOfRange)),
            (-VALUE_MAX - 1, 0, refused(ValueOutOfRange)),
            (i128::MIN, 19, refused(DecimalsOutOfRange)),
            (i128::MIN, 18, refused(ValueOutOfRange)),
            (0, 19, refused(DecimalsOutOfRange)),
        ] {
            expect(
                &mut registered(chain),
                2,
                value("bob", number, decimals),
                verdict,
            );
        }
    }
}

#[test]
fn r16_an_average_is_truncated_toward_zero_at_the_most_frequent_decimals() {
    let mut model = registered(Chain::Evm);
    let three = ["bob", "carol", "dana"];
    assert_eq!(summary_of(&mut model, &three, ""), (0, 0, 0));
    expect(&mut model, 2, value("bob", -10, 0), Verdict::Ok);
    expect(&mut model, 3, value("carol", 3, 0), Verdict::Ok);
    assert_eq!(summary_of(&mut model, &three, ""), (2, -3, 0)); // -7/2 = -3.5
    expect(&mut model, 4, value("dana", 25, 1), Verdict::Ok); // 2.5
    assert_eq!(summary_of(&mut model, &three, ""), (3, -1, 0)); // -4.5/3 = -1.5
    expect(&mut model, 5, value("dana", 25, 1), Verdict::Ok);
    assert_eq!(summary_of(&mut model, &three, ""), (4, 0, 0)); // -2/4 = -0.5; a tie: the fewest
    expect(&mut model, 6, value("dana", 25, 1), Verdict::Ok);
    assert_eq!(summary_of(&mut model, &three, ""), (5, 1, 1)); // 0.5/5 = 0.1
}

#[test]
fn r16_clients_count_as_listed_and_none_is_an_error() {
    let mut model = registered(Chain::Svm);
    expect(&mut model, 2, value("bob", 4, 0), Verdict::Ok);
    expect(&mut model, 3, value("carol", 1, 0), Verdict::Ok);
    assert_eq!(
        summary_of(&mut model, &["bob", "bob", "carol"], ""),
        (3, 3, 0)
    );
    assert_eq!(summary_of(&mut model, &["mallory"], ""), (0, 0, 0));
    let nobody = Operation::OpenSummary(OpenSummaryQuery {
        agent: "desk".into(),
        clients: Vec::new(),
        tag1: String::new(),
        tag2: String::new(),
    });
    expect(&mut model, 0, nobody, refused(EmptyClients));
}

#[test]
fn r16_revoked_and_otherwise_tagged_feedback_is_left_out() {
    let mut model = registered(Chain::Evm);
    let mut tagged = open_feedback("bob", 8, 0);
    tagged.tag1 = "uptime".to_owned();
    let give = Operation::GiveOpenFeedback(Box::new(tagged));
    expect(&mut model, 2, give, Verdict::Ok);
    expect(&mut model, 3, value("bob", 2, 0), Verdict::Ok);
    assert_eq!(summary_of(&mut model, &["bob"], ""), (2, 5, 0));
    assert_eq!(summary_of(&mut model, &["bob"], "uptime"), (1, 8, 0));
    assert_eq!(summary_of(&mut model, &["bob"], "Uptime"), (0, 0, 0));
    let revoke = || {
        Operation::RevokeOpenFeedback(Revocation {
            agent: "desk".into(),
            by: "bob".into(),
            index: 1,
        })
    };
    expect(&mut model, 4, revoke(), Verdict::Ok);
    expect(&mut model, 5, revoke(), refused(AlreadyRevoked));
    assert_eq!(summary_of(&mut model, &["bob"], ""), (1, 2, 0));
    let open = &model.state().agents[&"desk".into()].open;
    assert_eq!(
        (open.count, open.sum.to_string()),
        (1, format!("2{}", "0".repeat(18)))
    );
}

/// R16: the canonical contract reports a negative average here.
#[test]
fn r16_an_average_that_does_not_fit_loses_decimals_and_never_its_sign() {
    let mut model = registered(Chain::Evm);
    expect(&mut model, 2, value("bob", VALUE_MAX, 0), Verdict::Ok);
    for now in [3, 4] {
        expect(&mut model, now, value("bob", 0, 18), Verdict::Ok);
    }
    // 1e38 / 3 at 18 decimals has 56 digits; at 0 decimals 38; at 1 decimal 39, of which
    // 3.3e38 is above 2^127 - 1 = 1.7e38.
    let third = VALUE_MAX / 3;
    assert_eq!(summary_of(&mut model, &["bob"], ""), (3, third, 0));
    for now in 5..12 {
        expect(&mut model, now, value("bob", 0, 18), Verdict::Ok);
    }
    // 1e37: one decimal fits (1e38), two do not.
    assert_eq!(summary_of(&mut model, &["bob"], ""), (10, VALUE_MAX, 1));
}

#[test]
fn r17_texts_are_portable_on_solana_only() {
    let changes: [fn(&mut OpenFeedback); 4] = [
        |it| it.tag1 = "t".repeat(33),
        |it| it.tag2 = "t\0".to_owned(),
        |it| it.endpoint = "e".repeat(201),
        |it| it.uri = "u".repeat(201),
    ];
    for change in changes {
        let mut feedback = open_feedback("bob", 1, 0);
        change(&mut feedback);
        let give = Operation::GiveOpenFeedback(Box::new(feedback));
        expect(&mut registered(Chain::Evm), 2, give.clone(), Verdict::Ok);
        expect(&mut registered(Chain::Svm), 2, give, refused(LengthLimit));
    }
}

#[test]
fn r18_the_owner_gives_its_agent_no_open_feedback() {
    for chain in BOTH {
        expect(
            &mut registered(chain),
            2,
            value("alice", 1, 0),
            refused(SelfFeedback),
        );
        let mut of_nobody = open_feedback("alice", 1, 0);
        of_nobody.agent = "ghost".into();
        let give = Operation::GiveOpenFeedback(Box::new(of_nobody));
        expect(&mut registered(chain), 2, give, refused(AgentNotFound));
    }
}

#[test]
fn the_profiles_count_by_themselves() {
    let mut model = registered(Chain::Svm);
    given(&mut model, 50, 2);
    let mut first = open_feedback("bob", 1, 0);
    first.index = Some(1);
    let give = Operation::GiveOpenFeedback(Box::new(first));
    expect(&mut model, 3, give.clone(), Verdict::Ok);
    expect(&mut model, 4, give, refused(FeedbackIndexStale)); // R12
    assert_eq!(summary(&mut model), (1, 50));
}
