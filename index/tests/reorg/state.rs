//! R45, R46: contracts' state against their events.
use crate::reorg::{
    chain::Chain,
    faulty::{Fault, Faulty},
};
use crate::worlds::changed::{Changed, withholding};
use crate::worlds::proxy::Between;
use alloy::{
    primitives::{Address, Bytes, U256},
    sol,
    sol_types::{SolCall, SolValue},
};
use concord_chain::evm::Node;
use concord_index::{
    Contracts, Deployment, Indexer, Options,
    binding::{Binding, BoundToken, Doubt, TokenStandard},
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

/// The registries of others, indexed up to the newest block, with the state compared.
fn index_of(
    chain: &Chain,
    identity: Address,
) -> (
    Indexer<EvmSource, Sqlite>,
    concord_index::store::DeploymentId,
) {
    let registries = RegistryAddresses {
        identity,
        open_reputation: None,
        authorized_reputation: None,
        validation: None,
    };
    let deployment = Deployment {
        contracts: Contracts::Evm(registries),
        ..chain.deployment()
    };
    let source = EvmSource::new(chain.node.clone(), deployment.chain.clone(), registries);
    let mut indexer = indexer(chain, &deployment, source);
    compare(chain, &mut indexer);
    let id = indexer.deployment();
    (indexer, id)
}

sol! {
    function setReverseLookup(uint256 agentId, string metadataKey, bytes metadataValue) external;
    function register(string uri, uint8 standard, address tokenContract, uint256 tokenId) external;
    function bind(uint256 agentId, uint8 standard, address tokenContract, uint256 tokenId) external;
    function give(uint256 agentId, address to) external;
}

/// A version that is being prepared reports the wallet before the registration, and anyone can make it report what this
/// version does not know. One more event is in every registration of the second contract.
#[test]
fn r45_r46_a_later_version_of_the_canonical_registry_is_indexed_whole() {
    for (contract, greetings) in [
        ("CanonicalIdentityNext", 0),
        ("CanonicalIdentityUnheardOf", 4),
    ] {
        let chain = Chain::start();
        let identity = chain.create("CanonicalIdentity", contract, &Bytes::new());
        chain.send(1, identity, calls::register("ipfs://one", &[("key", b"v")]));
        chain.send(1, identity, calls::register("ipfs://refused", &[])); // its wallet is taken
        chain.send(2, identity, calls::register("ipfs://two", &[]));
        chain.send(3, identity, calls::set_metadata(U256::from(0), "key", b"w")); // not its owner
        let listed = setReverseLookupCall {
            agentId: U256::from(0),
            metadataKey: "key".to_owned(),
            metadataValue: b"v".into(),
        };
        for _ in 0..2 {
            chain.send(3, identity, listed.abi_encode().into());
        }
        chain.send(2, identity, calls::unset_agent_wallet(U256::from(1)));
        let (mut indexer, id) = index_of(&chain, identity);
        let mut store = indexer.store();
        let found = store.completeness(id).unwrap();
        assert!(found.is_complete(), "{found:?}");
        assert_eq!((found.undecoded, found.unknown), (0, 2 + greetings));
        assert_eq!(store.differences(id, 9).unwrap(), []);
        let accounts = chain.ask("eth_accounts", serde_json::json!([]));
        let account = |at: usize| -> AccountId {
            let address: Address = accounts[at].as_str().unwrap().parse().unwrap();
            address.into()
        };
        let agents: Vec<_> = [0, 1]
            .map(|it| AgentId::from(U256::from(it)))
            .map(|it| store.agent(id, it).unwrap().unwrap())
            .into_iter()
            .map(|it| (it.owner, it.wallet, it.uri))
            .collect();
        let expected = [
            (Some(account(1)), Some(account(1)), "ipfs://one".to_owned()),
            (Some(account(2)), None, "ipfs://two".to_owned()),
        ];
        assert_eq!(agents, expected);
        assert_eq!(store.agent_count(id).unwrap(), 2);
    }
}

/// ERC-8217, with binding contracts on anvil.
#[test]
fn a_binding_is_proven_by_the_chain_alone() {
    let chain = Chain::start();
    let identity = chain.registries().identity;
    let bindings = || {
        let argument = identity.abi_encode().into();
        chain.create("AgentBindings", "AgentBindings", &argument)
    };
    let (contract, other, token) = (bindings(), bindings(), Address::from([0x99; 20]));
    let declare = |agent: u64, value: &[u8]| {
        let call = calls::set_metadata(U256::from(agent), "agent-binding", value);
        chain.send(0, identity, call);
    };
    let bound = |agent: u64| bindCall {
        agentId: U256::from(agent),
        standard: 1,
        tokenContract: token,
        tokenId: U256::from(5),
    };
    // Agents 1 to 3 are account 0's. 1 names a contract that confirms it, 2 an account without code, 3 no address.
    declare(1, contract.as_slice());
    chain.send(0, contract, bound(1).abi_encode().into());
    declare(2, &[0x44; 20]);
    declare(3, &contract[..19]);
    // Agents 4 and 5 are the contract's. Of 5 it forgets the token.
    let register = |uri: &str| registerCall {
        uri: uri.to_owned(),
        standard: 2,
        tokenContract: token,
        tokenId: U256::from(7),
    };
    for uri in ["ipfs://four", "ipfs://five"] {
        chain.send(1, contract, register(uri).abi_encode().into());
    }
    let nothing = bindCall {
        tokenContract: Address::ZERO,
        ..bound(5)
    };
    chain.send(1, contract, nothing.abi_encode().into());
    // Agent 6 is the other contract's, and was given to the first one: its metadata name the one before.
    chain.send(1, other, register("ipfs://six").abi_encode().into());
    let given = giveCall {
        agentId: U256::from(6),
        to: contract,
    };
    chain.send(1, other, given.abi_encode().into());
    chain.send(1, contract, bound(6).abi_encode().into());

    let (mut indexer, id) = index_of(&chain, identity);
    let found = |indexer: &mut Indexer<EvmSource, Sqlite>, number: u64| {
        let agent = AgentId::from(U256::from(number));
        let mut store = indexer.store();
        let row = store.agent(id, agent).unwrap().unwrap();
        store.binding(id, agent, &row).unwrap().unwrap()
    };
    let doubts = [1, 2, 3, 4, 5, 6].map(|it| found(&mut indexer, it).doubt);
    let expected = [
        Some(Doubt::NotTheOwner),
        Some(Doubt::NotTheOwner),
        Some(Doubt::NotAnAddress),
        None,
        Some(Doubt::NotConfirmed),
        Some(Doubt::NotTheOwner),
    ];
    assert_eq!(doubts, expected);
    let token = |number, id| BoundToken {
        standard: TokenStandard::of(number).unwrap(),
        contract: [0x99; 20],
        id: U256::from(id).to_be_bytes(),
    };
    let read = |it: Binding| it.read.and_then(|it| it.token);
    assert_eq!(read(found(&mut indexer, 4)), Some(token(2, 7)));
    assert_eq!(read(found(&mut indexer, 1)), Some(token(1, 5)));
    assert_eq!(read(found(&mut indexer, 2)), None);

    // Agent 4 is given away, and agent 1 comes to its contract.
    let given = giveCall {
        agentId: U256::from(4),
        to: other,
    };
    chain.send(1, contract, given.abi_encode().into());
    let accounts = chain.ask("eth_accounts", serde_json::json!([]));
    let owner: Address = accounts[0].as_str().unwrap().parse().unwrap();
    let moved = calls::transfer(U256::from(1), owner, contract);
    chain.send(0, identity, moved);
    chain.blocking.wait(indexer.catch_up(|_| ())).unwrap();
    compare(&chain, &mut indexer);
    let doubts = [1, 4].map(|it| found(&mut indexer, it).doubt);
    assert_eq!(doubts, [None, Some(Doubt::NotTheOwner)]);
}
