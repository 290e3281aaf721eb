//! Responses, in both profiles (R19).
use super::*;
use concord_canonical::ErrorClass::*;
use concord_harness::model::{Event, Profile, Response};

fn response(by: &str, client: &str, index: u64, uri: &str) -> Response {
    Response {
        agent: "desk".into(),
        by: by.into(),
        client: client.into(),
        index,
        uri: uri.to_owned(),
        hash: Bytes32::default(),
    }
}

/// Bob's one feedback about `desk`, in both profiles.
fn reviewed(chain: Chain) -> Model {
    let mut model = registered(chain);
    given(&mut model, 50, 2);
    expect(&mut model, 3, open::value("bob", 5, 0), Verdict::Ok);
    model
}

#[test]
fn r19_anyone_responds_to_any_entry_revoked_or_not() {
    for chain in BOTH {
        let mut model = reviewed(chain);
        for by in ["mallory", "alice", "bob"] {
            let appended = Operation::AppendResponse(response(by, "bob", 1, "u"));
            let outcome = expect(&mut model, 4, appended, Verdict::Ok);
            let [
                Event::ResponseAppended {
                    profile, responder, ..
                },
            ] = &outcome.events[..]
            else {
                panic!("one event, not {:?}", outcome.events)
            };
            assert_eq!((*profile, responder.0.as_str()), (Profile::Authorized, by));
        }
        expect(&mut model, 5, revoke("bob", 1), Verdict::Ok);
        let late = Operation::AppendResponse(response("mallory", "bob", 1, "u"));
        expect(&mut model, 6, late, Verdict::Ok);
        let entry = &model.state().agents[&"desk".into()].authorized.entries[&"bob".into()][0];
        assert_eq!((entry.responses, entry.revoked), (4, true));
        let open = &model.state().agents[&"desk".into()].open.entries[&"bob".into()][0];
        assert_eq!(open.responses, 0);
    }
}

#[test]
fn r19_index_zero_comes_before_the_empty_uri_and_that_before_what_is_not_there() {
    let (long, at_limit) = ("u".repeat(201), "u".repeat(200));
    for chain in BOTH {
        let on_solana = |class| match chain {
            Chain::Evm => Verdict::Ok,
            Chain::Svm => refused(class),
        };
        let cases = [
            (response("mallory", "bob", 0, ""), refused(FeedbackNotFound)),
            (response("mallory", "bob", 2, ""), refused(EmptyUri)),
            (
                response("mallory", "bob", 2, &long),
                refused(FeedbackNotFound),
            ),
            (
                response("mallory", "carol", 1, "u"),
                refused(FeedbackNotFound),
            ),
            (response("mallory", "bob", 1, &long), on_solana(LengthLimit)),
            (response("mallory", "bob", 1, &at_limit), Verdict::Ok),
        ];
        for (response, verdict) in cases {
            for operation in [
                Operation::AppendResponse(response.clone()),
                Operation::AppendOpenResponse(response),
            ] {
                expect(&mut reviewed(chain), 4, operation, verdict);
            }
        }
    }
}
