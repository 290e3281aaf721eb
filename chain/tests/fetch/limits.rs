use crate::fetch::server::{Server, local};
use concord_chain::fetch::{FetchError, FetchOptions, Fetcher};
use flate2::{Compression, write::GzEncoder};
use std::{io::Write, time::Duration};

const LIMIT: usize = 1 << 20;

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

async fn fetch(server: &Server, target: &str) -> Result<Vec<u8>, FetchError> {
    let fetcher = Fetcher::new(local()).unwrap();
    fetcher.fetch(&server.url(target)).await.map(|it| it.bytes)
}

#[tokio::test]
async fn a_file_has_at_most_1_mib_after_decompression() {
    let server = Server::start().await;
    let too_long = Err(FetchError::TooLong { limit: LIMIT });
    server.serve("/exact", "", &vec![b' '; LIMIT]);
    assert_eq!(fetch(&server, "/exact").await.unwrap().len(), LIMIT);
    server.serve("/more", "", &vec![b' '; LIMIT + 1]);
    assert_eq!(fetch(&server, "/more").await, too_long);
    let head = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec();
    server.serve_raw("/unannounced", [head, vec![b' '; LIMIT + 1]].concat());
    assert_eq!(fetch(&server, "/unannounced").await, too_long);

    let label = "content-encoding: gzip\r\n";
    server.serve("/gzip", label, &gzip(b"content"));
    assert_eq!(fetch(&server, "/gzip").await.unwrap(), b"content");
    server.serve("/gzip-exact", label, &gzip(&vec![b' '; LIMIT]));
    assert_eq!(fetch(&server, "/gzip-exact").await.unwrap().len(), LIMIT);
    let bomb = gzip(&vec![0; 64 << 20]);
    assert!(bomb.len() < LIMIT);
    server.serve("/bomb", label, &bomb);
    assert_eq!(fetch(&server, "/bomb").await, too_long);
    server.serve("/no-gzip", label, b"plain");
    assert_eq!(fetch(&server, "/no-gzip").await, Err(FetchError::Gzip));
    server.serve("/br", "content-encoding: br\r\n", b"x");
    let found = FetchError::Encoding {
        found: "br".to_owned(),
    };
    assert_eq!(fetch(&server, "/br").await, Err(found));
    for target in ["/more", "/bomb", "/no-gzip", "/br"] {
        let error = fetch(&server, target).await.unwrap_err();
        assert!(error.is_refusal() && !error.is_permanent(), "{target}");
    }
}

#[tokio::test]
async fn what_may_pass_is_not_a_refusal() {
    let server = Server::start().await;
    let missing = fetch(&server, "/missing").await.unwrap_err();
    assert_eq!(
        missing,
        FetchError::Status {
            host: "127.0.0.1".to_owned(),
            status: 404
        }
    );
    server.serve_raw(
        "/cut",
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\nconnection: close\r\n\r\nshort".to_vec(),
    );
    let cut = fetch(&server, "/cut").await.unwrap_err();
    assert!(matches!(cut, FetchError::Broken { .. }), "{cut}");

    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let timeout = Duration::from_millis(100);
    let fetcher = Fetcher::new(FetchOptions { timeout, ..local() }).unwrap();
    let url = format!("http://{}/secret-path", silent.local_addr().unwrap());
    let late = fetcher.fetch(&url).await.unwrap_err();
    assert_eq!(late, FetchError::TimedOut(timeout));
    for error in [missing, cut, late] {
        assert!(!error.is_refusal() && !error.is_permanent(), "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
