//! The paid service and its customer.
use crate::{
    chain::{CHAIN_ID, Chain, hex_key},
    gate::{Gate, pass},
};
use alloy::{primitives::U256, transports::http::reqwest};
use axum::{
    Router,
    http::{StatusCode, header::CONTENT_TYPE},
    middleware::from_fn_with_state,
    response::{IntoResponse, Redirect},
    routing::{get, post},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use concord_canonical::word;
use concord_files::{Found, RegistrationId, ReputationInfo, X402Profile, parse_info};
use concord_x402::{
    quote::{Allowance, Asked, KnownRegistries, Quote, QuoteReads, Refusal, SpendPolicy, quote},
    server::{Agent, GrantIssuer, InteractionLayer, LocalSigner, Options, SigningKey, SigningKeys},
    verify::{PaidExchange, Reads, Report, verify},
    wire::{Offer, PaymentRequired},
};
use http::HeaderMap;
use serde_json::{Value, json};
use std::sync::Arc;
use x402_axum::X402Middleware;
use x402_chain_eip155::{
    V2Eip155Exact, V2Eip155ExactClient,
    chain::{
        AssetTransferMethod, Eip155ChainProvider, Eip155ChainReference, Eip155TokenDeployment,
        config::Eip155ChainConfig,
    },
};
use x402_types::{
    chain::{DeployedTokenAmount, FromConfig},
    facilitator::Facilitator,
    proto,
    scheme::{
        X402SchemeFacilitator, X402SchemeFacilitatorBuilder, X402SchemeFacilitatorError,
        client::X402SchemeClient,
    },
};

pub const ANSWER: &str = r#"{"tempC":11}"#;
pub const PRICE: u64 = 10_000;
const BODY: &str = "a question";

/// x402-rs's facilitator for one scheme on one chain.
#[derive(Clone)]
struct ExactOnly(Arc<Box<dyn X402SchemeFacilitator>>);

impl Facilitator for ExactOnly {
    type Error = X402SchemeFacilitatorError;

    async fn verify(
        &self,
        request: &proto::VerifyRequest,
    ) -> Result<proto::VerifyResponse, Self::Error> {
        self.0.verify(request).await
    }

    async fn settle(
        &self,
        request: &proto::SettleRequest,
    ) -> Result<proto::SettleResponse, Self::Error> {
        self.0.settle(request).await
    }

    async fn supported(&self) -> Result<proto::SupportedResponse, Self::Error> {
        self.0.supported().await
    }
}

async fn facilitator(chain: &Chain) -> ExactOnly {
    let key = hex_key(&chain.facilitator);
    let inner = json!({ "signers": [key], "rpc": [{ "http": chain.url }] });
    let config = Eip155ChainConfig {
        chain_reference: Eip155ChainReference::new(CHAIN_ID),
        inner: serde_json::from_value(inner).unwrap(),
    };
    let provider = Eip155ChainProvider::from_config(&config).await.unwrap();
    let exact = V2Eip155Exact.build(Arc::new(provider), None).unwrap();
    ExactOnly(Arc::new(exact))
}

/// What else a shop announces and issues.
#[derive(Default)]
pub struct Extras {
    /// Registrations that are announced before the customer's one: the first on the payment chain signs.
    pub preferred: Vec<RegistrationId>,
    /// Registrations beside the one on the payment chain.
    pub registrations: Vec<RegistrationId>,
    pub grants: Option<Arc<dyn GrantIssuer>>,
}

async fn interactions(chain: &Chain, profiles: &[X402Profile], extras: Extras) -> InteractionLayer {
    let registration = |it: &RegistrationId| json!({ "agentRegistry": it.agent_registry, "agentId": it.agent_id.as_str() });
    let own = chain.registration();
    let (before, after) = (extras.preferred.iter(), extras.registrations.iter());
    let registrations = before.chain([&own]).chain(after);
    let registrations: Vec<_> = registrations.map(registration).collect();
    let info = json!({ "version": "1.0.0", "registrations": registrations });
    let info = parse_info(info.to_string().as_bytes()).unwrap().into_view();
    let signer = Arc::new(LocalSigner::new(chain.signer.clone()));
    let keys = SigningKeys::new(vec![SigningKey::new(signer, 1)])
        .await
        .unwrap();
    let options = Options {
        grants: extras.grants,
        ..Options::default()
    };
    InteractionLayer::with_options(Agent::new(info, profiles).unwrap(), Arc::new(keys), options)
}

pub struct Shop {
    client: reqwest::Client,
    pub origin: String,
    pub gate: Arc<Gate>,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
}

pub fn policy(token: &str, amount_max: u64) -> SpendPolicy {
    SpendPolicy {
        allowances: vec![Allowance {
            network: format!("eip155:{CHAIN_ID}"),
            asset: token.to_owned(),
            amount_max: word::from_u64(amount_max),
        }],
        timeout_max: 300,
    }
}

pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Shop {
    pub async fn open(chain: &Chain, profiles: &[X402Profile]) -> Self {
        Self::open_with(chain, profiles, Extras::default()).await
    }

    pub async fn open_with(chain: &Chain, profiles: &[X402Profile], extras: Extras) -> Self {
        let price = DeployedTokenAmount {
            amount: U256::from(PRICE),
            token: Eip155TokenDeployment {
                chain_reference: Eip155ChainReference::new(CHAIN_ID),
                address: chain.token,
                decimals: 6,
                transfer_method: AssetTransferMethod::Eip3009 {
                    name: "USDC".to_owned(),
                    version: "2".to_owned(),
                },
            },
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let paywall = X402Middleware::from_facilitator(facilitator(chain).await)
            .with_base_url(origin.parse().unwrap())
            .with_price_tag(V2Eip155Exact::price_tag(chain.wallet, price));
        let gate = Arc::new(Gate::default());
        let router = Router::new()
            .route("/weather", get(async || ANSWER))
            .route("/weather/{place}", get(async || ANSWER))
            .route("/nothing", get(async || StatusCode::NO_CONTENT))
            .route("/moved", get(async || Redirect::temporary("/weather")))
            .route("/echo", post(async |body: String| body))
            .route("/broken", get(async || StatusCode::INTERNAL_SERVER_ERROR))
            .route(
                "/events",
                get(async || {
                    ([(CONTENT_TYPE, "text/event-stream")], "data: 1\n\n").into_response()
                }),
            )
            .layer(paywall)
            .layer(interactions(chain, profiles, extras).await)
            .layer(from_fn_with_state(gate.clone(), pass))
            .route("/free", get(async || ANSWER));
        let serving = tokio::spawn(async move { axum::serve(listener, router).await });
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        Self {
            client,
            origin,
            gate,
            serving,
        }
    }

    /// From then on nobody listens.
    pub async fn close(&mut self) {
        self.serving.abort();
        let ended = (&mut self.serving).await;
        assert!(ended.unwrap_err().is_cancelled());
    }

    pub async fn ask(&self, method: &str, target: &str, payment: Option<&str>) -> Answer {
        let url = format!("{}{target}", self.origin);
        let mut request = self.client.request(method.parse().unwrap(), url);
        if method == "POST" {
            request = request.body(BODY);
        }
        if let Some(payment) = payment {
            request = request.header("payment-signature", payment);
        }
        let response = request.send().await.unwrap();
        Answer {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: response.bytes().await.unwrap().to_vec(),
        }
    }

    /// Checks the offer before anything is signed. The customer pays at most `amount_max`.
    pub async fn quote(&self, chain: &Chain, amount_max: u64) -> Result<Quote, Refusal> {
        let target = "/weather?city=London";
        let unpaid = self.ask("GET", target, None).await;
        let policy = policy(&chain.token.to_string(), amount_max);
        let mut registries = KnownRegistries::default();
        registries.trust(&chain.registry_account()).unwrap();
        let asked = Asked {
            url: &format!("{}{target}", self.origin),
            headers: &unpaid.headers,
            policy: &policy,
            registries: &registries,
            require_bound_origin: false,
        };
        let reads = QuoteReads {
            registries: &chain.reads,
            files: &chain.files,
            origins: &chain.files,
        };
        quote(&asked, reads).await
    }

    /// Pays as x402-rs's client does.
    pub async fn buy(&self, chain: &Chain, method: &str, target: &str) -> Exchange {
        let unpaid = self.ask(method, target, None).await;
        let header = unpaid.headers["payment-required"].as_bytes();
        let required = PaymentRequired::from_header(header).unwrap();
        let theirs = serde_json::from_slice(&STANDARD.decode(header).unwrap()).unwrap();
        let theirs = proto::PaymentRequired::V2(theirs);
        let candidates = V2Eip155ExactClient::new(chain.payer.clone()).accept(&theirs);
        let payment = candidates[0].sign().await.unwrap();
        let paid = self.ask(method, target, Some(&payment)).await;
        Exchange {
            target: target.to_owned(),
            request: if method == "POST" { BODY } else { "" },
            status: paid.status,
            headers: paid.headers,
            body: paid.body,
            offer: required.accepts[0].clone(),
            payer: chain.payer.address().to_string(),
            announced: required.reputation().unwrap(),
            agent: chain.registration(),
        }
    }
}

#[derive(Clone)]
pub struct Exchange {
    pub target: String,
    pub request: &'static str,
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub offer: Offer,
    pub payer: String,
    pub announced: Vec<Found<ReputationInfo>>,
    pub agent: RegistrationId,
}

impl Exchange {
    pub async fn verify(&self, chain: &Chain) -> Report {
        let exchange = PaidExchange {
            target: &self.target,
            request_body: self.request.as_bytes(),
            response_body: &self.body,
            headers: &self.headers,
            offer: &self.offer,
            payer: &self.payer,
            announced: &self.announced,
            agent: &self.agent,
        };
        let reads = Reads {
            registries: &chain.reads,
            files: &chain.files,
            payments: &chain.reads,
        };
        verify(&exchange, reads, None).await
    }

    fn settlement(&self) -> Value {
        let text = STANDARD.decode(&self.headers["payment-response"]).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    /// The headers of another exchange, with this one's interaction data.
    pub fn with_interaction_of(&self, other: &Self) -> HeaderMap {
        let mut settlement = other.settlement();
        settlement["extensions"] = self.settlement()["extensions"].clone();
        let mut headers = other.headers.clone();
        let value = STANDARD.encode(settlement.to_string()).parse().unwrap();
        headers.insert("payment-response", value);
        headers
    }
}
