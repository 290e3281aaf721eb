//! `ownerVerified` over TLS: a host with a certificate, and the program with the authority that the operator's machine trusts. The keys in
//! `tls/` are of these tests alone: `authority.pem` signed `localhost.pem`, and `stranger.pem` nothing.
use crate::world::{World, file, network};
use alloy::primitives::hex;
use concord_testkit::command::concord;
use concord_watchtower::{Agent, Sample, Store, Window, WindowKind};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::aws_lc_rs,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};

fn keys(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.join("tests/watch/tls").join(name)
}

fn acceptor() -> TlsAcceptor {
    let certificate = CertificateDer::from_pem_file(keys("localhost.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(keys("localhost.key.pem")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key);
    TlsAcceptor::from(Arc::new(config.unwrap()))
}

/// A host of this machine whose proof (R43) is `proof`, and its URL.
async fn host(proof: Value) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!(
        "https://localhost:{}/",
        listener.local_addr().unwrap().port()
    );
    let (acceptor, proof) = (acceptor(), proof.to_string());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // a client that does not trust the certificate ends the handshake
            let Ok(mut stream) = acceptor.accept(stream).await else {
                continue;
            };
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => head.push(byte),
                    Err(_) => break,
                }
            }
            let is_proof = head.starts_with(b"GET /.well-known/agent-registration.json ");
            let body = if is_proof { proof.as_str() } else { "fine" };
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
            let _ = stream.write_all(answer.as_bytes()).await; // the client may have gone
            let _ = stream.shutdown().await;
        }
    });
    url
}

/// One round of the program on a machine that trusts an authority: the sample of each agent.
fn round(world: &World, agents: &[Agent], url: &str, authority: &str) -> Vec<Sample> {
    let folder = tempfile::tempdir().unwrap();
    let listed = agents.iter().map(|it| {
        let registration = it.registration();
        json!({ "agentRegistry": registration.agent_registry, "agentId": registration.agent_id.to_string() })
    });
    let config = json!({
        "store": "watchtower.sqlite",
        "files": "files",
        "agents": listed.collect::<Vec<_>>(),
        "chains": { network(): {
            "rpc": world.url,
            "evm": {
                "identity": world.identity.to_string(),
                "reputation": world.open.to_string(),
                "maxFee": "20",
                "confirmations": "1",
            },
            "budget": { "perDay": "1", "perRun": "1" },
        } },
        "fetch": { "allowPrivate": true },
    });
    fs::write(folder.path().join("watchtower.json"), config.to_string()).unwrap();
    let ended = concord(&["watchtower"])
        .args(["once", "--config", "watchtower.json"])
        .env(
            "CONCORD_EVM_PRIVATE_KEY",
            hex::encode(world.watchtower.to_bytes()),
        )
        .env("SSL_CERT_FILE", keys(authority))
        .env_remove("SSL_CERT_DIR")
        .current_dir(folder.path())
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{words}");
    let store = Store::open(&folder.path().join("watchtower.sqlite")).unwrap();
    let at = store.first_sample().unwrap().expect("a sample");
    let week = Window::containing(WindowKind::Week, at);
    let sample = |agent: &Agent| {
        let samples = store.samples(&agent.key(), url, week).unwrap();
        let [sample] = &samples[..] else {
            panic!("{samples:?}: {words}")
        };
        sample.clone()
    };
    agents.iter().map(sample).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r43_a_host_proves_its_agents_over_tls_and_no_others() {
    let world = World::start().await;
    let registry = world.registry_account();
    let listed = json!({ "agentRegistry": registry, "agentId": "1" });
    let url = host(json!({ "registrations": [listed] })).await;
    let mut agents = Vec::new();
    for _ in 0..2 {
        agents.push(world.register(world.owner, &file(&[("web", &url)])).await);
    }
    assert_eq!(agents[0].registration().agent_id.as_str(), "1");
    let trusted = round(&world, &agents, &url, "authority.pem");
    let found: Vec<_> = trusted.iter().map(|it| (it.answered, it.owned)).collect();
    assert_eq!(
        found,
        [(true, Some(true)), (true, Some(false))],
        "{trusted:?}"
    );
    // R36: an untrusted certificate is not an answer, and refutes nothing
    let untrusted = round(&world, &agents, &url, "stranger.pem");
    let found: Vec<_> = untrusted.iter().map(|it| (it.answered, it.owned)).collect();
    assert_eq!(found, [(false, None), (false, None)], "{untrusted:?}");
}
