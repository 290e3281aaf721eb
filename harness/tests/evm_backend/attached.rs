//! Registries that stand already: our own contracts, which another backend has deployed.
use super::{
    anvil,
    every_operation::check_every_operation,
    play,
    random_operations::{ACTORS, world},
};
use concord_harness::{
    backend::{
        Backend,
        evm::{AttachFault, Dialect, Endpoint, EvmAnvil, EvmNode, RegistryAddresses},
    },
    model::{Actor, Agent, Operation, Register, Revocation, ValidationRequest},
};

const CHAIN_ID: u64 = 31_337;

fn attach(anvil: &EvmAnvil, addresses: RegistryAddresses) -> Result<EvmNode, AttachFault> {
    let endpoint = Endpoint::new(anvil.ledger().url());
    EvmNode::attach(&endpoint, CHAIN_ID, addresses, Dialect::Concord)
}

#[test]
fn every_operation_on_registries_that_stand_comes_to_what_the_model_says() {
    let anvil = anvil();
    let mut attached = attach(&anvil, *anvil.addresses()).unwrap();
    assert_eq!(attached.name(), "evm-rpc");
    check_every_operation(&mut attached);
    check_every_operation(&mut attached);
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
    for seed in 1..=4 {
        let mut steps = world(seed);
        steps.retain(|(_, operation)| attached.supports(operation));
        let verdicts = play(&mut attached, &ACTORS.map(Actor::from), &steps);
        let open = ("give_open_feedback", "ok".to_owned());
        assert!(verdicts.contains_key(&open), "{verdicts:?}");
    }
}

#[test]
fn the_canonical_dialect_refuses_an_authorized_registry() {
    let anvil = anvil();
    let endpoint = Endpoint::new(anvil.ledger().url());
    let attached = EvmNode::attach(&endpoint, CHAIN_ID, *anvil.addresses(), Dialect::Canonical);
    assert!(matches!(attached, Err(AttachFault::NoAuthorizedProfile)));
}
