//! Registries whose events refer to files.
use concord_chain::ChainId;
use concord_index::{
    Contracts, Deployment, Place,
    batch::{Batch, Header, IndexedEvent},
    store::{DeploymentId, Engine, Store},
};
use concord_registry::{
    Event,
    event::{AccountId, AgentId, Position, TransactionId},
    evm::RegistryAddresses,
};

pub fn deployment(chain: &str, identity: [u8; 20]) -> Deployment {
    Deployment {
        chain: ChainId::parse(chain).unwrap(),
        contracts: Contracts::Evm(RegistryAddresses::open(identity.into(), [2; 20].into())),
        start: 1,
    }
}

pub fn agent(number: u64) -> AgentId {
    let mut word = [0; 32];
    word[24..].copy_from_slice(&number.to_be_bytes());
    AgentId::Evm(word)
}

pub fn registered(number: u64, owner: AccountId, uri: &str) -> Event {
    Event::AgentRegistered {
        agent: agent(number),
        owner,
        uri: uri.to_owned(),
    }
}

pub fn header(number: u64) -> Header {
    Header {
        number,
        hash: [1; 32],
        parent: [0; 32],
        time: 1_800_000_000 + number.cast_signed(),
    }
}

/// Commits a block.
pub fn commit<E: Engine>(store: &mut Store<E>, id: DeploymentId, number: u64, events: Vec<Event>) {
    append(store, id, number, events);
    sound(store, id);
}

/// Commits a block, of which a rebuild would take long.
pub fn append<E: Engine>(store: &mut Store<E>, id: DeploymentId, number: u64, events: Vec<Event>) {
    let events = (0..).zip(events).map(|(log, event)| IndexedEvent {
        place: Place::new(number, 0, Position::Evm { log }),
        registry: AccountId::Evm([2; 20]),
        transaction: TransactionId::Evm([6; 32]),
        time: header(number).time,
        event,
    });
    let batch = Batch {
        through: header(number),
        parent: None,
        headers: vec![header(number)],
        events: events.collect(),
        undecoded: vec![],
        suspects: Vec::new(),
    };
    store.commit(id, &batch, None, 64).unwrap();
}

/// R45: what is stored is what a rebuild stores, with the same files.
pub fn sound<E: Engine>(store: &mut Store<E>, id: DeploymentId) {
    let digests = (store.digest(id).unwrap(), store.file_digest(id).unwrap());
    let expected = (
        store.rebuild_digest(id).unwrap(),
        store.derived_digest(id).unwrap(),
    );
    assert_eq!(digests, expected);
    store.rebuild(id).unwrap();
    let rebuilt = (store.digest(id).unwrap(), store.file_digest(id).unwrap());
    assert_eq!(rebuilt, expected);
}
