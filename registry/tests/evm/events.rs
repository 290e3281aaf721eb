use alloy_primitives::LogData;
use alloy_sol_types::SolEvent;
use concord_registry::canonical::hash::keccak256;
use concord_registry::event::{
    AccountId, AgentId, Block, Decoded, Event, EventError, Position, Profile, RawEvent,
    TransactionId, ValidationTag,
};
use concord_registry::evm::{
    Address, B256, Log, PlacedLog, RegistryAddresses, U256,
    abi::{
        AuthorizedReputationRegistry as Authorized, Feedback, IdentityRegistry as Identity,
        ReputationRegistry as Open, ValidationRegistry as Validation,
    },
    canonical::Upgradeable,
};

const IDENTITY: Address = Address::repeat_byte(1);
const OPEN: Address = Address::repeat_byte(2);
const AUTHORIZED: Address = Address::repeat_byte(3);
const VALIDATION: Address = Address::repeat_byte(4);
const OWNER: Address = Address::repeat_byte(9);
const CLIENT: Address = Address::repeat_byte(10);
const AGENT: U256 = U256::from_limbs([7, 0, 0, 0]);

const REGISTRIES: RegistryAddresses = RegistryAddresses {
    identity: IDENTITY,
    open_reputation: Some(OPEN),
    authorized_reputation: Some(AUTHORIZED),
    validation: Some(VALIDATION),
};

fn agent() -> AgentId {
    AGENT.into()
}

fn emitted(emitter: Address, event: &impl SolEvent) -> Log {
    Log {
        address: emitter,
        data: event.encode_log_data(),
    }
}

/// Logs of one transaction, from index 20 on.
fn read(logs: &[Log]) -> Decoded {
    let placed: Vec<_> = (20..)
        .zip(logs)
        .map(|(index, log)| placed(5, index, log.clone()))
        .collect();
    REGISTRIES.events("eip155:31337", &placed)
}

fn placed(transaction: u8, index: u64, log: Log) -> PlacedLog {
    PlacedLog {
        block: Block {
            number: 3,
            hash: Some([4; 32]),
        },
        transaction: B256::repeat_byte(transaction),
        index,
        log,
    }
}

fn events(logs: &[Log]) -> Vec<Event> {
    let decoded = read(logs);
    assert_eq!(decoded.undecoded, []);
    decoded.events.into_iter().map(|it| it.event).collect()
}

#[track_caller]
fn assert_reads(emitter: Address, log: &impl SolEvent, event: Event) {
    assert_eq!(events(&[emitted(emitter, log)]), [event]);
}

fn refused(logs: &[Log]) -> Vec<EventError> {
    let undecoded = read(logs).undecoded;
    undecoded.into_iter().map(|it| it.reason).collect()
}

#[test]
fn events_of_identity() {
    let updated = Identity::URIUpdated {
        agentId: AGENT,
        newURI: "ipfs://b".to_owned(),
        updatedBy: OWNER,
    };
    let event = Event::AgentUriSet {
        agent: agent(),
        by: OWNER.into(),
        uri: "ipfs://b".to_owned(),
    };
    assert_reads(IDENTITY, &updated, event);
    let moved = Identity::Transfer {
        from: OWNER,
        to: CLIENT,
        tokenId: AGENT,
    };
    let event = Event::AgentTransferred {
        agent: agent(),
        from: OWNER.into(),
        to: CLIENT.into(),
    };
    assert_reads(IDENTITY, &moved, event);
    for (address, approved) in [(CLIENT, Some(CLIENT.into())), (Address::ZERO, None)] {
        let set = Identity::Approval {
            owner: OWNER,
            approved: address,
            tokenId: AGENT,
        };
        let event = Event::ApprovalSet {
            agent: agent(),
            owner: OWNER.into(),
            approved,
        };
        assert_reads(IDENTITY, &set, event);
    }
    let set = Identity::ApprovalForAll {
        owner: OWNER,
        operator: CLIENT,
        approved: false,
    };
    let event = Event::OperatorSet {
        owner: OWNER.into(),
        operator: CLIENT.into(),
        approved: false,
    };
    assert_reads(IDENTITY, &set, event);
    let event = Event::MetadataSet {
        agent: agent(),
        key: "name".to_owned(),
        value: vec![1, 2],
    };
    assert_reads(IDENTITY, &metadata("name", &[1, 2]), event);
}

#[test]
fn an_event_names_the_agent_that_it_is_about() {
    let cleared = Event::MetadataSet {
        agent: agent(),
        key: "name".to_owned(),
        value: Vec::new(),
    };
    assert_eq!(cleared.agent(), Some(agent()));
    let operator = Event::OperatorSet {
        owner: OWNER.into(),
        operator: CLIENT.into(),
        approved: true,
    };
    assert_eq!(operator.agent(), None);
}

fn metadata(key: &str, value: &[u8]) -> Identity::MetadataSet {
    Identity::MetadataSet {
        agentId: AGENT,
        indexedMetadataKey: keccak256(key.as_bytes()).into(),
        metadataKey: key.to_owned(),
        metadataValue: value.to_vec().into(),
    }
}

#[test]
fn r3_the_wallet_is_a_metadata_value() {
    let wallet_set = |wallet| Event::AgentWalletSet {
        agent: agent(),
        wallet,
    };
    let key = "agentWallet";
    let some = Some(AccountId::from(CLIENT));
    assert_reads(
        IDENTITY,
        &metadata(key, CLIENT.as_slice()),
        wallet_set(some),
    );
    assert_reads(IDENTITY, &metadata(key, &[]), wallet_set(None));
    let log = emitted(IDENTITY, &metadata(key, &[1; 21]));
    assert_eq!(refused(&[log]), [EventError::WalletLength { length: 21 }]);
}

fn registered() -> Log {
    let registered = Identity::Registered {
        agentId: AGENT,
        agentURI: "ipfs://a".to_owned(),
        owner: OWNER,
    };
    emitted(IDENTITY, &registered)
}

#[test]
fn r2_a_registration_is_one_event() {
    let mint = Identity::Transfer {
        from: Address::ZERO,
        to: OWNER,
        tokenId: AGENT,
    };
    let update = Identity::MetadataUpdate { tokenId: AGENT };
    let logs = [
        emitted(IDENTITY, &mint),
        emitted(IDENTITY, &update),
        registered(),
        emitted(IDENTITY, &metadata("agentWallet", OWNER.as_slice())),
        emitted(IDENTITY, &metadata("name", &[1])),
    ];
    let decoded = read(&logs);
    assert_eq!(
        decoded.events[0].event,
        Event::AgentRegistered {
            agent: agent(),
            owner: OWNER.into(),
            uri: "ipfs://a".to_owned(),
        }
    );
    let positions: Vec<_> = decoded.events.iter().map(|it| it.origin.position).collect();
    assert_eq!(
        positions,
        [Position::Evm { log: 22 }, Position::Evm { log: 24 }]
    );
    let origin = &decoded.events[0].origin;
    assert_eq!(origin.chain, "eip155:31337");
    assert_eq!(origin.registry, AccountId::from(IDENTITY));
    assert_eq!(origin.transaction, TransactionId::Evm([5; 32]));
    assert_eq!((origin.block.number, origin.block.hash), (3, Some([4; 32])));
}

#[test]
fn only_the_owner_as_first_wallet_is_left_out_of_a_registration() {
    let wallet = |agent: u64, wallet: Address| {
        let mut set = metadata("agentWallet", wallet.as_slice());
        set.agentId = U256::from(agent);
        emitted(IDENTITY, &set)
    };
    let count = |wallets: &[Log]| events(&[&[registered()], wallets].concat()).len();
    assert_eq!(count(&[wallet(7, OWNER)]), 1);
    assert_eq!(count(&[wallet(7, CLIENT)]), 2);
    assert_eq!(count(&[wallet(8, OWNER)]), 2);
    assert_eq!(count(&[wallet(7, OWNER), wallet(7, OWNER)]), 2);
    // in another transaction
    let logs = [placed(5, 1, registered()), placed(6, 2, wallet(7, OWNER))];
    assert_eq!(REGISTRIES.events("eip155:1", &logs).events.len(), 2);
}

fn given() -> Authorized::NewFeedback {
    Authorized::NewFeedback {
        agentId: AGENT,
        clientAddress: CLIENT,
        score: 87,
        tag1: [4; 32].into(),
        tag2: [5; 32].into(),
        feedbackUri: "ipfs://f".to_owned(),
        feedbackHash: [6; 32].into(),
    }
}

fn indexed(agent: u64, timestamp: U256) -> Authorized::FeedbackIndexed {
    Authorized::FeedbackIndexed {
        agentId: U256::from(agent),
        clientAddress: CLIENT,
        feedbackIndex: 3,
        timestamp,
    }
}

#[test]
fn r15_authorized_feedback_is_two_logs() {
    let logs = [
        emitted(AUTHORIZED, &given()),
        emitted(AUTHORIZED, &indexed(7, U256::from(1_700_000_000))),
    ];
    let decoded = read(&logs);
    let [emitted] = &decoded.events[..] else {
        panic!("{decoded:?}");
    };
    assert_eq!(emitted.timestamp, Some(1_700_000_000));
    assert_eq!(
        emitted.event,
        Event::AuthorizedFeedback {
            agent: agent(),
            client: CLIENT.into(),
            index: 3,
            score: 87,
            tag1: [4; 32],
            tag2: [5; 32],
            uri: "ipfs://f".to_owned(),
            hash: [6; 32],
            authorized_by: None,
        }
    );
}

#[test]
fn r15_feedback_without_its_index_is_kept_raw() {
    let feedback = emitted(AUTHORIZED, &given());
    let now = U256::from(5);
    let of_another_agent = emitted(AUTHORIZED, &indexed(8, now));
    let of_another_registry = emitted(OPEN, &indexed(7, now));
    let unheard_of = EventError::Unknown;
    let not_indexed = EventError::NotIndexed;
    let alone = refused(std::slice::from_ref(&feedback));
    assert_eq!(alone, std::slice::from_ref(&not_indexed));
    assert_eq!(
        refused(&[feedback.clone(), of_another_agent]),
        [not_indexed.clone(), unheard_of.clone()]
    );
    assert_eq!(
        refused(&[feedback.clone(), of_another_registry]),
        [not_indexed, unheard_of]
    );
    let too_late = emitted(AUTHORIZED, &indexed(7, U256::MAX));
    assert!(matches!(
        &refused(&[feedback, too_late])[..],
        [EventError::Malformed { .. }, EventError::Unknown]
    ));
}

#[test]
fn events_of_open_feedback() {
    let given = |topic: &str| Open::NewFeedback {
        agentId: AGENT,
        clientAddress: CLIENT,
        feedbackIndex: 3,
        value: -31,
        valueDecimals: 1,
        indexedTag1: keccak256(topic.as_bytes()).into(),
        tag1: "quality".to_owned(),
        tag2: String::new(),
        endpoint: "https://a".to_owned(),
        feedbackURI: "ipfs://f".to_owned(),
        feedbackHash: [6; 32].into(),
    };
    let event = Event::OpenFeedback {
        agent: agent(),
        client: CLIENT.into(),
        index: 3,
        value: -31,
        decimals: 1,
        tag1: "quality".to_owned(),
        tag2: String::new(),
        endpoint: "https://a".to_owned(),
        uri: "ipfs://f".to_owned(),
        hash: [6; 32],
    };
    assert_reads(OPEN, &given("quality"), event);
    let log = emitted(OPEN, &given("other"));
    assert!(matches!(
        refused(&[log])[..],
        [EventError::TopicMismatch { .. }]
    ));
}

#[test]
fn events_of_both_profiles_say_which() {
    let revoked = Feedback::FeedbackRevoked {
        agentId: AGENT,
        clientAddress: CLIENT,
        feedbackIndex: 3,
    };
    let appended = Feedback::ResponseAppended {
        agentId: AGENT,
        clientAddress: CLIENT,
        feedbackIndex: 3,
        responder: OWNER,
        responseURI: "ipfs://r".to_owned(),
        responseHash: [6; 32].into(),
    };
    for (emitter, profile) in [(OPEN, Profile::Open), (AUTHORIZED, Profile::Authorized)] {
        let event = Event::FeedbackRevoked {
            profile,
            agent: agent(),
            client: CLIENT.into(),
            index: 3,
        };
        assert_reads(emitter, &revoked, event);
        let event = Event::ResponseAppended {
            profile,
            agent: agent(),
            client: CLIENT.into(),
            index: 3,
            responder: OWNER.into(),
            uri: "ipfs://r".to_owned(),
            hash: [6; 32],
        };
        assert_reads(emitter, &appended, event);
    }
}

#[test]
fn events_of_validation() {
    let requested = Validation::ValidationRequest {
        validatorAddress: CLIENT,
        agentId: AGENT,
        requestURI: "ipfs://q".to_owned(),
        requestHash: [6; 32].into(),
    };
    let event = Event::ValidationRequested {
        agent: agent(),
        validator: CLIENT.into(),
        request: [6; 32],
        uri: "ipfs://q".to_owned(),
        tag: None,
    };
    assert_reads(VALIDATION, &requested, event);
    let responded = Validation::ValidationResponse {
        validatorAddress: CLIENT,
        agentId: AGENT,
        requestHash: [6; 32].into(),
        response: 100,
        responseURI: "ipfs://e".to_owned(),
        responseHash: [5; 32].into(),
        tag: "done".to_owned(),
    };
    let event = Event::ValidationResponded {
        agent: agent(),
        validator: CLIENT.into(),
        request: [6; 32],
        score: 100,
        uri: "ipfs://e".to_owned(),
        hash: [5; 32],
        tag: ValidationTag::Text("done".to_owned()),
    };
    assert_reads(VALIDATION, &responded, event);
}

#[test]
fn settings_of_canonical_registries() {
    for emitter in [IDENTITY, OPEN, VALIDATION] {
        let upgraded = Upgradeable::Upgraded {
            implementation: OWNER,
        };
        let event = Event::RegistryUpgraded {
            implementation: OWNER.into(),
        };
        assert_reads(emitter, &upgraded, event);
        let initialized = Upgradeable::Initialized { version: 2 };
        let event = Event::RegistryInitialized { version: 2 };
        assert_reads(emitter, &initialized, event);
        let moved = Upgradeable::OwnershipTransferred {
            previousOwner: OWNER,
            newOwner: Address::ZERO,
        };
        let event = Event::RegistryOwnerSet {
            from: OWNER.into(),
            to: Address::ZERO.into(),
        };
        assert_reads(emitter, &moved, event);
    }
}

#[test]
fn an_unknown_log_is_kept_raw_and_a_strangers_is_none_of_ours() {
    let topics = vec![B256::repeat_byte(7)];
    let log = |emitter| Log::new_unchecked(emitter, topics.clone(), vec![8; 3].into());
    for emitter in [IDENTITY, OPEN, AUTHORIZED, VALIDATION] {
        let decoded = read(&[log(emitter)]);
        let [undecoded] = &decoded.undecoded[..] else {
            panic!("{decoded:?}");
        };
        assert_eq!(undecoded.reason, EventError::Unknown);
        assert_eq!(undecoded.origin.registry, AccountId::from(emitter));
        let raw = RawEvent::Evm {
            topics: vec![[7; 32]],
            data: vec![8; 3],
        };
        assert_eq!(undecoded.raw, raw);
    }
    assert_eq!(read(&[log(Address::repeat_byte(5))]), Decoded::default());
    let anonymous = Log::new_unchecked(IDENTITY, Vec::new(), Default::default());
    assert_eq!(refused(&[anonymous]), [EventError::Unknown]);
}

#[test]
fn an_event_of_another_registry_is_unknown() {
    let revoked = Feedback::FeedbackRevoked {
        agentId: AGENT,
        clientAddress: CLIENT,
        feedbackIndex: 1,
    };
    for (emitter, is_known) in [
        (IDENTITY, false),
        (OPEN, true),
        (AUTHORIZED, true),
        (VALIDATION, false),
    ] {
        let reasons = refused(&[emitted(emitter, &revoked)]);
        assert_eq!(reasons.is_empty(), is_known, "{emitter}");
    }
}

#[test]
fn events_that_repeat_what_others_say_are_known_and_say_nothing() {
    let token = Identity::MetadataUpdate { tokenId: AGENT };
    let tokens = Identity::BatchMetadataUpdate {
        fromTokenId: AGENT,
        toTokenId: AGENT,
    };
    let logs = [
        emitted(IDENTITY, &token),
        emitted(IDENTITY, &tokens),
        emitted(IDENTITY, &Identity::EIP712DomainChanged {}),
        emitted(AUTHORIZED, &Authorized::EIP712DomainChanged {}),
    ];
    assert_eq!(events(&logs), []);
}

/// A raw event has no address, and none beside it.
#[test]
fn a_raw_event_is_decoded_as_one_of_any_registry() {
    let decode = |log: Log| {
        let topics = log.topics().iter().map(|it| it.0).collect();
        let data = log.data.data.to_vec();
        RawEvent::Evm { topics, data }.decode()
    };
    let revoked = Feedback::FeedbackRevoked {
        agentId: AGENT,
        clientAddress: CLIENT,
        feedbackIndex: 1,
    };
    let opened = Event::FeedbackRevoked {
        profile: Profile::Open,
        agent: agent(),
        client: CLIENT.into(),
        index: 1,
    };
    assert_eq!(decode(emitted(OPEN, &revoked)), Ok(Some(opened)));
    let upgraded = Upgradeable::Upgraded {
        implementation: OWNER,
    };
    let set = Event::RegistryUpgraded {
        implementation: OWNER.into(),
    };
    assert_eq!(decode(emitted(VALIDATION, &upgraded)), Ok(Some(set)));
    let token = Identity::MetadataUpdate { tokenId: AGENT };
    assert_eq!(decode(emitted(IDENTITY, &token)), Ok(None));
    let mut cut = registered();
    cut.data.data = cut.data.data.slice(..40);
    let unknown = Log::new_unchecked(IDENTITY, vec![B256::repeat_byte(7); 5], vec![8; 3].into());
    for log in [emitted(AUTHORIZED, &given()), cut, unknown] {
        assert!(decode(log.clone()).is_err(), "{log:?}");
    }
}

#[test]
fn a_log_that_is_cut_off_is_malformed() {
    let mut log = registered();
    log.data.data = log.data.data.slice(..40);
    assert!(matches!(
        refused(&[log])[..],
        [EventError::Malformed { .. }]
    ));
}

/// As `emitted`, with the one byte of each text `"?"` in the data replaced by 0xFF, and the same in the
/// topic of an indexed one.
fn emitted_with_ff(emitter: Address, event: &impl SolEvent) -> Log {
    let mut log = emitted(emitter, event);
    let hash_of = |text: &[u8]| B256::from(keccak256(text));
    let topics = log.topics().iter().map(|topic| {
        if *topic == hash_of(b"?") {
            hash_of(b"\xff")
        } else {
            *topic
        }
    });
    let topics = topics.collect();
    let mut data = log.data.data.to_vec();
    let lengths: Vec<usize> = (0..data.len() - 32).step_by(32).collect();
    let mut replaced = 0;
    for at in lengths {
        let (length, text) = (&data[at..at + 32], data[at + 32]);
        if length[..31] == [0; 31] && length[31] == 1 && text == b'?' {
            data[at + 32] = 0xff;
            replaced += 1;
        }
    }
    assert_eq!(replaced, 1);
    log.data = LogData::new_unchecked(topics, data.into());
    log
}

/// EVM-31: the private-use character for the byte 0xFF.
const FF: &str = "\u{10FEFF}";

#[track_caller]
fn assert_reads_ff(emitter: Address, log: &impl SolEvent, event: Event) {
    let log = emitted_with_ff(emitter, log);
    assert_eq!(events(std::slice::from_ref(&log)), [event]);
    // cut off, it is as malformed as any
    for kept in [log.data.data.len() - 32, 40, 0] {
        let mut cut = log.clone();
        cut.data.data = cut.data.data.slice(..kept);
        let [EventError::Malformed { .. }] = refused(&[cut])[..] else {
            panic!("{kept} bytes are enough");
        };
    }
}

#[test]
fn r17_an_agent_with_a_text_that_is_not_utf8_has_its_events() {
    let registered = Identity::Registered {
        agentId: AGENT,
        agentURI: "?".to_owned(),
        owner: OWNER,
    };
    let event = Event::AgentRegistered {
        agent: agent(),
        owner: OWNER.into(),
        uri: FF.to_owned(),
    };
    assert_reads_ff(IDENTITY, &registered, event);
    let updated = Identity::URIUpdated {
        agentId: AGENT,
        newURI: "?".to_owned(),
        updatedBy: OWNER,
    };
    let event = Event::AgentUriSet {
        agent: agent(),
        by: OWNER.into(),
        uri: FF.to_owned(),
    };
    assert_reads_ff(IDENTITY, &updated, event);
    let event = Event::MetadataSet {
        agent: agent(),
        key: FF.to_owned(),
        value: vec![0xfe, b'?'], // bytes stay what they are
    };
    assert_reads_ff(IDENTITY, &metadata("?", &[0xfe, b'?']), event);
}

#[test]
fn r17_feedback_with_a_text_that_is_not_utf8_has_its_events() {
    for place in 0..4 {
        let at = |text: &str| -> [String; 4] {
            std::array::from_fn(|it| {
                if it == place {
                    text.to_owned()
                } else {
                    it.to_string()
                }
            })
        };
        let [tag1, tag2, endpoint, uri] = at("?");
        let given = Open::NewFeedback {
            agentId: AGENT,
            clientAddress: CLIENT,
            feedbackIndex: 3,
            value: -31,
            valueDecimals: 1,
            indexedTag1: keccak256(tag1.as_bytes()).into(),
            tag1,
            tag2,
            endpoint,
            feedbackURI: uri,
            feedbackHash: [6; 32].into(),
        };
        let [tag1, tag2, endpoint, uri] = at(FF);
        let event = Event::OpenFeedback {
            agent: agent(),
            client: CLIENT.into(),
            index: 3,
            value: -31,
            decimals: 1,
            tag1,
            tag2,
            endpoint,
            uri,
            hash: [6; 32],
        };
        assert_reads_ff(OPEN, &given, event);
    }
    let given = Authorized::NewFeedback {
        feedbackUri: "?".to_owned(),
        ..given()
    };
    let place = emitted(AUTHORIZED, &indexed(7, U256::from(1_700_000_000)));
    let found = events(&[emitted_with_ff(AUTHORIZED, &given), place]);
    let [
        Event::AuthorizedFeedback {
            uri,
            index: 3,
            score: 87,
            ..
        },
    ] = &found[..]
    else {
        panic!("{found:?}");
    };
    assert_eq!(uri, FF);
    let appended = Feedback::ResponseAppended {
        agentId: AGENT,
        clientAddress: CLIENT,
        feedbackIndex: 3,
        responder: OWNER,
        responseURI: "?".to_owned(),
        responseHash: [6; 32].into(),
    };
    let event = Event::ResponseAppended {
        profile: Profile::Open,
        agent: agent(),
        client: CLIENT.into(),
        index: 3,
        responder: OWNER.into(),
        uri: FF.to_owned(),
        hash: [6; 32],
    };
    assert_reads_ff(OPEN, &appended, event);
}

#[test]
fn r17_a_validation_with_a_text_that_is_not_utf8_has_its_events() {
    let requested = Validation::ValidationRequest {
        validatorAddress: CLIENT,
        agentId: AGENT,
        requestURI: "?".to_owned(),
        requestHash: [6; 32].into(),
    };
    let event = Event::ValidationRequested {
        agent: agent(),
        validator: CLIENT.into(),
        request: [6; 32],
        uri: FF.to_owned(),
        tag: None,
    };
    assert_reads_ff(VALIDATION, &requested, event);
    for place in 0..2 {
        let at = |text: &str| -> [String; 2] {
            std::array::from_fn(|it| {
                if it == place {
                    text.to_owned()
                } else {
                    it.to_string()
                }
            })
        };
        let [uri, tag] = at("?");
        let responded = Validation::ValidationResponse {
            validatorAddress: CLIENT,
            agentId: AGENT,
            requestHash: [6; 32].into(),
            response: 100,
            responseURI: uri,
            responseHash: [5; 32].into(),
            tag,
        };
        let [uri, tag] = at(FF);
        let event = Event::ValidationResponded {
            agent: agent(),
            validator: CLIENT.into(),
            request: [6; 32],
            score: 100,
            uri,
            hash: [5; 32],
            tag: ValidationTag::Text(tag),
        };
        assert_reads_ff(VALIDATION, &responded, event);
    }
}

/// The hash in the topic is that of the bytes, not of the text with private-use characters.
#[test]
fn r17_the_topic_of_a_text_that_is_not_utf8_is_compared() {
    let mut log = emitted_with_ff(IDENTITY, &metadata("?", &[1]));
    for hashed in [FF.as_bytes(), b"?", b"\xfe"] {
        let mut topics = log.topics().to_vec();
        topics[2] = keccak256(hashed).into();
        log.data = LogData::new_unchecked(topics, log.data.data);
        let [EventError::TopicMismatch { .. }] = refused(std::slice::from_ref(&log))[..] else {
            panic!("{hashed:?}");
        };
    }
}

/// A text that is not UTF-8 excuses nothing else.
#[test]
fn r17_a_dirty_word_beside_a_text_that_is_not_utf8_is_malformed() {
    let responded = Validation::ValidationResponse {
        validatorAddress: CLIENT,
        agentId: AGENT,
        requestHash: [6; 32].into(),
        response: 100,
        responseURI: "?".to_owned(),
        responseHash: [5; 32].into(),
        tag: "done".to_owned(),
    };
    let mut log = emitted_with_ff(VALIDATION, &responded);
    let mut data = log.data.data.to_vec();
    data[0] = 1; // of the response, a u8
    log.data.data = data.into();
    let [EventError::Malformed { .. }] = refused(&[log])[..] else {
        panic!("a dirty word");
    };
}
