//! Each operation once on each chain, and what is read of it.
use crate::world::{Role, World, worlds};
use concord_canonical::{hash::keccak256, tag::Tag, value::Value};
use concord_client::{
    Client, Document, FeedbackRef, FeedbackState, Given, Kind, Rating, Review, StoredRating,
    ValidationAnswer, ValidationRequest, cid_of,
};
use concord_files::{FeedbackFile, McpContext, Timestamp};
use concord_registry::event::{Event, Profile, ValidationTag};
use std::{fs, path::Path};

const NOW: u64 = 1_769_428_800;

#[tokio::test]
async fn r44_each_operation_returns_its_event_on_both_chains() {
    for world in worlds().await {
        let folder = tempfile::tempdir().unwrap();
        let agent = an_agent_is_registered(&world, folder.path()).await;
        a_wallet_is_set(&world, folder.path(), &agent).await;
        let given = feedback_is_given(&world, folder.path(), &agent).await;
        feedback_is_answered_and_revoked(&world, folder.path(), &given.feedback).await;
        feedback_is_authorized(&world, folder.path(), &agent).await;
        a_validation_is_asked_for_and_answered(&world, folder.path(), &agent).await;
    }
}

pub async fn an_agent_is_registered(world: &World, folder: &Path) -> String {
    let file = br#"{"name":"weather"}"#;
    let registered = world.register("register", folder, Document::Bytes(file));
    let registered = registered.await;
    let uri = format!("ipfs://{}", cid_of(file));
    let stored = fs::read(folder.join("files").join(cid_of(file))).unwrap();
    assert_eq!(stored, file, "stored before the URI is on chain");
    let found = world.registries().agent(&registered.agent).await.unwrap();
    let found = found.unwrap();
    assert_eq!(found.uri, uri);
    let owner = world.address(Role::Owner).to_lowercase();
    assert_eq!(found.owner.to_string().to_lowercase(), owner);
    assert_eq!(found.wallet, Some(found.owner), "R3");
    // the same id again is the same agent
    let again = world.register("register", folder, Document::Bytes(file));
    assert_eq!(again.await, registered);
    registered.agent
}

pub async fn a_wallet_is_set(world: &World, folder: &Path, agent: &str) {
    let (mut owner, setting) = world.wallet(agent, Role::Wallet, folder).await;
    let outcome = owner.set_wallet("wallet", setting).await.unwrap();
    assert!(matches!(outcome.event, Event::AgentWalletSet { .. }));
    let found = world.registries().agent(agent).await.unwrap().unwrap();
    let wallet = found.wallet.unwrap().to_string().to_lowercase();
    assert_eq!(wallet, world.address(Role::Wallet).to_lowercase());
}

fn review(agent: &str) -> Review {
    Review::open(agent, Value::new(9977, 2).unwrap())
        .tagged("uptime", "day")
        .about("https://user:key@agent.example/mcp?token=1")
}

/// The file of a review, with what was used (BP's `prepareFeedbackFile`).
fn file(client: &Client, review: &Review) -> FeedbackFile {
    let (registry, account) = (client.registries().registry(), client.account());
    let created = Timestamp::from_unix_seconds(NOW).unwrap();
    let mut file = review.file((&registry, &account), created).unwrap();
    if let FeedbackFile::BestPractices(file) = &mut file {
        file.mcp = Some(McpContext {
            tool: Some("forecast".to_owned()),
            ..McpContext::default()
        });
    }
    file
}

pub async fn feedback_is_given(world: &World, folder: &Path, agent: &str) -> Given {
    let mut client = world.client(Role::Reviewer, folder).await;
    let review = review(agent);
    let file = file(&client, &review);
    let given = client.give("first", review.clone(), Document::Feedback(&file));
    let given = given.await.unwrap();
    assert_eq!(given.feedback.index, 1, "R44");
    let Event::OpenFeedback {
        value,
        decimals,
        endpoint,
        uri,
        hash,
        ..
    } = &given.outcome.event
    else {
        panic!("{:?}", given.outcome.event);
    };
    assert_eq!((*value, *decimals), (9977, 2));
    assert_eq!(endpoint, "https://agent.example/mcp", "R39");
    let stored = uri.strip_prefix("ipfs://").unwrap();
    let stored = fs::read(folder.join("files").join(stored)).unwrap();
    assert_eq!(keccak256(&stored), *hash);

    // again, by a process that was killed meanwhile for all it knows
    let mut other = world.client(Role::Reviewer, folder).await;
    let again = other.give("first", review, Document::Feedback(&file));
    assert_eq!(again.await.unwrap(), given);
    let resumed = other.resume("first").await.unwrap();
    assert_eq!(resumed, Some(given.outcome.clone()));
    assert_eq!(other.resume("never").await.unwrap(), None);
    let registries = world.registries();
    let reviewer = world.address(Role::Reviewer);
    let read = registries.feedback(Kind::Open, agent, &reviewer, 1);
    let expected = FeedbackState {
        rating: StoredRating::Open {
            value: 9977,
            decimals: 2,
            tag1: "uptime".to_owned(),
            tag2: "day".to_owned(),
        },
        is_revoked: false,
    };
    assert_eq!(read.await.unwrap(), Some(expected));
    let second = registries.feedback(Kind::Open, agent, &reviewer, 2);
    assert_eq!(second.await.unwrap(), None, "one feedback");
    // BP's form, which counts from 0, at the edge only
    let text = given.feedback.best_practices_id(world.name()).unwrap();
    let chain = world.name().trim_start_matches("eip155:");
    let client = &given.feedback.client;
    assert_eq!(text, format!("{chain}:{agent}:{client}:0"), "R44");
    let read = FeedbackRef::from_best_practices_id(&text, world.name());
    assert_eq!(read.unwrap(), given.feedback);
    given
}

pub async fn feedback_is_answered_and_revoked(world: &World, folder: &Path, given: &FeedbackRef) {
    let mut owner = world.client(Role::Owner, folder).await;
    let words = b"We fixed it.";
    let response = owner.respond("answer", Kind::Open, given, Document::Bytes(words));
    let response = response.await.unwrap();
    let Event::ResponseAppended { index, hash, .. } = response.event else {
        panic!("{:?}", response.event);
    };
    assert_eq!((index, hash), (1, keccak256(words)));
    let mut reviewer = world.client(Role::Reviewer, folder).await;
    let revoked = reviewer.revoke("revoke", Kind::Open, &given.agent, 1);
    let revoked = revoked.await.unwrap();
    assert!(matches!(
        revoked.event,
        Event::FeedbackRevoked {
            profile: Profile::Open,
            index: 1,
            ..
        }
    ));
    let registries = world.registries();
    let client = world.address(Role::Reviewer);
    let read = registries.feedback(Kind::Open, &given.agent, &client, 1);
    assert!(read.await.unwrap().unwrap().is_revoked);
}

async fn feedback_is_authorized(world: &World, folder: &Path, agent: &str) {
    let expiry = world.now().await + 1_000;
    let auth = world.authorize(agent, Role::Reviewer, (1, expiry)).await;
    let rating = Rating::Authorized { score: 90, auth };
    let review = Review::new(agent, rating).tagged("starred", "");
    let mut client = world.client(Role::Reviewer, folder).await;
    let file = file(&client, &review);
    let given = client.give("authorized", review, Document::Feedback(&file));
    let given = given.await.unwrap();
    assert_eq!(given.feedback.index, 1);
    let registries = world.registries();
    let read = registries.feedback(Kind::Authorized, agent, &given.feedback.client, 1);
    let expected = StoredRating::Authorized {
        score: 90,
        tag1: Tag::new("starred").unwrap().padded(),
        tag2: [0; 32],
        has_payment_proof: false,
    };
    assert_eq!(read.await.unwrap().unwrap().rating, expected);
    let mut owner = world.client(Role::Owner, folder).await;
    let thanks = Document::Bytes(b"Thank you.");
    let response = owner.respond("thanks", Kind::Authorized, &given.feedback, thanks);
    response.await.unwrap();
    let revoked = client.revoke("withdraw", Kind::Authorized, agent, 1);
    revoked.await.unwrap();
}

pub async fn a_validation_is_asked_for_and_answered(world: &World, folder: &Path, agent: &str) {
    let payload = b"the input and the output";
    let request = world.request_hash(agent, Role::Validator, keccak256(payload));
    let asked = ValidationRequest {
        agent: agent.to_owned(),
        validator: world.address(Role::Validator),
        request,
        uri: String::new(),
        tag: String::new(),
    };
    let mut owner = world.client(Role::Owner, folder).await;
    let asked = owner.request_validation("ask", asked, Document::Bytes(payload));
    let asked = asked.await.unwrap();
    let Event::ValidationRequested { uri, .. } = asked.event else {
        panic!("{:?}", asked.event);
    };
    assert_eq!(uri, format!("ipfs://{}", cid_of(payload)));
    let answer = ValidationAnswer {
        agent: agent.to_owned(),
        request,
        score: 75,
        uri: String::new(),
        hash: [0; 32],
        tag: "replay".to_owned(),
    };
    let mut validator = world.client(Role::Validator, folder).await;
    let evidence = Document::Bytes(b"it ran again");
    let answered = validator.answer_validation("answer", answer, evidence);
    let answered = answered.await.unwrap();
    let Event::ValidationResponded {
        score, hash, tag, ..
    } = answered.event
    else {
        panic!("{:?}", answered.event);
    };
    assert_eq!((score, hash), (75, keccak256(b"it ran again")));
    let expected = match world {
        World::Evm(_) => ValidationTag::Text("replay".to_owned()),
        World::Svm(_) => ValidationTag::Bytes(Tag::new("replay").unwrap().padded()), // R14
    };
    assert_eq!(tag, expected);
}
