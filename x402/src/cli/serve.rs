//! A paid service in front of another one.

use std::{
    io::{self, Write},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use alloy::transports::http::reqwest::{self, Client, Url, redirect::Policy};
use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, StatusCode, Uri, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
};
use concord_chain::server::{self, ServerLimits, asked_to_stop};
use futures_util::future::{Either, join, ready};
use http_body_util::BodyExt;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use serde_json::Value;
use tokio::{
    net::TcpListener,
    sync::{Semaphore, oneshot},
    time::{Instant, timeout_at},
};
use x402_axum::{
    StaticPriceTags, X402LayerBuilder, X402Middleware, facilitator_client::FacilitatorClient,
};
use x402_types::proto::{
    SupportedResponse,
    v2::{PaymentRequirements, PriceTag},
};

use super::{
    CliError, VERIFIED, config::read_json, options::Serve, serve_config::ServeConfig,
    signing::Rotation,
};
use crate::{
    server::{describe_metrics, remove_payment_headers},
    wire::PAYMENT_RESPONSE,
};

/// Bytes of a request's body that are passed on.
const BODY_MAX: usize = 16 << 20;
/// Headers of one hop, which are not passed on (RFC 9110 §7.6.1); and the encodings that the client takes: a compressed answer
/// is not signed (R34).
const NOT_PASSED_ON: [header::HeaderName; 9] = [
    header::ACCEPT_ENCODING,
    header::CONNECTION,
    header::HOST,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Seconds: hashing and signing takes a fraction of a millisecond with a key in this process.
const SIGNING_BUCKETS: [f64; 8] = [0.0001, 0.0002, 0.0005, 0.001, 0.005, 0.05, 0.5, 5.0];

/// Requests that are answered at once, of those that have hung up too: as many as there are connections.
const AT_ONCE: u32 = 1_024;

/// X402-67: how long the upstream or the facilitator may be silent. A request ends then even if its client is gone.
const SILENCE: Duration = Duration::from_secs(300);

/// Between two times that the recorder adds up its samples.
const UPKEEP: Duration = Duration::from_secs(5);

pub(super) async fn serve(options: &Serve) -> Result<u8, CliError> {
    let config: ServeConfig = read_json(&options.config)?;
    let path = options.config.display();
    let malformed = |field: &str, error: &dyn ToString| {
        CliError::usage(format!("{path}: {field}: {}", error.to_string()))
    };
    let log = tracing_subscriber::fmt().with_writer(io::stderr);
    let _ = log.with_ansi(false).try_init(); // another one of this process is as good
    let rotation = Rotation::start(options.config.clone(), &config).await?;
    let layer = config.interactions(rotation.keys());
    let layer = layer.map_err(|(field, error)| malformed(&field, &error))?;
    tokio::spawn(rotation.run());
    let paywall = paywall(&config).map_err(|(field, error)| malformed(field, &error))?;
    let client = upstream_client(SILENCE).map_err(|error| malformed("upstream", &error))?;
    let upstream = Arc::new((client, config.upstream.clone()));
    let router = Router::new()
        .fallback(forward)
        .with_state(upstream)
        .layer(paywall)
        .layer(layer);
    let (listener, address) = bind(config.listen)
        .await
        .map_err(|error| malformed("listen", &error))?;
    let watched = match config.metrics_listen {
        None => Either::Left(ready(())),
        Some(address) => {
            let metrics = metrics().map_err(|error| malformed("metricsListen", &error))?;
            let bound = bind(address).await;
            let (listener, address) = bound.map_err(|error| malformed("metricsListen", &error))?;
            writeln!(io::stdout(), "metrics on {address}")?;
            let render = get(async move || metrics.render());
            let router = Router::new().route("/metrics", render);
            Either::Right(serve_until_stopped(listener, router))
        }
    };
    writeln!(io::stdout(), "serving {} on {address}", config.public_url)?;
    let limits = ServerLimits::default();
    join(
        serve_to_the_end(listener, router, limits, asked_to_stop()),
        watched,
    )
    .await;
    Ok(VERIFIED)
}

async fn serve_until_stopped(listener: TcpListener, router: Router) {
    server::serve(listener, router, ServerLimits::default(), asked_to_stop()).await;
}

/// X402-67: serves until `end` is ready, and finishes each request even if its client has closed the connection: the paywall settles
/// after the upstream has answered, so a buyer who hangs up earlier would not pay for its work. Requests that are still
/// running at the end are waited for within the same limit.
async fn serve_to_the_end(
    listener: TcpListener,
    router: Router,
    limits: ServerLimits,
    end: impl Future<Output = ()>,
) {
    let free = Arc::new(Semaphore::new(AT_ONCE as usize));
    let router = router.layer(from_fn_with_state(free.clone(), answer_to_the_end));
    let mut until = Instant::now();
    let end = async {
        end.await;
        until = Instant::now() + limits.end;
    };
    server::serve(listener, router, limits, end).await;
    let _ = timeout_at(until, free.acquire_many(AT_ONCE)).await; // what is left ends here
}

/// Answers in a task of its own, which goes on if the connection is closed.
async fn answer_to_the_end(
    State(free): State<Arc<Semaphore>>,
    request: Request,
    next: Next,
) -> Response {
    let Ok(held) = free.try_acquire_owned() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let (answer, answered) = oneshot::channel();
    tokio::spawn(async move {
        let response = next.run(request).await;
        if let Err(untaken) = answer.send(response)
            && let Some(settlement) = untaken.headers().get(PAYMENT_RESPONSE)
        {
            tracing::warn!(
                ?settlement,
                "a paid answer was not taken: the buyer had hung up"
            );
        }
        drop(held);
    });
    let answered = answered.await;
    // without an answer the task panicked
    answered.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

async fn bind(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Counts from here on. Without a listener nothing is counted.
fn metrics() -> Result<PrometheusHandle, metrics_exporter_prometheus::BuildError> {
    let builder = PrometheusBuilder::new().set_buckets(&SIGNING_BUCKETS)?;
    let handle = builder.install_recorder()?;
    describe_metrics();
    tokio::spawn(keep_small(handle.clone()));
    Ok(handle)
}

/// The recorder keeps every sample until it is rendered, which may never be asked for.
async fn keep_small(metrics: PrometheusHandle) {
    loop {
        tokio::time::sleep(UPKEEP).await;
        metrics.run_upkeep();
    }
}

type Paywall = X402LayerBuilder<StaticPriceTags<PriceTag>, Arc<FacilitatorClient>>;

fn paywall(config: &ServeConfig) -> Result<Paywall, (&'static str, String)> {
    let facilitator = FacilitatorClient::try_from(config.facilitator.as_str());
    let facilitator = facilitator.map_err(|error| ("facilitator", error.to_string()))?;
    let facilitator = facilitator.with_timeout(SILENCE);
    let paywall = X402Middleware::from_facilitator(Arc::new(facilitator));
    let mut tags = config.offers.iter().cloned().map(price);
    let first = tags.next();
    let first = first.ok_or_else(|| ("offers", "at least one is needed".to_owned()))?;
    let paywall = paywall.with_base_url(config.public_url.clone());
    let paywall = paywall.with_price_tag(first);
    Ok(tags.fold(paywall, |it, tag| it.with_price_tag(tag)))
}

fn price(requirements: PaymentRequirements) -> PriceTag {
    PriceTag {
        requirements,
        enricher: Some(Arc::new(name_fee_payer)),
    }
}

/// On Solana the facilitator pays the fee, and says with which key. What the offer says counts more.
fn name_fee_payer(tag: &mut PriceTag, supported: &SupportedResponse) {
    const FEE_PAYER: &str = "feePayer";
    let network = tag.requirements.network.to_string();
    let mut kinds = supported.kinds.iter().filter(|it| it.network == network);
    let named = kinds.find_map(|it| it.extra.as_ref()?.get(FEE_PAYER).cloned());
    let Some(named) = named else { return };
    let extra = &mut tag.requirements.extra;
    let extra = extra.get_or_insert_with(|| Value::Object(Default::default()));
    if let Some(extra) = extra.as_object_mut() {
        extra.entry(FEE_PAYER).or_insert(named);
    }
}

fn upstream_client(silence: Duration) -> reqwest::Result<Client> {
    let client = Client::builder().redirect(Policy::none()).no_proxy();
    client.read_timeout(silence).build()
}

/// Passes a request on, and the answer back.
async fn forward(
    State(upstream): State<Arc<(Client, Url)>>,
    request: Request,
) -> Result<Response, StatusCode> {
    let (client, base) = &*upstream;
    let (parts, body) = request.into_parts();
    let url = upstream_url(base, &parts.uri).ok_or(StatusCode::BAD_REQUEST)?;
    let body = whole(body, BODY_MAX).await?;
    let sending = client
        .request(parts.method, url)
        .headers(passed_on(&parts.headers))
        .body(reqwest::Body::from(body));
    let answer = sending.send().await;
    let answer = answer.map_err(|error| {
        if error.is_timeout() {
            StatusCode::GATEWAY_TIMEOUT
        } else {
            StatusCode::BAD_GATEWAY
        }
    })?;
    let (status, headers) = (answer.status(), passed_on(answer.headers()));
    let body = Body::new(reqwest::Body::from(answer));
    Ok((status, headers, body).into_response())
}

/// A request's body in one piece. However small its pieces are, none is kept beside it.
async fn whole(mut body: Body, limit: usize) -> Result<Vec<u8>, StatusCode> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| StatusCode::BAD_REQUEST)?;
        bytes.extend_from_slice(frame.data_ref().map_or(&[], |it| it));
        if bytes.len() > limit {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
    }
    Ok(bytes)
}

/// The upstream's URL for a request; `None` if the request's dots lead out of the upstream's path.
fn upstream_url(base: &Url, asked: &Uri) -> Option<Url> {
    let mut url = base.clone();
    let prefix = base.path().trim_end_matches('/');
    url.set_path(&format!("{prefix}{}", asked.path()));
    url.set_query(asked.query());
    let rest = url.path().strip_prefix(prefix);
    let is_inside = rest.is_some_and(|it| it.starts_with('/'));
    is_inside.then_some(url)
}

/// The headers without those of this hop and of the paywall.
fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    for name in NOT_PASSED_ON {
        headers.remove(name);
    }
    remove_payment_headers(&mut headers); // R34: only the paywall's count
    headers
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use std::{
        convert::Infallible,
        sync::atomic::{AtomicUsize, Ordering},
    };
    use tokio::{io::AsyncWriteExt, sync::Notify};
    use tower::ServiceExt;

    #[test]
    fn a_request_stays_within_the_upstreams_path() {
        let url = |base: &str, asked: &str| {
            let found = upstream_url(&base.parse().unwrap(), &asked.parse().unwrap());
            found.map(|it| it.to_string())
        };
        for base in ["http://127.0.0.1:1/public", "http://127.0.0.1:1/public/"] {
            for (asked, expected) in [
                ("/weather?city=London", "/public/weather?city=London"),
                ("/", "/public/"),
                ("/a/../b", "/public/b"),
            ] {
                let expected = format!("http://127.0.0.1:1{expected}");
                assert_eq!(url(base, asked), Some(expected), "{base} {asked}");
            }
            for asked in ["/..", "/../admin", "/%2e%2E/admin", "/a/../../publicity"] {
                assert_eq!(url(base, asked), None, "{base} {asked}");
            }
        }
        let root = url("http://127.0.0.1:1", "/../weather");
        assert_eq!(root.as_deref(), Some("http://127.0.0.1:1/weather"));
    }

    const PAYMENT: [&str; 7] = [
        "payment-required",
        "payment-signature",
        "payment-response",
        "x-payment",
        "x-payment-response",
        "x-payment-required",
        "x-payment-signature",
    ];

    /// Says which headers it got, and that it was paid.
    async fn pretending(asked: HeaderMap) -> impl IntoResponse {
        let names: Vec<_> = asked.keys().map(|it| it.as_str().to_owned()).collect();
        let mut headers = HeaderMap::new();
        for name in PAYMENT.into_iter().chain(["x-kept"]) {
            headers.insert(name, "e30=".parse().unwrap());
        }
        (StatusCode::NOT_FOUND, headers, names.join("\n"))
    }

    #[tokio::test]
    async fn r34_an_upstream_neither_gets_a_payment_nor_says_that_one_settled() {
        let (listener, address) = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let upstream = Router::new().fallback(pretending);
        tokio::spawn(async move { axum::serve(listener, upstream).await });
        let mut request = Request::new(Body::empty());
        for name in PAYMENT.into_iter().chain(["x-kept"]) {
            let headers = request.headers_mut();
            headers.insert(name, "e30=".parse().unwrap());
        }
        let base: Url = format!("http://{address}").parse().unwrap();
        let upstream = State(Arc::new((Client::new(), base)));
        let answer = forward(upstream, request).await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND);
        let headers = answer.headers().clone();
        let body = whole(answer.into_body(), BODY_MAX).await.unwrap();
        let got = String::from_utf8(body).unwrap();
        assert!(headers.contains_key("x-kept") && got.contains("x-kept"));
        for name in PAYMENT {
            assert!(!headers.contains_key(name), "the buyer gets {name}");
            assert!(!got.lines().any(|it| it == name), "upstream gets {name}");
        }
    }

    #[tokio::test]
    async fn an_upstream_that_is_silent_is_not_waited_for_without_end() {
        let begins = async || Body::from_stream(stream::pending::<Result<Vec<u8>, Infallible>>());
        let upstream = Router::new()
            .route("/begins/", get(begins))
            .fallback(async || std::future::pending::<()>().await);
        let (listener, address) = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        tokio::spawn(async move { axum::serve(listener, upstream).await });
        let asked = async |url: String| {
            let client = upstream_client(Duration::from_millis(200)).unwrap();
            let upstream = State(Arc::new((client, url.parse().unwrap())));
            let answering = forward(upstream, Request::new(Body::empty()));
            let answered = tokio::time::timeout(Duration::from_secs(20), answering).await;
            answered.expect("it ends")
        };
        let silent = asked(format!("http://{address}")).await;
        assert_eq!(silent.unwrap_err(), StatusCode::GATEWAY_TIMEOUT);
        let begun = asked(format!("http://{address}/begins")).await.unwrap();
        assert_eq!(begun.status(), StatusCode::OK);
        let rest = whole(begun.into_body(), BODY_MAX);
        let ended = tokio::time::timeout(Duration::from_secs(20), rest).await;
        assert!(ended.expect("it ends").is_err());
        let gone = asked("http://127.0.0.1:1".to_owned()).await;
        assert_eq!(gone.unwrap_err(), StatusCode::BAD_GATEWAY);
    }

    /// Serves a router, of which a client asks and then hangs up while it is answered. Returns when the server has ended.
    async fn hang_up(router: Router, arrived: &Notify, then: impl Future<Output = ()>) {
        let limits = ServerLimits {
            end: Duration::from_millis(300),
            ..ServerLimits::default()
        };
        let (listener, address) = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let end = async { stopped.await.unwrap() };
        let serving = tokio::spawn(serve_to_the_end(listener, router, limits, end));
        let mut client = tokio::net::TcpStream::connect(address).await.unwrap();
        let request = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";
        client.write_all(request).await.unwrap();
        arrived.notified().await;
        drop(client);
        tokio::time::sleep(Duration::from_millis(100)).await; // the server sees it
        stop.send(()).unwrap();
        then.await;
        serving.await.unwrap();
    }

    #[tokio::test]
    async fn a_request_is_answered_to_its_end_whoever_listens() {
        let (arrived, released) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let answered = Arc::new(AtomicUsize::new(0));
        let handler = {
            let (arrived, released) = (arrived.clone(), released.clone());
            let answered = answered.clone();
            async move || {
                arrived.notify_one();
                released.notified().await;
                answered.fetch_add(1, Ordering::SeqCst);
            }
        };
        let router = Router::new().fallback(handler);
        let then = async { released.notify_one() };
        hang_up(router.clone(), &arrived, then).await;
        assert_eq!(answered.load(Ordering::SeqCst), 1);
        // one that takes longer than the limit does not keep the server from ending
        hang_up(router, &arrived, async {}).await;
        assert_eq!(answered.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_request_beyond_the_limit_is_refused_at_once() {
        let free = Arc::new(Semaphore::new(1));
        let router = Router::new().fallback(async || "answered");
        let router = router.layer(from_fn_with_state(free.clone(), answer_to_the_end));
        let ask = async || {
            let answering = router.clone().oneshot(Request::new(Body::empty()));
            let answered = tokio::time::timeout(Duration::from_secs(20), answering).await;
            answered.expect("it ends").unwrap().status()
        };
        let held = free.clone().try_acquire_owned().unwrap();
        assert_eq!(ask().await, StatusCode::SERVICE_UNAVAILABLE);
        drop(held);
        assert_eq!(ask().await, StatusCode::OK);
    }

    static KEPT: AtomicUsize = AtomicUsize::new(0);

    /// A byte that counts while it is kept.
    struct Counted([u8; 1]);

    impl AsRef<[u8]> for Counted {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }

    impl Drop for Counted {
        fn drop(&mut self) {
            KEPT.fetch_sub(1, Ordering::SeqCst);
        }
    }

    #[tokio::test]
    async fn a_request_of_single_bytes_is_kept_in_one_piece() {
        let single = |at: u8| {
            let kept = KEPT.fetch_add(1, Ordering::SeqCst);
            assert!(kept < 2, "{kept} pieces are kept");
            Ok::<_, Infallible>(bytes::Bytes::from_owner(Counted([at])))
        };
        let body = || Body::from_stream(stream::iter((0..100).map(single)));
        let expected: Vec<u8> = (0..100).collect();
        assert_eq!(whole(body(), 100).await, Ok(expected));
        let refused = Err(StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(whole(body(), 99).await, refused);
    }
}
