//! The buyer as a middleware of reqwest.
use crate::settled::{customer::terms, paying::open, states};
use alloy::{primitives::Address, transports::http::reqwest};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use concord_chain::fetch::{FetchOptions, Fetcher};
use concord_testkit::chain::Chain;
use concord_testkit::gate::Fault;
use concord_testkit::shop::{self, ANSWER};
use concord_x402::{
    pay::{
        Bought, BuyerMiddleware, EvidenceFolder, HttpLimits, Money, PayError, PayFault, PurchaseId,
        PurchaseState,
    },
    quote::FetchedFiles,
    verify::{Chains, Class},
};
use futures_util::stream;
use http_body::Frame;
use http_body_util::StreamBody;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Error, Middleware, Next};
use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

fn buyer(chain: &Chain, folder: &Path, amount_max: u64) -> BuyerMiddleware {
    let chains = Chains {
        evm: chain.reads.clone(),
        ..Chains::default()
    };
    let fetcher = Fetcher::new(FetchOptions::default()).unwrap();
    let token = chain.token.to_string();
    BuyerMiddleware {
        evm: Some(Arc::new(chain.payer.clone())),
        svm: None,
        chains: Arc::new(chains),
        files: Arc::new(FetchedFiles::new(fetcher)),
        evidence: EvidenceFolder::open(folder).unwrap(),
        terms: terms(&token, &chain.registry_account(), amount_max),
        limits: HttpLimits::default(),
    }
}

fn client(chain: &Chain, folder: &Path, amount_max: u64) -> ClientWithMiddleware {
    ClientBuilder::new(reqwest::Client::new())
        .with(buyer(chain, folder, amount_max))
        .build()
}

fn fault(error: Error) -> PayError {
    match error {
        Error::Middleware(error) => error.downcast().unwrap(),
        Error::Reqwest(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn reqwest_pays_what_is_within_the_terms() {
    let chain = Chain::start().await;
    let (shop, folder, url) = open(&chain).await;
    let client_of = |amount| client(&chain, folder.path(), amount);
    let client = client_of(shop::PRICE);
    let response = client.get(&url).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let bought = response.extensions().get::<Bought>().unwrap().clone();
    assert_eq!(response.text().await.unwrap(), ANSWER);
    assert_eq!(states(&bought.report), []);
    assert!(matches!(bought.money, Money::Settled { .. }) && bought.unrecorded.is_none());
    let evidence = EvidenceFolder::open(folder.path()).unwrap();
    let recorded = evidence.load(&bought.id).unwrap().unwrap();
    assert_eq!(recorded.state, PurchaseState::Verified);

    // the body and headers of the request, and a name
    let echo = client
        .post(format!("{}/echo", shop.origin))
        .header("accept", "text/plain")
        .body("a question")
        .with_extension(PurchaseId("mine".to_owned()));
    let response = echo.send().await.unwrap();
    assert_eq!(
        states(&response.extensions().get::<Bought>().unwrap().report),
        []
    );
    assert_eq!(response.text().await.unwrap(), "a question");
    let recorded = evidence.load("mine").unwrap().unwrap();
    let accept = ("accept".to_owned(), "text/plain".to_owned());
    assert!(recorded.request.headers.contains(&accept));
    assert_eq!(chain.balance_of_wallet().await, 2 * shop::PRICE);

    // nothing to pay for, and nothing that can be sent twice
    let free = client.get(format!("{}/free", shop.origin));
    let free = free.send().await.unwrap();
    assert!(free.status() == 200 && free.extensions().get::<Bought>().is_none());
    let pieces = stream::iter([Ok::<_, std::io::Error>(Frame::data(Bytes::from("a")))]);
    let pieces = reqwest::Body::wrap(StreamBody::new(pieces));
    let echo = client.post(format!("{}/echo", shop.origin)).body(pieces);
    assert_eq!(echo.send().await.unwrap().status(), 402);

    // a name that is taken, and terms that the offer exceeds
    let again = client
        .get(&url)
        .with_extension(PurchaseId("mine".to_owned()));
    let error = fault(again.send().await.unwrap_err());
    assert!(matches!(error.fault, PayFault::AlreadyBegun(_)), "{error}");
    let poor = client_of(shop::PRICE - 1);
    let error = fault(poor.get(&url).send().await.unwrap_err());
    assert!(matches!(error.fault, PayFault::Refused(_)), "{error}");
    assert_eq!(error.money, Money::NotSent);
    assert_eq!(chain.balance_of_wallet().await, 2 * shop::PRICE);
}

#[tokio::test]
async fn reqwest_follows_no_redirect_with_a_payment() {
    let chain = Chain::start().await;
    let (shop, folder, url) = open(&chain).await;
    let client = client(&chain, folder.path(), shop::PRICE);
    // an unpaid request that is led to an offer: it is the first URL that is bought
    let front =
        axum::Router::new().fallback(async move || axum::response::Redirect::temporary(&url));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, front).await });
    let response = client.get(&origin).send().await.unwrap();
    assert_eq!(response.status(), 307);
    assert_eq!(shop.gate.paid(), 0);

    // a body that breaks off does so for the caller too
    shop.gate.set(Fault::CutBody);
    let url = format!("{}/weather?city=London", shop.origin);
    let response = client.get(&url).send().await.unwrap();
    assert_eq!(
        response
            .extensions()
            .get::<Bought>()
            .unwrap()
            .report
            .refused_for(),
        None
    );
    assert!(response.bytes().await.is_err());

    // a server that asks again
    shop.gate.set(Fault::Ignore);
    let response = client.get(&url).send().await.unwrap();
    assert_eq!(response.status(), 402);
    let bought = response.extensions().get::<Bought>().unwrap();
    assert_eq!(bought.report.refused_for(), Some(Class::SettlementMissing));
    assert!(matches!(bought.money, Money::Unknown { .. }));
    assert_eq!(chain.balance_of_wallet().await, shop::PRICE);
}

/// Repeats a request whose answer is an error, as reqwest-retry does.
struct Repeating;

#[async_trait::async_trait]
impl Middleware for Repeating {
    async fn handle(
        &self,
        request: reqwest::Request,
        extensions: &mut http::Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<reqwest::Response> {
        let again = request.try_clone().unwrap();
        let first = next.clone().run(request, extensions).await?;
        if first.status().is_server_error() {
            next.run(again, extensions).await
        } else {
            Ok(first)
        }
    }
}

#[tokio::test]
async fn a_middleware_that_repeats_requests_does_not_pay_again() {
    let chain = Chain::start().await;
    let (shop, folder, url) = open(&chain).await;
    let client = ClientBuilder::new(reqwest::Client::new())
        .with(Repeating)
        .with(buyer(&chain, folder.path(), shop::PRICE))
        .build();
    shop.gate.set(Fault::Broken);
    let error = fault(client.get(&url).send().await.unwrap_err());
    assert!(matches!(error.fault, PayFault::AlreadyBegun(_)), "{error}");
    assert_eq!(shop.gate.paid(), 1);
    assert_eq!(chain.balance_of_wallet().await, shop::PRICE);
}

/// Answers each request but the first itself: with 503, or with an offer of an unknown registry.
struct Turned {
    asked: AtomicUsize,
    answer: fn(&Chain, &reqwest::Response) -> http::Response<String>,
    chain: Arc<Chain>,
    first: Mutex<Option<http::Response<String>>>,
}

#[async_trait::async_trait]
impl Middleware for Turned {
    async fn handle(
        &self,
        request: reqwest::Request,
        extensions: &mut http::Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<reqwest::Response> {
        if self.asked.fetch_add(1, Ordering::SeqCst) == 0 {
            let first = next.run(request, extensions).await?;
            let later = (self.answer)(&self.chain, &first);
            *self.first.lock().unwrap() = Some(later);
            return Ok(first);
        }
        let later = self.first.lock().unwrap().take().unwrap();
        Ok(later.into())
    }
}

fn unavailable(_: &Chain, _: &reqwest::Response) -> http::Response<String> {
    let answer = http::Response::builder().status(503);
    answer.body(String::new()).unwrap()
}

/// The first offer, by an agent of a registry that the buyer does not know.
fn unknown_registry(chain: &Chain, first: &reqwest::Response) -> http::Response<String> {
    let said = STANDARD.decode(&first.headers()["payment-required"]);
    let said = String::from_utf8(said.unwrap()).unwrap();
    let (own, other) = (chain.registry.to_string(), Address::repeat_byte(5));
    assert!(said.contains(&own), "{said}");
    let said = said.replace(&own, &other.to_string());
    let answer = http::Response::builder().status(402);
    let answer = answer.header("payment-required", STANDARD.encode(said));
    answer.body(String::new()).unwrap()
}

#[tokio::test]
async fn a_repeated_request_does_not_hide_what_was_paid() {
    let chain = Arc::new(Chain::start().await);
    let (shop, folder, url) = open(&chain).await;
    shop.gate.set(Fault::Broken);
    let answers: [fn(&Chain, &reqwest::Response) -> http::Response<String>; 2] =
        [unavailable, unknown_registry];
    for (number, answer) in (1..).zip(answers) {
        let turned = Turned {
            asked: AtomicUsize::new(0),
            answer,
            chain: chain.clone(),
            first: Mutex::new(None),
        };
        let client = ClientBuilder::new(reqwest::Client::new())
            .with(Repeating)
            .with(buyer(&chain, folder.path(), shop::PRICE))
            .with(turned)
            .build();
        let id = PurchaseId(format!("turned-{number}"));
        let asked = client.get(&url).with_extension(id);
        let error = fault(asked.send().await.unwrap_err());
        assert!(matches!(error.fault, PayFault::AlreadyBegun(_)), "{error}");
        let is_settled = matches!(error.money, Money::Settled { .. });
        assert!(is_settled, "{error}");
        assert_eq!(shop.gate.paid(), number);
        assert_eq!(chain.balance_of_wallet().await, number as u64 * shop::PRICE);
    }
}
