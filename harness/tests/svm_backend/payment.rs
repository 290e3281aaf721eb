use crate::world::{World, with};
use concord_canonical::ErrorClass::{
    AlreadyRevoked, AuthExpired, AuthMalformed, AuthMissing, AuthNotGranted, FeedbackNotFound,
    ListTooLong, NotAuthorized, PaymentAlreadyProven, PaymentNotAccepted, PaymentSpent,
};
use concord_harness::model::Event;
use serde_json::{Value, json};

/// Frank states that Bob paid Alice.
fn payment() -> Value {
    json!({"facilitator": "frank", "agent": "bot", "payer": "bob", "payee": "alice",
           "token": "usdc", "amount": 5, "task": "first", "paid_at": 1, "expiry": 1000})
}

fn attach(changes: Value) -> Value {
    let call =
        json!({"agent": "bot", "by": "bob", "client": "bob", "index": 1, "payment": payment()});
    json!({"attach_payment_proof": with(call, changes)})
}

fn attach_under(changes: Value) -> Value {
    attach(json!({"payment": with(payment(), changes)}))
}

fn token(by: &str, token: &str, listed: bool) -> Value {
    json!({"list_payment_token": {"by": by, "token": token, "listed": listed}})
}

fn facilitator(by: &str, facilitator: &str, listed: bool) -> Value {
    json!({"list_facilitator": {"by": by, "facilitator": facilitator, "listed": listed}})
}

/// Bob gave `bot` two feedbacks; token and facilitator are listed.
fn purchase() -> World {
    let mut world = World::with_agent();
    world.accepts(token("deployer", "usdc", true));
    world.accepts(facilitator("deployer", "frank", true));
    for score in [90, 40] {
        let grant = json!({"signer": "alice", "agent": "bot", "client": "bob",
                           "index_limit": 9, "expiry": 1000});
        world.accepts(json!({"give_feedback": {"agent": "bot", "by": "bob", "score": score, "authorization": grant}}));
    }
    world
}

#[test]
fn proves_a_payment_once() {
    let mut world = purchase();
    let done = world.accepts(attach(json!({})));
    assert!(matches!(
        done.events[..],
        [Event::PaymentProven {
            amount: 5,
            paid_at: 1,
            ..
        }]
    ));
    world.refuses(PaymentAlreadyProven, attach(json!({})));
    world.refuses(PaymentSpent, attach(json!({"index": 2})));
    let second = with(payment(), json!({"task": "second", "amount": u64::MAX}));
    world.accepts(attach(json!({"index": 2, "payment": second})));
    world.accepts(json!({"revoke_feedback": {"agent": "bot", "by": "bob", "index": 1}}));
    world.accepts(json!({"revoke_feedback": {"agent": "bot", "by": "bob", "index": 2}}));
}

#[test]
fn refuses_a_payment_in_the_order_of_the_checks() {
    let mut world = purchase();
    world.refuses(FeedbackNotFound, attach(json!({"index": 0})));
    world.refuses(FeedbackNotFound, attach(json!({"index": 3, "by": "carol"})));
    world.refuses(FeedbackNotFound, attach(json!({"agent": "nobody"})));
    world.refuses(FeedbackNotFound, attach(json!({"client": "carol"})));
    world.refuses(NotAuthorized, attach(json!({"by": "alice"})));
    world.refuses(
        AuthMissing,
        attach_under(json!({"tamper": "empty", "expiry": 0})),
    );
    for tamper in ["extended", "dirty"] {
        world.refuses(
            AuthMalformed,
            attach_under(json!({"tamper": tamper, "expiry": 0})),
        );
    }
    world.refuses(
        AuthMalformed,
        attach(json!({"by": "carol", "payment": with(payment(), json!({"tamper": "truncated"}))})),
    );
    world.refuses(AuthExpired, attach_under(json!({"expiry": 0, "amount": 0})));
    for unfit in [
        json!({"payer": "carol"}),
        json!({"token": "erin"}),
        json!({"amount": 0}),
        json!({"paid_at": 999}),
        json!({"facilitator": "erin"}),
    ] {
        world.refuses(PaymentNotAccepted, attach_under(unfit));
    }
    for elsewhere in [
        json!({"agent": "other"}),
        json!({"tamper": "wrong_chain"}),
        json!({"tamper": "wrong_registry"}),
        json!({"tamper": "corrupt_signature"}),
        json!({"tamper": "malleate_signature"}),
        json!({"tamper": {"signed_by": "alice"}}),
    ] {
        world.refuses(AuthNotGranted, attach_under(elsewhere));
    }
    world.accepts(json!({"revoke_feedback": {"agent": "bot", "by": "bob", "index": 1}}));
    world.refuses(AlreadyRevoked, attach(json!({})));
}

#[test]
fn takes_the_facilitators_word_for_the_payee() {
    let mut world = purchase();
    world.accepts(json!({"unset_agent_wallet": {"agent": "bot", "by": "alice"}}));
    let done = world.accepts(attach_under(json!({"payee": "carol"})));
    let [Event::PaymentProven { payee, .. }] = &done.events[..] else {
        panic!("{:?}", done.events);
    };
    assert_eq!(payee.0, "carol");
}

#[test]
fn refuses_a_payment_by_whoever_runs_the_agent_now() {
    let mut world = purchase();
    world.accepts(json!({"transfer": {"agent": "bot", "by": "alice", "to": "bob"}}));
    let consent = json!({"agent": "bot", "wallet": "carol", "owner": "bob", "signer": "carol", "deadline": 0});
    world.accepts(json!({"set_agent_wallet": {"agent": "bot", "by": "bob", "wallet": "carol", "consent": consent}}));
    world.refuses(PaymentNotAccepted, attach_under(json!({"payee": "carol"})));
}

#[test]
fn keeps_the_lists_of_the_registry() {
    let mut world = purchase();
    world.refuses(NotAuthorized, token("alice", "usdc", true));
    world.refuses(NotAuthorized, facilitator("alice", "frank", false));
    world.accepts(token("deployer", "usdc", true)); // changes nothing
    for number in 0..7 {
        world.accepts(token("deployer", &format!("token-{number}"), true));
    }
    world.refuses(ListTooLong, token("deployer", "token-7", true));
    world.accepts(token("deployer", "usdc", true));
    world.accepts(token("deployer", "usdc", false));
    world.accepts(token("deployer", "usdc", false));
    world.refuses(PaymentNotAccepted, attach(json!({})));
    world.accepts(token("deployer", "usdc", true));
    for number in 0..15 {
        world.accepts(facilitator(
            "deployer",
            &format!("facilitator-{number}"),
            true,
        ));
    }
    world.refuses(ListTooLong, facilitator("deployer", "facilitator-15", true));
    world.accepts(facilitator("deployer", "frank", false));
    world.refuses(PaymentNotAccepted, attach(json!({})));
    world.accepts(facilitator("deployer", "frank", true));
    world.accepts(attach(json!({})));
}

#[test]
fn hands_the_registry_over_in_two_steps() {
    let mut world = World::new();
    let propose = |by: &str, successor: &str| json!({"propose_registry_authority": {"by": by, "successor": successor}});
    let accept = |by: &str| json!({"accept_registry_authority": {"by": by}});
    world.refuses(NotAuthorized, propose("alice", "alice"));
    world.refuses(NotAuthorized, accept("alice"));
    world.accepts(propose("deployer", "bob"));
    world.accepts(propose("deployer", "alice"));
    world.refuses(NotAuthorized, accept("bob"));
    world.refuses(NotAuthorized, token("alice", "usdc", true));
    world.accepts(accept("alice"));
    world.refuses(NotAuthorized, accept("alice"));
    world.refuses(NotAuthorized, token("deployer", "usdc", true));
    world.accepts(token("alice", "usdc", true));
}
