//! Random lists: anybody does anything to anything, in a small world where things meet.
use crate::world::{World, read, text};
use concord_harness::model::{Agent, Verdict};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const WORLDS: u64 = 16;
const STEPS: usize = 200;
const PEOPLE: [&str; 4] = ["alice", "bob", "carol", "dave"];
const AGENTS: [&str; 3] = ["bot", "twin", "nobody"];

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.roll(chances) == 0
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[usize::try_from(self.roll(list.len() as u64)).unwrap()]
    }

    fn person(&mut self) -> &'static str {
        self.pick(&PEOPLE)
    }

    /// Mostly `usual`.
    fn mostly(&mut self, usual: &str) -> String {
        match self.one_in(5) {
            true => self.person().to_owned(),
            false => usual.to_owned(),
        }
    }

    fn uri(&mut self) -> String {
        let length = self.pick(&[0, 1, 30, 30, 30, 200, 201]);
        text(length)
    }

    fn index(&mut self) -> u64 {
        self.roll(4)
    }

    fn tamper(&mut self) -> Value {
        let all = [
            json!("wrong_chain"),
            json!("wrong_registry"),
            json!("corrupt_signature"),
            json!("malleate_signature"),
            json!({"signed_by": self.person()}),
            json!("empty"),
            json!("truncated"),
            json!("extended"),
            json!("dirty"),
        ];
        match self.one_in(3) {
            true => all[usize::try_from(self.roll(all.len() as u64)).unwrap()].clone(),
            false => Value::Null,
        }
    }

    fn request(&mut self) -> String {
        let prefix = format!("{:02x}", self.roll(3)).repeat(8);
        let rest = format!("{:02x}", self.roll(2)).repeat(24);
        format!("0x{prefix}{rest}")
    }
}

struct Author<'a> {
    dice: &'a mut Dice,
    world: &'a World,
    agent: &'static str,
    /// The agent's, or somebody.
    owner: String,
}

impl<'a> Author<'a> {
    fn new(dice: &'a mut Dice, world: &'a World) -> Self {
        let agent = match dice.one_in(12) {
            true => "nobody",
            false => dice.pick(&AGENTS[..2]),
        };
        let registered = world.model.state().agents.get(&Agent::from(agent));
        let owner = registered.map_or("alice".to_owned(), |it| it.owner.0.clone());
        Self {
            dice,
            world,
            agent,
            owner,
        }
    }

    fn operation(&mut self) -> Value {
        match self.dice.roll(26) {
            0 => self.settings(),
            1 => self.metadata(),
            2 | 3 => self.wallet(),
            4 => self.transfer(),
            5 => self.registry(),
            6..=10 => self.feedback(),
            11 => self.withdrawal("revoke_feedback"),
            12 => self.response("append_response"),
            13..=15 => self.payment(),
            16..=19 => self.open_feedback(),
            20 => self.withdrawal("revoke_open_feedback"),
            21 => self.response("append_open_response"),
            22 => self.summaries(),
            23 | 24 => self.request(),
            _ => self.answer(),
        }
    }

    fn settings(&mut self) -> Value {
        let (agent, by) = (self.agent, self.dice.mostly(&self.owner));
        let authority = self.dice.pick(&[None, None, Some("carol"), Some("dave")]);
        let (schemes, uri) = (self.dice.roll(5), self.dice.uri());
        match self.dice.roll(3) {
            0 => json!({"set_agent_uri": {"agent": agent, "by": by, "uri": uri}}),
            1 => {
                json!({"set_feedback_authority": {"agent": agent, "by": by, "authority": authority}})
            }
            _ => json!({"set_auth_schemes": {"agent": agent, "by": by, "schemes": schemes}}),
        }
    }

    fn metadata(&mut self) -> Value {
        let key = self.dice.pick(&["", "a", "name", "agentWallet"]);
        let length = usize::try_from(self.dice.roll(258)).unwrap();
        let value = format!("0x{}", "5a".repeat(length));
        let by = self.dice.mostly(&self.owner);
        json!({"set_metadata": {"agent": self.agent, "by": by, "key": key, "value": value}})
    }

    fn wallet(&mut self) -> Value {
        let by = self.dice.mostly(&self.owner);
        if self.dice.one_in(6) {
            return json!({"unset_agent_wallet": {"agent": self.agent, "by": by}});
        }
        // Never the caller's own key: its signature under the transaction is a consent.
        let others: Vec<_> = PEOPLE.into_iter().filter(|it| *it != by).collect();
        let wallet = self.dice.pick(&others);
        let consent = json!({
            "agent": if self.dice.one_in(6) { "twin" } else { self.agent },
            "wallet": self.dice.mostly(wallet), "owner": self.dice.mostly(&self.owner),
            "signer": self.dice.mostly(wallet), "deadline": 0,
        });
        let wallet = (!self.dice.one_in(9)).then_some(wallet);
        json!({"set_agent_wallet": {"agent": self.agent, "by": by, "wallet": wallet, "consent": consent}})
    }

    fn transfer(&mut self) -> Value {
        let (by, to) = (self.dice.mostly(&self.owner), self.dice.person());
        if self.dice.one_in(30) {
            return json!({"burn": {"agent": self.agent, "by": by}});
        }
        let mutable = self.dice.one_in(4);
        json!({"transfer": {"agent": self.agent, "by": by, "to": to, "into_mutable_account": mutable}})
    }

    fn registry(&mut self) -> Value {
        let (by, other) = (self.dice.mostly("deployer"), self.dice.mostly("deployer"));
        let listed = !self.dice.one_in(3);
        match self.dice.roll(6) {
            0 => json!({"propose_registry_authority": {"by": by, "successor": other}}),
            1 => json!({"accept_registry_authority": {"by": other}}),
            2 | 3 => {
                json!({"list_payment_token": {"by": by, "token": self.dice.pick(&["usdc", "erin"]), "listed": listed}})
            }
            _ => {
                json!({"list_facilitator": {"by": by, "facilitator": self.dice.pick(&["frank", "erin"]), "listed": listed}})
            }
        }
    }

    fn feedback(&mut self) -> Value {
        let by = self.dice.person();
        let now = self.world.time + 1;
        let authorization = json!({
            "signer": self.dice.mostly(&self.owner), "client": self.dice.mostly(by),
            "agent": if self.dice.one_in(9) { "twin" } else { self.agent },
            "index_limit": self.dice.pick(&[0, 1, 5, 99, 99, u64::MAX]),
            "expiry": self.dice.pick(&[now, now + 1, 999_999, u64::MAX]),
            "form": self.dice.pick(&["bounded", "bounded", "bounded", "draft_v1", "x84"]),
            "tamper": self.dice.tamper(),
        });
        let authorization = (!self.dice.one_in(20)).then_some(authorization);
        let index = self.dice.one_in(8).then(|| self.dice.index());
        json!({"give_feedback": {
            "agent": self.agent, "by": by, "score": self.dice.roll(104),
            "tag1": self.dice.pick(&["", "speed"]), "uri": self.dice.uri(), "index": index,
            "authorization": authorization,
        }})
    }

    fn withdrawal(&mut self, operation: &str) -> Value {
        let (by, index) = (self.dice.person(), self.dice.index());
        json!({operation: {"agent": self.agent, "by": by, "index": index}})
    }

    fn response(&mut self, operation: &str) -> Value {
        json!({operation: {
            "agent": self.agent, "by": self.dice.person(), "client": self.dice.person(),
            "index": self.dice.index(), "uri": self.dice.uri(),
        }})
    }

    fn payment(&mut self) -> Value {
        let client = self.dice.person();
        let payee = self.dice.mostly("alice");
        json!({"attach_payment_proof": {
            "agent": self.agent, "by": self.dice.mostly(client), "client": client,
            "index": 1 + self.dice.roll(2),
            "payment": {
                "facilitator": self.dice.pick(&["frank", "frank", "erin"]), "agent": self.agent,
                "payer": self.dice.mostly(client), "payee": payee,
                "token": self.dice.pick(&["usdc", "usdc", "erin"]), "amount": self.dice.roll(9),
                "task": format!("task {}", self.dice.roll(20)),
                "paid_at": self.world.time * self.dice.roll(9) / 7,
                "expiry": self.world.time + 1 + self.dice.roll(9), "tamper": self.dice.tamper(),
            },
        }})
    }

    fn open_feedback(&mut self) -> Value {
        let value = match self.dice.roll(12) {
            0 => i128::MAX,
            1 => -100_000_000_000_000_000_000_000_000_000_000_000_000,
            2 => 100_000_000_000_000_000_000_000_000_000_000_000_000,
            _ => i128::from(self.dice.roll(1000)) - 500,
        };
        let index = self.dice.one_in(8).then(|| self.dice.index());
        json!({"give_open_feedback": {
            "agent": self.agent, "by": self.dice.person(), "value": value.to_string(),
            "decimals": self.dice.roll(20), "tag1": self.dice.pick(&["", "a", "b"]),
            "tag2": self.dice.pick(&["", "a", "b"]), "uri": self.dice.uri(),
            "endpoint": self.dice.uri(), "index": index,
        }})
    }

    fn summaries(&mut self) -> Value {
        if self.dice.one_in(3) {
            return json!({"summary": {"agent": self.agent}});
        }
        let count = self.dice.roll(4);
        let clients: Vec<_> = (0..count).map(|_| self.dice.person()).collect();
        let (tag1, tag2) = (self.dice.pick(&["", "a"]), self.dice.pick(&["", "b"]));
        json!({"open_summary": {"agent": self.agent, "clients": clients, "tag1": tag1, "tag2": tag2}})
    }

    fn request(&mut self) -> Value {
        let validator = (!self.dice.one_in(9)).then(|| self.dice.person());
        let (by, request) = (self.dice.mostly(&self.owner), self.dice.request());
        json!({"validation_request": {
            "agent": self.agent, "by": by, "validator": validator, "request": request, "uri": self.dice.uri(),
        }})
    }

    fn answer(&mut self) -> Value {
        let validator = self.dice.person();
        json!({"validation_response": {
            "agent": self.agent, "validator": validator, "by": self.dice.mostly(validator),
            "request": self.dice.request(), "score": self.dice.roll(104), "uri": self.dice.uri(),
        }})
    }
}

/// Tries and accepted tries, by operation.
type Counts = BTreeMap<&'static str, (u64, u64)>;

fn run(world: &mut World, seed: u64, counts: &mut Counts, classes: &mut BTreeSet<&'static str>) {
    let mut dice = Dice(seed);
    world.reset();
    for (agent, owner) in [("bot", "alice"), ("twin", "bob")] {
        world.accepts(json!({"register": {"agent": agent, "by": owner, "uri": ""}}));
    }
    for list in [
        json!({"list_payment_token": {"by": "deployer", "token": "usdc", "listed": true}}),
        json!({"list_facilitator": {"by": "deployer", "facilitator": "frank", "listed": true}}),
    ] {
        world.accepts(list);
    }
    for _ in 0..STEPS {
        let operation = read(Author::new(&mut dice, world).operation());
        let outcome = world.step(&operation);
        let (tried, accepted) = counts.entry(operation.name()).or_default();
        *tried += 1;
        match outcome.verdict {
            Verdict::Refused(class) => _ = classes.insert(class.name()),
            _ => *accepted += 1,
        }
    }
    world.check_state();
}

#[test]
fn agrees_with_the_model_in_random_worlds() {
    let mut world = World::new();
    let (mut counts, mut classes) = (Counts::new(), BTreeSet::new());
    for seed in 1..=WORLDS {
        run(&mut world, seed, &mut counts, &mut classes);
    }
    // nothing passes vacuously
    for (operation, (tried, accepted)) in &counts {
        assert!(*accepted > 0, "{operation}: none of {tried} accepted");
    }
    assert_eq!(counts.len(), 23, "{counts:?}");
    assert!(classes.len() >= 28, "{classes:?}");
}
