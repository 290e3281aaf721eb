//! R45, R46: contracts' state against their events.
use crate::{
    chain::Chain,
    changed::{Changed, withholding},
    faulty::{Fault, Faulty},
    proxy::Between,
};
use alloy::{
    primitives::{Address, Bytes, U256},
    sol_types::SolValue,
};
use concord_chain::evm::Node;
use concord_index::{
    Contracts, Deployment, Indexer, Options,
    query::Gap,
    source::{Source, evm::EvmSource},
    state::Field,
    store::{Sqlite, Store},
    table::ClientKey,
};
use concord_registry::{
    Event,
    event::{AccountId, AgentId, Profile},
    evm::{RegistryAddresses, calls},
};

fn indexer<S: Source>(chain: &Chain, deployment: &Deployment, source: S) -> Indexer<S, Sqlite> {
    let store = Store::open(Sqlite::in_memory().unwrap()).unwrap();
    let mut indexer = Indexer::new(source, store, deployment, Options::default()).unwrap();
    chain.blocking.wait(indexer.catch_up(|_| ())).unwrap();
    indexer
}

fn compare<S: Source>(chain: &Chain, indexer: &mut Indexer<S, Sqlite>) {
    while chain.blocking.wait(indexer.compare_state()).unwrap() > 0 {}
    let id = indexer.deployment();
    let digest = indexer.store().digest(id).unwrap();
    assert_eq!(indexer.store().rebuild_digest(id).unwrap(), digest); // R45
    assert_eq!(indexer.store().unread_count(id).unwrap(), 0);
}

/// A contract that registers an agent and gives it away from within the registration: the events of the canonical
/// contract end with an owner and a payment wallet that its state does not have.
#[test]
fn r45_the_canonical_contracts_wallet_is_what_its_state_says() {
    let chain = Chain::start();
    let (name, empty) = ("CanonicalIdentity", Bytes::new());
    let identity = chain.create(name, "CanonicalIdentity", &empty);
    let open = chain.create(
        "ReputationRegistry",
        "ReputationRegistry",
        &identity.abi_encode().into(),
    );
    let next = Address::from([0x77; 20]);
    let arguments = (identity, next).abi_encode_params();
    let registrant = chain.create(name, "ForwardingRegistrant", &arguments.into());
    let register = calls::register("ipfs://given-away", &[]);
    chain.send(1, identity, register.clone()); // an agent whose events say what is so
    chain.send(1, registrant, register);
    let deployment = Deployment {
        contracts: Contracts::Evm(RegistryAddresses::open(identity, open)),
        ..chain.deployment()
    };
    let Contracts::Evm(registries) = deployment.contracts else {
        unreachable!()
    };
    let source = EvmSource::new(chain.node.clone(), deployment.chain.clone(), registries);
    let mut indexer = indexer(&chain, &deployment, source);
    let id = indexer.deployment();
    let agent = AgentId::from(U256::from(1));
    let by_events = indexer.store().agent(id, agent).unwrap().unwrap();
    let said = Some(AccountId::from(registrant));
    assert_eq!((by_events.owner, by_events.wallet), (said, said));
    compare(&chain, &mut indexer);
    let row = indexer.store().agent(id, agent).unwrap().unwrap();
    assert_eq!((row.owner, row.wallet), (Some(next.into()), None));
    let found = indexer.store().differences(id, 9).unwrap();
    let found: Vec<_> = (found.iter())
        .map(|it| (it.agent, it.field, it.events.clone(), it.state.clone()))
        .collect();
    let (registrant, next) = (AccountId::from(registrant), AccountId::from(next));
    let expected = [
        (agent, Field::Wallet, registrant.to_string(), String::new()),
        (
            agent,
            Field::Owner,
            registrant.to_string(),
            next.to_string(),
        ),
    ];
    assert_eq!(found, expected);
    // No event is missing: the events are what they are.
    assert!(indexer.store().completeness(id).unwrap().is_complete());
}

/// Whoever makes an agent's list of clients too long for a call ends nothing: the others are compared, and so is the agent.
#[test]
fn r45_a_list_of_clients_that_costs_too_much_says_nothing() {
    let mut chain = Chain::start();
    chain.act(24);
    let deployment = chain.deployment();
    let faulty = Faulty::new(chain.url(), Fault::OutOfGas);
    let node = Node::at(faulty.endpoint("faulty"));
    let source = EvmSource::new(node, deployment.chain.clone(), chain.registries());
    let mut indexer = indexer(&chain, &deployment, source);
    compare(&chain, &mut indexer);
    assert!(faulty.faults() > 0);
    let id = indexer.deployment();
    assert_eq!(indexer.store().differences(id, 9).unwrap(), []);
}

#[test]
fn r45_r46_on_anvil_what_an_endpoint_withholds_shows_in_the_state() {
    let mut chain = Chain::start();
    chain.act(24);
    let identity = chain.registries().identity;
    chain.send(0, identity, calls::unset_agent_wallet(U256::from(1)));
    let deployment = chain.deployment();
    let endpoint = Node::at(chain.node.endpoint().clone());
    let source = EvmSource::new(endpoint, deployment.chain.clone(), chain.registries());
    let mut whole = indexer(&chain, &deployment, source);
    compare(&chain, &mut whole);
    let id = whole.deployment();
    assert_eq!(whole.store().differences(id, 9).unwrap(), []);
    let clients = whole
        .store()
        .clients(id, Profile::Open, AgentId::from(U256::from(2)));
    let (key, row) = clients.unwrap()[0];
    // The last feedback of a client, with all about it, and that an agent has no wallet.
    let last = row.last_index;
    let withheld = move |event: &Event| match event {
        Event::AgentWalletSet { wallet, .. } => wallet.is_none(),
        Event::OpenFeedback {
            agent,
            client,
            index,
            ..
        }
        | Event::FeedbackRevoked {
            agent,
            client,
            index,
            ..
        }
        | Event::ResponseAppended {
            agent,
            client,
            index,
            ..
        } => (*agent, *client, *index) == (key.agent, key.client, last),
        _ => false,
    };
    let source = Changed {
        source: EvmSource::new(
            chain.node.clone(),
            deployment.chain.clone(),
            chain.registries(),
        ),
        change: withholding(move |it| withheld(&it.event)),
    };
    let mut lacking = indexer(&chain, &deployment, source);
    assert!(lacking.store().completeness(id).unwrap().is_complete());
    compare(&chain, &mut lacking);
    let of = |field| move |it: &&concord_index::state::Difference| it.field == field;
    let found = lacking.store().differences(id, 9).unwrap();
    let wallet = found.iter().find(of(Field::Wallet)).unwrap();
    assert_eq!(
        (wallet.agent, &*wallet.state),
        (AgentId::from(U256::from(1)), "")
    );
    let row = lacking.store().agent(id, wallet.agent).unwrap().unwrap();
    assert_eq!(row.wallet, None);
    let tail = if last == 1 {
        Field::Clients(Profile::Open)
    } else {
        Field::LastIndex(Profile::Open, key.client)
    };
    assert!(
        found
            .iter()
            .any(|it| it.field == tail && it.agent == key.agent),
        "{found:?}"
    );
    if last > 1 {
        let (profile, agent, client) = (Profile::Open, key.agent, key.client);
        let client = ClientKey {
            profile,
            agent,
            client,
        };
        let gap = Gap {
            client,
            first: last,
            last,
        };
        assert_eq!(lacking.store().gaps(id, key.agent).unwrap(), [gap]);
    }
    assert!(!lacking.store().completeness(id).unwrap().is_complete());
    lacking.source().change = withholding(|_| false);
    assert!(chain.blocking.wait(lacking.repair()).unwrap() > 0);
    compare(&chain, &mut lacking);
    assert!(lacking.store().completeness(id).unwrap().is_complete());
}
