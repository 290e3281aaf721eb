use crate::online::{
    cluster::{CHAIN, World},
    flips, local_fetcher, offline, serve, steps_in,
};
use concord_canonical::hash::keccak256;
use concord_explain::{
    Bundle, Report, State, Step, Trust, complete,
    online::{FeedbackName, Online},
};
use concord_registry::svm::{Program, instructions::GiveOpenFeedback};
use serde_json::json;
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::collections::BTreeSet;

pub async fn explained(world: &World, name: &str, trust: &Trust) -> (Bundle, Report) {
    let mut online = Online::new(local_fetcher());
    online.add_svm(world.reader().await);
    let name: FeedbackName = name.parse().expect("a name");
    let subject = online.subject(&name, trust).await.expect("a feedback");
    let mut bundle = Bundle::new(subject);
    let completed = complete(&mut bundle, trust, &mut online)
        .await
        .expect("a feedback");
    assert!(completed.needs.is_empty(), "{:?}", completed.needs);
    (bundle, completed.report)
}

pub fn trust(program: &Program) -> Trust {
    let mut trust = Trust::default();
    let named = format!("AgentRegistry={CHAIN}:{}", program.id());
    trust.add_named(&named).expect("a registry");
    trust
}

const SOUND: [Step; 8] = [
    Step::Event,
    Step::Registry,
    Step::NotRevoked,
    Step::FileHash,
    Step::FileAgrees,
    Step::Authorship,
    Step::SelfFeedback,
    Step::Registration,
];

#[tokio::test(flavor = "multi_thread")]
async fn a_feedback_of_a_running_cluster_is_verified_but_for_its_inclusion() {
    let (owner, client) = (Keypair::new(), Keypair::new());
    let world = World::start(&[owner.pubkey(), client.pubkey()]);
    let program = world.deploy(&owner).await;
    let registry = format!("{CHAIN}:{}", program.id());
    let agent = program.agent_mint(&owner.pubkey(), 0);
    let registration =
        json!({ "registrations": [{ "agentId": agent.to_string(), "agentRegistry": registry }] });
    let uri = format!("data:,{registration}");
    let register = program.register_agent(owner.pubkey(), owner.pubkey(), 0, &uri);
    world.send(&[&owner], &[register]).await;
    let file = json!({
        "agentId": agent.to_string(),
        "agentRegistry": registry,
        "clientAddress": format!("{CHAIN}:{}", client.pubkey()),
        "createdAt": "2026-01-02T03:04:05Z",
        "value": 50,
        "valueDecimals": 1,
        "tag1": "starred",
    });
    let file = file.to_string();
    let uri = serve(file.clone()); // a URI has 200 bytes at most (R17)
    let give = |index| {
        let given = GiveOpenFeedback {
            index,
            value: 50,
            decimals: 1,
            tag1: "starred",
            tag2: "",
            endpoint: "",
            uri: &uri,
            hash: keccak256(file.as_bytes()),
        };
        program.give_open_feedback(client.pubkey(), agent, &given)
    };
    // of the client's two feedbacks the second
    world.send(&[&client], &[give(1)]).await;
    let sent = world.send(&[&client], &[give(2)]).await;
    world.advance(2).await;
    let trust = trust(&program);
    let (bundle, report) = explained(&world, &format!("{CHAIN}:{sent}"), &trust).await;
    assert_eq!(bundle.feedback.index, 2);
    assert_eq!(
        steps_in(&report, State::CannotCheck),
        [Step::Inclusion],
        "{report:#?}"
    );
    // only its host says that it is the file of this URI; the hash says more
    assert_eq!(steps_in(&report, State::Claimed), [Step::File]);
    assert_eq!(steps_in(&report, State::Verified), SOUND, "{report:#?}");
    assert_eq!(offline(&bundle, &trust), report);
    let refuted = flips::check_svm(&bundle, &trust);
    assert_eq!(refuted, BTreeSet::from([Step::Event, Step::FileHash]));
    let (by_id, again) = explained(&world, &bundle.feedback.name(), &trust).await;
    assert_eq!((by_id.feedback, again), (bundle.feedback.clone(), report));

    let revoke = program.revoke_open_feedback(client.pubkey(), agent, 2);
    world.send(&[&client], &[revoke]).await;
    world.advance(2).await;
    let (_, report) = explained(&world, &bundle.feedback.name(), &trust).await;
    assert_eq!(
        steps_in(&report, State::Refuted),
        [Step::NotRevoked],
        "{report:#?}"
    );
}
