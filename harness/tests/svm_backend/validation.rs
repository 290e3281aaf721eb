use crate::world::{World, text, with};
use concord_canonical::ErrorClass::{
    AgentNotFound, LengthLimit, NotAuthorized, NotValidator, RequestExists, RequestNotFound,
    RequestPrefixCollision, ScoreOutOfRange, ValidatorZero,
};
use serde_json::{Value, json};

/// Request hashes that differ beyond the 8 bytes in the seeds.
fn hash(prefix: u8, rest: u8) -> String {
    format!("0x{}{}", hex(prefix, 8), hex(rest, 24))
}

fn hex(byte: u8, times: usize) -> String {
    format!("{byte:02x}").repeat(times)
}

fn request(changes: Value) -> Value {
    let request = json!({"agent": "bot", "by": "alice", "validator": "erin", "request": hash(1, 1), "uri": "ipfs://q"});
    json!({"validation_request": with(request, changes)})
}

fn respond(changes: Value) -> Value {
    let answer = json!({"agent": "bot", "validator": "erin", "by": "erin", "request": hash(1, 1),
                        "score": 70, "uri": "ipfs://a", "hash": hash(9, 9), "tag": "soft"});
    json!({"validation_response": with(answer, changes)})
}

#[test]
fn takes_and_refuses_requests_in_the_order_of_the_checks() {
    let mut world = World::with_agent();
    world.accepts(request(json!({})));
    let nobody = json!({"validator": null, "agent": "nobody"});
    world.refuses(ValidatorZero, request(nobody));
    world.refuses(
        RequestExists,
        request(json!({"by": "bob", "uri": text(201)})),
    );
    world.refuses(
        AgentNotFound,
        request(json!({"agent": "nobody", "uri": text(201)})),
    );
    world.refuses(
        NotAuthorized,
        request(json!({"by": "bob", "request": hash(1, 2)})),
    );
    world.refuses(
        RequestPrefixCollision,
        request(json!({"request": hash(1, 2), "uri": text(201)})),
    );
    world.refuses(
        LengthLimit,
        request(json!({"request": hash(2, 2), "uri": text(201)})),
    );
    world.accepts(request(json!({"request": hash(2, 2), "uri": text(200)})));
    world.accepts(request(
        json!({"validator": "frank", "request": hash(1, 2), "uri": ""}),
    ));
    world.accepts(request(
        json!({"validator": "alice", "request": hash(0, 0)}),
    )); // R20
    world.accepts(json!({"register": {"agent": "twin", "by": "alice", "uri": ""}}));
    world.accepts(request(json!({"agent": "twin"})));
}

#[test]
fn takes_and_refuses_responses_in_the_order_of_the_checks() {
    let mut world = World::with_agent();
    world.accepts(request(json!({})));
    world.refuses(
        RequestNotFound,
        respond(json!({"request": hash(1, 2), "by": "bob"})),
    );
    world.refuses(
        RequestNotFound,
        respond(json!({"request": hash(3, 3), "by": "bob"})),
    );
    world.refuses(RequestNotFound, respond(json!({"request": hash(3, 3)})));
    world.refuses(RequestNotFound, respond(json!({"agent": "nobody"})));
    world.refuses(
        RequestNotFound,
        respond(json!({"validator": "frank", "by": "frank"})),
    );
    world.refuses(
        RequestNotFound,
        respond(json!({"validator": "frank", "by": "bob"})),
    );
    world.refuses(RequestNotFound, respond(json!({"validator": "frank"}))); // erin has one herself
    world.refuses(NotValidator, respond(json!({"by": "alice", "score": 101})));
    world.refuses(
        ScoreOutOfRange,
        respond(json!({"score": 101, "uri": text(201)})),
    );
    world.refuses(LengthLimit, respond(json!({"uri": text(201)})));
    world.accepts(respond(json!({"uri": text(200)})));
    world.accepts(respond(
        json!({"score": 0, "uri": "", "tag": "", "hash": hash(0, 0)}),
    )); // R20
    world.accepts(request(json!({"validator": "frank"})));
    world.refuses(NotValidator, respond(json!({"validator": "frank"})));
    world.accepts(respond(
        json!({"validator": "frank", "by": "frank", "score": 100}),
    ));
}
