use crate::world::{World, text, with};
use concord_canonical::ErrorClass::{
    AgentNotFound, AlreadyRevoked, DecimalsOutOfRange, EmptyClients, EmptyUri, FeedbackIndexStale,
    FeedbackNotFound, LengthLimit, SelfFeedback, ValueOutOfRange,
};
use concord_harness::{
    backend::Backend,
    model::{Integer, Summary},
};
use serde_json::{Value, json};

const MAX: &str = "100000000000000000000000000000000000000";
const ABOVE: &str = "100000000000000000000000000000000000001";

fn give(changes: Value) -> Value {
    let hash = format!("0x{}", "ef".repeat(32));
    let feedback = json!({"agent": "bot", "by": "bob", "value": "9977", "decimals": 2, "tag1": "uptime",
                          "endpoint": "https://bot.example", "uri": "ipfs://f", "hash": hash});
    json!({"give_open_feedback": with(feedback, changes)})
}

fn read(clients: &[&str], changes: Value) -> Value {
    json!({"open_summary": with(json!({"agent": "bot", "clients": clients}), changes)})
}

fn of(count: u64, value: i128, decimals: u8) -> Summary {
    let value = Integer(value);
    Summary::Open {
        count,
        value,
        decimals,
    }
}

#[test]
fn takes_and_refuses_feedback_in_the_order_of_the_checks() {
    let mut world = World::with_agent();
    world.refuses(
        DecimalsOutOfRange,
        give(json!({"decimals": 19, "value": ABOVE})),
    );
    world.refuses(
        ValueOutOfRange,
        give(json!({"value": format!("-{ABOVE}"), "agent": "nobody"})),
    );
    world.refuses(
        ValueOutOfRange,
        give(json!({"value": i128::MIN.to_string()})),
    );
    world.refuses(
        AgentNotFound,
        give(json!({"agent": "nobody", "tag1": text(33)})),
    );
    world.refuses(SelfFeedback, give(json!({"by": "alice", "tag1": text(33)})));
    for long in [
        json!({"tag1": text(33)}),
        json!({"tag2": text(33)}),
        json!({"endpoint": text(201)}),
        json!({"uri": text(201)}),
        json!({"tag2": "nul\0"}),
    ] {
        world.refuses(LengthLimit, give(with(long, json!({"index": 7}))));
    }
    for stale in [0, 2, u64::MAX] {
        world.refuses(FeedbackIndexStale, give(json!({"index": stale})));
    }
    world.accepts(give(
        json!({"tag1": text(32), "tag2": text(32), "endpoint": text(200), "uri": text(200)}),
    ));
    world.accepts(give(
        json!({"value": format!("-{MAX}"), "decimals": 18, "index": 2}),
    ));
    world.accepts(give(
        json!({"value": MAX, "decimals": 0, "tag1": "", "endpoint": "", "uri": ""}),
    ));
    let authority =
        json!({"set_feedback_authority": {"agent": "bot", "by": "alice", "authority": "bob"}});
    world.accepts(authority);
    world.refuses(SelfFeedback, give(json!({})));
}

#[test]
fn revokes_and_responds() {
    let mut world = World::with_agent();
    world.accepts(give(json!({})));
    world.accepts(give(json!({"value": "-1", "decimals": 0})));
    let revoke = |agent: &str, by: &str, index: u64| json!({"revoke_open_feedback": {"agent": agent, "by": by, "index": index}});
    world.refuses(FeedbackNotFound, revoke("nobody", "bob", 1));
    world.refuses(FeedbackNotFound, revoke("bot", "bob", 0));
    world.refuses(FeedbackNotFound, revoke("bot", "bob", 3));
    world.refuses(FeedbackNotFound, revoke("bot", "carol", 1));
    world.accepts(revoke("bot", "bob", 1));
    world.refuses(AlreadyRevoked, revoke("bot", "bob", 1));
    let respond = |changes: Value| {
        let response =
            json!({"agent": "bot", "by": "dave", "client": "bob", "index": 1, "uri": "ipfs://r"});
        json!({"append_open_response": with(response, changes)})
    };
    world.refuses(FeedbackNotFound, respond(json!({"index": 0, "uri": ""})));
    world.refuses(EmptyUri, respond(json!({"index": 9, "uri": ""})));
    world.refuses(
        FeedbackNotFound,
        respond(json!({"index": 3, "uri": text(201)})),
    );
    world.refuses(FeedbackNotFound, respond(json!({"agent": "nobody"})));
    world.refuses(LengthLimit, respond(json!({"uri": text(201)})));
    world.accepts(respond(json!({"uri": text(200)})));
    world.accepts(respond(json!({"index": 2})));
    // the other profile has no entry
    world.refuses(
        FeedbackNotFound,
        json!({"revoke_feedback": {"agent": "bot", "by": "bob", "index": 2}}),
    );
}

#[test]
fn sums_up_over_the_clients_that_are_listed() {
    let mut world = World::with_agent();
    world.refuses(EmptyClients, read(&[], json!({})));
    world.refuses(EmptyClients, read(&[], json!({"agent": "nobody"})));
    world.answers(of(0, 0, 0), read(&["bob", "carol"], json!({})));
    world.answers(of(0, 0, 0), read(&["bob"], json!({"agent": "nobody"})));
    world.accepts(give(json!({})));
    world.accepts(give(json!({"value": "100", "decimals": 0, "tag2": "x"})));
    world.accepts(give(
        json!({"by": "carol", "value": "-1", "decimals": 0, "tag1": "other"}),
    ));
    world.answers(of(2, 99, 0), read(&["bob"], json!({})));
    world.answers(of(3, 66, 0), read(&["carol", "bob"], json!({})));
    world.answers(of(4, 49, 0), read(&["carol", "bob", "carol"], json!({})));
    world.answers(of(1, 100, 0), read(&["carol", "bob"], json!({"tag2": "x"})));
    world.answers(of(0, 0, 0), read(&["bob"], json!({"tag1": "other"})));
    world.accepts(json!({"revoke_open_feedback": {"agent": "bot", "by": "bob", "index": 2}}));
    world.answers(of(1, 9977, 2), read(&["bob"], json!({})));
}

#[test]
fn never_wraps_an_average() {
    // R16
    let mut world = World::with_agent();
    for value in ["3", "5", MAX] {
        let decimals = if value == MAX { 0 } else { 18 };
        world.accepts(give(json!({"value": value, "decimals": decimals})));
    }
    let average = 33_333_333_333_333_333_333_333_333_333_333_333_333;
    world.answers(of(3, average, 0), read(&["bob"], json!({})));
}

#[test]
fn sums_up_what_no_single_packet_or_transaction_holds() {
    let mut world = World::with_agent();
    let give_many = |world: &mut World, by: &str, count: u64| {
        for _ in 0..count {
            world.step(&crate::world::read(give(
                json!({"by": by, "value": "3", "decimals": 0}),
            )));
        }
    };
    give_many(&mut world, "bob", 30);
    world.answers(of(30, 3, 0), read(&["bob"], json!({}))); // with a lookup table
    give_many(&mut world, "carol", 31);
    world.answers(of(92, 3, 0), read(&["bob", "carol", "carol"], json!({}))); // in parts
    world.answers(
        of(0, 0, 0),
        read(&["bob", "carol"], json!({"tag1": "none"})),
    );
    give_many(&mut world, "bob", 30);
    world.check_state(); // 60 entries are the most
    let sixty_first = crate::world::read(give(json!({})));
    world.backend.execute(&sixty_first, world.time + 1).unwrap();
    let fault = world.backend.state().unwrap_err();
    let expected = "62 accounts of one client's open feedback, and a transaction locks 61";
    assert!(fault.to_string().ends_with(expected), "{fault}");
}
