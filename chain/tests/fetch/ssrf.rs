//! The attacks first: whatever a registration says, nothing in the operator's network is asked.
use crate::fetch::server::{Server, local, names, strict};
use concord_chain::fetch::{FetchError, FetchOptions, Fetcher, Question, is_public};
use std::sync::Mutex;

async fn error_of(options: FetchOptions, uri: &str) -> FetchError {
    Fetcher::new(options).unwrap().fetch(uri).await.unwrap_err()
}

#[tokio::test]
async fn no_form_of_a_private_address_is_asked() {
    let server = Server::start().await;
    let port = server.address.port();
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "127.0.0.1.",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[0:0:0:0:0:ffff:7f00:1]",
        "[::]",
        "0.0.0.0",
        "0",
        "169.254.169.254",
        "10.0.0.1",
        "192.168.0.1",
        "172.16.0.1",
        "100.64.0.1",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "\u{ff11}27.0.0.1",
        "%31%32%37.0.0.1",
    ] {
        let found = error_of(strict(), &format!("http://{host}:{port}/")).await;
        assert!(
            matches!(found, FetchError::PrivateAddress { .. }),
            "{host}: {found}"
        );
        assert!(found.is_refusal() && !found.is_permanent(), "{host}");
    }
    assert_eq!(server.asked(), 0);
}

#[tokio::test]
async fn a_name_with_a_private_address_is_refused_when_it_is_connected() {
    let server = Server::start().await;
    let port = server.address.port();
    let lookup = names(&[
        ("inside.example", &["127.0.0.1"]),
        ("mixed.example", &["93.184.215.14", "127.0.0.1"]),
        ("mapped.example", &["::ffff:127.0.0.1"]),
        ("metadata.example", &["169.254.169.254"]),
        ("localhost", &["127.0.0.1", "::1"]),
    ]);
    for host in [
        "inside.example",
        "mixed.example",
        "mapped.example",
        "metadata.example",
        "localhost",
    ] {
        let options = FetchOptions {
            lookup: lookup.clone(),
            ..strict()
        };
        let found = error_of(options, &format!("http://{host}:{port}/")).await;
        assert!(
            matches!(&found, FetchError::PrivateAddress { host: named, .. } if named == host),
            "{host}: {found}"
        );
    }
    assert_eq!(server.asked(), 0);

    let options = FetchOptions { lookup, ..local() };
    server.serve("/", "", b"inside");
    let fetcher = Fetcher::new(options).unwrap();
    let found = fetcher
        .fetch(&format!("http://inside.example:{port}/"))
        .await
        .unwrap();
    assert_eq!(found.bytes, b"inside", "if it is allowed");
    assert_eq!(found.host.as_deref(), Some("inside.example"));
}

#[tokio::test]
async fn a_redirect_is_checked_like_the_first_url() {
    let server = Server::start().await;
    for (target, to) in [
        ("/file", "file:///etc/passwd"),
        ("/gopher", "gopher://127.0.0.1:6379/_FLUSHALL"),
        ("/user", "http://user:secret@agent.example/"),
        ("/empty", "http://"),
    ] {
        server.redirect(target, 302, to);
        let found = error_of(local(), &server.url(target)).await;
        assert!(!found.to_string().contains("secret"));
        assert!(
            !found.is_permanent(),
            "{to}: the host can redirect elsewhere"
        );
        let host = "127.0.0.1".to_owned();
        assert_eq!(found, FetchError::RedirectRefused { host }, "{to}");
    }
    server.redirect("/loop", 307, "/loop");
    let before = server.asked();
    let found = error_of(local(), &server.url("/loop")).await;
    assert_eq!(found, FetchError::Redirects { limit: 3 });
    assert!(!found.is_permanent());
    assert_eq!(server.asked() - before, 4, "the first and three redirects");
    server.redirect("/moved", 301, "/here");
    server.serve("/here", "", b"content");
    let found = Fetcher::new(local())
        .unwrap()
        .fetch(&server.url("/moved"))
        .await
        .unwrap();
    assert_eq!(found.bytes, b"content");
}

/// The host that is asked is the one that the URL parser finds, however it is spelt, and each redirect asks again.
#[tokio::test]
async fn each_request_is_allowed_by_the_host_that_it_goes_to() {
    let fetcher = Fetcher::new(strict()).unwrap();
    for uri in [
        "https://victim.example/1",
        "https:/victim.example/1",
        "https:victim.example/1",
        "https:\\\\victim.example\\1",
        "https://vict%69m.example/1",
        "https://victim\u{ff0e}example/1",
        "https://vic\ttim.example/1",
        "HTTPS://VICTIM.EXAMPLE:8443/1",
    ] {
        let asked = Mutex::new(Vec::new());
        let found = fetcher.fetch_if(uri, |host| {
            asked.lock().unwrap().push(host.to_owned());
            false
        });
        let found = found.await.unwrap_err();
        let host = "victim.example".to_owned();
        assert_eq!(asked.into_inner().unwrap(), ["victim.example"], "{uri}");
        assert!(!found.is_refusal());
        assert_eq!(found, FetchError::AskedEnough { host });
    }

    let server = Server::start().await;
    let port = server.address.port();
    let lookup = names(&[
        ("a.example", &["127.0.0.1"]),
        ("victim.example", &["127.0.0.1"]),
    ]);
    let fetcher = Fetcher::new(FetchOptions { lookup, ..local() }).unwrap();
    server.redirect("/n", 302, &format!("http://victim.example:{port}/n"));
    let url = format!("http://a.example:{port}/n");
    let found = fetcher.fetch_if(&url, |host| host != "victim.example");
    let host = "victim.example".to_owned();
    assert_eq!(found.await, Err(FetchError::AskedEnough { host }));
    assert_eq!(server.asked(), 1);
}

/// Whose fault it is must be seen: a service that is down must not look like one that is never asked.
#[tokio::test]
async fn a_service_s_redirect_to_what_is_not_fetched_is_its_own_fault() {
    let server = Server::start().await;
    let fetcher = Fetcher::new(local()).unwrap();
    let refusal = async |url: &str| {
        let asked = fetcher.ask(&Question::get(url)).await;
        asked.unwrap_err()
    };
    for (target, to) in [
        ("/mail", "mailto:x@y"),
        ("/file", "file:///etc/passwd"),
        ("/user", "http://user:secret@agent.example/"),
        ("/empty", "http://"),
    ] {
        server.redirect(target, 302, to);
    }
    let head = b"HTTP/1.1 302 R\r\nlocation: \xff\r\nconnection: close\r\n\r\n";
    server.serve_raw("/bytes", head.to_vec());
    server.redirect("/further", 307, "/mail");
    for target in ["/mail", "/file", "/user", "/empty", "/bytes", "/further"] {
        let found = refusal(&server.url(target)).await;
        let host = "127.0.0.1".to_owned();
        assert_eq!(found, FetchError::RedirectRefused { host }, "{target}");
    }
    let found = refusal("mailto:x@y").await;
    assert!(matches!(found, FetchError::Scheme { .. }), "{found}");
    assert_eq!(refusal("http://").await, FetchError::UrlMalformed);
}

#[tokio::test]
async fn other_schemes_and_user_info_are_refused() {
    for uri in [
        "file:///etc/passwd",
        "ftp://a.example/",
        "data:,x",
        "javascript:1",
        "",
        "/etc/passwd",
        "unix:/run/docker.sock",
    ] {
        let found = error_of(local(), uri).await;
        assert!(matches!(found, FetchError::Scheme { .. }), "{uri}: {found}");
        assert!(found.is_permanent(), "{uri}");
    }
    let found = error_of(local(), "http://user@127.0.0.1/").await;
    assert!(matches!(found, FetchError::UserInfo { .. }), "{found}");
    assert!(found.is_permanent());
    assert!(error_of(local(), "http://").await.is_permanent());
    let found = error_of(FetchOptions::default(), "http://agent.example/").await;
    assert!(
        matches!(&found, FetchError::Scheme { found } if found == "http"),
        "http is off by default"
    );
    assert!(!found.is_permanent(), "it can be allowed");
}

#[test]
fn addresses_of_special_networks_are_not_public() {
    for text in [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::",
        "3fff::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fec0::1",
        "ff02::1",
    ] {
        assert!(!is_public(text.parse().unwrap()), "{text}");
    }
}

#[test]
fn addresses_beside_them_are_public() {
    for text in [
        "1.1.1.1",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.0.0.1",
        "128.0.0.1",
        "169.253.0.1",
        "172.15.0.1",
        "172.32.0.1",
        "192.0.1.1",
        "192.167.0.1",
        "198.17.0.1",
        "198.20.0.1",
        "203.0.112.1",
        "223.255.255.255",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::",
        "2606:4700::1111",
        "2001:4860:4860::8888",
    ] {
        assert!(is_public(text.parse().unwrap()), "{text}");
    }
}
