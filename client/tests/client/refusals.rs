//! What is refused: by which class, and what was sent.
use crate::world::{Role, World, worlds};
use concord_canonical::{ErrorClass, value::Value};
use concord_client::{
    ClientError, Document, FeedbackRef, Kind, OperationError, Rating, Review, Sent,
    ValidationAnswer, ValidationRequest, WalletSetting,
};
use concord_files::Timestamp;
use std::path::Path;

/// Nothing was signed, by the error and on disk.
fn assert_unsent(error: &OperationError, class: ErrorClass, at: &str) {
    assert_eq!(error.class(), Some(class), "{at}: {error}");
    assert_eq!(error.sent, Sent::Nothing, "{at}: {error}");
    assert!(!error.is_retryable(), "{at}: {error}");
}

fn stars(agent: &str) -> Review {
    Review::open(agent, Value::new(80, 0).unwrap()).tagged("starred", "")
}

#[tokio::test]
async fn r25_a_refusal_has_its_class_and_nothing_was_sent() {
    for world in worlds().await {
        let folder = tempfile::tempdir().unwrap();
        let agent = world.register("rated", folder.path(), Document::None).await;
        feedback(&world, folder.path(), &agent.agent).await;
        authorized(&world, folder.path(), &agent.agent).await;
        others(&world, folder.path(), &agent.agent).await;
        forms(&world, folder.path(), &agent.agent).await;
        portable(&world, folder.path(), &agent.agent).await;
    }
}

pub async fn feedback(world: &World, folder: &Path, agent: &str) {
    let mut owner = world.client(Role::Owner, folder).await;
    let own = owner.give("own", stars(agent), Document::None).await;
    assert_unsent(&own.unwrap_err(), ErrorClass::SelfFeedback, world.name());

    let mut reviewer = world.client(Role::Reviewer, folder).await;
    let unknown = match world {
        World::Evm(_) => "77".to_owned(),
        World::Svm(_) => world.address(Role::Wallet),
    };
    let given = reviewer.give("unknown", stars(&unknown), Document::None);
    let error = given.await.unwrap_err();
    assert_unsent(&error, ErrorClass::AgentNotFound, world.name());
    let decimals = Review {
        rating: Rating::Open {
            value: "1".to_owned(),
            decimals: 19,
            endpoint: String::new(),
        },
        ..stars(agent)
    };
    let given = reviewer.give("decimals", decimals, Document::None).await;
    assert_unsent(
        &given.unwrap_err(),
        ErrorClass::DecimalsOutOfRange,
        world.name(),
    );

    let missing = reviewer.revoke("missing", Kind::Open, agent, 1).await;
    assert_unsent(
        &missing.unwrap_err(),
        ErrorClass::FeedbackNotFound,
        world.name(),
    );
    // a refused id can be used for something else
    let given = reviewer.give("missing", stars(agent), Document::None);
    let given = given.await.unwrap();
    let revoked = reviewer.revoke("revoke", Kind::Open, agent, 1).await;
    revoked.unwrap();
    let again = reviewer.revoke("again", Kind::Open, agent, 1).await;
    assert_unsent(
        &again.unwrap_err(),
        ErrorClass::AlreadyRevoked,
        world.name(),
    );
    let empty = owner.respond("empty", Kind::Open, &given.feedback, Document::None);
    let empty = empty.await.unwrap_err();
    assert_unsent(&empty, ErrorClass::EmptyUri, world.name());
    let absent = FeedbackRef {
        index: 9,
        ..given.feedback
    };
    let file = Document::Bytes(b"what?");
    let absent = owner.respond("absent", Kind::Open, &absent, file).await;
    assert_unsent(
        &absent.unwrap_err(),
        ErrorClass::FeedbackNotFound,
        world.name(),
    );
}

async fn authorized(world: &World, folder: &Path, agent: &str) {
    let now = world.now().await;
    let mut reviewer = world.client(Role::Reviewer, folder).await;
    let auth = world
        .authorize(agent, Role::Reviewer, (1, now + 1_000))
        .await;
    let unknown = match world {
        World::Evm(_) => "77".to_owned(),
        World::Svm(_) => world.address(Role::Wallet),
    };
    let review = Review::new(&unknown, Rating::Authorized { score: 1, auth });
    let given = reviewer.give("nobody", review, Document::None).await;
    assert_unsent(&given.unwrap_err(), ErrorClass::AgentNotFound, world.name());
    for (id, bounds, class) in [
        ("expired", (1, now - 1), ErrorClass::AuthExpired),
        ("limit", (0, now + 1_000), ErrorClass::AuthIndexLimit),
    ] {
        let auth = world.authorize(agent, Role::Reviewer, bounds).await;
        let review = Review::new(agent, Rating::Authorized { score: 1, auth });
        let given = reviewer.give(id, review, Document::None).await;
        assert_unsent(&given.unwrap_err(), class, world.name());
    }
    let auth = world.authorize(agent, Role::Reviewer, (1, now + 1_000));
    let auth = auth.await;
    let review = Review::new(agent, Rating::Authorized { score: 101, auth });
    let given = reviewer.give("score", review, Document::None).await;
    assert_unsent(
        &given.unwrap_err(),
        ErrorClass::ScoreOutOfRange,
        world.name(),
    );
}

pub async fn others(world: &World, folder: &Path, agent: &str) {
    let mut reviewer = world.client(Role::Reviewer, folder).await;
    let request = ValidationRequest {
        agent: agent.to_owned(),
        validator: world.address(Role::Validator),
        request: [7; 32],
        uri: "ipfs://request".to_owned(),
        tag: String::new(),
    };
    let asked = reviewer.request_validation("ask", request, Document::None);
    let error = asked.await.unwrap_err();
    assert_unsent(&error, ErrorClass::NotAuthorized, world.name());
    let answer = ValidationAnswer {
        agent: agent.to_owned(),
        request: [7; 32],
        score: 50,
        uri: String::new(),
        hash: [0; 32],
        tag: String::new(),
    };
    let mut validator = world.client(Role::Validator, folder).await;
    let answered = validator.answer_validation("answer", answer, Document::None);
    let error = answered.await.unwrap_err();
    assert_unsent(&error, ErrorClass::RequestNotFound, world.name());
    if let World::Evm(_) = world {
        let (mut owner, setting) = world.wallet(agent, Role::Wallet, folder).await;
        let wallet = world.address(Role::Second); // whose consent it is not
        let setting = WalletSetting { wallet, ..setting };
        let set = owner.set_wallet("wallet", setting).await;
        assert_unsent(
            &set.unwrap_err(),
            ErrorClass::WalletConsentMissing,
            world.name(),
        );
    }
}

/// R17, R39: what no writer publishes, on both chains. The last ones fit.
async fn portable(world: &World, folder: &Path, agent: &str) {
    let mut reviewer = world.client(Role::Reviewer, folder).await;
    let with = |tag1: &str, tag2: &str, endpoint: &str| Review {
        rating: Rating::Open {
            value: "80".to_owned(),
            decimals: 0,
            endpoint: endpoint.to_owned(),
        },
        ..stars(agent).tagged(tag1, tag2)
    };
    let long = format!("https://agent.example/{}", "a".repeat(179));
    for (review, class, field) in [
        (
            with(&"t".repeat(33), "", ""),
            ErrorClass::LengthLimit,
            "tag1",
        ),
        (with("", "a\0b", ""), ErrorClass::LengthLimit, "tag2"),
        (with("", "", &long), ErrorClass::LengthLimit, "endpoint"),
        (
            with("", "", "https://u:secret@agent.example/"),
            ErrorClass::BadRequest,
            "endpoint",
        ),
        (
            with("", "", "https://agent.example/?key=secret"),
            ErrorClass::BadRequest,
            "endpoint",
        ),
    ] {
        let error = reviewer.give("raw", review, Document::None).await;
        let error = error.unwrap_err();
        assert_unsent(&error, class, world.name());
        let text = error.to_string();
        assert!(text.contains(field) && !text.contains("secret"), "{text}");
    }
    let fits = with(&"t".repeat(32), "", &long[..200]);
    reviewer.give("raw", fits, Document::None).await.unwrap();
}

async fn forms(world: &World, folder: &Path, agent: &str) {
    let mut reviewer = world.client(Role::Reviewer, folder).await;
    for id in ["", "../first", "a b", &"a".repeat(65)] {
        let given = reviewer.give(id, stars(agent), Document::None).await;
        assert_unsent(&given.unwrap_err(), ErrorClass::BadRequest, id);
    }
    let given = reviewer.give("agent", stars("x"), Document::None).await;
    assert_unsent(&given.unwrap_err(), ErrorClass::BadRequest, "agent");
    // a file that says something else
    let created = Timestamp::from_unix_seconds(1_769_428_800).unwrap();
    let (registry, account) = (reviewer.registries().registry(), reviewer.account());
    let file = stars(agent).file((&registry, &account), created).unwrap();
    let other = stars(agent).tagged("uptime", "");
    let given = reviewer.give("differs", other, Document::Feedback(&file));
    let error = given.await.unwrap_err();
    assert!(
        matches!(*error.fault, ClientError::FileDiffers { .. }),
        "{error}"
    );
    assert_unsent(&error, ErrorClass::BadRequest, "file");
    // the id of an operation that was sent names no other one
    let first = reviewer.give("once", stars(agent), Document::None);
    let first = first.await.unwrap();
    let other = reviewer.give("once", stars(agent).tagged("uptime", ""), Document::None);
    let error = other.await.unwrap_err();
    assert!(
        matches!(*error.fault, ClientError::OtherOperation { .. }),
        "{error}"
    );
    let transaction = first.outcome.transaction;
    assert_eq!(error.sent, Sent::Landed { transaction });
}
