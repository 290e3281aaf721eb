//! A paid service in front of another one.

use std::{io::Write, net::SocketAddr, path::PathBuf, sync::Arc};

use alloy::transports::http::reqwest::{self, Client, Url, redirect::Policy};
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use concord_canonical::sign::PreparedKey;
use concord_chain::keys::{EvmKeySource, read_keypair};
use concord_files::{X402Profile, parse_info};
use serde::Deserialize;
use serde_json::{Value, json};
use x402_axum::X402Middleware;
use x402_types::proto::v2::{PaymentRequirements, PriceTag};

use super::{CliError, VERIFIED, config::read_json, options::Serve};
use crate::server::{Agent, InteractionLayer, LocalSigner, Options, SigningKey, SigningKeys};

/// Bytes of a request's body that are passed on.
const BODY_MAX: usize = 16 << 20;
/// Headers of one hop, which are not passed on (RFC 9110 §7.6.1).
const HOP: [header::HeaderName; 8] = [
    header::CONNECTION,
    header::HOST,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ServeConfig {
    /// Address and port, such as 127.0.0.1:8402.
    listen: SocketAddr,
    /// The origin that buyers ask.
    public_url: Url,
    /// The facilitator that verifies and settles.
    facilitator: Url,
    /// The service that answers.
    upstream: Url,
    /// What is asked for: x402's payment requirements.
    offers: Vec<PaymentRequirements>,
    /// The agent's registrations, as a 402 announces them.
    registrations: Value,
    /// Where feedback can be submitted without gas.
    #[serde(default)]
    feedback_aggregator: Option<String>,
    /// The keys that sign.
    signers: Vec<SignerConfig>,
}

/// A key: a file with it, and the time in which it may sign, as the registration file publishes it (R30).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SignerConfig {
    /// secp256k1: an encrypted JSON keystore.
    #[serde(default)]
    keystore: Option<PathBuf>,
    /// A file with its password.
    #[serde(default)]
    password_file: Option<PathBuf>,
    /// Ed25519: a Solana keypair file.
    #[serde(default)]
    keypair: Option<PathBuf>,
    valid_from: u64,
    #[serde(default)]
    valid_until: Option<u64>,
}

pub(super) async fn serve(options: &Serve) -> Result<u8, CliError> {
    let config: ServeConfig = read_json(&options.config)?;
    let malformed = |field: &str, error: &dyn ToString| {
        let words = format!(
            "{}: {field}: {}",
            options.config.display(),
            error.to_string()
        );
        CliError::usage(words)
    };
    if config.offers.is_empty() {
        return Err(malformed("offers", &"at least one is needed"));
    }
    let layer = interactions(&config).await;
    let layer = layer.map_err(|(field, error)| malformed(field, &error))?;
    let paywall = X402Middleware::try_new(config.facilitator.as_str());
    let paywall = paywall.map_err(|error| malformed("facilitator", &error))?;
    let mut tags = config.offers.iter().cloned().map(|requirements| PriceTag {
        requirements,
        enricher: None,
    });
    let first = tags
        .next()
        .ok_or_else(|| malformed("offers", &"at least one is needed"))?;
    let paywall = paywall.with_base_url(config.public_url.clone());
    let paywall = tags.fold(paywall.with_price_tag(first), |it, tag| {
        it.with_price_tag(tag)
    });
    let client = Client::builder()
        .redirect(Policy::none())
        .no_proxy()
        .build();
    let client = client.map_err(|error| malformed("upstream", &error))?;
    let upstream = Arc::new((client, config.upstream.clone()));
    let router = Router::new()
        .fallback(forward)
        .with_state(upstream)
        .layer(paywall)
        .layer(layer);
    let unusable = |error: std::io::Error| malformed("listen", &error);
    let listener = tokio::net::TcpListener::bind(config.listen).await;
    let listener = listener.map_err(unusable)?;
    let address = listener.local_addr().map_err(unusable)?;
    writeln!(
        std::io::stdout(),
        "serving {} on {address}",
        config.public_url
    )?;
    axum::serve(listener, router).await.map_err(unusable)?;
    Ok(VERIFIED)
}

async fn interactions(config: &ServeConfig) -> Result<InteractionLayer, (&'static str, String)> {
    let mut info = json!({ "version": "1.0.0", "registrations": config.registrations });
    if let Some(aggregator) = &config.feedback_aggregator {
        info["feedbackAggregator"] = json!(aggregator);
    }
    let info = parse_info(info.to_string().as_bytes());
    let info = info
        .map_err(|error| ("info", error.to_string()))?
        .into_view();
    let agent = Agent::new(info, &X402Profile::ALL);
    let agent = agent.map_err(|error| ("info", error.to_string()))?;
    let mut keys = Vec::new();
    for signer in &config.signers {
        let key = signer.open().map_err(|error| ("signers", error))?;
        keys.push(SigningKey {
            signer: Arc::new(LocalSigner::new(key)),
            valid_from: signer.valid_from,
            valid_until: signer.valid_until,
        });
    }
    let keys = SigningKeys::new(keys).await;
    let keys = keys.map_err(|error| ("signers", error.to_string()))?;
    Ok(InteractionLayer::with_options(
        agent,
        Arc::new(keys),
        Options::default(),
    ))
}

impl SignerConfig {
    fn open(&self) -> Result<PreparedKey, String> {
        if let Some(path) = &self.keypair {
            let keypair = read_keypair(path).map_err(|error| error.to_string())?;
            return Ok(PreparedKey::ed25519(keypair.secret_bytes()));
        }
        let source = EvmKeySource {
            keystore: self.keystore.clone(),
            password_file: self.password_file.clone(),
        };
        let key = source.open().map_err(|error| error.to_string())?;
        let key =
            key.ok_or("has neither keystore nor keypair, and CONCORD_EVM_PRIVATE_KEY is not set")?;
        let secret = zeroize::Zeroizing::new(key.to_bytes().0);
        PreparedKey::secp256k1(&secret).map_err(|error| error.to_string())
    }
}

/// Passes a request on, and the answer back.
async fn forward(
    State(upstream): State<Arc<(Client, Url)>>,
    request: Request,
) -> Result<Response, StatusCode> {
    let (client, base) = &*upstream;
    let (parts, body) = request.into_parts();
    let mut url = base.clone();
    let prefix = base.path().trim_end_matches('/').to_owned();
    url.set_path(&format!("{prefix}{}", parts.uri.path()));
    url.set_query(parts.uri.query());
    let body = to_bytes(body, BODY_MAX).await;
    let body = body.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    let sending = client
        .request(parts.method, url)
        .headers(without_hop(&parts.headers))
        .body(reqwest::Body::from(body));
    let answer = sending.send().await.map_err(|_| StatusCode::BAD_GATEWAY)?;
    let (status, headers) = (answer.status(), without_hop(answer.headers()));
    let body = Body::new(reqwest::Body::from(answer));
    Ok((status, headers, body).into_response())
}

fn without_hop(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    for name in HOP {
        headers.remove(name);
    }
    headers
}
