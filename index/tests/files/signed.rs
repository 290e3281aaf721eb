//! R49, with files that were signed with other software (tests/vectors).
use crate::database::database;
use crate::world::{agent, commit, deployment, registered, sound};
use concord_canonical::sign::address_of_public_key;
use concord_files::encode_uri;
use concord_index::{
    query::Authorship,
    state::{Fact, Field, StateRead, Subject},
    store::{Database, DeploymentId, Store},
    table::{Evidence, FeedbackKey, FileUse},
};
use concord_registry::{
    Event,
    event::{AccountId, Profile},
};
use serde_json::{Value, json};
use std::{fs, path::Path};

const AGENT: u64 = 42;
const CLIENT: &str = "70997970C51812dc3A010C7d01b50e0d17dc79C8";
const REGISTRY: &str = "8004A818BFB912233c491871b3d84c89A494BD9e";
const SOMEBODY: AccountId = AccountId::Evm([0x55; 20]);

/// The file, and its RFC 8785 hash.
fn vector() -> (String, [u8; 32]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/files/feedback.json");
    let all: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let mut vectors = all["vectors"].as_array().unwrap().iter();
    let found = vectors
        .find(|it| it["id"] == "files/feedback/x402-evm")
        .unwrap();
    let hash = &found["ok"]["hash"].as_str().unwrap()[2..];
    (
        found["text"].as_str().unwrap().to_owned(),
        hex::decode(hash).unwrap().try_into().unwrap(),
    )
}

fn signer_key() -> String {
    let file: Value = serde_json::from_str(&vector().0).unwrap();
    let key = &file["proofOfParticipation"]["agentSignerPublicKey"];
    key.as_str().unwrap()[2..].to_owned()
}

fn bytes<const N: usize>(digits: &str) -> [u8; N] {
    hex::decode(digits).unwrap().try_into().unwrap()
}

fn key() -> FeedbackKey {
    FeedbackKey {
        profile: Profile::Open,
        agent: agent(AGENT),
        client: AccountId::Evm(bytes(CLIENT)),
        index: 1,
    }
}

/// The feedback of the vector, on chain.
fn feedback(uri: &str, hash: [u8; 32], value: i128) -> Event {
    feedback_by(key().client, uri, hash, value)
}

fn feedback_by(client: AccountId, uri: &str, hash: [u8; 32], value: i128) -> Event {
    Event::OpenFeedback {
        agent: agent(AGENT),
        client,
        index: 1,
        value,
        decimals: 0,
        tag1: "x402-resource-delivered".to_owned(),
        tag2: "proof-of-participation".to_owned(),
        endpoint: "https://agent.example/weather".to_owned(),
        uri: uri.to_owned(),
        hash,
    }
}

fn stored(events: Vec<Event>) -> (Store<Database>, DeploymentId) {
    let mut store = Store::open(database()).unwrap();
    let registries = deployment("eip155:84532", bytes(REGISTRY));
    let id: DeploymentId = store.claim(&registries).unwrap();
    for (number, event) in (1..).zip(events) {
        commit(&mut store, id, number, vec![event]);
    }
    sound(&mut store, id);
    (store, id)
}

fn indexed(events: Vec<Event>) -> (Evidence, Authorship) {
    let (mut store, id) = stored(events);
    asked(&mut store, id)
}

fn asked(store: &mut Store<Database>, id: DeploymentId) -> (Evidence, Authorship) {
    let row = store.feedback(id, &key()).unwrap().unwrap();
    let evidence = store.evidence(id, &key()).unwrap().unwrap();
    let authorship = store.authorship(id, &key(), &row, Some(&evidence));
    (evidence, authorship.unwrap())
}

fn reviewer() -> String {
    format!("eip155:84532:0x{CLIENT}")
}

fn wallet_set(wallet: AccountId) -> Event {
    Event::AgentWalletSet {
        agent: agent(AGENT),
        wallet: Some(wallet),
    }
}

/// A registration file of the agent, which lists these keys.
fn registration(keys: &[(&str, u64, u64)]) -> String {
    let signers = keys.iter().map(|(key, from, until)| {
        json!({
            "publicKey": key,
            "algorithm": "secp256k1",
            "validFrom": from,
            "validUntil": until,
        })
    });
    let own = json!({ "agentId": AGENT, "agentRegistry": format!("eip155:84532:0x{REGISTRY}") });
    let signers = signers.collect::<Vec<_>>();
    json!({ "name": "an agent", "registrations": [own], "signers": signers }).to_string()
}

fn wallet() -> AccountId {
    AccountId::Evm(address_of_public_key(&hex::decode(signer_key()).unwrap()).unwrap())
}

#[test]
fn r49_a_proof_that_verifies_is_the_reviewers() {
    let (text, hash) = vector();
    let wallet =
        AccountId::Evm(address_of_public_key(&hex::decode(signer_key()).unwrap()).unwrap());
    let give = feedback(&encode_uri(text.as_bytes()), hash, 95);
    let (evidence, authorship) = indexed(vec![registered(AGENT, wallet, ""), give.clone()]);
    assert_eq!(evidence.state, FileUse::Read);
    assert_eq!(evidence.dialect.as_deref(), Some("x402-8004-reputation"));
    assert_eq!(evidence.scheme.as_deref(), Some("keccak256-jcs"));
    assert_eq!(evidence.differences.as_deref(), Some("[]"));
    let reviewer = reviewer();
    assert_eq!(authorship, Authorship::Signed { reviewer });
    // R30: the wallet of its time counts, whatever it is later.
    let later = vec![
        registered(AGENT, wallet, ""),
        give.clone(),
        wallet_set(SOMEBODY),
    ];
    let reviewer = self::reviewer();
    assert_eq!(indexed(later).1, Authorship::Signed { reviewer });
    let earlier = vec![registered(AGENT, wallet, ""), wallet_set(SOMEBODY), give];
    let reviewer = self::reviewer();
    assert_eq!(indexed(earlier).1, Authorship::Claimed { reviewer });
}

/// IDX-58: a transfer of which no event was seen took the wallet away, at a time that is not known.
#[test]
fn r36_while_the_owner_or_the_wallet_differs_the_wallet_signs_nothing() {
    let (text, hash) = vector();
    let give = feedback(&encode_uri(text.as_bytes()), hash, 95);
    let claimed = || Authorship::Claimed {
        reviewer: reviewer(),
    };
    for fields in [&[Field::Wallet][..], &[Field::Owner, Field::Wallet]] {
        let events = vec![registered(AGENT, wallet(), ""), give.clone()];
        let (mut store, id) = stored(events);
        let read = |block, value: &str| {
            let facts = fields.iter().map(|field| Fact {
                agent: agent(AGENT),
                field: *field,
                value: value.to_owned(),
            });
            StateRead {
                block,
                facts: facts.collect(),
            }
        };
        let subjects = [Subject::Agent(agent(AGENT))];
        store
            .compare(id, &subjects, &read(2, &wallet().to_string()))
            .unwrap();
        let reviewer = reviewer();
        assert_eq!(asked(&mut store, id).1, Authorship::Signed { reviewer });
        store
            .compare(id, &subjects, &read(2, &SOMEBODY.to_string()))
            .unwrap();
        assert_eq!(asked(&mut store, id).1, claimed(), "{fields:?}");
        // A wallet that the new owner sets later does not say whose it was before.
        commit(
            &mut store,
            id,
            3,
            vec![wallet_set(AccountId::Evm([0x66; 20]))],
        );
        if fields.contains(&Field::Owner) {
            assert_eq!(asked(&mut store, id).1, claimed(), "{fields:?}");
        }
    }
}

#[test]
fn r29_keys_that_the_registration_file_lists_sign_and_no_other() {
    let (text, hash) = vector();
    let give = feedback(&encode_uri(text.as_bytes()), hash, 95);
    let wallet =
        AccountId::Evm(address_of_public_key(&hex::decode(signer_key()).unwrap()).unwrap());
    let listed = signer_key();
    let other = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
    let (registered_at, given_at, later) = (1_800_000_001, 1_800_000_002, 2_000_000_000);
    let cases = [
        (vec![(&*listed, 0, later)], true),
        (vec![(other, 0, later), (&listed, 0, later)], true),
        (vec![(other, 0, later)], false),
        // R30: the settlement was at some time from the registration to the feedback
        (vec![(&listed, registered_at, given_at + 1)], true),
        (vec![(&listed, registered_at + 1, later)], false),
        (vec![(&listed, 0, given_at)], false),
        (vec![], true), // the wallet
    ];
    for (keys, is_signed) in cases {
        let file = registration(&keys);
        let (_, authorship) = indexed(vec![registered(AGENT, wallet, &file), give.clone()]);
        let reviewer = reviewer();
        let expected = match is_signed {
            true => Authorship::Signed { reviewer },
            false => Authorship::Claimed { reviewer },
        };
        assert_eq!(authorship, expected, "{file}");
    }
}

/// The keys that count are in a file that was not read, or is not the agent's: the wallet does not stand
/// in for them.
#[test]
fn r36_without_the_registration_file_nothing_is_signed() {
    let (text, hash) = vector();
    let give = feedback(&encode_uri(text.as_bytes()), hash, 95);
    let foreign = registration(&[]).replace("\"agentId\":42", "\"agentId\":43");
    let uris = [
        "https://agent.example/registration.json", // it waits
        "{\"name\": 7}",
        &*foreign,
    ];
    for uri in uris {
        let events = vec![registered(AGENT, wallet(), uri), give.clone()];
        let reviewer = reviewer();
        assert_eq!(indexed(events).1, Authorship::Claimed { reviewer }, "{uri}");
    }
}

/// R32: the reviewer's signature does not cover who submits.
#[test]
fn r32_a_proof_in_a_second_file_is_only_claimed() {
    let (text, hash) = vector();
    let mut copy: Value = serde_json::from_str(&text).unwrap();
    copy["clientAddress"] = json!(format!("eip155:84532:0x{}", "55".repeat(20)));
    let copied = encode_uri(copy.to_string().as_bytes());
    let copied = feedback_by(SOMEBODY, &copied, [0; 32], 95);
    let original = feedback(&encode_uri(text.as_bytes()), hash, 95);
    let copy_key = FeedbackKey {
        client: SOMEBODY,
        ..key()
    };
    for (events, first, second) in [
        ([original.clone(), copied.clone()], key(), copy_key),
        ([copied, original], copy_key, key()),
    ] {
        let [one, other] = events;
        let (mut store, id) = stored(vec![registered(AGENT, wallet(), ""), one, other]);
        let mut authorship = |key: &FeedbackKey| {
            let row = store.feedback(id, key).unwrap().unwrap();
            let evidence = store.evidence(id, key).unwrap().unwrap();
            assert!(evidence.proof.as_ref().unwrap().holds);
            let found = store.authorship(id, key, &row, Some(&evidence));
            found.unwrap()
        };
        let reviewer = reviewer();
        assert_eq!(authorship(&first), Authorship::Signed { reviewer });
        let reviewer = self::reviewer();
        assert_eq!(authorship(&second), Authorship::Claimed { reviewer });
    }
}

#[test]
fn r49_what_is_not_the_entrys_is_only_claimed() {
    let (text, hash) = vector();
    let wallet =
        AccountId::Evm(address_of_public_key(&hex::decode(signer_key()).unwrap()).unwrap());
    let uri = |text: &str| encode_uri(text.as_bytes());
    let forged = text.replace("\"value\":95", "\"value\":96");
    assert_ne!(forged, text);
    let cases = [
        (feedback(&uri(&text), hash, 94), Some("\"value\"")),
        (feedback(&uri(&text), [7; 32], 95), Some("\"feedbackHash\"")),
        // It agrees with the entry, and the reviewer did not sign it.
        (feedback(&uri(&forged), [0; 32], 96), None),
    ];
    for (give, differs) in cases {
        let (evidence, authorship) = indexed(vec![registered(AGENT, wallet, ""), give]);
        let reviewer = reviewer();
        assert_eq!(authorship, Authorship::Claimed { reviewer }, "{differs:?}");
        let differences = evidence.differences.unwrap();
        match differs {
            Some(field) => assert!(differences.contains(field), "{differences}"),
            None => assert_eq!(differences, "[]"),
        }
    }
}

#[test]
fn r49_a_file_without_a_proof_names_no_reviewer() {
    let text = format!(
        r#"{{"agentRegistry":"eip155:84532:0x{REGISTRY}","agentId":42,
        "clientAddress":"eip155:84532:0x{CLIENT}","createdAt":"2026-01-26T12:00:00Z",
        "value":95,"valueDecimals":0,"tag1":"x402-resource-delivered",
        "tag2":"proof-of-participation","endpoint":"https://agent.example/weather"}}"#
    );
    let hash = alloy::primitives::keccak256(&text).0; // ERC-8004's: of the bytes
    let give = feedback(&encode_uri(text.as_bytes()), hash, 95);
    let (evidence, authorship) = indexed(vec![registered(AGENT, SOMEBODY, ""), give]);
    assert_eq!(evidence.dialect.as_deref(), Some("best-practices"));
    assert_eq!(evidence.scheme.as_deref(), Some("keccak256-raw"));
    assert_eq!(evidence.differences.as_deref(), Some("[]"));
    assert_eq!(authorship, Authorship::Onchain);
    // A file that is none is evidence of nothing.
    let give = feedback(&encode_uri(b"<script>alert(1)</script>"), hash, 95);
    let (evidence, authorship) = indexed(vec![registered(AGENT, SOMEBODY, ""), give]);
    assert_eq!(
        (evidence.state, evidence.is_proven),
        (FileUse::Unreadable, true)
    );
    assert_eq!(authorship, Authorship::Onchain);
}
