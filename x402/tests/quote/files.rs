use concord_chain::fetch::{FetchOptions, Fetcher};
use concord_files::encode_uri;
use concord_x402::{
    quote::{FetchedFiles, Origin},
    verify::{FileError, RegistrationFiles},
};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

const FILE: &str = r#"{"name":"weather","registrations":[]}"#;

fn files(allow_private: bool) -> FetchedFiles {
    let options = FetchOptions {
        allow_private,
        allow_http: true,
        ..FetchOptions::default()
    };
    FetchedFiles::new(Fetcher::new(options).unwrap())
}

#[tokio::test]
async fn files_in_their_uris_are_read() {
    for uri in [
        encode_uri(FILE.as_bytes()),
        FILE.to_owned(),
        format!("data:application/json,{FILE}"),
    ] {
        let file = files(false).registration(&uri, false).await.unwrap();
        assert_eq!(file.name.as_deref(), Some("weather"));
    }
    let found = files(false)
        .registration("data:application/json,[]", false)
        .await;
    assert!(matches!(found, Err(FileError::Malformed(_))), "{found:?}");
}

#[tokio::test]
async fn files_are_kept_and_read_again_if_asked() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let answer = move || {
        counted.fetch_add(1, Ordering::SeqCst);
        async { FILE }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}/agent.json", listener.local_addr().unwrap());
    let router = axum::Router::new()
        .route("/agent.json", axum::routing::get(answer.clone()))
        .route(
            "/.well-known/agent-registration.json",
            axum::routing::get(answer),
        );
    tokio::spawn(async move { axum::serve(listener, router).await });

    let files = files(true);
    for (fresh, expected) in [(false, 1), (false, 1), (true, 2), (false, 2)] {
        files.registration(&uri, fresh).await.unwrap();
        assert_eq!(asked.load(Ordering::SeqCst), expected);
    }
    let proof = files.proof(&Origin::of(&uri).unwrap()).await.unwrap();
    assert_eq!(proof.name.as_deref(), Some("weather"));

    let refused = self::files(false).registration(&uri, false).await;
    assert!(
        matches!(refused, Err(FileError::Malformed(_))),
        "{refused:?}"
    );
}
