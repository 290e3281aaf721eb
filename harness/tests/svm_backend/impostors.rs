//! Accounts that are not what they seem: in every place of every instruction, and gone after each trial.
use crate::svm_backend::world::{World, read};
use concord_canonical::ErrorClass;
use concord_harness::{
    backend::{
        Backend,
        impostor::{Impostor, Trial},
    },
    model::{Operation, Verdict},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// Of the program's instructions, those that no operation is: a deployment has it once, and a form of another one.
const OF_NO_OPERATION: [&str; 2] = ["initialize", "open_summary_part"];
/// Enough for each place of one instruction and each kind.
const DRAWS: u64 = 600;

/// What the interface description says of each instruction's accounts.
fn described() -> BTreeMap<String, BTreeSet<String>> {
    let file = "../programs/agent-registry/idl/agent_registry.json";
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let idl: Value = serde_json::from_str(&text).unwrap();
    let name = |it: &Value| it["name"].as_str().unwrap().to_owned();
    let instructions = idl["instructions"].as_array().unwrap().iter();
    let all = instructions.map(|it| {
        let accounts = it["accounts"].as_array().unwrap();
        (name(it), accounts.iter().map(name).collect())
    });
    all.filter(|(name, _)| !OF_NO_OPERATION.contains(&&**name))
        .collect()
}

#[test]
fn impostors_take_every_place_of_the_interface_description() {
    // §3b
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for impostor in World::new().backend.impostors() {
        if let Impostor::Place {
            instruction,
            account,
        } = impostor
        {
            let accounts = places.entry(instruction.to_owned()).or_default();
            accounts.insert(account.to_owned());
        }
    }
    let transfer = places.remove("token_2022_transfer").unwrap();
    assert_eq!(transfer, places["transfer_hook"]);
    let summary = places.get_mut("open_summary").unwrap();
    assert!(summary.remove("remaining_accounts"));
    assert_eq!(places, described());
}

/// Every trial of an operation that a registry accepts.
fn trials(world: &mut World, operation: &Operation) -> Vec<Trial> {
    let time = world.time + 1;
    let tried = (0..DRAWS).map(|draw| world.backend.try_impostor(operation, time, draw));
    tried.filter_map(|it| it.unwrap()).collect()
}

#[test]
fn r4_no_impostor_gets_an_agent_and_each_trial_is_taken_back() {
    let mut world = World::with_agent();
    world.accepts(json!({"register": {"agent": "other", "by": "bob", "uri": ""}}));
    let sold = read(json!({"transfer": {"agent": "bot", "by": "alice", "to": "carol"}}));
    let before = world.backend.agent_state(&"bot".into()).unwrap();
    let mut seen = BTreeSet::new();
    for trial in trials(&mut world, &sold) {
        seen.extend(trial.impostors.iter().copied());
        let Verdict::Refused(class) = trial.observed.outcome.verdict else {
            panic!("{trial:#?}");
        };
        assert!(trial.refusals.contains(&class), "{trial:#?}");
        let after = BTreeMap::from([("bot".into(), before.clone())]);
        assert_eq!(trial.states.unwrap(), after);
        world.check_state();
    }
    let is_of = |name: &'static str| move |it: &Impostor| matches!(it, Impostor::Place { instruction, .. } if *instruction == name);
    assert_eq!(
        seen.iter().filter(|it| is_of("transfer_hook")(it)).count(),
        8
    );
    assert_eq!(
        seen.iter()
            .filter(|it| is_of("token_2022_transfer")(it))
            .count(),
        8
    );
    let all = world.backend.impostors();
    let kinds = all.iter().filter(|it| matches!(it, Impostor::Kind(_)));
    let missed: Vec<_> = kinds.filter(|it| !seen.contains(it)).collect();
    assert!(missed.is_empty(), "{missed:?}");
    world.accepts(json!({"transfer": {"agent": "bot", "by": "alice", "to": "carol"}}));
}

#[test]
fn r12_r19_whoever_signs_may_respond_and_pay() {
    let mut world = World::with_agent();
    world.accepts(json!({"give_open_feedback": {"agent": "bot", "by": "bob", "value": "1"}}));
    let response = read(json!({"append_open_response": {
        "agent": "bot", "by": "carol", "client": "bob", "index": 1, "uri": "ipfs://thanks",
    }}));
    let metadata = read(json!({"set_metadata": {
        "agent": "bot", "by": "alice", "key": "name", "value": "0x01",
    }}));
    for (operation, account) in [(response, "responder"), (metadata, "payer")] {
        let of = |trial: &&Trial| {
            let mut places = trial.impostors.iter();
            places.any(|it| matches!(it, Impostor::Place { account: it, .. } if *it == account))
        };
        let trials = trials(&mut world, &operation);
        let own: Vec<_> = trials.iter().filter(of).collect();
        let verdicts: BTreeSet<_> = own
            .iter()
            .map(|it| it.observed.outcome.verdict.to_string())
            .collect();
        assert!(own.iter().all(|it| it.may_do_as_well), "{account}");
        assert!(verdicts.contains("ok"), "{account}: {verdicts:?}");
        let unsigned = ErrorClass::SignatureMissing.name();
        assert!(verdicts.contains(unsigned), "{account}: {verdicts:?}");
        let others = trials
            .iter()
            .filter(|it| !own.iter().any(|own| std::ptr::eq(*own, *it)));
        for trial in others {
            assert_ne!(trial.observed.outcome.verdict, Verdict::Ok, "{trial:#?}");
        }
    }
}
