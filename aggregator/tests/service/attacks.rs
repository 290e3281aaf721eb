//! What strangers try at the interface. The server's own limits are tested in `chain/tests/server`, those of fetched files
//! in `chain/tests/fetch`.
use crate::{
    shut_out::as_owner,
    world::{Running, World},
};
use concord_registry::evm::calls;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

async fn class_of(running: &Running, payload: &Value) -> (u16, String) {
    let answer = running.post(payload.to_string()).await;
    let class = answer.body["class"].as_str().unwrap_or_default();
    (answer.status, class.to_owned())
}

/// One string of `payload` from another payload.
fn with_text_of(payload: &Value, place: &str, other: &Value, from: &str) -> Value {
    let mut changed = payload.clone();
    *changed.pointer_mut(place).unwrap() = other.pointer(from).unwrap().clone();
    changed
}

/// A signature is valid only for the signed request and for the agent's own key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signatures_that_are_replayed_or_swapped_are_refused() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let first = world.review(&world.pay(1).await).json();
    let second = world.review(&world.pay(1).await).json();
    let (agent, reviewer) = ("/interactionData/agentSignature", "/reviewerSignature");
    let mut of_other_agent = first.clone();
    of_other_agent["interactionData"]["agentId"] = json!("4242");
    for (what, payload, expected) in [
        (
            "the agent's, of another payment",
            with_text_of(&first, agent, &second, agent),
            (422, "SignatureInvalid"),
        ),
        (
            "the reviewer's, of another payment",
            with_text_of(&first, reviewer, &second, reviewer),
            (422, "BadSignature"),
        ),
        (
            "the reviewer's as the agent's",
            with_text_of(&first, agent, &first, reviewer),
            (422, "SignatureInvalid"),
        ),
        (
            "the agent's as the reviewer's",
            with_text_of(&first, reviewer, &first, agent),
            (422, "BadSignature"),
        ),
        (
            "both, about another agent",
            of_other_agent,
            (422, "BadSignature"),
        ),
        (
            "what was signed, for another payment",
            with_text_of(
                &first,
                "/interactionData/taskRef",
                &second,
                "/interactionData/taskRef",
            ),
            (400, "InteractionHashMismatch"),
        ),
    ] {
        let (status, class) = class_of(&running, &payload).await;
        assert_eq!((status, &*class), expected, "{what}");
    }
    assert!(running.store.page(1, 10).unwrap().is_empty());
    for payload in [&first, &second, &first] {
        assert_eq!(class_of(&running, payload).await.0, 200);
    }
    assert_eq!(
        world.feedbacks().await,
        2,
        "a replay of all of it is the same answer"
    );
    running.stop().await;
}

/// An agent's URI never leads into the operator's network: nothing connects, and nothing is accepted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agents_uri_does_not_lead_into_the_operators_network() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let inside = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = inside.local_addr().unwrap().port();
    let connected = tokio::spawn(async move { inside.accept().await });
    for uri in [
        format!("http://127.0.0.1:{port}/agent.json"),
        format!("https://127.0.0.1:{port}/agent.json"),
        format!("https://[::ffff:127.0.0.1]:{port}/agent.json"),
        format!("https://localhost:{port}/agent.json"),
        format!("https://2130706433:{port}/agent.json"),
        "https://169.254.169.254/latest/meta-data/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let input = calls::set_agent_uri(world.chain.agent_id, &uri).to_vec();
        as_owner(&world, input).await;
        let payload = world.review(&world.pay(1).await).json();
        let answer = running.post(payload.to_string()).await;
        // the URI is at fault, or its name leads nowhere
        let found = (answer.status, answer.body["class"].as_str().unwrap_or(""));
        let expected = [(422, "SignerUnknown"), (503, "Unavailable")];
        assert!(expected.contains(&found), "{uri}: {}", answer.body);
        let words = answer.body.to_string();
        assert!(!words.contains("root:"), "{words}");
    }
    assert!(!connected.is_finished(), "something connected");
    connected.abort();
    assert!(running.store.page(1, 10).unwrap().is_empty());
    running.stop().await;
}

/// What a raw request is answered with, if its end never comes.
async fn answer_to(running: &Running, request: &[u8]) -> String {
    let address = running.origin.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while !String::from_utf8_lossy(&answer).contains("\"class\"") {
        let length = stream.read(&mut buffer).await.unwrap();
        assert!(length > 0, "{}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&buffer[..length]);
    }
    String::from_utf8(answer).unwrap()
}

/// A body that never ends, one that is announced too long, and one that is compressed: none is waited for or undone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_stall_grow_or_unfold_are_refused() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let zeros = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &[0; 64]].concat();
    let gzip = [
        format!(
            "POST /feedback HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
            zeros.len()
        )
        .as_bytes(),
        &zeros,
    ]
    .concat();
    let chunk = format!("{:x}\r\n{}\r\n", 0x11000, "x".repeat(0x11000));
    let endless =
        format!("POST /feedback HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}");
    let stalled = "POST /feedback HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n{\"review\":";
    for (request, class) in [
        (stalled.as_bytes(), "BodyIncomplete"),
        (endless.as_bytes(), "PayloadTooLarge"),
        (&gzip, "MalformedJson"),
    ] {
        let answer = answer_to(&running, request).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{class}: {answer}");
        assert!(
            answer.contains(&format!("\"class\":\"{class}\"")),
            "{class}: {answer}"
        );
    }
    let good = world.review(&world.pay(1).await).json();
    assert_eq!(class_of(&running, &good).await.0, 200, "others are served");
    running.stop().await;
}
