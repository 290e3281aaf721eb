//! Registries that behave as the canonical ones do: agents count from 0, refusals are texts, and there is no authorized
//! feedback.
use crate::{
    chain::Chain,
    operations::{
        a_validation_is_asked_for_and_answered, a_wallet_is_set, an_agent_is_registered,
        feedback_is_answered_and_revoked, feedback_is_given,
    },
    refusals,
    world::{Role, World},
};
use concord_canonical::summary::Summary;
use concord_client::{Document, FeedbackAuth, Rating, Review, Reviewers, Sent, Tags, summarize};

const AGENT: &str = "0";

async fn canonical() -> World {
    World::Evm(Chain::start_canonical().await)
}

#[tokio::test]
async fn each_operation_is_done_for_agent_0_of_canonical_registries() {
    let (world, folder) = (canonical().await, tempfile::tempdir().unwrap());
    let folder = folder.path();
    assert_eq!(world.registries().agent(AGENT).await.unwrap(), None);
    assert_eq!(an_agent_is_registered(&world, folder).await, AGENT);
    a_wallet_is_set(&world, folder, AGENT).await;
    let given = feedback_is_given(&world, folder, AGENT).await;
    assert_eq!(given.feedback.agent, AGENT);
    let uptime = Summary {
        count: 1,
        value: 9977,
        decimals: 2,
    };
    assert_eq!(summary(&world).await, uptime);
    feedback_is_answered_and_revoked(&world, folder, &given.feedback).await;
    assert_eq!(summary(&world).await, Summary::default());
    a_validation_is_asked_for_and_answered(&world, folder, AGENT).await;

    let auth = FeedbackAuth {
        index_limit: 1,
        expiry: u64::MAX,
        authorization: "0x".to_owned(),
    };
    let review = Review::new(AGENT, Rating::Authorized { score: 90, auth });
    let mut client = world.client(Role::Reviewer, folder).await;
    let refused = client.give("authorized", review, Document::None).await;
    let error = refused.unwrap_err();
    assert_eq!(error.sent, Sent::Nothing, "{error}");
    let words = "no authorized reputation registry is configured";
    assert!(error.to_string().contains(words), "{error}");
}

async fn summary(world: &World) -> Summary {
    let registries = world.registries();
    let everyone = Reviewers::Everyone;
    let stated = summarize(&*registries, AGENT, &everyone, Tags::default()).await;
    stated.unwrap().summary
}

#[tokio::test]
async fn r25_refusals_of_canonical_registries_have_their_classes() {
    let (world, folder) = (canonical().await, tempfile::tempdir().unwrap());
    let agent = world.register("rated", folder.path(), Document::None).await;
    assert_eq!(agent.agent, AGENT);
    refusals::feedback(&world, folder.path(), AGENT).await;
    refusals::others(&world, folder.path(), AGENT).await;
}
