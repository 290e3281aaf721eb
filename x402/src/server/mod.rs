//! A tower layer with which an agent announces itself and signs its paid responses.
//!
//! Put it around the paywall: its 402 answers get the extension, and its settled responses get the signed
//! interaction data in `PAYMENT-RESPONSE`. The paywall itself is not touched, and a failure to sign never
//! withholds or changes a paid response (R34).
//!
//! It cannot tell the paywall's `PAYMENT-RESPONSE` from one that the handler wrote. A handler that passes on what others answer
//! calls [`remove_payment_headers`] on it.
//!
//! Place it inside the layers that compress responses and decompress requests: hashes are made of decoded
//! bytes (X402 §1). In axum, add it after the paywall:
//!
//! ```
//! use axum::{Router, routing::get};
//! use concord_canonical::sign::PreparedKey;
//! use concord_x402::server::{Agent, InteractionLayer, LocalSigner, SigningKey, SigningKeys};
//! use concord_files::{X402Profile, parse_info};
//! use std::sync::Arc;
//!
//! # async fn example<P>(secret: [u8; 32], paywall: P) -> Result<Router, Box<dyn std::error::Error>>
//! # where
//! #     P: tower::Layer<axum::routing::Route> + Clone + Send + Sync + 'static,
//! #     P::Service: tower::Service<axum::extract::Request, Error = std::convert::Infallible>
//! #         + Clone + Send + Sync + 'static,
//! #     <P::Service as tower::Service<axum::extract::Request>>::Response: axum::response::IntoResponse,
//! #     <P::Service as tower::Service<axum::extract::Request>>::Future: Send,
//! # {
//! let info = parse_info(br#"{
//!     "version": "1.0.0",
//!     "registrations": [{
//!         "agentRegistry": "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e",
//!         "agentId": "42"
//!     }]
//! }"#)?.into_view();
//! let signer = LocalSigner::new(PreparedKey::secp256k1(&secret)?);
//! let keys = SigningKeys::new(vec![SigningKey::new(Arc::new(signer), 0)]).await?;
//! let agent = Agent::new(info, &[X402Profile::Reputation8004])?;
//! let interactions = InteractionLayer::new(agent, Arc::new(keys));
//! let router = Router::new()
//!     .route("/weather", get(async || r#"{"tempC":11}"#))
//!     .layer(paywall)
//!     .layer(interactions);
//! # Ok(router)
//! # }
//! ```

mod agent;
mod announcement;
mod grant;
mod interaction;
mod layer;
mod metrics;
mod payment_headers;
mod replay_body;
mod signer;
mod signing_keys;
mod unsigned;

pub use agent::Agent;
pub use grant::{FEEDBACK_AUTH_EXTENSION, GRANT_EXPIRY_MAX, Grant, GrantIssuer, GrantRequest};
pub use layer::{InteractionLayer, InteractionService, Options};
pub use metrics::describe_metrics;
pub use payment_headers::remove_payment_headers;
pub use replay_body::ReplayBody;
pub use signer::{LocalSigner, ResponseSigner, SignerError};
pub use signing_keys::{KeyError, SETTLEMENT_AGE_MAX, SigningKey, SigningKeys};
pub use unsigned::Unsigned;
