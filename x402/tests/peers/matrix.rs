//! Every server with every client, over every token. Each signature is verified by @noble and by us.
use crate::peers::{
    customer::Customer,
    peer,
    shop::{ANSWER, Shop},
    states,
    world::{PRICE, Registered, TOKENS, Token, World, signer_on},
};
use alloy::transports::http::reqwest;
use base64::{Engine, engine::general_purpose::STANDARD};
use concord_files::RegistrationId;
use concord_x402::{
    pay::Request,
    verify::{PaidExchange, Reads, verify},
    wire::PaymentRequired,
};
use http::{HeaderMap, Method};
use serde_json::{Value, json};
use x402_chain_eip155::V2Eip155ExactClient;
use x402_reqwest::{ReqwestWithPayments, ReqwestWithPaymentsBuild, X402Client};

/// The body of a POST, which a server returns.
const QUESTION: &str = r#"{"city":"London"}"#;
/// What is asked: nothing by GET, and a question by POST.
const REQUESTS: [&str; 2] = ["", QUESTION];

/// What a client was offered and got.
struct Bought {
    client: &'static str,
    token: Token,
    request: &'static str,
    required: String,
    headers: HeaderMap,
    body: Vec<u8>,
}

fn method_of(request: &str) -> Method {
    match request {
        "" => Method::GET,
        _ => Method::POST,
    }
}

fn target(token: Token) -> String {
    format!("{}?city=London", token.route())
}

/// What P5 takes: the registration on the payment chain, else the first.
fn checked(required: &PaymentRequired) -> RegistrationId {
    let announced = required.reputation().unwrap().remove(0).view.registrations;
    let network = format!("{}:", required.accepts[0].network);
    let mut there = announced.iter();
    let there = there.find(|it| it.agent_registry.starts_with(&network));
    there.unwrap_or(&announced[0]).clone()
}

impl Bought {
    fn settled(&self) -> &str {
        self.headers["payment-response"].to_str().unwrap()
    }

    /// S1 to S11.
    async fn verify(&self, world: &World, server: &str) {
        let named = format!("{server}, {}, {:?}", self.client, self.token);
        let expected = match self.request {
            "" => ANSWER,
            question => question,
        };
        assert_eq!(self.body, expected.as_bytes(), "{named}");
        let required = PaymentRequired::from_header(self.required.as_bytes()).unwrap();
        let exchange = PaidExchange {
            target: &target(self.token),
            request_body: self.request.as_bytes(),
            response_body: &self.body,
            headers: &self.headers,
            offer: &required.accepts[0],
            payer: &world.payer(self.token),
            announced: &required.reputation().unwrap(),
            agent: &checked(&required),
        };
        let reads = Reads {
            registries: &world.reads,
            files: &world.fetched,
            payments: &world.reads,
        };
        let report = verify(&exchange, reads, None).await;
        assert_eq!(states(&report), [], "{named}");
    }

    /// For @noble.
    fn to_json(&self) -> Value {
        json!({
            "target": target(self.token), "request": STANDARD.encode(self.request), "response": STANDARD.encode(&self.body),
            "settled": self.settled(), "publicKey": signer_on(self.token.network()),
        })
    }
}

/// `@x402/fetch`, over every token.
async fn buy_with_fetch(world: &World, origin: &str, request: &'static str) -> Vec<Bought> {
    let urls = TOKENS.map(|token| format!("{origin}{}", target(token)));
    let config = json!({
        "urls": urls,
        "body": request,
        "evm": concord_testkit::chain::hex_key(&world.evm.payer),
        "solana": { "key": hex::encode(world.solana.payer.secret_bytes()), "rpc": world.solana.url },
    });
    let bought = peer::run("client.mjs", config, String::new()).await;
    let bought = bought.as_array().unwrap().iter().zip(TOKENS);
    bought
        .map(|(found, token)| {
            assert_eq!(found["status"], 200, "@x402/fetch, {token:?}: {found}");
            let text = |key: &str| found[key].as_str().unwrap().to_owned();
            let settled = text("settled").parse().unwrap();
            Bought {
                client: "@x402/fetch",
                token,
                request,
                required: text("required"),
                headers: HeaderMap::from_iter([(
                    http::HeaderName::from_static("payment-response"),
                    settled,
                )]),
                body: STANDARD.decode(text("body")).unwrap(),
            }
        })
        .collect()
}

/// x402-reqwest, whose payer for Solana would bring a second line of Solana's crates.
async fn buy_with_reqwest(world: &World, origin: &str, request: &'static str) -> Bought {
    let url = format!("{origin}{}", target(Token::Usdc));
    let method = method_of(request);
    let unpaid = reqwest::Client::new().request(method.clone(), &url);
    let unpaid = unpaid.body(request).send().await.unwrap();
    let required = unpaid.headers()["payment-required"].to_str().unwrap();
    let scheme = V2Eip155ExactClient::new(world.evm.payer.clone());
    let client = reqwest::Client::new().with_payments(X402Client::new().register(scheme));
    let response = client.build().request(method, &url).body(request);
    let response = response.send().await.unwrap();
    assert_eq!(response.status(), 200, "x402-reqwest");
    Bought {
        client: "x402-reqwest",
        token: Token::Usdc,
        request,
        required: required.to_owned(),
        headers: response.headers().clone(),
        body: response.bytes().await.unwrap().to_vec(),
    }
}

/// Ours, which verifies by itself.
async fn buy_with_ours(
    customer: &Customer<'_>,
    server: &str,
    origin: &str,
    request: &'static str,
) -> Vec<Bought> {
    let mut all = Vec::new();
    for token in TOKENS {
        let method = method_of(request);
        let id = format!(
            "{server}-{method}-{}",
            token.route().trim_start_matches('/')
        );
        let id = id.to_lowercase();
        let url = format!("{origin}{}", target(token));
        let asked = Request::new(method, &url, HeaderMap::new(), request).unwrap();
        let purchase = customer.buy(&id, asked).await;
        let purchase = purchase.unwrap_or_else(|error| panic!("{server}, {token:?}: {error}"));
        assert_eq!(states(&purchase.report), [], "{server}, {token:?}");
        let evidence = customer.folder.load(&id).unwrap().unwrap();
        all.push(Bought {
            client: "concord-x402",
            token,
            request,
            required: STANDARD.encode(evidence.quote.payment_required.get()),
            headers: purchase.response.headers,
            body: purchase.response.body.to_vec(),
        });
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_server_with_every_client_over_every_token() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let customer = Customer::new(&world, folder.path());
    let axum = Shop::open(&world, Registered::Both).await;
    let express = world.express();
    let mut all = Vec::new();
    for (server, origin) in [("axum", &axum.origin), ("express", &express.url)] {
        for request in REQUESTS {
            let mut bought = buy_with_fetch(&world, origin, request).await;
            bought.push(buy_with_reqwest(&world, origin, request).await);
            bought.extend(buy_with_ours(&customer, server, origin, request).await);
            for one in &bought {
                one.verify(&world, server).await;
            }
            all.extend(bought);
        }
    }
    assert_eq!(all.len(), 2 * REQUESTS.len() * (3 + 1 + 3));
    for token in TOKENS {
        let payments = all.iter().filter(|it| it.token == token).count();
        assert_eq!(world.received(token).await, PRICE * payments as u64);
    }
    let transactions: std::collections::BTreeSet<_> = all.iter().map(Bought::settled).collect();
    assert_eq!(transactions.len(), all.len(), "no two have one settlement");

    let exchanges: Vec<_> = all.iter().map(Bought::to_json).collect();
    let verified = peer::run("verify.mjs", Value::Null, json!(exchanges).to_string()).await;
    assert_eq!(verified, 2 * all.len(), "both profiles of each, by @noble");
    // @noble refuses what is not so
    let mut changed = exchanges[0].clone();
    changed["target"] = "/usdc?city=Paris".into();
    let refused = peer::refused("verify.mjs", json!([changed]).to_string()).await;
    assert!(refused.contains("dataHash"), "{refused}");
}
