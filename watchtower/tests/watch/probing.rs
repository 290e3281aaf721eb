//! The finding for each kind of service. No service delays a round.
use crate::{
    services::Services,
    world::{DAY, MONDAY, World, fetcher, file, settings},
};
use concord_chain::fetch::{FetchOptions, Fetcher};
use concord_watchtower::{Finding, Prober, ServiceKind, Settings, Target, Window, WindowKind};
use std::time::{Duration, Instant};

fn target(kind: ServiceKind, url: &str) -> Target {
    Target {
        endpoint: url.to_owned(),
        url: url.to_owned(),
        kind,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_service_is_judged_by_its_protocol() {
    let services = Services::start().await;
    let prober = Prober::new(fetcher(Duration::from_secs(30)));
    let (http, mcp, a2a, x402) = (
        ServiceKind::Http,
        ServiceKind::Mcp,
        ServiceKind::A2a,
        ServiceKind::X402,
    );
    let unlike = Finding::Unlike;
    for (kind, path, expected) in [
        (http, "/ok", Finding::AsPromised),
        (http, "/ok?q=1", Finding::AsPromised),
        (http, "/away", Finding::AsPromised),
        (http, "/paid", Finding::AsPromised),
        (http, "/down", Finding::Status(503)),
        (http, "/teapot", Finding::Status(418)),
        (http, "/members", Finding::Status(401)),
        (http, "/round", unlike("too many redirects")),
        (http, "/astray", unlike("redirects to what is not fetched")),
        (
            a2a,
            "/credentials",
            unlike("redirects to what is not fetched"),
        ),
        (http, "/long", Finding::AsPromised),
        (mcp, "/mcp", Finding::AsPromised),
        (mcp, "/mcp-stream", Finding::AsPromised),
        (mcp, "/mcp-no", unlike("MCP's initialize is refused")),
        (mcp, "/mcp-html", unlike("not an answer of MCP")),
        (mcp, "/ok", unlike("not an answer of MCP")),
        (mcp, "/away", Finding::Status(302)),
        (mcp, "/long", unlike("the answer is too long")),
        (a2a, "/.well-known/agent-card.json", Finding::AsPromised),
        (a2a, "/other/agent.json", unlike("not an A2A agent card")),
        (a2a, "/long", unlike("the answer is too long")),
        (
            a2a,
            "/gzip",
            unlike("the answer is encoded otherwise than it says"),
        ),
        (a2a, "/missing", Finding::Status(404)),
        (x402, "/paid", Finding::AsPromised),
        (x402, "/paid-badly", unlike("402 without a readable offer")),
        (x402, "/ok", unlike("not a 402")),
    ] {
        let outcome = prober.probe(&target(kind, &services.url(path))).await;
        assert_eq!(outcome.unwrap().finding, expected, "{kind:?} {path}");
    }
    let ended = services
        .asked()
        .iter()
        .any(|it| it == "delete /mcp mcp-session-id: s-1");
    assert!(ended, "{:?}", services.asked());
}

#[test]
fn r36_an_answer_that_does_not_say_is_not_judged() {
    for (status, success) in [
        (401, None),
        (403, None),
        (405, None),
        (429, None),
        (404, Some(false)),
        (500, Some(false)),
    ] {
        assert_eq!(Finding::Status(status).is_success(), success, "{status}");
        assert!(Finding::Status(status).is_answer());
    }
    assert!(!Finding::Unreachable("no connection").is_answer());
}

/// Slow, endless, rude: each ends at the time limit or before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_service_is_bounded() {
    let services = Services::start().await;
    let prober = Prober::new(fetcher(Duration::from_millis(700)));
    let late = Finding::Unreachable("no answer in time");
    let broken = Finding::Unreachable("no connection");
    let long = Finding::Unlike("the answer is too long");
    for (kind, path, expected) in [
        (ServiceKind::Http, "/silent", &[&late][..]),
        (ServiceKind::Mcp, "/silent", &[&late]),
        (ServiceKind::A2a, "/endless", &[&long]),
        (ServiceKind::Mcp, "/endless", &[&long]),
        (ServiceKind::Http, "/head", &[&broken, &late]),
        (ServiceKind::Http, "/rude", &[&broken]),
    ] {
        let outcome = prober
            .probe(&target(kind, &services.url(path)))
            .await
            .unwrap();
        assert!(expected.contains(&&outcome.finding), "{path}: {outcome:?}");
    }
    // it says 200, and its body is not asked for
    let endless = target(ServiceKind::Http, &services.url("/endless"));
    assert_eq!(
        prober.probe(&endless).await.unwrap().finding,
        Finding::AsPromised
    );
}

/// Ending the session is not part of what the service is asked for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_session_is_not_measured() {
    let services = Services::start().await;
    let limit = Duration::from_secs(3);
    let prober = Prober::new(fetcher(limit));
    let begun = Instant::now();
    let clinging = target(ServiceKind::Mcp, &services.url("/mcp-clinging"));
    let outcome = prober.probe(&clinging).await.unwrap();
    assert_eq!(outcome.finding, Finding::AsPromised);
    assert!(begun.elapsed() >= limit, "its end was not tried");
    let measured = Duration::from_millis(outcome.millis);
    assert!(measured < limit, "{outcome:?}");
}

/// The operator's own network is not asked, whatever a registration file says.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_private_service_is_not_asked() {
    let services = Services::start().await;
    let options = FetchOptions {
        allow_http: true,
        ..FetchOptions::default()
    };
    let prober = Prober::new(Fetcher::new(options).unwrap());
    let private = Finding::Unreachable("not at a public address");
    for kind in [
        ServiceKind::Http,
        ServiceKind::Mcp,
        ServiceKind::A2a,
        ServiceKind::X402,
    ] {
        for url in [
            services.url("/ok"),
            "http://169.254.169.254/latest/meta-data".to_owned(),
            "http://[::1]:80/".to_owned(),
            "http://localhost:1/".to_owned(),
        ] {
            let outcome = prober.probe(&target(kind, &url)).await.unwrap();
            assert_eq!(outcome.finding, private, "{url}");
        }
    }
    assert_eq!(services.asked(), Vec::<String>::new());
    // by default `http:` is not asked at all, which says nothing about the service
    let strict = Prober::new(Fetcher::new(FetchOptions::default()).unwrap());
    let plain = target(ServiceKind::Http, "http://example.com/");
    assert_eq!(strict.probe(&plain).await, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_round_is_bounded_whatever_the_files_list() {
    let world = World::start().await;
    let services = Services::start().await;
    let urls: Vec<String> = (0..30)
        .map(|it| services.url(&format!("/ok/{it}")))
        .collect();
    let many: Vec<(&str, &str)> = urls.iter().map(|it| ("web", &**it)).collect();
    let silent = services.url("/silent");
    let mut agents = vec![world.register(world.owner, &file(&many)).await];
    agents.push(
        world
            .register(world.owner, &file(&[("MCP", &silent)]))
            .await,
    );
    agents.push(
        world
            .register(world.owner, &serde_json::json!({ "services": "none" }))
            .await,
    );
    agents.push(world.agent(alloy::primitives::U256::from(99)));
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        timeout: Duration::from_millis(300),
        ..settings()
    };
    let watched = world.watch(folder.path(), settings, agents.clone()).await;
    let report = watched.round(MONDAY).await.unwrap();
    assert_eq!(report.samples, 4 + 1, "{report:?}");
    assert_eq!(services.asked().len(), 4 + 1);
    let unreadable: Vec<_> = report
        .unreadable
        .iter()
        .map(|(agent, _)| agent.clone())
        .collect();
    assert_eq!(unreadable, [agents[2].key(), agents[3].key()], "{report:?}");
    let day = Window::containing(WindowKind::Day, MONDAY);
    let samples = watched
        .store
        .samples(&agents[1].key(), &silent, day)
        .unwrap();
    assert_eq!(
        (samples.len(), &*samples[0].finding),
        (1, "no answer in time")
    );
}

/// A watchtower without a network must not say that everybody is down.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_control_that_answers_a_round_does_not_count() {
    let world = World::start().await;
    let services = Services::start().await;
    let gone = Services::start().await;
    let control = gone.url("/ok");
    let agent = world
        .register(world.owner, &file(&[("web", &services.url("/ok"))]))
        .await;
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        controls: vec!["http://127.0.0.1:1/".to_owned(), control],
        ..settings()
    };
    let watched = world.watch(folder.path(), settings, vec![agent]).await;
    assert_eq!(watched.round(MONDAY).await.unwrap().samples, 1);
    drop(gone);
    let report = watched.round(MONDAY + DAY).await.unwrap();
    assert_eq!((report.samples, report.is_without_network), (0, true));
    assert_eq!(watched.store.sample_count().unwrap(), 1);
}

/// A host that is down is probed at what was last known of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_s_services_outlast_its_file_and_not_its_withdrawal() {
    let world = World::start().await;
    let (host, services) = (Services::start().await, Services::start().await);
    let url = services.url("/ok");
    let agent = world.register(world.owner, &file(&[("web", &url)])).await;
    let folder = tempfile::tempdir().unwrap();
    let watched = world
        .watch(folder.path(), settings(), vec![agent.clone()])
        .await;
    assert_eq!(watched.round(MONDAY).await.unwrap().samples, 1);
    let elsewhere = host.url("/down"); // 503: it may come back
    world.set_uri(&agent, &elsewhere).await;
    let report = watched.round(MONDAY + 60).await.unwrap();
    assert_eq!((report.samples, report.unreadable.len()), (1, 1));
    world.set_file(&agent, &file(&[])).await;
    let report = watched.round(MONDAY + 120).await.unwrap();
    assert_eq!((report.samples, report.unreadable.len()), (0, 0));
}

#[test]
fn r60_half_of_the_expected_samples_are_needed() {
    let defaults = Settings {
        interval: Duration::from_secs(300),
        samples_min: None,
        ..settings()
    };
    assert_eq!(defaults.samples_min(WindowKind::Day), 144);
    assert_eq!(defaults.samples_min(WindowKind::Week), 1_008);
    let rare = Settings {
        interval: Duration::from_secs(DAY),
        ..defaults
    };
    assert_eq!(rare.samples_min(WindowKind::Day), 1, "never none");
}
