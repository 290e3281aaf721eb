//! A paid weather service: 402, payment, a signed answer. It brings its own chains (see [`world`]), so that
//! one command runs it: `cargo run -q --bin weather-agent`.
mod evm;
mod solana;
mod world;

use axum::{Json, Router, extract::Query, routing::get};
use concord_canonical::sign::PreparedKey;
use concord_files::{X402Profile, parse_info};
use concord_x402::server::{Agent, InteractionLayer, LocalSigner, SigningKey, SigningKeys};
use serde_json::{Value, json};
use std::{collections::HashMap, error::Error, sync::Arc};
use tokio::signal::unix::{SignalKind, signal};
use world::World;
use x402_axum::X402Middleware;

/// The development key that signs answers. A real service keeps its key in a keystore or a KMS.
const SIGNER: [u8; 32] = [9; 32];

type Failed = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let origin = format!("http://{}", listener.local_addr()?);
    let signer = PreparedKey::secp256k1(&SIGNER)?;
    let world = World::start(&origin, &signer.public_key()).await?;
    let file = world.registration_file.clone();
    let router = Router::new()
        .route("/weather", get(weather))
        .layer(
            paywall(&world, &origin)
                .await?
                .with_price_tag(world.evm.price()),
        )
        .layer(interactions(&world, signer).await?)
        .route("/.well-known/agent-registration.json", get(async || file));
    world.write_environment()?;
    println!(
        "the weather agent answers at {origin}; now: . {}",
        world.environment().display()
    );
    axum::serve(listener, router)
        .with_graceful_shutdown(stopped())
        .await?;
    Ok(())
}

/// What is sold.
async fn weather(Query(query): Query<HashMap<String, String>>) -> Json<Value> {
    let city = query.get("city").map_or("nowhere", String::as_str);
    Json(json!({ "city": city, "tempC": 11 }))
}

/// Asks for a payment, verifies it and settles it: x402-axum with x402-rs's facilitator.
async fn paywall(world: &World, origin: &str) -> Result<X402Middleware<evm::Facilitator>, Failed> {
    let paywall = X402Middleware::from_facilitator(world.evm.facilitator().await?);
    Ok(paywall.with_base_url(origin.parse()?))
}

/// Announces the agent in 402 answers, and signs what is paid for.
async fn interactions(world: &World, key: PreparedKey) -> Result<InteractionLayer, Failed> {
    let info = json!({ "version": "1.0.0", "registrations": world.registrations() });
    let info = parse_info(info.to_string().as_bytes())?.into_view();
    let agent = Agent::new(info, &X402Profile::ALL)?;
    let key = SigningKey::new(Arc::new(LocalSigner::new(key)), 1);
    let keys = SigningKeys::new(vec![key]).await?;
    Ok(InteractionLayer::new(agent, Arc::new(keys)))
}

async fn stopped() {
    let Ok(mut terminated) = signal(SignalKind::terminate()) else {
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminated.recv() => {}
    }
}
