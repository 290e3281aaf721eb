//! R60: agents of an own key are neither probed nor rated.
use crate::{
    services::Services,
    world::{DAY, GENEROUS, MONDAY, World, file, files, id_of, settings},
};
use alloy::primitives::{Address, hex};
use concord_canonical::sign::{PreparedKey, PublicKey};
use concord_files::parse_registration;
use concord_registry::evm::calls;
use concord_watchtower::signals_of_ended_windows;
use concord_x402::verify::AgentRecord;
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r60_an_own_agent_is_not_probed() {
    let world = World::start().await;
    let services = Services::start().await;
    let (own, other) = (world.watchtower.address(), world.owner);
    let url = services.url("/ok");
    let mut agents = vec![world.register(own, &file(&[("web", &url)])).await];
    let approved = world.register(other, &file(&[("web", &url)])).await;
    world
        .call(other, calls::approve(id_of(&approved), own))
        .await;
    agents.push(approved);
    // in another case, on another chain
    let wallet = format!("eip155:1:{}", own.to_string().to_lowercase());
    let listed = file(&[("web", &url), ("agentWallet", &wallet)]);
    agents.push(world.register(other, &listed).await);
    let key = PreparedKey::secp256k1(&world.watchtower.to_bytes().0).unwrap();
    let PublicKey::Secp256k1(public) = key.public_key() else {
        panic!("another key");
    };
    let mut signing = file(&[("web", &url)]);
    signing["signers"] = json!([{
        "publicKey": hex::encode(public), "algorithm": "secp256k1", "validFrom": 1, "validUntil": null,
    }]);
    agents.push(world.register(other, &signing).await);
    let stranger = world.register(other, &file(&[("web", &url)])).await;
    agents.push(stranger.clone());

    let folder = tempfile::tempdir().unwrap();
    let watched = world.watch(folder.path(), settings(), agents.clone()).await;
    let report = watched.round(MONDAY).await.unwrap();
    assert_eq!(report.samples, 1, "{report:?}");
    let own: Vec<_> = report.own.iter().map(|(agent, _)| agent.clone()).collect();
    let expected: Vec<_> = agents[..4].iter().map(|it| it.key()).collect();
    assert_eq!(own, expected, "{report:?}");
    for (words, (_, reason)) in ["acts for", "acts for", "its wallet", "a signer"]
        .iter()
        .zip(&report.own)
    {
        assert!(reason.contains(words), "{reason}");
    }
    assert_eq!(services.asked(), ["get /ok"], "the stranger's alone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r60_an_agent_that_became_an_own_one_is_not_rated() {
    let world = World::start().await;
    let services = Services::start().await;
    let url = services.url("/ok");
    let folder = tempfile::tempdir().unwrap();
    let mut agents = Vec::new();
    for _ in 0..3 {
        agents.push(world.register(world.owner, &file(&[("web", &url)])).await);
    }
    let watched = world.watch(folder.path(), settings(), agents.clone()).await;
    assert_eq!(watched.round(MONDAY).await.unwrap().samples, 3);
    let own = world.watchtower.address();
    world
        .call(world.owner, calls::approve(id_of(&agents[0]), own))
        .await;
    let wallet = format!("eip155:84532:{own}");
    world
        .set_file(
            &agents[1],
            &file(&[("web", &url), ("agentWallet", &wallet)]),
        )
        .await;
    let report = watched.round(MONDAY + 60).await.unwrap();
    assert_eq!((report.samples, report.own.len()), (1, 2), "{report:?}");

    let now = MONDAY + DAY + 3_600;
    let (store, files, accounts) = (&watched.store, files(folder.path()), world.accounts());
    let settings = &watched.settings;
    let count = signals_of_ended_windows(store, settings, &agents, &accounts, &files, now).unwrap();
    assert_eq!(count, 15);
    let mut publisher = world.publisher(folder.path(), store, GENEROUS).await;
    let report = publisher.pass(now).await.unwrap();
    assert_eq!((report.published, report.late, report.refused), (5, 10, 0));
    for (agent, count) in agents.iter().zip([0, 0, 5]) {
        assert_eq!(world.feedbacks(agent).await, count);
    }
    let signals = store.signals().unwrap();
    for signal in signals.iter().filter(|it| it.reason.is_some()) {
        let reason = signal.reason.as_ref().unwrap();
        assert!(
            reason.starts_with("the agent is the watchtower's own"),
            "{reason}"
        );
        assert_eq!(
            (signal.reserved, signal.cost),
            (None, None),
            "nothing was spent"
        );
    }
    // an agent can appoint any account: that must not end what is said of it
    world
        .call(
            world.owner,
            calls::approve(id_of(&agents[0]), Address::ZERO),
        )
        .await;
    let report = publisher.pass(now + DAY).await.unwrap();
    assert_eq!((report.published, report.late, report.refused), (5, 5, 0));
    assert_eq!(world.feedbacks(&agents[0]).await, 5);
}

/// The wallet on chain, which only its holder's signature sets.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r60_an_agent_whose_wallet_is_own_is_own() {
    let world = World::start().await;
    let agent = world.register(world.owner, &file(&[])).await;
    let record = |wallet: Option<Address>| AgentRecord {
        wallet: wallet.map(|it| it.to_string()),
        is_wallet_contract: false,
        uri: String::new(),
        block: 1,
    };
    let own = world.own();
    let by_chain = async |wallet| own.by_chain(&agent, &record(wallet)).await.unwrap();
    let reason = by_chain(Some(world.watchtower.address())).await;
    assert!(reason.unwrap().contains("is its wallet"));
    assert_eq!(by_chain(Some(world.owner)).await, None);
    assert_eq!(by_chain(None).await, None);
    let file =
        parse_registration(br#"{"services":[{"name":"web","endpoint":"https://a.example:443"}]}"#);
    assert_eq!(own.by_file(file.unwrap().view()), None);
}
