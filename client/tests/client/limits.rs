//! What no writer publishes, on either chain: text over its portable length (R17), and an endpoint that can hold a
//! secret (R39), which no error repeats.
use crate::{
    chain::Chain,
    world::{Role, World, worlds},
};
use concord_canonical::{ErrorClass, value::Value};
use concord_client::{
    Client, ClientError, Document, Feedback, FeedbackRef, Kind, Operation, OperationError, Rating,
    Registration, Response, Review, Sent, ValidationAnswer, ValidationRequest,
};
use concord_files::{FeedbackFile, Timestamp};
use concord_registry::event::Event;
use std::path::Path;

fn rated(agent: &str, endpoint: &str) -> Review {
    let rating = Rating::Open {
        value: "80".to_owned(),
        decimals: 0,
        endpoint: endpoint.to_owned(),
    };
    Review::new(agent, rating)
}

fn file(client: &Client, review: &Review) -> FeedbackFile {
    let created = Timestamp::from_unix_seconds(1_769_428_800).unwrap();
    let (registry, account) = (client.registries().registry(), client.account());
    review.file((&registry, &account), created).unwrap()
}

fn assert_secret_is_kept(error: &OperationError, at: &str) {
    for text in [error.to_string(), format!("{error:?}")] {
        assert!(!text.contains("secret"), "{at}: {text}");
    }
}

#[tokio::test]
async fn r39_no_error_repeats_an_endpoint() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::Evm(Chain::start().await);
    let agent = world.register("rated", folder.path(), Document::None).await;
    let mut client = world.client(Role::Reviewer, folder.path()).await;
    let review = |endpoint: &str| rated(&agent.agent, endpoint);
    let long = format!("https://u:secret@h/{}", "a".repeat(200));
    let clean = "https://h/secret-path";
    for raw in ["https://u:secret@h/", "https://h/?secret", &long] {
        // in the file, in the review, in both, and in the review of a file that names another service
        for (in_file, sent) in [(raw, clean), (clean, raw), (raw, raw), ("https://h/", raw)] {
            let file = file(&client, &review(in_file));
            let given = client.give("raw", review(sent), Document::Feedback(&file));
            let error = given.await.unwrap_err();
            let is_refused_first = error.to_string().starts_with("endpoint is");
            assert_eq!(is_refused_first, sent == raw, "{error}");
            assert_eq!(error.sent, Sent::Nothing, "{error}");
            assert_secret_is_kept(&error, &format!("{in_file} {sent}"));
        }
    }
    let file = file(&client, &review(clean));
    let other = client.give("raw", review("https://h/"), Document::Feedback(&file));
    let error = other.await.unwrap_err();
    let is_endpoint =
        matches!(&*error.fault, ClientError::FileDiffers { field, .. } if *field == "endpoint");
    assert!(is_endpoint, "{error}");
    assert_secret_is_kept(&error, "the path of an endpoint");
    once_it_was_signed(&mut client, &review).await;
}

/// The id of an operation that landed names no other one, and its error repeats neither.
async fn once_it_was_signed(client: &mut Client, review: &impl Fn(&str) -> Review) {
    let first = review("https://h/secret-path");
    let given = client.give("once", first, Document::None).await.unwrap();
    let landed = Sent::Landed {
        transaction: given.outcome.transaction,
    };
    let raw = review("https://u:secret@h/");
    let error = client.give("once", raw.clone(), Document::None).await;
    let error = error.unwrap_err();
    assert_eq!(
        (error.class(), &error.sent),
        (Some(ErrorClass::BadRequest), &landed)
    );
    assert_secret_is_kept(&error, "give");
    let operation = Operation::Give(Feedback {
        agent: raw.agent,
        tag1: String::new(),
        tag2: String::new(),
        rating: raw.rating,
        uri: String::new(),
        hash: [0; 32],
    });
    let error = client.run("once", operation).await.unwrap_err();
    assert_eq!(
        (error.class(), &error.sent),
        (Some(ErrorClass::BadRequest), &landed)
    );
    assert_secret_is_kept(&error, "run");
    let other = review("https://h/secret-too");
    let error = client.give("once", other, Document::None).await;
    let error = error.unwrap_err();
    assert_eq!(error.sent, landed);
    assert!(
        error.to_string().contains("rating.open.endpoint"),
        "{error}"
    );
    assert_secret_is_kept(&error, "another operation");
    let error = client.revoke("once", Kind::Open, &given.feedback.agent, 1);
    let error = error.await.unwrap_err().to_string();
    assert!(
        error.contains("give") && error.contains("revoke"),
        "{error}"
    );
}

#[tokio::test]
async fn r17_every_writer_keeps_the_portable_limits_on_both_chains() {
    for world in worlds().await {
        let folder = tempfile::tempdir().unwrap();
        let agent = world.register("rated", folder.path(), Document::None).await;
        let mut client = world.client(Role::Reviewer, folder.path()).await;
        for (operation, field) in over_a_limit(&world, &agent.agent) {
            let at = format!("{} on {}: {field}", operation.name(), world.name());
            let error = client.run("over", operation).await.unwrap_err();
            assert_eq!(
                error.class(),
                Some(ErrorClass::LengthLimit),
                "{at}: {error}"
            );
            assert_eq!(error.sent, Sent::Nothing, "{at}");
            assert!(error.to_string().starts_with(field), "{at}: {error}");
        }
        published(&mut client, &agent.agent).await;
        the_longest_land(&world, folder.path(), &agent.agent).await;
    }
}

/// Each operation with one text that is too long, or holds NUL.
fn over_a_limit(world: &World, agent: &str) -> Vec<(Operation, &'static str)> {
    let long = |length: usize| format!("data:,{}", "a".repeat(length - 6));
    let registered = |uri: &str, key: &str, value: &str| {
        let metadata = vec![(key.to_owned(), value.to_owned())];
        Operation::Register(Registration {
            uri: uri.to_owned(),
            metadata,
            nonce: None,
        })
    };
    let given = |uri: &str| {
        let Review { agent, rating, .. } = rated(agent, "");
        Operation::Give(Feedback {
            agent,
            tag1: String::new(),
            tag2: String::new(),
            rating,
            uri: uri.to_owned(),
            hash: [0; 32],
        })
    };
    let answered = |uri: &str| {
        Operation::Respond(Response {
            kind: Kind::Open,
            agent: agent.to_owned(),
            client: world.address(Role::Second),
            index: 1,
            uri: uri.to_owned(),
            hash: [0; 32],
        })
    };
    let asked = |uri: &str, tag: &str| {
        Operation::RequestValidation(ValidationRequest {
            agent: agent.to_owned(),
            validator: world.address(Role::Validator),
            request: [7; 32],
            uri: uri.to_owned(),
            tag: tag.to_owned(),
        })
    };
    let validated = |uri: &str, tag: &str| {
        Operation::AnswerValidation(ValidationAnswer {
            agent: agent.to_owned(),
            request: [7; 32],
            score: 50,
            uri: uri.to_owned(),
            hash: [0; 32],
            tag: tag.to_owned(),
        })
    };
    vec![
        (registered(&long(5_000), "kind", "weather"), "uri"),
        (registered(&long(201), "kind", "weather"), "uri"),
        (registered("ipfs://a\0", "kind", "weather"), "uri"),
        (registered("", &"k".repeat(33), "weather"), "metadata key"),
        (registered("", "a\0b", "weather"), "metadata key"),
        (registered("", "kind", &"v".repeat(257)), "metadata value"),
        (given(&long(201)), "uri"),
        (given("ipfs://a\0"), "uri"),
        (answered(&long(201)), "uri"),
        (answered("ipfs://a\0"), "uri"),
        (asked(&long(201), ""), "uri"),
        (asked("", &"t".repeat(33)), "tag"),
        (validated(&long(201), ""), "uri"),
        (validated("", &"t".repeat(100)), "tag"),
        (validated("", "a\0b"), "tag"),
    ]
}

/// A file that is published already is held to the same limit.
async fn published(client: &mut Client, agent: &str) {
    let long = format!("https://agent.example/{}", "a".repeat(1_000));
    for uri in [&*long, "ipfs://a\0"] {
        let file = Document::Published { uri, hash: [7; 32] };
        let review = Review::open(agent, Value::new(80, 0).unwrap());
        let error = client.give("over", review, file).await.unwrap_err();
        assert_eq!(error.class(), Some(ErrorClass::LengthLimit), "{error}");
        let feedback = FeedbackRef {
            agent: agent.to_owned(),
            client: String::new(),
            index: 1,
        };
        let responded = client.respond("over", Kind::Open, &feedback, file).await;
        let error = responded.unwrap_err();
        assert_eq!(error.class(), Some(ErrorClass::LengthLimit), "{error}");
        assert_eq!(error.sent, Sent::Nothing);
    }
}

async fn the_longest_land(world: &World, folder: &Path, agent: &str) {
    let uri = format!("data:,{}", "a".repeat(194));
    let registration = Registration {
        uri: uri.clone(),
        metadata: vec![("k".repeat(32), "v".repeat(255) + "\0")],
        nonce: None,
    };
    let mut owner = world.client(Role::Owner, folder).await;
    let registered = owner.register("longest", registration, Document::None);
    let registered = registered.await.unwrap().agent;
    let found = world.registries().agent(&registered).await.unwrap();
    assert_eq!(found.unwrap().uri, uri, "{}", world.name());
    let mut reviewer = world.client(Role::Reviewer, folder).await;
    let review = Review::open(agent, Value::new(80, 0).unwrap());
    let file = Document::Published {
        uri: &uri,
        hash: [7; 32],
    };
    let given = reviewer.give("over", review, file).await.unwrap();
    let is_whole =
        matches!(&given.outcome.event, Event::OpenFeedback { uri: it, .. } if *it == uri);
    assert!(is_whole, "{:?}", given.outcome.event);
}
