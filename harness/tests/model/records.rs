//! What operations leave behind beside the state, for views and for generators of operations.
use super::*;
use concord_harness::model::{Actor, AppendedTo, DEPLOYER, Profile, Proven, Records, Requested};
use serde_json::{Value, json};

/// A model of one chain, and what is noted of each operation that it decides.
struct World {
    model: Model,
    records: Records,
}

impl World {
    fn new(chain: Chain) -> Self {
        let mut world = Self {
            model: Model::new(chain),
            records: Records::default(),
        };
        world.accepts(
            1,
            json!({"register": {"agent": "desk", "by": "alice", "uri": ""}}),
        );
        world.accepts(
            2,
            json!({"register": {"agent": "shop", "by": "alice", "uri": ""}}),
        );
        world
    }

    fn play(&mut self, time: u64, operation: Value) -> Verdict {
        let operation: Operation = serde_json::from_value(operation).unwrap();
        let outcome = self.model.apply(&operation, time);
        self.records.note(&operation, &outcome, time);
        outcome.verdict
    }

    fn accepts(&mut self, time: u64, operation: Value) {
        assert_eq!(
            self.play(time, operation.clone()),
            Verdict::Ok,
            "{operation}"
        );
    }
}

fn grant(form: &str) -> Value {
    json!({"signer": "alice", "agent": "desk", "client": "bob", "index_limit": 9, "expiry": 100, "form": form})
}

#[test]
fn rights_are_noted_until_a_transfer_ends_them() {
    let mut world = World::new(Chain::Evm);
    let approve = |operator: Value| json!({"approve": {"agent": "desk", "by": "alice", "operator": operator}});
    world.accepts(3, approve(json!("oscar")));
    assert_eq!(world.records.approved[&"desk".into()], Actor::from("oscar"));
    world.accepts(4, approve(Value::Null));
    assert!(world.records.approved.is_empty());
    world.accepts(5, approve(json!("oscar")));
    let operator = |approved| json!({"set_operator": {"by": "alice", "operator": "olga", "approved": approved}});
    world.accepts(6, operator(true));
    let pair = (Actor::from("alice"), Actor::from("olga"));
    assert_eq!(Vec::from_iter(&world.records.operators), [&pair]);
    world.accepts(7, operator(false));
    assert!(world.records.operators.is_empty());
    let transfer = |to| json!({"transfer": {"agent": "desk", "by": "alice", "to": to}});
    world.accepts(8, transfer("alice"));
    assert!(world.records.approved.is_empty());
    assert_eq!(world.records.transfers.get(&"desk".into()), None);
    world.accepts(9, transfer("bob"));
    assert_eq!(world.records.transfers[&"desk".into()], 1);
}

/// R7, R10.
#[test]
fn authority_and_schemes_are_noted_until_the_owner_changes() {
    let mut world = World::new(Chain::Svm);
    let desk = Agent::from("desk");
    let set = |authority: Value| json!({"set_feedback_authority": {"agent": "desk", "by": "alice", "authority": authority}});
    world.accepts(3, set(json!("anna")));
    assert_eq!(world.records.authorities[&desk], Actor::from("anna"));
    assert_eq!(world.model.signer_of(&desk), Some(&"anna".into()));
    world.accepts(4, set(Value::Null));
    assert_eq!(world.model.signer_of(&desk), Some(&"alice".into()));
    assert!(world.records.authorities.is_empty());
    world.accepts(5, set(json!("anna")));
    world.accepts(
        6,
        json!({"set_auth_schemes": {"agent": "desk", "by": "alice", "schemes": 3}}),
    );
    assert_eq!(world.records.schemes[&desk], 3);
    world.accepts(
        7,
        json!({"transfer": {"agent": "desk", "by": "alice", "to": "alice"}}),
    );
    assert_eq!(
        (world.records.authorities.len(), world.records.schemes.len()),
        (1, 1)
    );
    world.accepts(
        8,
        json!({"transfer": {"agent": "desk", "by": "alice", "to": "carol"}}),
    );
    assert_eq!(
        (world.records.authorities.len(), world.records.schemes.len()),
        (0, 0)
    );
    assert_eq!(world.model.signer_of(&desk), Some(&"carol".into()));
    assert_eq!(world.model.signer_of(&"ghost".into()), None);
}

/// R10: 1 for X84's message, 2 for the others.
#[test]
fn entries_have_scheme_and_time() {
    let mut world = World::new(Chain::Svm);
    world.accepts(
        3,
        json!({"set_auth_schemes": {"agent": "desk", "by": "alice", "schemes": 3}}),
    );
    for (time, form) in [(4, "bounded"), (5, "x84"), (6, "draft_v1")] {
        let given = json!({"agent": "desk", "by": "bob", "score": 1, "authorization": grant(form)});
        world.accepts(time, json!({ "give_feedback": given }));
    }
    let of_bob = (Agent::from("desk"), Actor::from("bob"));
    assert_eq!(world.records.entry_schemes[&of_bob], [2, 1, 2]);
    for time in [7, 9] {
        world.accepts(
            time,
            json!({"give_open_feedback": {"agent": "desk", "by": "bob", "value": "1"}}),
        );
    }
    assert_eq!(world.records.open_times[&of_bob], [7, 9]);
}

/// R13: when the wallet was written, and whose the entry was then.
#[test]
fn wallets_have_times_and_entries_say_whether_a_stranger_gave_them() {
    let mut world = World::new(Chain::Svm);
    let desk = Agent::from("desk");
    let give = json!({"give_feedback": {"agent": "desk", "by": "bob", "score": 1, "authorization": grant("bounded")}});
    let consent = json!({"signer": "bob", "agent": "desk", "wallet": "bob", "owner": "alice", "deadline": 99});
    let wallet = json!({"set_agent_wallet": {"agent": "desk", "by": "alice", "wallet": "bob", "consent": consent}});
    world.accepts(
        4,
        json!({"set_agent_uri": {"agent": "desk", "by": "alice", "uri": "ipfs://other"}}),
    );
    assert_eq!(world.records.wallets[&desk], (Some("alice".into()), 1));
    world.accepts(5, give.clone());
    world.accepts(6, wallet);
    assert_eq!(world.records.wallets[&desk], (Some("bob".into()), 6));
    world.accepts(7, give.clone());
    world.accepts(
        8,
        json!({"unset_agent_wallet": {"agent": "desk", "by": "alice"}}),
    );
    assert_eq!(world.records.wallets[&desk], (None, 8));
    world.accepts(9, give);
    let of_bob = (desk.clone(), Actor::from("bob"));
    assert_eq!(world.records.by_strangers[&of_bob], [true, false, true]);
    let by_stranger = [1, 2, 3].map(|it| world.model.is_by_stranger(&desk, &of_bob.1, it));
    assert_eq!(by_stranger, [true, false, true]);
    world.accepts(
        10,
        json!({"transfer": {"agent": "desk", "by": "alice", "to": "alice"}}),
    );
    assert_eq!(world.records.wallets[&desk], (None, 8));
}

#[test]
fn what_is_refused_is_not_noted() {
    let mut world = World::new(Chain::Evm);
    let before = world.records.clone();
    for operation in [
        json!({"approve": {"agent": "desk", "by": "mallory", "operator": "oscar"}}),
        json!({"transfer": {"agent": "desk", "by": "mallory", "to": "mallory"}}),
        json!({"give_feedback": {"agent": "desk", "by": "bob", "score": 1}}),
    ] {
        assert_ne!(world.play(3, operation), Verdict::Ok);
    }
    assert_eq!(world.records, before);
}

/// R20.
#[test]
fn requests_have_the_times_of_their_answers() {
    let mut world = World::new(Chain::Svm);
    let [one, two] = [Bytes32([1; 32]), Bytes32([2; 32])];
    let asked = [
        ("desk", "vera", one),
        ("desk", "vic", one),
        ("shop", "vera", one),
        ("desk", "vera", two),
    ];
    for (time, (agent, validator, request)) in (3..).zip(asked) {
        world.accepts(
            time,
            json!({"validation_request": {"agent": agent, "by": "alice", "validator": validator, "request": request}}),
        );
    }
    for (time, (agent, validator, request)) in [(8, asked[0]), (9, asked[0]), (10, asked[2])] {
        world.accepts(
            time,
            json!({"validation_response": {"agent": agent, "by": validator, "validator": validator, "request": request, "score": 5}}),
        );
    }
    let answers = [vec![8, 9], vec![], vec![10], vec![]];
    let expected: Vec<_> = (3..)
        .zip(asked)
        .zip(answers)
        .map(|((time, (agent, validator, request)), answers)| Requested {
            agent: agent.into(),
            validator: validator.into(),
            request,
            time,
            answers,
        })
        .collect();
    assert_eq!(world.records.requests, expected);
    let desk = Agent::from("desk");
    let of_desk: Vec<_> = world.records.requests_of(&desk).collect();
    let vera_and_vic = (Actor::from("vera"), Actor::from("vic"));
    let expected = [
        (&one, &vera_and_vic.0),
        (&one, &vera_and_vic.1),
        (&two, &vera_and_vic.0),
    ];
    assert_eq!(of_desk, expected);
}

/// R9, R13.
#[test]
fn the_registry_s_lists_and_keys_are_noted_as_the_model_has_them() {
    let mut world = World::new(Chain::Svm);
    let token = |listed| json!({"list_payment_token": {"by": "deployer", "token": "usd", "listed": listed}});
    let facilitator = |listed| json!({"list_facilitator": {"by": "deployer", "facilitator": "finn", "listed": listed}});
    let (usd, finn) = (Actor::from("usd"), Actor::from("finn"));
    let lists = |world: &World| {
        let of_model = (
            world.model.lists_token(&usd),
            world.model.lists_facilitator(&finn),
        );
        let noted = (
            world.records.tokens.contains(&usd),
            world.records.facilitators.contains(&finn),
        );
        assert_eq!(of_model, noted);
        noted
    };
    assert_eq!(lists(&world), (false, false));
    world.accepts(3, token(true));
    assert_eq!(lists(&world), (true, false));
    world.accepts(4, facilitator(true));
    assert_eq!(lists(&world), (true, true));
    world.accepts(5, json!({"give_feedback": {"agent": "desk", "by": "bob", "score": 9, "authorization": grant("bounded")}}));
    let payment = json!({"facilitator": "finn", "agent": "desk", "payer": "bob", "payee": "alice", "token": "usd",
        "amount": 1, "task": "one", "expiry": 99});
    world.accepts(6, json!({"attach_payment_proof": {"agent": "desk", "by": "bob", "client": "bob", "index": 1, "payment": payment}}));
    let proven = Proven {
        task: "one".to_owned(),
        payer: "bob".into(),
        agent: "desk".into(),
        client: "bob".into(),
        index: 1,
    };
    assert_eq!(world.records.payments, [proven]);
    world.accepts(7, token(false));
    world.accepts(8, facilitator(false));
    assert_eq!(lists(&world), (false, false));
    let keys = |world: &World| {
        let of_model = (
            world.model.registry_authority().clone(),
            world.model.proposed_authority().cloned(),
        );
        assert_eq!(
            (
                world.records.authority.clone(),
                world.records.proposed.clone()
            ),
            of_model
        );
        of_model
    };
    assert_eq!(keys(&world), (DEPLOYER.into(), None));
    world.accepts(
        9,
        json!({"propose_registry_authority": {"by": "deployer", "successor": "sue"}}),
    );
    assert_eq!(keys(&world), (DEPLOYER.into(), Some("sue".into())));
    world.accepts(10, json!({"accept_registry_authority": {"by": "sue"}}));
    assert_eq!(keys(&world), ("sue".into(), None));
}

/// R19.
#[test]
fn responses_are_noted_with_their_profile() {
    let mut world = World::new(Chain::Evm);
    world.accepts(3, json!({"give_feedback": {"agent": "desk", "by": "bob", "score": 9, "authorization": grant("bounded")}}));
    world.accepts(
        4,
        json!({"give_open_feedback": {"agent": "desk", "by": "bob", "value": "1"}}),
    );
    let response = json!({"agent": "desk", "by": "dana", "client": "bob", "index": 1, "uri": "u"});
    world.accepts(5, json!({ "append_open_response": response }));
    world.accepts(6, json!({ "append_response": response }));
    let appended = |profile| AppendedTo {
        profile,
        agent: "desk".into(),
        client: "bob".into(),
        index: 1,
        responder: "dana".into(),
    };
    let expected = [appended(Profile::Open), appended(Profile::Authorized)];
    assert_eq!(world.records.responses, expected);
    let [bob, carol] = ["bob", "carol"].map(Actor::from);
    let [desk, shop] = ["desk", "shop"].map(Agent::from);
    for profile in [Profile::Open, Profile::Authorized] {
        for (agent, client, index, expected) in [
            (&desk, Some(&bob), Some(1), 1),
            (&desk, Some(&bob), Some(2), 0),
            (&desk, Some(&carol), None, 0),
            (&shop, None, None, 0),
        ] {
            let count = world
                .records
                .response_count(profile, agent, client, index, &[]);
            assert_eq!(count, expected, "{profile:?} {agent} {client:?} {index:?}");
        }
    }
}

/// R3, R18: what generators ask the model.
#[test]
fn the_model_names_insiders_and_consents_that_worked() {
    let mut world = World::new(Chain::Evm);
    world.accepts(
        3,
        json!({"set_operator": {"by": "alice", "operator": "olga", "approved": true}}),
    );
    let desk = Agent::from("desk");
    for (actor, is_insider) in [("alice", true), ("olga", true), ("bob", false)] {
        assert_eq!(
            world.model.is_insider(&desk, &actor.into()),
            is_insider,
            "{actor}"
        );
    }
    assert!(!world.model.is_insider(&"ghost".into(), &"alice".into()));
    let consent = json!({"signer": "walt", "agent": "desk", "wallet": "walt", "owner": "alice", "deadline": 60});
    let told = serde_json::from_value(consent.clone()).unwrap();
    assert!(!world.model.has_used_consent(&told));
    world.accepts(4, json!({"set_agent_wallet": {"agent": "desk", "by": "alice", "wallet": "walt", "consent": consent}}));
    assert!(world.model.has_used_consent(&told));
}
