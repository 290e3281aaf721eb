//! Summaries over more entries than one packet or one transaction holds, and where they end.
use crate::svm_backend::world::{World, read, with};
use concord_harness::{
    backend::Backend,
    model::{Integer, Summary},
};
use serde_json::{Value, json};

fn give(changes: Value) -> Value {
    let feedback = json!({"agent": "bot", "by": "bob", "value": "3", "decimals": 0});
    json!({"give_open_feedback": with(feedback, changes)})
}

fn summary(clients: &[&str], changes: Value) -> Value {
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
fn sums_up_what_no_single_packet_or_transaction_holds() {
    let mut world = World::with_agent();
    let give_many = |world: &mut World, by: &str, count: u64| {
        for _ in 0..count {
            world.step(&read(give(json!({"by": by}))));
        }
    };
    give_many(&mut world, "bob", 30);
    world.answers(of(30, 3, 0), summary(&["bob"], json!({}))); // with a lookup table
    give_many(&mut world, "carol", 31);
    world.answers(of(92, 3, 0), summary(&["bob", "carol", "carol"], json!({}))); // in parts
    world.answers(
        of(0, 0, 0),
        summary(&["bob", "carol"], json!({"tag1": "none"})),
    );
    give_many(&mut world, "bob", 30);
    world.check_state(); // 60 entries are the most
    let sixty_first = read(give(json!({})));
    world.backend.execute(&sixty_first, world.time + 1).unwrap();
    let fault = world.backend.state().unwrap_err();
    let expected = "62 accounts of one client's open feedback, and a transaction locks 61";
    assert!(fault.to_string().ends_with(expected), "{fault}");
}
