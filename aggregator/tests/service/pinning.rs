//! Files on an IPFS node. The node is a stand-in that takes Kubo's `POST /api/v0/block/put` as its documentation has
//! it: no node of IPFS can be installed with the tests.
use crate::world::{Place, Running, Settings, World};
use axum::{
    Router,
    body::Bytes,
    extract::{RawQuery, State},
    http::{HeaderMap, StatusCode},
    routing::post,
};
use concord_aggregator::{PinnedFiles, store::RowState};
use concord_canonical::hash::sha256;
use concord_x402::feedback::{FileFolder, FileStore};
use serde_json::json;
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::net::TcpListener;

#[derive(Clone, Default)]
struct Node {
    blocks: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    is_full: Arc<AtomicBool>,
    /// It stores something else.
    is_wrong: Arc<AtomicBool>,
}

/// CIDv1, raw, sha2-256, by a number in base 32, from the first digit on.
fn cid(block: &[u8]) -> String {
    let bytes = [&[1, 0x55, 0x12, 32][..], &sha256(block)].concat();
    let bits: Vec<u8> = bytes
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1))
        .collect();
    let digit = |five: &[u8]| {
        let value = (0..5).fold(0, |sum, at| sum * 2 + five.get(at).copied().unwrap_or(0));
        char::from(b"abcdefghijklmnopqrstuvwxyz234567"[usize::from(value)])
    };
    format!("b{}", bits.chunks(5).map(digit).collect::<String>())
}

/// The one part of a form, by RFC 7578.
fn part<'b>(headers: &HeaderMap, body: &'b [u8]) -> Option<&'b [u8]> {
    let form = headers.get("content-type")?.to_str().ok()?;
    let boundary = form.strip_prefix("multipart/form-data; boundary=")?;
    let rest = body.strip_prefix(format!("--{boundary}\r\n").as_bytes())?;
    let end = format!("\r\n--{boundary}--\r\n");
    let rest = rest.strip_suffix(end.as_bytes())?;
    let head = rest.windows(4).position(|it| it == b"\r\n\r\n")?;
    let names = String::from_utf8_lossy(&rest[..head]).to_lowercase();
    names
        .contains("content-disposition: form-data;")
        .then_some(&rest[head + 4..])
}

async fn put(
    State(node): State<Node>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, String) {
    let refused = |status, words: &str| (status, json!({ "Message": words }).to_string());
    if headers
        .get("authorization")
        .is_none_or(|it| it != "Bearer secret")
    {
        return refused(StatusCode::FORBIDDEN, "no token");
    }
    if node.is_full.load(Ordering::SeqCst) {
        return refused(StatusCode::INTERNAL_SERVER_ERROR, "no space left on device");
    }
    let query = query.unwrap_or_default();
    let wanted = ["cid-codec=raw", "mhtype=sha2-256", "pin=true"];
    let is_raw = wanted
        .iter()
        .all(|it| query.split('&').any(|pair| pair == *it));
    let Some(block) = part(&headers, &body).filter(|_| is_raw) else {
        return refused(StatusCode::BAD_REQUEST, "file argument 'data' is required");
    };
    let key = if node.is_wrong.load(Ordering::SeqCst) {
        cid(b"something else")
    } else {
        cid(block)
    };
    node.blocks
        .lock()
        .unwrap()
        .insert(key.clone(), block.to_vec());
    let answer = json!({ "Key": key, "Size": block.len() });
    (StatusCode::OK, answer.to_string())
}

async fn serve(node: Node) -> String {
    let routes = Router::new()
        .route("/api/v0/block/put", post(put))
        .with_state(node);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    origin
}

fn files(folder: &Path, rpc: &str, token: Option<&str>) -> Result<PinnedFiles, String> {
    PinnedFiles::new(FileFolder::ipfs(folder), rpc, token.map(str::to_owned))
}

#[tokio::test]
async fn a_file_is_stored_once_the_node_has_it_under_its_own_name() {
    let node = Node::default();
    let rpc = serve(node.clone()).await;
    let folder = tempfile::tempdir().unwrap();
    let pinned = files(folder.path(), &rpc, Some("secret")).unwrap();
    // the second has what separates the parts of a form
    for file in ["{\"a\":1}", "--concord\r\n\r\n--\r\n", ""] {
        pinned.store(file.as_bytes()).await.unwrap();
        let key = pinned.uri(file.as_bytes()).replace("ipfs://", "");
        assert_eq!(key, cid(file.as_bytes()));
        assert_eq!(node.blocks.lock().unwrap()[&key], file.as_bytes());
        assert_eq!(
            std::fs::read(folder.path().join(key)).unwrap(),
            file.as_bytes()
        );
    }
    let refused = async |files: PinnedFiles, words: &str| {
        let error = files.store(b"{}").await.unwrap_err().to_string();
        assert!(
            error.contains("block/put") && error.contains(words),
            "{error}"
        );
        assert!(
            !error.contains("secret") && !error.contains("wrong token"),
            "{error}"
        );
    };
    let open = |token| files(folder.path(), &rpc, token).unwrap();
    refused(open(None), "403").await;
    refused(open(Some("wrong token")), "403").await;
    node.is_wrong.store(true, Ordering::SeqCst);
    refused(open(Some("secret")), "expected bafkrei").await;
    node.is_full.store(true, Ordering::SeqCst);
    refused(open(Some("secret")), "500").await;
    let nobody = files(folder.path(), "http://127.0.0.1:1", None).unwrap();
    assert!(nobody.store(b"{}").await.is_err());
    for url in ["", "node", "mailto:a@example.org"] {
        assert!(files(folder.path(), url, None).is_err(), "{url}");
    }
}

/// R55: what cannot be stored is not signed, and is tried again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r55_a_node_that_is_full_delays_the_signature() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let node = Node::default();
    node.is_full.store(true, Ordering::SeqCst);
    let rpc = serve(node.clone()).await;
    let place: Place = world.place();
    let registries = place.registries().await;
    let admission = place.admission(vec![place.served()]).await;
    let pinned = files(&folder.path().join("files"), &rpc, Some("secret")).unwrap();
    let settings = Settings {
        wait: Some(std::time::Duration::ZERO),
        ..Settings::default()
    };
    let running = Running::configured(
        settings,
        folder.path(),
        registries,
        &place.settlement(),
        admission,
        Arc::new(pinned),
    )
    .await;
    let answer = running.submit(&world.review(&world.pay(1).await)).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    let row = || running.store.get(1).unwrap().unwrap();
    while row().attempts == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(row().state, RowState::Accepted);
    assert!(row().reason.unwrap().contains("500"));
    assert_eq!(world.feedbacks().await, 0);
    node.is_full.store(false, Ordering::SeqCst);
    while row().index.is_none() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let file = running.store.file(1).unwrap().unwrap();
    assert_eq!(
        node.blocks.lock().unwrap()[&cid(file.as_bytes())],
        file.as_bytes()
    );
    assert_eq!(world.feedbacks().await, 1);
    running.stop().await;
}
