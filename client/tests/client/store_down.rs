//! A store, an index or an input that is not as it should be, after something may have been sent.
use crate::{
    chain::Chain,
    world::{Role, World, evm_registries},
};
use async_trait::async_trait;
use concord_canonical::value::Value as Rated;
use concord_chain::{
    ChainError,
    submission::{FileRecord, SignedTx, TxRecord},
};
use concord_client::{
    Client, ClientError, Document, FeedbackRef, FileFolder, FileStore, IndexClient, IndexError,
    Kind, Registries, Review, Reviewers, Sent, Tags,
};
use concord_registry::evm::RegistryAddresses;
use serde_json::{Value, json};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

struct Failing {
    files: FileFolder,
    is_down: AtomicBool,
}

#[async_trait]
impl FileStore for Failing {
    fn uri(&self, file: &[u8]) -> String {
        self.files.uri(file)
    }

    async fn store(&self, file: &[u8]) -> Result<(), ChainError> {
        if self.is_down.load(Ordering::SeqCst) {
            Err(ChainError::Unreachable {
                host: "store".to_owned(),
                method: "add".to_owned(),
                reason: "the store is down".to_owned(),
            })
        } else {
            self.files.store(file).await
        }
    }
}

async fn client(world: &World, folder: &Path) -> (Client, Arc<Failing>) {
    let files = Arc::new(Failing {
        files: FileFolder::ipfs(&folder.join("files")),
        is_down: AtomicBool::new(false),
    });
    let account = world.account(Role::Reviewer, Vec::new()).await;
    let client = Client::new(account, &folder.join("records"), files.clone());
    (client, files)
}

#[tokio::test]
async fn a_store_that_is_down_does_not_hide_what_was_sent() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::Evm(Chain::start().await);
    let agent = world.register("rated", folder.path(), Document::None).await;
    let review = Review::open(&agent.agent, Rated::new(95, 0).unwrap());
    let (mut client, files) = client(&world, folder.path()).await;
    let file = Document::Bytes(b"{}");
    let given = client.give("landed", review.clone(), file).await.unwrap();

    files.is_down.store(true, Ordering::SeqCst);
    let again = client.give("landed", review.clone(), file).await;
    assert_eq!(again.unwrap(), given, "it is read back");
    let fresh = client.give("fresh", review.clone(), file).await;
    assert_eq!(fresh.unwrap_err().sent, Sent::Nothing);

    let path = folder.path().join("records/signed.transactions.json");
    let signed = SignedTx {
        transaction: given.outcome.transaction,
        raw: String::new(),
        valid_until: None,
        signed_at: None,
        sent: true,
        failure_cost: None,
    };
    let transactions = vec![signed.transaction.clone()];
    let mut record = FileRecord::open(&path).unwrap();
    record.signed(&[("signed", signed)]).unwrap();
    drop(record);
    let killed = client.give("signed", review, file).await;
    assert_eq!(killed.unwrap_err().sent, Sent::Maybe { transactions });
}

#[tokio::test]
async fn a_form_that_cannot_be_read_back_is_refused_before_it_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::Evm(Chain::start().await);
    let (mut client, _) = client(&world, folder.path()).await;
    let zeros = client.revoke("zeros", Kind::Open, "007", 1).await;
    let zeros = zeros.unwrap_err();
    assert!(zeros.to_string().contains("leading zeros"), "{zeros}");
    assert_eq!(zeros.sent, Sent::Nothing);
    let feedback = FeedbackRef {
        agent: "1".to_owned(),
        client: world.address(Role::Reviewer)[2..].to_owned(),
        index: 1,
    };
    let bare = client.respond("bare", Kind::Open, &feedback, Document::None);
    let bare = bare.await.unwrap_err();
    assert!(bare.to_string().contains("0x and 40"), "{bare}");
    assert_eq!(bare.sent, Sent::Nothing);
}

/// A call to an address without code succeeds, and does nothing.
#[tokio::test]
async fn an_address_without_a_contract_takes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut chain = Chain::start().await;
    chain.addresses.open_reputation = Some([0x77; 20].into());
    let world = World::Evm(chain);
    let (mut client, _) = client(&world, folder.path()).await;
    let review = Review::open("1", Rated::new(95, 0).unwrap());
    let given = client.give("none", review, Document::None).await;
    let error = given.unwrap_err();
    let words = "there is no contract at 0x7777777777777777777777777777777777777777";
    assert!(error.to_string().contains(words), "{error}");
    assert_eq!(error.sent, Sent::Nothing);
}

/// Answers every question with this JSON, and status 200. Returns its URL.
async fn answering(body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 4096]).await;
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}");
            let answer = format!("{head}\r\n\r\n{body}");
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    url
}

/// A node without the state, or out of order, has said nothing about the call: another one may answer (R36).
#[tokio::test]
async fn only_a_node_s_own_fault_may_pass() {
    let addresses = RegistryAddresses {
        identity: [0x77; 20].into(),
        open_reputation: None,
        authorized_reputation: None,
        validation: None,
    };
    for (words, passes) in [
        ("missing trie node 5f", true),
        ("execution aborted (timeout = 5s)", true),
        ("execution reverted: no", false),
        ("out of gas", false),
        ("invalid jump destination", false),
    ] {
        let error = json!({ "code": -32000, "message": words });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "error": error });
        let body: &'static str = body.to_string().leak();
        let registries = evm_registries(&answering(body).await, addresses);
        let error = registries.agent("1").await.unwrap_err();
        assert_eq!(error.is_retryable(), passes, "{error}");
        assert_eq!(error.class(), None, "{error}");
    }
}

fn is_silent(error: &ClientError) -> bool {
    matches!(error, ClientError::Index(IndexError::Silent { .. }))
}

#[tokio::test]
async fn an_answer_of_another_form_is_an_error() {
    let tags = Tags { tag1: "", tag2: "" };
    for body in [
        "[]",
        "{}",
        "null",
        r#"{"items":{}}"#,
        r#"{"items":[],"nextCursor":7}"#,
        r#"{"items":[],"nextCursor":{"after":7}}"#,
        r#"{"items":[]}"#,
    ] {
        let index = IndexClient::new(&answering(body).await).unwrap();
        let summary = index.summary(Kind::Open, "a", &Reviewers::Everyone, tags);
        assert!(is_silent(&summary.await.unwrap_err()), "{body}");
        if body.ends_with("[]}") {
            continue; // a page may be empty
        }
        let agents = index.search_agents(&Value::Null, None, &Value::Null);
        assert!(is_silent(&agents.await.unwrap_err()), "{body}");
        let feedback = index.search_feedback(&Value::Null, &Value::Null);
        assert!(is_silent(&feedback.await.unwrap_err()), "{body}");
        let one = index.feedback(Kind::Open, "a", "b", 1);
        assert!(is_silent(&one.await.unwrap_err()), "{body}");
    }
}

#[tokio::test]
async fn only_text_continues_a_search() {
    for (body, cursor) in [
        (r#"{"items":[]}"#, None),
        (r#"{"items":[],"nextCursor":null}"#, None),
        (r#"{"items":[],"nextCursor":"after-7"}"#, Some("after-7")),
    ] {
        let index = IndexClient::new(&answering(body).await).unwrap();
        let page = index.search_agents(&Value::Null, None, &Value::Null).await;
        assert_eq!(page.unwrap().next_cursor.as_deref(), cursor, "{body}");
    }
}

/// An index answers with the agent's full name, also if it was asked by BP's.
#[tokio::test]
async fn a_summary_is_of_the_agent_and_the_profile_that_were_asked_for() {
    const EVM: &str = "eip155:84532:0xabababababababababababababababababababab:42";
    const SVM: &str =
        "solana:localnet:11111111111111111111111111111112:11111111111111111111111111111113";
    let upper = EVM.replace("0xabab", "0xABAB");
    let tags = Tags::default();
    for (asked, answered, profile, is_asked) in [
        (EVM, EVM, "open", true),
        (&upper, EVM, "open", true),
        ("84532:42", EVM, "open", true),
        (SVM, SVM, "open", true),
        (EVM, EVM, "authorized", false),
        ("84532:43", EVM, "open", false),
        ("8453:42", EVM, "open", false),
        (&EVM.replace(":42", ":43"), EVM, "open", false),
        (&EVM.replace("0xab", "0xac"), EVM, "open", false),
        (&SVM.to_lowercase().replace("13", "12"), SVM, "open", false),
        (EVM, "", "open", false),
    ] {
        let summary =
            json!({ "agent": answered, "profile": profile, "clientAddresses": "everyone" });
        let body = json!({ "items": [summary] });
        let index = IndexClient::new(&answering(body.to_string().leak()).await).unwrap();
        let summary = index.summary(Kind::Open, asked, &Reviewers::Everyone, tags);
        match summary.await {
            Ok(_) => assert!(is_asked, "{asked} {body}"),
            Err(error) => assert!(!is_asked && is_silent(&error), "{asked} {body} {error}"),
        }
    }
}
