//! Retries, limits, the rate and fallback URLs, against servers of the test's own.
use concord_chain::{
    Blocking, ChainError, Endpoint, EndpointOptions, RequestLimits, Retries, evm::Node,
};
use concord_testkit::anvil::start;
use futures_util::future::join_all;
use std::{
    collections::VecDeque,
    io::{Read, Write},
    net::TcpListener,
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

const QUICK: Retries = Retries {
    broken: 3,
    pause: Duration::from_millis(20),
    limited: 5,
    limited_pause: Duration::from_millis(20),
};
const CHAIN_ID: &str = r#""result":"0x7a69""#;
const LIMITED: &str = r#""error":{"code":-32005,"message":"slow down, secret-key-of-mine"}"#;

/// Status, with header lines behind it, and JSON-RPC member; `None` hangs up.
type Answer = Option<(&'static str, &'static str)>;

struct Server {
    url: String,
    asked: Arc<AtomicUsize>,
}

/// `behaviour`: what the server does with the request of this number, from 0.
fn server(mut behaviour: impl FnMut(usize) -> Answer + Send + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(
        "http://{}/secret-key-of-mine",
        listener.local_addr().unwrap()
    );
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = vec![0; 65_536];
            let length = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let number = count.fetch_add(1, Ordering::SeqCst);
            let Some((status, member)) = behaviour(number) else {
                continue;
            };
            let id: String = (request.split("\"id\":").nth(1).unwrap_or("0").chars())
                .take_while(char::is_ascii_digit)
                .collect();
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},{member}}}"#);
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all((head + &body).as_bytes());
        }
    });
    Server { url, asked }
}

fn chain_id(options: &EndpointOptions) -> Result<u64, ChainError> {
    let blocking = Blocking::new().unwrap();
    blocking.wait(Node::new(options).unwrap().chain_id())
}

fn options(server: &Server) -> EndpointOptions {
    EndpointOptions::new(&server.url).with_retries(QUICK)
}

#[test]
fn broken_connections_are_repeated_so_often_and_no_more() {
    let mended = server(|number| (number == 3).then_some(("200 OK", CHAIN_ID)));
    assert_eq!(chain_id(&options(&mended)).unwrap(), 31_337);
    assert_eq!(mended.asked.load(Ordering::SeqCst), 4);

    let broken = server(|_| None);
    let error = chain_id(&options(&broken)).unwrap_err();
    assert!(error.is_retryable());
    let words = error.to_string();
    let expected = "does not answer eth_chainId: there is no connection, or it broke";
    assert!(words.ends_with(expected), "{words}");
    assert_eq!(broken.asked.load(Ordering::SeqCst), 4);
}

/// The URL has a key in its path.
#[test]
fn a_redirect_is_not_followed_and_the_other_host_learns_nothing() {
    let other = server(|_| Some(("200 OK", CHAIN_ID)));
    let location = format!("Location: {}", other.url);
    for status in ["301 Moved Permanently", "307 Temporary Redirect"] {
        let status: &str = format!("{status}\r\n{location}").leak();
        let first = server(move |_| Some((status, CHAIN_ID)));
        let words = chain_id(&options(&first)).unwrap_err().to_string();
        let expected = format!("eth_chainId: HTTP status {}", &status[..3]);
        assert!(words.ends_with(&expected), "{words}");
        assert_eq!(first.asked.load(Ordering::SeqCst), 4);
    }
    assert_eq!(other.asked.load(Ordering::SeqCst), 0);
}

#[test]
fn a_limit_is_waited_for_in_either_form() {
    let by_status = server(|number| match number {
        0..3 => Some(("429 Too Many Requests", LIMITED)),
        _ => Some(("200 OK", CHAIN_ID)),
    });
    assert_eq!(chain_id(&options(&by_status)).unwrap(), 31_337);
    let by_error = server(|number| match number {
        0..5 => Some(("200 OK", LIMITED)),
        _ => Some(("200 OK", CHAIN_ID)),
    });
    assert_eq!(chain_id(&options(&by_error)).unwrap(), 31_337);
    assert_eq!(by_error.asked.load(Ordering::SeqCst), 6);

    let never = server(|_| Some(("200 OK", LIMITED)));
    let words = chain_id(&options(&never)).unwrap_err().to_string();
    assert!(words.ends_with("eth_chainId: slow down, …"), "{words}");
    assert_eq!(never.asked.load(Ordering::SeqCst), 6);
}

/// Whatever the body says: this is not an error that asks for patience.
#[test]
fn status_429_is_a_limit() {
    let internal = r#""error":{"code":-32603,"message":"Internal error"}"#;
    for body in [internal, CHAIN_ID] {
        let limited = server(move |number| match number {
            0..3 => Some(("429 Too Many Requests", body)),
            _ => Some(("200 OK", CHAIN_ID)),
        });
        assert_eq!(chain_id(&options(&limited)).unwrap(), 31_337);
        assert_eq!(limited.asked.load(Ordering::SeqCst), 4);
    }
    let never = server(move |_| Some(("429 Too Many Requests", internal)));
    let words = chain_id(&options(&never)).unwrap_err().to_string();
    let expected = "eth_chainId: HTTP status 429: Internal error";
    assert!(words.ends_with(expected), "{words}");
}

/// The codes and words of providers: Base, Alchemy, Infura, QuickNode.
#[test]
fn the_codes_of_providers_are_limits() {
    for error in [
        r#""error":{"code":-32016,"message":"over rate limit"}"#,
        r#""error":{"code":-32005,"message":"rate limited"}"#,
        r#""error":{"code":429,"message":"Your app has exceeded its compute units per second capacity"}"#,
        r#""error":{"code":-32007,"message":"50/second request limit reached"}"#,
        r#""error":{"code":-32000,"message":"Too Many Requests"}"#,
    ] {
        let limited = server(move |number| match number {
            0 => Some(("200 OK", error)),
            _ => Some(("200 OK", CHAIN_ID)),
        });
        assert_eq!(chain_id(&options(&limited)).unwrap(), 31_337, "{error}");
    }
}

#[test]
fn an_endpoint_is_not_asked_before_it_says() {
    let second = Duration::from_secs(1);
    for header in [
        "429 Too Many Requests\r\nRetry-After: 1",
        "429 Too Many Requests\r\nDate: Sun, 06 Nov 1994 08:49:36 GMT\r\nRetry-After: Sun, 06 Nov 1994 08:49:37 GMT",
    ] {
        let mut refused_at = None;
        let patient = server(move |_| match refused_at {
            Some(time) if Instant::elapsed(&time) >= second => Some(("200 OK", CHAIN_ID)),
            _ => {
                refused_at = Some(Instant::now());
                Some((header, LIMITED))
            }
        });
        assert_eq!(chain_id(&options(&patient)).unwrap(), 31_337);
        assert_eq!(patient.asked.load(Ordering::SeqCst), 2);
    }
}

/// Sixty requests at once, to a server that takes ten within half a second and counts by its own clock.
#[test]
fn stated_limits_are_kept_by_requests_that_are_made_together() {
    let window = Duration::from_millis(500);
    let mut taken: VecDeque<Instant> = VecDeque::new();
    let limited = server(move |_| {
        let now = Instant::now();
        taken.retain(|time| now - *time < window);
        if taken.len() == 10 {
            return Some(("429 Too Many Requests", LIMITED));
        }
        taken.push_back(now);
        Some(("200 OK", CHAIN_ID))
    });
    let ten = NonZeroU32::new(10).unwrap();
    let limits = RequestLimits {
        per_method: ten,
        in_total: ten.saturating_add(90),
        window,
    };
    let node = Node::new(&options(&limited).with_limits(Some(limits))).unwrap();
    let requests = (0..60).map(|_| node.chain_id());
    let answers = Blocking::new().unwrap().wait(join_all(requests));
    assert!(answers.into_iter().all(|answer| answer.is_ok()));
    assert_eq!(limited.asked.load(Ordering::SeqCst), 60);
}

#[test]
fn what_the_chain_refuses_is_an_answer_and_asked_once() {
    let refusing = server(|_| {
        Some((
            "200 OK",
            r#""error":{"code":-32601,"message":"no such method"}"#,
        ))
    });
    let words = chain_id(&options(&refusing)).unwrap_err().to_string();
    assert!(words.ends_with("eth_chainId: no such method"), "{words}");
    assert_eq!(refusing.asked.load(Ordering::SeqCst), 1);
}

#[test]
fn the_next_url_answers_if_the_first_does_not() {
    let broken = server(|_| None);
    let anvil = start(&[]);
    let options = options(&broken).with_fallback(anvil.endpoint());
    let blocking = Blocking::new().unwrap();
    let node = Node::new(&options).unwrap();
    assert_eq!(blocking.wait(node.chain_id()).unwrap(), 31_337);
    assert_eq!(blocking.wait(node.block_number()).unwrap(), 0);
    // It has answered: from now on it is asked first.
    assert_eq!(broken.asked.load(Ordering::SeqCst), 1);
}

#[test]
fn the_next_url_is_not_asked_if_the_first_one_answers() {
    let fees =
        r#""result":{"oldestBlock":"0x1","baseFeePerGas":["0x7","0x8"],"gasUsedRatio":[0.5]}"#;
    let answers = move |_| Some(("200 OK", fees));
    let (first, next) = (server(answers), server(answers));
    let options = options(&first).with_fallback(&next.url);
    let node = Node::new(&options).unwrap();
    let history = Blocking::new().unwrap().wait(node.fee_history(1, 50.0));
    assert_eq!(history.unwrap().base_fee_per_gas, [7, 8]);
    let asked = |server: &Server| server.asked.load(Ordering::SeqCst);
    assert_eq!((asked(&first), asked(&next)), (1, 0));
}

/// Two nodes that are not at the same block contradict each other: what belongs together is asked of one.
#[test]
fn one_url_is_asked_for_everything_until_it_fails_however_slow_it_is() {
    const SLOW: Duration = Duration::from_millis(30);
    let slow = |number| {
        thread::sleep(SLOW);
        (number != 12).then_some(("200 OK", CHAIN_ID))
    };
    let (first, next) = (server(slow), server(|_| Some(("200 OK", CHAIN_ID))));
    let endpoint = Endpoint::new(&options(&first).with_fallback(&next.url)).unwrap();
    let blocking = Blocking::new().unwrap();
    let asked = || [&first, &next].map(|it| it.asked.load(Ordering::SeqCst));
    let ask = |method: &str| {
        let answer = blocking.wait(endpoint.expect::<_, String>(method, ()));
        assert_eq!(answer.unwrap(), "0x7a69", "{method}");
    };
    for method in ["getSlot", "getBlock", "eth_chainId", "of_a_later_version"] {
        (0..3).for_each(|_| ask(method));
    }
    assert_eq!(asked(), [12, 0]);
    // It fails once, and the next one stays.
    ["getSlot", "getBlock"].into_iter().for_each(ask);
    assert_eq!(asked(), [13, 2]);
}

/// Of two questions at once one fails and is answered by the next URL; the other one is answered late by the first.
#[test]
fn a_late_answer_of_the_url_that_failed_does_not_bring_it_back() {
    let slow = |number| {
        thread::sleep(Duration::from_millis(100 * u64::from(number != 0)));
        (number != 0).then_some(("200 OK", CHAIN_ID))
    };
    let (first, next) = (server(slow), server(|_| Some(("200 OK", CHAIN_ID))));
    let endpoint = Endpoint::new(&options(&first).with_fallback(&next.url)).unwrap();
    let blocking = Blocking::new().unwrap();
    let ask = || endpoint.expect::<_, String>("getSlot", ());
    let both = blocking.wait(async { join_all([ask(), ask()]).await });
    assert!(both.iter().all(Result::is_ok));
    blocking.wait(ask()).unwrap();
    let asked = [&first, &next].map(|it| it.asked.load(Ordering::SeqCst));
    assert_eq!(asked, [2, 2]);
}

#[test]
fn after_the_last_url_the_first_is_asked_again() {
    let second_only = |number| (number == 1).then_some(("200 OK", CHAIN_ID));
    let once = |number| (number == 0).then_some(("200 OK", CHAIN_ID));
    let (first, next) = (server(second_only), server(once));
    let endpoint = Endpoint::new(&options(&first).with_fallback(&next.url)).unwrap();
    let blocking = Blocking::new().unwrap();
    for _ in 0..2 {
        let answer = blocking.wait(endpoint.expect::<_, String>("getSlot", ()));
        assert_eq!(answer.unwrap(), "0x7a69");
    }
    let asked = [&first, &next].map(|it| it.asked.load(Ordering::SeqCst));
    assert_eq!(asked, [2, 2]);
}

#[test]
fn no_more_requests_a_second_than_the_rate_allows() {
    let anvil = start(&[]);
    let rate = NonZeroU32::new(20).unwrap();
    let options = EndpointOptions::new(anvil.endpoint()).with_rate(rate);
    let blocking = Blocking::new().unwrap();
    let node = Node::new(&options).unwrap();
    let begun = Instant::now();
    blocking.wait(async {
        for _ in 0..11 {
            node.chain_id().await.unwrap();
        }
    });
    // The first goes at once, each of the others after a twentieth of a second.
    assert!(begun.elapsed() >= Duration::from_millis(500));
}
