//! R49, with files that were signed with other software (tests/vectors).
use crate::files::world::{agent, append, commit, deployment, registered, sound};
use crate::worlds::asked::Noting;
use crate::worlds::database::{database, fresh, part};
use crate::worlds::earlier::make_version_10;
use concord_canonical::sign::address_of_public_key;
use concord_files::encode_uri;
use concord_index::{
    query::Authorship,
    state::{Fact, Field, StateRead, Subject},
    store::{Database, DeploymentId, Engine, Store},
    table::{Evidence, FeedbackKey, File, FileState, FileUse},
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
/// The private-use character for the byte 0xFF on an EVM chain (EVM-31).
const STAND_IN: &str = "\u{10FEFF}";
/// Version 10 refused its escape for good.
const REFUSED: &str = "ipfs://bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku/a%20b";

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

/// IDX-42: a transfer of which no event was seen took the wallet away, at a time that is not known.
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
        let expected = if is_signed {
            Authorship::Signed { reviewer }
        } else {
            Authorship::Claimed { reviewer }
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

/// The vector's file as of another client, without the hash that it does not have.
fn copy_by(client: AccountId) -> Event {
    let mut copy: Value = serde_json::from_str(&vector().0).unwrap();
    copy["clientAddress"] = json!(format!("eip155:84532:{client}"));
    feedback_by(
        client,
        &encode_uri(copy.to_string().as_bytes()),
        [0; 32],
        95,
    )
}

/// Anyone can publish a proof again, as often as they like: each copy is looked up once, and not beside all others.
#[test]
fn r32_the_first_of_thousands_of_copies_is_found_by_its_key() {
    let copies = part(2_000, 200);
    // The first one has the last key.
    let client = |number: usize| {
        let mut address = [0x55; 20];
        address[..8].copy_from_slice(&(u64::MAX - number as u64).to_be_bytes());
        AccountId::Evm(address)
    };
    let (noting, log) = Noting::of(database());
    let mut store = Store::open(noting).unwrap();
    let id = store
        .claim(&deployment("eip155:84532", bytes(REGISTRY)))
        .unwrap();
    commit(&mut store, id, 1, vec![registered(AGENT, wallet(), "")]);
    let events = (0..copies).map(|number| copy_by(client(number)));
    append(&mut store, id, 2, events.collect());
    for number in (0..copies).step_by(copies / 20) {
        let key = FeedbackKey {
            client: client(number),
            ..key()
        };
        let row = store.feedback(id, &key).unwrap().unwrap();
        let evidence = store.evidence(id, &key).unwrap().unwrap();
        assert!(evidence.proof.as_ref().unwrap().holds);
        log.begin();
        let authorship = store.authorship(id, &key, &row, Some(&evidence)).unwrap();
        let statements = log.end();
        let of_evidence: Vec<_> = (statements.iter())
            .filter(|it| it.sql.contains("FROM evidence"))
            .collect();
        let rows: Vec<usize> = of_evidence.iter().map(|it| it.rows).collect();
        assert_eq!(rows, [usize::from(number > 0)], "{number}");
        let plan = &of_evidence[0].plan;
        let by_key = "evidence_by_payment (deployment=? AND agent=? AND payment=? AND place<?)";
        assert!(plan.is_empty() || plan.contains(by_key), "{plan}");
        let reviewer = reviewer();
        let expected = match number {
            0 => Authorship::Signed { reviewer },
            _ => Authorship::Claimed { reviewer },
        };
        assert_eq!(authorship, expected, "{number}");
    }
}

/// The store of version 10 kept more of long files, had no key of a payment, did not note when a file was fetched, and refused for
/// good an escape behind `ipfs:`.
#[test]
fn r45_a_store_of_version_10_is_brought_up_to_date() {
    let fresh = fresh();
    let open = || Store::open(fresh.location.open().unwrap()).unwrap();
    let mut store = open();
    let id = store
        .claim(&deployment("eip155:84532", bytes(REGISTRY)))
        .unwrap();
    let (text, hash) = vector();
    let long =
        json!({ "name": "Ann", "description": "d".repeat(13_000), "image": "i".repeat(16_000) });
    let events = vec![
        registered(AGENT, wallet(), ""),
        registered(1, wallet(), &long.to_string()),
        registered(2, wallet(), "https://a.example/fetched"),
        registered(3, wallet(), "https://a.example/failed"),
        registered(4, wallet(), REFUSED),
        feedback(&encode_uri(text.as_bytes()), hash, 95),
        copy_by(SOMEBODY),
    ];
    commit(&mut store, id, 1, events);
    let due = store.due_files(id, 0, 9).unwrap();
    let (refused, others): (Vec<_>, Vec<_>) = due.into_iter().partition(|it| it.uri == REFUSED);
    let refused = File {
        state: FileState::Refused,
        next_at: i64::MAX,
        checked_at: Some(7),
        reason: Some("the path has escapes".to_owned()),
        ..refused[0].clone()
    };
    store.take_file(id, &refused).unwrap();
    for file in others {
        let reason = file
            .uri
            .ends_with("failed")
            .then(|| "status 503".to_owned());
        let fetched = File {
            state: FileState::Fetched,
            next_at: i64::MAX,
            checked_at: Some(7),
            fetched_at: reason.is_none().then_some(7),
            bytes: Some(b"{}".to_vec()),
            reason,
            ..file
        };
        store.take_file(id, &fetched).unwrap();
    }
    let copy = FeedbackKey {
        client: SOMEBODY,
        ..key()
    };
    let keys = [key(), copy];
    let evidence = keys.map(|key| store.evidence(id, &key).unwrap());
    assert!(evidence.iter().flatten().all(|it| it.proof.is_some()));
    let digest = store.file_digest(id).unwrap();
    drop(store);
    let mut database = fresh.location.open().unwrap();
    let kept = format!(
        "UPDATE registration SET description = '{}', image = '{}' WHERE name = 'Ann'",
        "d".repeat(13_000),
        "i".repeat(16_000)
    );
    database.script(&kept).unwrap();
    make_version_10(&mut database);
    drop(database);
    let mut store = open();
    assert_eq!(store.file_digest(id).unwrap(), digest);
    assert_eq!(store.derived_digest(id).unwrap(), digest);
    let long = store.registration(id, agent(1)).unwrap().unwrap();
    assert_eq!((long.description, long.image), (None, None));
    assert_eq!(keys.map(|key| store.evidence(id, &key).unwrap()), evidence);
    let fetched_at = [2, 3].map(|number| {
        let row = store.registration(id, agent(number)).unwrap();
        let found = store.with_fetchings(id, vec![row], |it| it.file).unwrap();
        let (_, fetching) = found[0].clone().unwrap();
        fetching.fetched_at
    });
    assert_eq!(fetched_at, [Some(7), None]);
    let again = File {
        state: FileState::Failing,
        next_at: 0,
        ..refused
    };
    // what was fetched is not fetched again
    assert_eq!(store.due_files(id, i64::MAX - 1, 9).unwrap(), [again]);
    for (key, is_first) in keys.into_iter().zip([true, false]) {
        let row = store.feedback(id, &key).unwrap().unwrap();
        let evidence = store.evidence(id, &key).unwrap();
        let found = store.authorship(id, &key, &row, evidence.as_ref());
        let is_signed = matches!(found.unwrap(), Authorship::Signed { .. });
        assert_eq!(is_signed, is_first);
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

/// R17, R21, EVM-31: the chain's bytes are hashed and read, not the private-use characters for them.
#[test]
fn r17_r21_the_content_of_a_uri_is_the_bytes_that_the_contract_has() {
    let text = format!(
        r#"{{"agentRegistry":"eip155:84532:0x{REGISTRY}","agentId":42,
        "clientAddress":"eip155:84532:0x{CLIENT}","createdAt":"2026-01-26T12:00:00Z",
        "value":95,"valueDecimals":0,"tag1":"x402-resource-delivered",
        "tag2":"proof-of-participation","endpoint":"https://agent.example/weather",
        "note":"{STAND_IN}"}}"#
    );
    let hash = alloy::primitives::keccak256(&text).0; // ERC-8004's: of the bytes
    for label in ["", "data:application/json,"] {
        // as an event has the four bytes of U+10FEFF
        let escaped = text.replace(STAND_IN, "\u{10FEF4}\u{10FE8F}\u{10FEBB}\u{10FEBF}");
        let give = feedback(&format!("{label}{escaped}"), hash, 95);
        let (evidence, _) = indexed(vec![registered(AGENT, SOMEBODY, ""), give]);
        assert_eq!(evidence.scheme.as_deref(), Some("keccak256-raw"), "{label}");
        assert_eq!(evidence.differences.as_deref(), Some("[]"), "{label}");
        // as it has the byte 0xFF, which no JSON has
        let give = feedback(&format!("{label}{text}"), hash, 95);
        let (evidence, _) = indexed(vec![registered(AGENT, SOMEBODY, ""), give]);
        assert_eq!(evidence.state, FileUse::Unreadable, "{label}");
        assert_eq!(evidence.scheme, None, "{label}");
    }
}

#[test]
fn r17_a_text_on_solana_is_its_own_bytes() {
    for (chain, name) in [
        ("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", Some(STAND_IN)),
        ("eip155:84532", None),
    ] {
        let mut store = Store::open(database()).unwrap();
        let id = store.claim(&deployment(chain, bytes(REGISTRY))).unwrap();
        let uri = json!({ "name": STAND_IN }).to_string();
        commit(&mut store, id, 1, vec![registered(AGENT, SOMEBODY, &uri)]);
        let found = store.registration(id, agent(AGENT)).unwrap().unwrap();
        assert_eq!(found.name.as_deref(), name, "{chain}");
        assert_eq!(found.state == FileUse::Read, name.is_some(), "{chain}");
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
