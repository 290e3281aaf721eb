use crate::world::{World, text, with};
use concord_canonical::ErrorClass::{
    AgentNotFound, AlreadyRevoked, AuthExpired, AuthIndexLimit, AuthMalformed, AuthMissing,
    AuthNotGranted, EmptyUri, FeedbackIndexStale, FeedbackNotFound, LengthLimit, ScoreOutOfRange,
    SelfFeedback,
};
use concord_harness::model::Summary;
use serde_json::{Value, json};

/// Alice lets Bob review `bot`.
fn grant() -> Value {
    json!({"signer": "alice", "agent": "bot", "client": "bob", "index_limit": 100, "expiry": 1000})
}

fn feedback() -> Value {
    json!({"agent": "bot", "by": "bob", "score": 80, "tag1": "speed", "uri": "ipfs://f",
           "authorization": grant()})
}

fn give(changes: Value) -> Value {
    json!({"give_feedback": with(feedback(), changes)})
}

fn give_under(changes: Value) -> Value {
    give(json!({"authorization": with(grant(), changes)}))
}

#[test]
fn takes_feedback_that_is_granted() {
    let mut world = World::with_agent();
    let hash = format!("0x{}", "ab".repeat(32));
    let tag2 = format!("0x{}", "80".repeat(32));
    world.accepts(give(
        json!({"score": 0, "hash": hash, "tag2": tag2, "uri": text(200)}),
    ));
    world.accepts(give(json!({"score": 100, "index": 2})));
    world.accepts(give_under(json!({"form": "draft_v1"}))); // as bounded
    world.accepts(give(
        json!({"by": "carol", "authorization": with(grant(), json!({"client": "carol"}))}),
    ));
    let summary = |agent: &str| json!({"summary": {"agent": agent}});
    let of = |count, average| Summary::Authorized { count, average };
    world.answers(of(4, 65), summary("bot"));
    world.answers(of(0, 0), summary("nobody"));
}

#[test]
fn refuses_feedback_in_the_order_of_the_checks() {
    let mut world = World::with_agent();
    world.refuses(
        ScoreOutOfRange,
        give(json!({"score": 101, "agent": "nobody"})),
    );
    world.refuses(
        AgentNotFound,
        give(json!({"agent": "nobody", "uri": text(201)})),
    );
    world.refuses(SelfFeedback, give(json!({"by": "alice", "uri": text(201)})));
    world.refuses(LengthLimit, give(json!({"uri": text(201), "index": 0})));
    for stale in [0, 2, u64::MAX] {
        world.refuses(
            FeedbackIndexStale,
            give(json!({"index": stale, "authorization": null})),
        );
    }
    world.refuses(AuthMissing, give(json!({"authorization": null})));
    world.refuses(
        AuthMissing,
        give_under(json!({"tamper": "empty", "expiry": 0})),
    );
    for tamper in ["extended", "dirty"] {
        world.refuses(
            AuthMalformed,
            give_under(json!({"tamper": tamper, "expiry": 0})),
        );
    }
    world.refuses(
        AuthExpired,
        give_under(json!({"expiry": 0, "index_limit": 0})),
    );
    world.refuses(
        AuthIndexLimit,
        give_under(json!({"index_limit": 0, "agent": "other"})),
    );
    let expiry = world.time + 1; // the time of the next step
    world.refuses(AuthExpired, give_under(json!({"expiry": expiry})));
    world.accepts(give_under(json!({"expiry": expiry + 2, "index_limit": 1})));
    world.refuses(AuthIndexLimit, give_under(json!({"index_limit": 1})));
    world.accepts(give_under(
        json!({"index_limit": u64::MAX, "expiry": u64::MAX}),
    ));
}

#[test]
fn refuses_feedback_that_is_granted_to_others_or_by_others() {
    let mut world = World::with_agent();
    world.accepts(json!({"register": {"agent": "twin", "by": "alice", "uri": ""}}));
    for elsewhere in [
        json!({"agent": "twin"}),
        json!({"client": "carol"}),
        json!({"signer": "bob"}),
        json!({"tamper": "wrong_chain"}),
        json!({"tamper": "wrong_registry"}),
        json!({"tamper": "corrupt_signature"}),
        json!({"tamper": "malleate_signature"}),
        json!({"tamper": {"signed_by": "carol"}}),
    ] {
        world.refuses(AuthNotGranted, give_under(elsewhere));
    }
    world.accepts(give_under(json!({"tamper": {"signed_by": "alice"}})));
}

#[test]
fn the_precompile_answers_before_the_program() {
    // declared variance 1
    let mut world = World::with_agent();
    let spoilt = |tamper: Value| {
        give(json!({"score": 101, "authorization": with(grant(), json!({"tamper": tamper}))}))
    };
    world.refuses(AuthMalformed, spoilt(json!("truncated")));
    world.refuses(AuthNotGranted, spoilt(json!("corrupt_signature")));
    world.refuses(AuthNotGranted, spoilt(json!("malleate_signature")));
    world.refuses(AuthNotGranted, spoilt(json!({"signed_by": "bob"})));
    world.refuses(ScoreOutOfRange, spoilt(json!("dirty")));
    world.refuses(ScoreOutOfRange, spoilt(json!("extended")));
}

#[test]
fn takes_x84_feedback_of_an_agent_that_opted_in() {
    // R10
    let mut world = World::with_agent();
    let x84 = |changes: Value| give_under(with(json!({"form": "x84", "expiry": 0}), changes));
    let schemes = |schemes: u8| json!({"set_auth_schemes": {"agent": "bot", "by": "alice", "schemes": schemes}});
    world.refuses(AuthNotGranted, x84(json!({})));
    world.accepts(schemes(3));
    world.accepts(x84(json!({})));
    world.accepts(x84(json!({"tamper": "wrong_chain", "index_limit": 0}))); // it names none
    world.accepts(give(json!({})));
    world.refuses(AuthMissing, x84(json!({"tamper": "empty"})));
    for tamper in ["truncated", "extended", "dirty"] {
        world.refuses(AuthMalformed, x84(json!({"tamper": tamper})));
    }
    for other in [
        json!({"agent": "other"}),
        json!({"client": "carol"}),
        json!({"signer": "carol"}),
        json!({"tamper": "corrupt_signature"}),
        json!({"tamper": "malleate_signature"}),
        json!({"tamper": {"signed_by": "carol"}}),
    ] {
        world.refuses(AuthNotGranted, x84(other));
    }
    world.accepts(schemes(1));
    world.accepts(x84(json!({})));
    world.refuses(AuthNotGranted, give(json!({})));
    world.accepts(json!({"transfer": {"agent": "bot", "by": "alice", "to": "dave"}}));
    world.refuses(AuthNotGranted, x84(json!({"signer": "dave"}))); // R4
    world.accepts(give_under(json!({"signer": "dave"})));
}

#[test]
fn only_the_current_authority_grants() {
    // R7
    let mut world = World::with_agent();
    let authority = |authority: Option<&str>| json!({"set_feedback_authority": {"agent": "bot", "by": "alice", "authority": authority}});
    world.accepts(authority(Some("carol")));
    world.refuses(AuthNotGranted, give(json!({})));
    world.accepts(give_under(json!({"signer": "carol"})));
    world.refuses(SelfFeedback, give(json!({"by": "carol"}))); // R18
    world.accepts(authority(None));
    world.refuses(AuthNotGranted, give_under(json!({"signer": "carol"})));
    world.accepts(authority(Some("carol")));
    world.accepts(json!({"transfer": {"agent": "bot", "by": "alice", "to": "dave"}}));
    world.refuses(AuthNotGranted, give_under(json!({"signer": "carol"})));
    world.refuses(SelfFeedback, give(json!({"by": "dave"})));
    world.accepts(give_under(json!({"signer": "dave"})));
    world.accepts(give(json!({"by": "alice", "authorization": with(grant(), json!({"signer": "dave", "client": "alice"}))})));
}

#[test]
fn revokes_and_responds() {
    let mut world = World::with_agent();
    world.accepts(give(json!({})));
    world.accepts(give(json!({"score": 20})));
    let revoke = |agent: &str, by: &str, index: u64| json!({"revoke_feedback": {"agent": agent, "by": by, "index": index}});
    world.refuses(FeedbackNotFound, revoke("nobody", "bob", 1));
    world.refuses(FeedbackNotFound, revoke("bot", "bob", 0));
    world.refuses(FeedbackNotFound, revoke("bot", "bob", 3));
    world.refuses(FeedbackNotFound, revoke("bot", "carol", 1));
    world.accepts(revoke("bot", "bob", 1));
    world.refuses(AlreadyRevoked, revoke("bot", "bob", 1));
    let respond = |changes: Value| {
        let hash = format!("0x{}", "cd".repeat(32));
        let response = json!({"agent": "bot", "by": "dave", "client": "bob", "index": 1,
                              "uri": "ipfs://r", "hash": hash});
        json!({"append_response": with(response, changes)})
    };
    world.refuses(FeedbackNotFound, respond(json!({"index": 0, "uri": ""})));
    world.refuses(EmptyUri, respond(json!({"index": 9, "uri": ""})));
    world.refuses(
        FeedbackNotFound,
        respond(json!({"index": 3, "uri": text(201)})),
    );
    world.refuses(FeedbackNotFound, respond(json!({"agent": "nobody"})));
    world.refuses(FeedbackNotFound, respond(json!({"client": "carol"})));
    world.refuses(LengthLimit, respond(json!({"uri": text(201)})));
    world.accepts(respond(json!({"uri": text(200)})));
    world.accepts(respond(json!({})));
    world.accepts(respond(json!({"index": 2, "by": "alice"})));
}
