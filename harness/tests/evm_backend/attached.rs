//! Registries that stand already: our own contracts, which another backend has deployed.
use super::anvil;
use concord_harness::{
    backend::{
        Backend,
        evm::{AttachFault, Dialect, Endpoint, EvmAnvil, EvmNode, RegistryAddresses},
    },
    fuzz::{self, Plan, Recipe},
    model::{
        Actor, Agent, Chain, Model, Operation, Register, Revocation, ValidationRequest, Verdict,
    },
};
use std::collections::BTreeSet;

const CHAIN_ID: u64 = 31_337;

fn attach(anvil: &EvmAnvil, addresses: RegistryAddresses) -> Result<EvmNode, AttachFault> {
    let endpoint = Endpoint::new(anvil.ledger().url());
    EvmNode::attach(&endpoint, CHAIN_ID, addresses, Dialect::Concord)
}

#[test]
fn fuzzing_deployed_registries_finds_no_difference_from_the_model() {
    let anvil = anvil();
    let attached = attach(&anvil, *anvil.addresses()).unwrap();
    assert_eq!(attached.name(), "evm-rpc");
    let plan = Plan {
        seed: 8004,
        steps: 600,
        time: None,
    };
    let report = fuzz::run(plan, vec![vec![Box::new(attached)]], |_| ()).unwrap();
    assert!(report.finding.is_none(), "{:#?}", report.finding);
    let accepted = report.metrics.operations.values();
    let accepted = accepted.filter(|tally| tally.accepted > 0).count();
    assert!(accepted >= 18, "{:#?}", report.metrics);
}

fn register(agent: &str) -> Operation {
    Operation::Register(Register {
        agent: Agent::from(agent),
        by: Actor::from("alice"),
        uri: "https://bot".to_owned(),
        metadata: Vec::new(),
    })
}

#[test]
fn a_story_older_than_the_chain_takes_place_after_it() {
    let anvil = anvil();
    let mut attached = attach(&anvil, *anvil.addresses()).unwrap();
    attached.reset(0, &[Actor::from("alice")]).unwrap();
    attached.execute(&register("bot"), 7).unwrap();
    let state = attached.state().unwrap();
    assert_eq!((state.time, state.agents.len()), (7, 1));
    attached.reset(0, &[Actor::from("alice")]).unwrap();
    assert!(attached.state().unwrap().agents.is_empty());
}

#[test]
fn what_has_no_address_is_not_supported() {
    let anvil = anvil();
    let only_identity = RegistryAddresses {
        open_reputation: None,
        authorized_reputation: None,
        validation: None,
        ..*anvil.addresses()
    };
    let agent = Agent::from("bot");
    let by = Actor::from("alice");
    let revoke = Operation::RevokeFeedback(Revocation {
        agent: agent.clone(),
        by: by.clone(),
        index: 1,
    });
    let revoke_open = Operation::RevokeOpenFeedback(Revocation {
        agent: agent.clone(),
        by: by.clone(),
        index: 1,
    });
    let request = Operation::ValidationRequest(ValidationRequest {
        agent: agent.clone(),
        by: by.clone(),
        validator: None,
        request: Default::default(),
        uri: String::new(),
    });
    let mut attached = attach(&anvil, only_identity).unwrap();
    assert!(attached.supports(&register("bot")));
    for operation in [revoke, revoke_open, request] {
        assert!(anvil.supports(&operation));
        assert!(!attached.supports(&operation), "{}", operation.name());
        assert!(attached.execute(&operation, 1).is_err());
    }
    attached.reset(0, &[by]).unwrap();
    attached.execute(&register("bot"), 1).unwrap();
    let state = attached.agent_state(&agent).unwrap().unwrap();
    assert_eq!(state.uri, "https://bot");
}

#[test]
fn a_registry_that_is_not_what_it_is_said_to_be_is_named() {
    let anvil = anvil();
    let ours = *anvil.addresses();
    let nowhere = "0x00000000000000000000000000000000000000ff"
        .parse()
        .unwrap();
    let words = |addresses| attach(&anvil, addresses).err().unwrap().to_string();
    let with = |identity| RegistryAddresses { identity, ..ours };
    assert_eq!(
        words(with(nowhere)),
        format!("no contract at {nowhere}, where the identity registry should be")
    );
    let validation = RegistryAddresses {
        validation: Some(nowhere),
        ..ours
    };
    assert_eq!(
        words(validation),
        format!("no contract at {nowhere}, where the validation registry should be")
    );
    let unbound = RegistryAddresses {
        validation: Some(ours.identity),
        ..ours
    };
    assert_eq!(
        words(unbound),
        format!(
            "the validation registry at {} does not say its identity registry",
            ours.identity
        )
    );
    let elsewhere = words(with(ours.open_reputation.unwrap()));
    let ending = format!(
        "is about the identity registry {}, not {}",
        ours.identity,
        ours.open_reputation.unwrap()
    );
    assert!(elsewhere.ends_with(&ending), "{elsewhere}");
}

#[test]
fn what_the_canonical_contracts_do_not_show_is_made_of_what_they_do() {
    // Through the views alone that the canonical contracts have; ours have them too.
    let anvil = anvil();
    let canonical = RegistryAddresses {
        authorized_reputation: None,
        ..*anvil.addresses()
    };
    let endpoint = Endpoint::new(anvil.ledger().url());
    let mut attached = EvmNode::attach(&endpoint, CHAIN_ID, canonical, Dialect::Canonical).unwrap();
    for world in 0..4 {
        check_world(&mut attached, world);
    }
}

/// Plays a fuzzer's world without the operations that the registries lack.
fn check_world(attached: &mut EvmNode, world: u64) {
    let actors: Vec<_> = fuzz::ACTORS
        .iter()
        .map(|actor| Actor::from(*actor))
        .collect();
    attached.reset(fuzz::START, &actors).unwrap();
    let (mut model, mut time) = (Model::new(Chain::Evm), 0);
    let mut accepted = BTreeSet::new();
    for step in Recipe::fresh(8004, world, fuzz::WORLD_STEPS).steps() {
        let operation = &step.operation;
        time += if operation.is_read() { 0 } else { step.wait };
        if !attached.supports(operation) {
            continue;
        }
        let expected = model.apply(operation, time);
        let observed = attached.execute(operation, time).unwrap();
        assert_eq!(
            observed.outcome, expected,
            "world {world} at {time}: {operation:?}"
        );
        assert_eq!(observed.cost.is_none(), operation.is_read());
        accepted.extend((expected.verdict == Verdict::Ok).then(|| operation.name()));
    }
    assert_eq!(&attached.state().unwrap(), model.state());
    assert!(accepted.contains("give_open_feedback"), "{accepted:?}");
}

#[test]
fn the_canonical_dialect_refuses_an_authorized_registry() {
    let anvil = anvil();
    let endpoint = Endpoint::new(anvil.ledger().url());
    let attached = EvmNode::attach(&endpoint, CHAIN_ID, *anvil.addresses(), Dialect::Canonical);
    assert!(matches!(attached, Err(AttachFault::NoAuthorizedProfile)));
}
