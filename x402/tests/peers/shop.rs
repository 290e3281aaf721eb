//! A paid service on x402-axum, with our layer around its paywall.
use crate::peers::world::{PRICE, Registered, TOKENS, Token, World, ed25519, secp256k1};
use axum::{Router, http::header::CONTENT_TYPE, middleware::from_fn_with_state, routing::get};
use concord_files::{X402Profile, parse_info};
use concord_testkit::gate::{Gate, pass};
use concord_x402::server::{Agent, InteractionLayer, LocalSigner, SigningKey, SigningKeys};
use serde_json::{Value, json};
use std::sync::Arc;
use x402_axum::X402Middleware;
use x402_types::{
    chain::ChainId,
    proto::{SupportedResponse, v2},
};

pub const ANSWER: &str = r#"{"tempC":11}"#;

pub struct Shop {
    pub origin: String,
    pub gate: Arc<Gate>,
}

/// A seller's memo, which makes offers alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memo {
    None,
    Fixed,
}

fn price(world: &World, token: Token, memo: Memo) -> v2::PriceTag {
    let (namespace, reference) = token.network().split_once(':').unwrap();
    let extra = match (token, memo) {
        (Token::Usdc, _) => json!({ "name": "USDC", "version": "2" }),
        (_, Memo::None) => json!({}),
        (_, Memo::Fixed) => json!({ "memo": "invoice 7" }),
    };
    v2::PriceTag {
        requirements: v2::PaymentRequirements {
            scheme: "exact".to_owned(),
            network: ChainId::new(namespace, reference),
            amount: PRICE.to_string(),
            pay_to: world.pay_to(token),
            max_timeout_seconds: 60,
            asset: world.asset(token),
            extra: Some(extra),
        },
        enricher: Some(Arc::new(name_fee_payer)),
    }
}

/// As x402-rs's own price tags for Solana do.
fn name_fee_payer(tag: &mut v2::PriceTag, supported: &SupportedResponse) {
    let network = &tag.requirements.network;
    let kind = supported.kinds.iter();
    let mut kind = kind.filter(|it| it.network == network.to_string());
    let extra = kind.find_map(|it| it.extra.clone());
    let fee_payer = extra.and_then(|it| it.get("feePayer").cloned());
    if let (Some(fee_payer), Some(Value::Object(extra))) = (fee_payer, &mut tag.requirements.extra)
    {
        extra.insert("feePayer".to_owned(), fee_payer);
    }
}

async fn interactions(world: &World, registered: Registered) -> InteractionLayer {
    let info = json!({ "version": "1.0.0", "registrations": world.registrations(registered) });
    let info = parse_info(info.to_string().as_bytes()).unwrap().into_view();
    let keys =
        [secp256k1(), ed25519()].map(|key| SigningKey::new(Arc::new(LocalSigner::new(key)), 1));
    let keys = SigningKeys::new(keys.into()).await.unwrap();
    InteractionLayer::new(Agent::new(info, &X402Profile::ALL).unwrap(), Arc::new(keys))
}

impl Shop {
    pub async fn open(world: &World, registered: Registered) -> Self {
        Self::open_with(world, registered, Memo::None).await
    }

    pub async fn open_with(world: &World, registered: Registered, memo: Memo) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let paywall = X402Middleware::new(&world.facilitator.url);
        let paywall = paywall.with_base_url(origin.parse().unwrap());
        let gate = Arc::new(Gate::default());
        let mut router = Router::new();
        for token in TOKENS {
            let handler = get(async || ([(CONTENT_TYPE, "application/json")], ANSWER))
                .post(async |body: String| ([(CONTENT_TYPE, "application/json")], body));
            let paid = handler.layer(paywall.with_price_tag(price(world, token, memo)));
            router = router.route(token.route(), paid);
        }
        let router = router
            .layer(interactions(world, registered).await)
            .layer(from_fn_with_state(gate.clone(), pass));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { origin, gate }
    }

    pub fn url(&self, token: Token) -> String {
        format!("{}{}?city=London", self.origin, token.route())
    }
}
