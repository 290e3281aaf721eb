//! Every event that the program emits, encoded by the program's types and read by the crate.
use super::{program, some_address, some_key};
use agent_registry as native;
use anchor_lang::{AnchorSerialize, Discriminator, event::EVENT_IX_TAG_LE};
use concord_registry::event::{
    AccountId, AgentId, AuthorizedBy, Block, Decoded, Event, EventError, Position, Profile,
    RawEvent, TransactionId, ValidationTag,
};
use concord_registry::svm::{
    Address,
    events::{Call, TopLevel, Transaction},
};

const CHAIN: &str = "solana:localnet";
const NOW: i64 = 1_700_000_000;

fn data(event: &(impl AnchorSerialize + Discriminator)) -> Vec<u8> {
    let mut data = native_discriminator(event).to_vec();
    event.serialize(&mut data).unwrap();
    data
}

fn native_discriminator<T: Discriminator>(_: &T) -> &'static [u8] {
    T::DISCRIMINATOR
}

fn self_call(data: &[u8]) -> Call {
    Call {
        program: program().id(),
        accounts: vec![program().event_authority()],
        data: [EVENT_IX_TAG_LE, data].concat(),
    }
}

fn transaction(instructions: Vec<TopLevel>) -> Transaction {
    Transaction {
        signature: [7; 64],
        block: Block {
            number: 5,
            hash: None,
        },
        instructions,
        logs: Vec::new(),
    }
}

fn read(calls: Vec<Call>) -> Decoded {
    let top = TopLevel {
        program: program().id(),
        calls,
    };
    program().events(CHAIN, &transaction(vec![top]))
}

fn agent() -> AgentId {
    AgentId::Svm(some_address(1))
}

fn account(byte: u8) -> AccountId {
    AccountId::Svm(some_address(byte))
}

#[track_caller]
fn assert_reads(native: &(impl AnchorSerialize + Discriminator), event: Event) {
    let decoded = read(vec![self_call(&data(native))]);
    assert_eq!(decoded.undecoded, []);
    let [emitted] = &decoded.events[..] else {
        panic!("one event, found {}", decoded.events.len());
    };
    assert_eq!(emitted.event, event);
    let raw = RawEvent::Svm(data(native));
    assert_eq!(raw.decode(), Ok(Some(event)));
    assert_eq!(emitted.timestamp, Some(NOW));
    let origin = &emitted.origin;
    assert_eq!(origin.chain, CHAIN);
    assert_eq!(origin.registry, AccountId::Svm(program().id()));
    assert_eq!(origin.block.number, 5);
    assert_eq!(origin.transaction, TransactionId::Svm([7; 64]));
    assert_eq!(
        origin.position,
        Position::Svm {
            instruction: 0,
            call: 1,
            line: 0
        }
    );
}

#[test]
fn events_of_identity() {
    let (nft_mint, owner, timestamp) = (some_key(1), some_key(2), NOW);
    assert_reads(
        &native::AgentRegistered {
            nft_mint,
            owner,
            metadata_uri: "ipfs://agent".to_owned(),
            timestamp,
        },
        Event::AgentRegistered {
            agent: agent(),
            owner: account(2),
            uri: "ipfs://agent".to_owned(),
        },
    );
    assert_reads(
        &native::AgentTransferred {
            nft_mint,
            from: owner,
            to: some_key(3),
            timestamp,
        },
        Event::AgentTransferred {
            agent: agent(),
            from: account(2),
            to: account(3),
        },
    );
    assert_reads(
        &native::AgentUriSet {
            nft_mint,
            owner,
            metadata_uri: String::new(),
            timestamp,
        },
        Event::AgentUriSet {
            agent: agent(),
            by: account(2),
            uri: String::new(),
        },
    );
    assert_reads(
        &native::MetadataSet {
            nft_mint,
            owner,
            metadata_key: "name".to_owned(),
            metadata_value: vec![0, 255],
            timestamp,
        },
        Event::MetadataSet {
            agent: agent(),
            key: "name".to_owned(),
            value: vec![0, 255],
        },
    );
    for (agent_wallet, wallet) in [(some_key(3), Some(account(3))), (some_key(0), None)] {
        assert_reads(
            &native::AgentWalletSet {
                nft_mint,
                owner,
                agent_wallet,
                timestamp,
            },
            Event::AgentWalletSet {
                agent: agent(),
                wallet,
            },
        );
    }
}

#[test]
fn events_of_settings() {
    let (nft_mint, owner, timestamp) = (some_key(1), some_key(2), NOW);
    for (key, some) in [(some_key(3), Some(account(3))), (some_key(0), None)] {
        assert_reads(
            &native::FeedbackAuthoritySet {
                nft_mint,
                owner,
                feedback_authority: key,
                timestamp,
            },
            Event::FeedbackAuthoritySet {
                agent: agent(),
                owner: account(2),
                authority: some,
            },
        );
        assert_reads(
            &native::RegistryAuthorityProposed {
                authority: owner,
                proposed_authority: key,
                timestamp,
            },
            Event::RegistryAuthorityProposed {
                authority: account(2),
                proposed: some,
            },
        );
    }
    assert_reads(
        &native::RegistryInitialized {
            authority: owner,
            chain: CHAIN.to_owned(),
            timestamp,
        },
        Event::ProgramInitialized {
            authority: account(2),
            chain: CHAIN.to_owned(),
        },
    );
    assert_reads(
        &native::AuthSchemesSet {
            nft_mint,
            owner,
            auth_schemes: 3,
            timestamp,
        },
        Event::AuthSchemesSet {
            agent: agent(),
            owner: account(2),
            schemes: 3,
        },
    );
    assert_reads(
        &native::RegistryAuthorityAccepted {
            from: owner,
            to: some_key(3),
            timestamp,
        },
        Event::RegistryAuthorityAccepted {
            from: account(2),
            to: account(3),
        },
    );
    for listed in [true, false] {
        assert_reads(
            &native::PaymentTokenListed {
                token: owner,
                listed,
                timestamp,
            },
            Event::PaymentTokenListed {
                token: account(2),
                listed,
            },
        );
        assert_reads(
            &native::FacilitatorListed {
                facilitator: owner,
                listed,
                timestamp,
            },
            Event::FacilitatorListed {
                facilitator: account(2),
                listed,
            },
        );
    }
}

#[test]
fn events_of_authorized_feedback() {
    let (nft_mint, reviewer, timestamp) = (some_key(1), some_key(2), NOW);
    assert_reads(
        &native::FeedbackGiven {
            nft_mint,
            reviewer,
            score: 87,
            tag1: [3; 32],
            tag2: [4; 32],
            has_payment_proof: false,
            payment_amount: 0,
            detail_uri: "ipfs://detail".to_owned(),
            detail_hash: [5; 32],
            feedback_auth: [6; 64],
            timestamp,
            feedback_index: 7,
            auth_scheme: 2,
        },
        Event::AuthorizedFeedback {
            agent: agent(),
            client: account(2),
            index: 7,
            score: 87,
            tag1: [3; 32],
            tag2: [4; 32],
            uri: "ipfs://detail".to_owned(),
            hash: [5; 32],
            authorized_by: Some(AuthorizedBy {
                scheme: 2,
                signature: [6; 64],
            }),
        },
    );
    assert_reads(
        &native::PaymentProven {
            nft_mint,
            reviewer,
            feedback_index: 7,
            payee: some_key(3),
            payment_token: some_key(4),
            payment_amount: 5,
            task_ref_hash: [6; 32],
            paid_at: 9,
            expiry: 10,
            facilitator: some_key(7),
            signature: [8; 64],
            timestamp,
        },
        Event::PaymentProven {
            agent: agent(),
            client: account(2),
            index: 7,
            payee: account(3),
            token: account(4),
            amount: 5,
            task_ref_hash: [6; 32],
            paid_at: 9,
            expiry: 10,
            facilitator: account(7),
            signature: [8; 64],
        },
    );
}

#[test]
fn events_of_open_feedback() {
    assert_reads(
        &native::OpenFeedbackGiven {
            nft_mint: some_key(1),
            client: some_key(2),
            feedback_index: 7,
            value: -31,
            value_decimals: 1,
            tag1: "quality".to_owned(),
            tag2: String::new(),
            endpoint: "https://agent".to_owned(),
            feedback_uri: "ipfs://feedback".to_owned(),
            feedback_hash: [5; 32],
            timestamp: NOW,
        },
        Event::OpenFeedback {
            agent: agent(),
            client: account(2),
            index: 7,
            value: -31,
            decimals: 1,
            tag1: "quality".to_owned(),
            tag2: String::new(),
            endpoint: "https://agent".to_owned(),
            uri: "ipfs://feedback".to_owned(),
            hash: [5; 32],
        },
    );
}

#[test]
fn events_of_both_profiles_say_which() {
    let (nft_mint, client, responder, timestamp) = (some_key(1), some_key(2), some_key(3), NOW);
    let (feedback_index, response_hash) = (7, [5; 32]);
    let revoked = |profile| Event::FeedbackRevoked {
        profile,
        agent: agent(),
        client: account(2),
        index: 7,
    };
    assert_reads(
        &native::FeedbackRevoked {
            nft_mint,
            reviewer: client,
            feedback_index,
            timestamp,
        },
        revoked(Profile::Authorized),
    );
    assert_reads(
        &native::OpenFeedbackRevoked {
            nft_mint,
            client,
            feedback_index,
            timestamp,
        },
        revoked(Profile::Open),
    );
    let appended = |profile| Event::ResponseAppended {
        profile,
        agent: agent(),
        client: account(2),
        index: 7,
        responder: account(3),
        uri: "ipfs://response".to_owned(),
        hash: [5; 32],
    };
    let response_uri = || "ipfs://response".to_owned();
    assert_reads(
        &native::ResponseAppended {
            nft_mint,
            client,
            feedback_index,
            responder,
            response_uri: response_uri(),
            response_hash,
            timestamp,
        },
        appended(Profile::Authorized),
    );
    assert_reads(
        &native::OpenResponseAppended {
            nft_mint,
            client,
            feedback_index,
            responder,
            response_uri: response_uri(),
            response_hash,
            timestamp,
        },
        appended(Profile::Open),
    );
}

#[test]
fn events_of_validation() {
    let (nft_mint, validator, timestamp) = (some_key(1), some_key(2), NOW);
    assert_reads(
        &native::ValidationRequested {
            nft_mint,
            validator,
            request_hash: [3; 32],
            tag: [4; 32],
            request_uri: "ipfs://request".to_owned(),
            timestamp,
        },
        Event::ValidationRequested {
            agent: agent(),
            validator: account(2),
            request: [3; 32],
            uri: "ipfs://request".to_owned(),
            tag: Some([4; 32]),
        },
    );
    assert_reads(
        &native::ValidationResponded {
            nft_mint,
            validator,
            score: 100,
            tag: [4; 32],
            evidence_uri: "ipfs://evidence".to_owned(),
            evidence_hash: [5; 32],
            request_hash: [3; 32],
            timestamp,
        },
        Event::ValidationResponded {
            agent: agent(),
            validator: account(2),
            request: [3; 32],
            score: 100,
            uri: "ipfs://evidence".to_owned(),
            hash: [5; 32],
            tag: ValidationTag::Bytes([4; 32]),
        },
    );
}

fn revoked() -> Vec<u8> {
    data(&native::FeedbackRevoked {
        nft_mint: some_key(1),
        reviewer: some_key(2),
        feedback_index: 7,
        timestamp: NOW,
    })
}

#[test]
fn what_does_not_decode_is_kept_raw_with_its_place() {
    let mut longer = revoked();
    longer.push(0);
    let cut = &revoked()[..40];
    for (data, reason) in [
        (
            &longer[..],
            EventError::Malformed {
                event: "FeedbackRevoked",
            },
        ),
        (
            cut,
            EventError::Malformed {
                event: "FeedbackRevoked",
            },
        ),
        (&[9; 20], EventError::Unknown),
        (&[9; 3], EventError::Unknown),
    ] {
        let decoded = read(vec![self_call(&revoked()), self_call(data)]);
        assert_eq!(decoded.events.len(), 1);
        let [undecoded] = &decoded.undecoded[..] else {
            panic!("{} undecoded", decoded.undecoded.len());
        };
        assert_eq!(undecoded.raw, RawEvent::Svm(data.to_vec()));
        assert_eq!(undecoded.raw.decode(), Err(reason.clone()));
        assert_eq!(undecoded.reason, reason);
        assert_eq!(
            undecoded.origin.position,
            Position::Svm {
                instruction: 0,
                call: 2,
                line: 0
            }
        );
    }
}

#[test]
fn only_calls_that_the_event_authority_signed_are_events() {
    let event = self_call(&revoked());
    let elsewhere = some_address(9);
    let not_ours = [
        Call {
            program: elsewhere,
            ..event.clone()
        },
        Call {
            accounts: vec![elsewhere],
            ..event.clone()
        },
        Call {
            accounts: Vec::new(),
            ..event.clone()
        },
        Call {
            data: revoked(),
            ..event.clone()
        },
    ];
    assert_eq!(read(not_ours.to_vec()), Decoded::default());
}

#[test]
fn calls_are_resolved_by_index() {
    let keys = [some_address(1), some_address(2)];
    let call = Call::resolve(&keys, 1, &[0, 1, 0], vec![5]);
    let accounts = vec![keys[0], keys[1], keys[0]];
    assert_eq!(
        call,
        Some(Call {
            program: keys[1],
            accounts,
            data: vec![5]
        })
    );
    assert_eq!(Call::resolve(&keys, 2, &[], Vec::new()), None);
    assert_eq!(Call::resolve(&keys, 0, &[2], Vec::new()), None);
}

#[test]
fn ids_are_written_as_each_chain_writes_them() {
    // R1
    let mint: Address = "4dqu3YHQaBRRG7MPP4KRapDWK2XoAcHuAjTRwTuZCxbB"
        .parse()
        .unwrap();
    let text = "4dqu3YHQaBRRG7MPP4KRapDWK2XoAcHuAjTRwTuZCxbB";
    assert_eq!(AgentId::from(mint).to_string(), text);
    assert_eq!(AccountId::from(mint).to_string(), text);
    let mut id = [0; 32];
    id[30] = 1;
    assert_eq!(AgentId::Evm(id).to_string(), "256");
    let address = AccountId::Evm([0xAB; 20]).to_string();
    assert_eq!(address, format!("0x{}", "ab".repeat(20)));
}
