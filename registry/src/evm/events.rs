use super::{
    Address, B256, Log, RegistryAddresses,
    abi::{
        AuthorizedReputationRegistry as Authorized, Feedback, IdentityRegistry as Identity,
        ReputationRegistry as Open, ValidationRegistry as Validation,
    },
    canonical::Upgradeable,
    text,
};
use crate::event::{
    AccountId, Block, Decoded, Event, EventError, Origin, Position, Profile, RawEvent,
    TransactionId, ValidationTag,
};
use alloc::{borrow::ToOwned, vec::Vec};
use alloy_primitives::keccak256;
use alloy_sol_types::SolEvent;
use concord_canonical::limits::RESERVED_METADATA_KEY;

/// A log, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedLog {
    /// Its block.
    pub block: Block,
    /// The hash of its transaction.
    pub transaction: B256,
    /// Its index in its block, from 0.
    pub index: u64,
    /// The log.
    pub log: Log,
}

/// An event with the time that it states.
type Timed = (Event, Option<i64>);
/// `None` if the log repeats what another event says.
type Read = Result<Option<Timed>, EventError>;

fn some(event: Event) -> Option<Timed> {
    Some((event, None))
}

impl RegistryAddresses {
    /// Decodes every event of these registries in `logs`, which are in the order of the chain.
    /// `chain` is its CAIP-2 id. Logs of other contracts are passed over.
    ///
    /// These say nothing of their own and are left out: a token's mint and the owner as its first
    /// wallet (the registration says both), `FeedbackIndexed` (joined with its `NewFeedback`, R15),
    /// ERC-4906's updates and ERC-5267's change of domain.
    pub fn events(&self, chain: &str, logs: &[PlacedLog]) -> Decoded {
        let mut decoded = Decoded::default();
        let mut rest = logs;
        while let Some((placed, following)) = rest.split_first() {
            rest = following;
            let next = following
                .first()
                .filter(|next| next.transaction == placed.transaction)
                .filter(|next| next.log.address == placed.log.address)
                .map(|next| &next.log);
            let Some((reading, takes_next)) = self.read(&placed.log, next) else {
                continue;
            };
            if let Some(result) = reading.transpose() {
                decoded.push(origin(chain, placed), result, || raw(&placed.log));
            }
            if takes_next {
                rest = following.get(1..).unwrap_or_default();
            }
        }
        decoded
    }

    /// `None` for another contract's log; else what it says, and whether `next` belongs to it.
    fn read(&self, log: &Log, next: Option<&Log>) -> Option<(Read, bool)> {
        let emitter = Some(log.address);
        if emitter == Some(self.identity) {
            return Some(identity_event(log, next));
        }
        if emitter == self.authorized_reputation {
            return Some(authorized_event(log, next));
        }
        if emitter == self.open_reputation {
            return Some((open_event(log), false));
        }
        (emitter == self.validation).then(|| (validation_event(log), false))
    }
}

/// A log of any of the registries, as the first of them reads it that can.
pub(crate) fn decode_alone(topics: &[[u8; 32]], data: &[u8]) -> Result<Option<Event>, EventError> {
    let topics: Vec<B256> = topics.iter().map(B256::from).collect();
    let log = Log::new(Address::ZERO, topics, data.to_vec().into()).ok_or(EventError::Unknown)?;
    let readers: [fn(&Log) -> Read; 4] = [
        |log| identity_event(log, None).0,
        open_event,
        |log| authorized_event(log, None).0,
        validation_event,
    ];
    let read = readers.iter().find_map(|read| read(&log).ok());
    let read = read.ok_or(EventError::Unknown)?;
    Ok(read.map(|(event, _)| event))
}

fn origin(chain: &str, placed: &PlacedLog) -> Origin {
    Origin {
        chain: chain.to_owned(),
        registry: placed.log.address.into(),
        block: placed.block,
        transaction: TransactionId::Evm(placed.transaction.0),
        position: Position::Evm { log: placed.index },
    }
}

fn raw(log: &Log) -> RawEvent {
    RawEvent::Evm {
        topics: log.topics().iter().map(|topic| topic.0).collect(),
        data: log.data.data.to_vec(),
    }
}

fn identity_event(log: &Log, next: Option<&Log>) -> (Read, bool) {
    let Ok(registered) = decode::<Identity::Registered>(log) else {
        return (other_identity_event(log), false);
    };
    let repeats = next.is_some_and(|next| is_first_wallet(next, &registered));
    let event = Event::AgentRegistered {
        agent: registered.agentId.into(),
        owner: registered.owner.into(),
        uri: registered.agentURI,
    };
    (Ok(some(event)), repeats)
}

fn other_identity_event(log: &Log) -> Read {
    match topic(log) {
        Some(Identity::Transfer::SIGNATURE_HASH) => decode(log).map(transfer),
        Some(Identity::Approval::SIGNATURE_HASH) => decode(log).map(approval),
        Some(Identity::ApprovalForAll::SIGNATURE_HASH) => decode(log).map(operator),
        Some(Identity::URIUpdated::SIGNATURE_HASH) => {
            let updated: Identity::URIUpdated = decode(log)?;
            Ok(some(Event::AgentUriSet {
                agent: updated.agentId.into(),
                by: updated.updatedBy.into(),
                uri: updated.newURI,
            }))
        }
        Some(Identity::MetadataSet::SIGNATURE_HASH) => {
            let set: Identity::MetadataSet = decode(log)?;
            check_text::<Identity::MetadataSet>(set.indexedMetadataKey, &set.metadataKey)?;
            metadata(set).map(some)
        }
        Some(Identity::MetadataUpdate::SIGNATURE_HASH) => extra::<Identity::MetadataUpdate>(log),
        Some(Identity::BatchMetadataUpdate::SIGNATURE_HASH) => {
            extra::<Identity::BatchMetadataUpdate>(log)
        }
        Some(Identity::EIP712DomainChanged::SIGNATURE_HASH) => {
            extra::<Identity::EIP712DomainChanged>(log)
        }
        Some(Identity::Registered::SIGNATURE_HASH) => Err(malformed::<Identity::Registered>()),
        _ => setting(log),
    }
}

fn transfer(moved: Identity::Transfer) -> Option<Timed> {
    if moved.from == Address::ZERO {
        return None; // the registration says it
    }
    some(Event::AgentTransferred {
        agent: moved.tokenId.into(),
        from: moved.from.into(),
        to: moved.to.into(),
    })
}

fn approval(set: Identity::Approval) -> Option<Timed> {
    some(Event::ApprovalSet {
        agent: set.tokenId.into(),
        owner: set.owner.into(),
        approved: (set.approved != Address::ZERO).then(|| set.approved.into()),
    })
}

fn operator(set: Identity::ApprovalForAll) -> Option<Timed> {
    some(Event::OperatorSet {
        owner: set.owner.into(),
        operator: set.operator.into(),
        approved: set.approved,
    })
}

/// R3: the wallet is a metadata value under the reserved key.
fn metadata(set: Identity::MetadataSet) -> Result<Event, EventError> {
    let agent = set.agentId.into();
    if set.metadataKey != RESERVED_METADATA_KEY {
        return Ok(Event::MetadataSet {
            agent,
            key: set.metadataKey,
            value: set.metadataValue.into(),
        });
    }
    let value: &[u8] = &set.metadataValue;
    let wallet = match (value.is_empty(), <[u8; 20]>::try_from(value)) {
        (true, _) => None,
        (_, Ok(wallet)) => Some(AccountId::Evm(wallet)),
        (_, Err(_)) => {
            return Err(EventError::WalletLength {
                length: value.len(),
            });
        }
    };
    Ok(Event::AgentWalletSet { agent, wallet })
}

/// R2: a registration is followed by the owner as wallet, which the event says by itself.
fn is_first_wallet(log: &Log, registered: &Identity::Registered) -> bool {
    decode::<Identity::MetadataSet>(log).is_ok_and(|set| {
        set.agentId == registered.agentId
            && set.metadataKey == RESERVED_METADATA_KEY
            && set.indexedMetadataKey == keccak256(RESERVED_METADATA_KEY)
            && set.metadataValue[..] == registered.owner[..]
    })
}

fn authorized_event(log: &Log, next: Option<&Log>) -> (Read, bool) {
    match topic(log) {
        Some(Authorized::NewFeedback::SIGNATURE_HASH) => {
            let read = feedback(log, next);
            let takes_next = read.is_ok();
            (read, takes_next)
        }
        Some(Authorized::EIP712DomainChanged::SIGNATURE_HASH) => {
            (extra::<Authorized::EIP712DomainChanged>(log), false)
        }
        _ => (shared_event(log, Profile::Authorized), false),
    }
}

/// The first draft's event, and ours that follows it with index and time (R15).
fn feedback(log: &Log, next: Option<&Log>) -> Read {
    let given: Authorized::NewFeedback = decode(log)?;
    let place: Authorized::FeedbackIndexed =
        decode(next.ok_or(EventError::NotIndexed)?).map_err(|_| EventError::NotIndexed)?;
    if (given.agentId, given.clientAddress) != (place.agentId, place.clientAddress) {
        return Err(EventError::NotIndexed);
    }
    let timestamp =
        i64::try_from(place.timestamp).map_err(|_| malformed::<Authorized::FeedbackIndexed>())?;
    let event = Event::AuthorizedFeedback {
        agent: given.agentId.into(),
        client: given.clientAddress.into(),
        index: place.feedbackIndex,
        score: given.score,
        tag1: given.tag1.0,
        tag2: given.tag2.0,
        uri: given.feedbackUri,
        hash: given.feedbackHash.0,
        authorized_by: None,
    };
    Ok(Some((event, Some(timestamp))))
}

fn open_event(log: &Log) -> Read {
    if topic(log) != Some(Open::NewFeedback::SIGNATURE_HASH) {
        return shared_event(log, Profile::Open);
    }
    let given: Open::NewFeedback = decode(log)?;
    check_text::<Open::NewFeedback>(given.indexedTag1, &given.tag1)?;
    Ok(some(Event::OpenFeedback {
        agent: given.agentId.into(),
        client: given.clientAddress.into(),
        index: given.feedbackIndex,
        value: given.value,
        decimals: given.valueDecimals,
        tag1: given.tag1,
        tag2: given.tag2,
        endpoint: given.endpoint,
        uri: given.feedbackURI,
        hash: given.feedbackHash.0,
    }))
}

/// What both reputation registries report alike.
fn shared_event(log: &Log, profile: Profile) -> Read {
    match topic(log) {
        Some(Feedback::FeedbackRevoked::SIGNATURE_HASH) => {
            let revoked: Feedback::FeedbackRevoked = decode(log)?;
            Ok(some(Event::FeedbackRevoked {
                profile,
                agent: revoked.agentId.into(),
                client: revoked.clientAddress.into(),
                index: revoked.feedbackIndex,
            }))
        }
        Some(Feedback::ResponseAppended::SIGNATURE_HASH) => {
            let appended: Feedback::ResponseAppended = decode(log)?;
            Ok(some(Event::ResponseAppended {
                profile,
                agent: appended.agentId.into(),
                client: appended.clientAddress.into(),
                index: appended.feedbackIndex,
                responder: appended.responder.into(),
                uri: appended.responseURI,
                hash: appended.responseHash.0,
            }))
        }
        _ => setting(log),
    }
}

fn validation_event(log: &Log) -> Read {
    match topic(log) {
        Some(Validation::ValidationRequest::SIGNATURE_HASH) => {
            let requested: Validation::ValidationRequest = decode(log)?;
            Ok(some(Event::ValidationRequested {
                agent: requested.agentId.into(),
                validator: requested.validatorAddress.into(),
                request: requested.requestHash.0,
                uri: requested.requestURI,
                tag: None,
            }))
        }
        Some(Validation::ValidationResponse::SIGNATURE_HASH) => {
            let responded: Validation::ValidationResponse = decode(log)?;
            Ok(some(Event::ValidationResponded {
                agent: responded.agentId.into(),
                validator: responded.validatorAddress.into(),
                request: responded.requestHash.0,
                score: responded.response,
                uri: responded.responseURI,
                hash: responded.responseHash.0,
                tag: ValidationTag::Text(responded.tag),
            }))
        }
        _ => setting(log),
    }
}

/// What the canonical contracts report of their proxies.
fn setting(log: &Log) -> Read {
    let event = match topic(log) {
        Some(Upgradeable::Upgraded::SIGNATURE_HASH) => {
            let upgraded: Upgradeable::Upgraded = decode(log)?;
            Event::RegistryUpgraded {
                implementation: upgraded.implementation.into(),
            }
        }
        Some(Upgradeable::Initialized::SIGNATURE_HASH) => {
            let initialized: Upgradeable::Initialized = decode(log)?;
            Event::RegistryInitialized {
                version: initialized.version,
            }
        }
        Some(Upgradeable::OwnershipTransferred::SIGNATURE_HASH) => {
            let moved: Upgradeable::OwnershipTransferred = decode(log)?;
            Event::RegistryOwnerSet {
                from: moved.previousOwner.into(),
                to: moved.newOwner.into(),
            }
        }
        _ => return Err(EventError::Unknown),
    };
    Ok(some(event))
}

fn topic(log: &Log) -> Option<B256> {
    log.topics().first().copied()
}

/// EVM-31: an event with a text that is not UTF-8 is an event like any other (R17).
fn decode<E: SolEvent>(log: &Log) -> Result<E, EventError> {
    let with_texts = text::with_texts::<E::DataTuple<'_>>(&log.data.data);
    let data = with_texts.as_deref().unwrap_or(&log.data.data);
    E::decode_raw_log_validate(log.topics(), data).map_err(|_| malformed::<E>())
}

fn extra<E: SolEvent>(log: &Log) -> Read {
    decode::<E>(log).map(|_| None)
}

fn malformed<E: SolEvent>() -> EventError {
    EventError::Malformed {
        event: E::SIGNATURE,
    }
}

/// An indexed text is the hash of its bytes; the text itself is in the data.
fn check_text<E: SolEvent>(topic: B256, text: &str) -> Result<(), EventError> {
    if topic == keccak256(text::bytes_of(text)) {
        return Ok(());
    }
    Err(EventError::TopicMismatch {
        event: E::SIGNATURE,
    })
}
