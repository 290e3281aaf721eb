//! What views must answer, beside the state.
use super::*;
use concord_harness::model::{
    Actor, Integer, PaddedTag, Profile, Records, Response, WideInteger, average, indices,
    open_part, open_summary, window,
};

fn actors(labels: &[&str]) -> Vec<Actor> {
    labels.iter().map(|label| (*label).into()).collect()
}

/// Tags and values that a filter has to tell apart: `bob` revoked the first one.
fn open_model() -> Model {
    let mut model = registered(Chain::Evm);
    for (by, value, tag1, tag2) in [
        ("bob", 10, "uptime", "day"),
        ("carol", 20, "uptime", ""),
        ("bob", 30, "", "day"),
    ] {
        let mut feedback = open_feedback(by, value, 0);
        (feedback.tag1, feedback.tag2) = (tag1.to_owned(), tag2.to_owned());
        let given = model.apply(&Operation::GiveOpenFeedback(Box::new(feedback)), 2);
        assert_eq!(given.verdict, Verdict::Ok);
    }
    let revoked = Operation::RevokeOpenFeedback(Revocation {
        agent: "desk".into(),
        by: "bob".into(),
        index: 1,
    });
    assert_eq!(model.apply(&revoked, 3).verdict, Verdict::Ok);
    model
}

#[test]
fn r16_filters_take_clients_as_listed_and_tags_whole() {
    let model = open_model();
    let open = &model.state().agents[&"desk".into()].open;
    let found = |clients: &[&str], tags, with_revoked| -> Vec<(String, u64)> {
        let clients = actors(clients);
        let found = open.matching(&clients, tags, with_revoked);
        found
            .iter()
            .map(|it| (it.client.0.clone(), it.index))
            .collect()
    };
    let named = |all: &[(&str, u64)]| -> Vec<_> {
        all.iter()
            .map(|(by, index)| ((*by).to_owned(), *index))
            .collect()
    };
    assert_eq!(
        found(&["bob", "carol"], ("", ""), false),
        named(&[("bob", 2), ("carol", 1)])
    );
    assert_eq!(
        found(&["carol", "bob"], ("", ""), true),
        named(&[("carol", 1), ("bob", 1), ("bob", 2)])
    );
    assert_eq!(
        found(&["carol", "carol"], ("uptime", ""), false),
        named(&[("carol", 1); 2])
    );
    assert_eq!(found(&["bob"], ("uptime", ""), false), named(&[]));
    assert_eq!(found(&["bob", "carol"], ("Uptime", ""), true), named(&[]));
    assert_eq!(
        found(&["bob", "carol"], ("", "day"), false),
        named(&[("bob", 2)])
    );
    assert_eq!(found(&["dana"], ("", ""), true), named(&[]));
}

#[test]
fn r15_filters_take_clients_as_listed_and_tags_whole() {
    let mut model = registered(Chain::Evm);
    for (now, tag1, tag2) in [(2, "defi", "day"), (3, "defi", ""), (4, "", "day")] {
        let mut given = feedback("bob", 50, Some(granted()));
        (given.tag1, given.tag2) = (tag1.parse().unwrap(), tag2.parse().unwrap());
        assert_eq!(give(&mut model, given, now).verdict, Verdict::Ok);
    }
    assert_eq!(model.apply(&revoke("bob", 1), 5).verdict, Verdict::Ok);
    let authorized = &model.state().agents[&"desk".into()].authorized;
    for (clients, tag1, tag2, with_revoked, expected) in [
        (&["bob"][..], "", "", false, &[2, 3][..]),
        (&["bob"], "", "", true, &[1, 2, 3]),
        (&["bob", "bob"], "defi", "", false, &[2, 2]),
        (&["bob"], "", "day", false, &[3]),
        (&["bob"], "defi", "day", true, &[1]),
        (&["bob"], "day", "", true, &[]),
        (&["carol"], "", "", true, &[]),
    ] {
        let tags = (tag1.parse().unwrap(), tag2.parse().unwrap());
        let clients = actors(clients);
        let found = authorized.matching(&clients, tags, with_revoked);
        let indices: Vec<_> = found.iter().map(|it| it.index).collect();
        assert_eq!(indices, expected, "{tag1} {tag2} {with_revoked}");
    }
}

/// R15, R20.
#[test]
fn averages_are_rounded_down_and_0_for_none() {
    for (count, sum, expected) in [(0, 0, 0), (1, 7, 7), (2, 5, 2), (3, 299, 99)] {
        assert_eq!(average(count, sum), expected);
    }
}

#[test]
fn r16_parts_count_and_sum_what_is_found() {
    let model = open_model();
    let open = &model.state().agents[&"desk".into()].open;
    let clients = actors(&["bob", "carol"]);
    let found = open.matching(&clients, ("", ""), false);
    let part = open_part(&found);
    assert_eq!(part.count, 2);
    let sum: WideInteger = "50000000000000000000".parse().unwrap();
    assert_eq!((part.sum, part.histogram[0]), (sum, 2));
    assert_eq!(part.histogram.len(), 19); // 0 to 18 decimals
    let expected = Summary::Open {
        count: 2,
        value: Integer(25),
        decimals: 0,
    };
    assert_eq!(open_summary(&found), expected);
}

#[test]
fn windows_end_where_there_is_no_more() {
    let all = [1, 2, 3];
    for (start, limit, expected) in [
        (0, 2, &[1, 2][..]),
        (1, u64::MAX, &[2, 3]),
        (2, 5, &[3]),
        (3, 1, &[]),
        (u64::MAX, u64::MAX, &[]),
        (0, 0, &[]),
    ] {
        assert_eq!(window(&all, start, limit), expected, "{start} {limit}");
    }
    for (start, limit, expected) in [
        (0, 1, vec![]), // index 0 is nobody's
        (0, 3, vec![1, 2]),
        (1, 2, vec![1, 2]),
        (2, u64::MAX, vec![2, 3]),
        (4, 1, vec![]),
        (u64::MAX, 1, vec![]),
        (0, 0, vec![]),
    ] {
        let found: Vec<u64> = indices(3, start, limit).collect();
        assert_eq!(found, expected, "{start} {limit}");
    }
    assert_eq!(indices(0, 0, u64::MAX).count(), 0);
}

#[test]
fn r19_responses_are_counted_by_whom_they_are_asked_of() {
    let mut model = open_model();
    let mut records = Records::default();
    for (by, client, index) in [("dana", "bob", 1), ("dana", "bob", 1), ("erin", "carol", 1)] {
        let response = Operation::AppendOpenResponse(Response {
            agent: "desk".into(),
            by: by.into(),
            client: client.into(),
            index,
            uri: "https://r.example".to_owned(),
            hash: Bytes32::default(),
        });
        let outcome = model.apply(&response, 4);
        records.note(&response, &outcome, 4);
    }
    let agent = Agent::from("desk");
    let count = |client: Option<&str>, index, responders: &[&str]| {
        let client = client.map(Actor::from);
        let responders = actors(responders);
        records.response_count(Profile::Open, &agent, client.as_ref(), index, &responders)
    };
    assert_eq!(count(None, None, &[]), 3);
    assert_eq!(count(Some("bob"), Some(1), &[]), 2);
    assert_eq!(count(Some("bob"), Some(2), &[]), 0);
    assert_eq!(count(Some("bob"), None, &["dana", "dana"]), 4); // listed twice counts twice
    assert_eq!(count(None, None, &["erin"]), 1);
    let authorized = Profile::Authorized;
    assert_eq!(
        records.response_count(authorized, &agent, None, None, &[]),
        0
    );
}

#[test]
fn r20_a_validation_is_counted_once_however_often_its_validator_is_listed() {
    let requests = [Bytes32([1; 32]), Bytes32([2; 32])];
    let validator = Actor::from("vera");
    let answered = json_state(&requests, &validator);
    let asked = || requests.iter().map(|request| (request, &validator));
    let any = PaddedTag::default();
    assert_eq!(answered.totals(asked(), &[], any), (1, 80));
    let twice = [validator.clone(), validator.clone()];
    assert_eq!(answered.totals(asked(), &twice, any), (1, 80));
    assert_eq!(answered.totals(asked(), &actors(&["bob"]), any), (0, 0));
    assert_eq!(answered.totals(asked(), &[], PaddedTag([7; 32])), (0, 0));
    let mut tagged = answered;
    let of_first = tagged.requests.get_mut(&requests[0]).unwrap();
    let validation = of_first.get_mut(&validator).unwrap();
    validation.answer.as_mut().unwrap().tag = PaddedTag([7; 32]);
    for (tag, expected) in [
        (any, (1, 80)),
        (PaddedTag([7; 32]), (1, 80)),
        (PaddedTag([8; 32]), (0, 0)),
    ] {
        assert_eq!(tagged.totals(asked(), &[], tag), expected);
    }
}

/// The first is answered with 80, the second is pending.
fn json_state(
    requests: &[Bytes32; 2],
    validator: &Actor,
) -> concord_harness::model::ValidationsState {
    let answer = serde_json::json!({
        "score": 80, "hash": Bytes32::default(), "tag": PaddedTag::default(),
    });
    serde_json::from_value(serde_json::json!({
        "answered": 1,
        "requests": {
            requests[0].to_string(): { &validator.0: { "time": 3, "answer": answer } },
            requests[1].to_string(): { &validator.0: { "time": 2, "answer": null } },
        },
    }))
    .unwrap()
}
