//! R34: what is not signed is returned as it is.
use crate::server::paywall::*;
use axum::{
    Router,
    body::Body,
    http::{StatusCode, header},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use bytes::Bytes;
use concord_x402::server::Options;
use futures_util::{StreamExt, stream};
use serde_json::json;
use std::{convert::Infallible, time::Duration};

async fn answer_of(options: Options, response: fn() -> Response) -> Answer {
    let router = Router::new().route("/", get(move || async move { response() }));
    let router = settled(router).layer(layer(options).await);
    ask(router, paid("GET", "/", "")).await
}

fn short() -> Options {
    Options {
        body_limit: 8,
        body_timeout: Duration::from_millis(50),
        ..options()
    }
}

/// A body of unknown length.
fn streamed(pieces: &'static [&'static str]) -> Body {
    Body::from_stream(stream::iter(
        pieces.iter().map(|it| Ok::<_, Infallible>(*it)),
    ))
}

#[tokio::test]
async fn r34_empty_answers_and_redirects_are_signed() {
    let no_content = answer_of(options(), || StatusCode::NO_CONTENT.into_response()).await;
    assert_eq!((no_content.status, no_content.is_unsigned()), (204, false));
    let redirect = answer_of(options(), || Redirect::temporary("/other").into_response()).await;
    assert_eq!((redirect.status, redirect.is_unsigned()), (307, false));
}

#[tokio::test]
async fn r34_event_streams_are_not_signed() {
    let response = || {
        let kind = "Text/Event-Stream; charset=utf-8";
        ([(header::CONTENT_TYPE, kind)], "data: 1\n\n").into_response()
    };
    let answer = answer_of(options(), response).await;
    assert!(answer.is_unsigned());
    assert_eq!(answer.body, b"data: 1\n\n");
}

#[tokio::test]
async fn r34_bodies_above_the_limit_are_not_signed_and_not_cut() {
    let known = answer_of(short(), || "123456789".into_response()).await;
    assert!(known.is_unsigned());
    assert_eq!(known.body, b"123456789");

    let unknown = answer_of(short(), || {
        streamed(&["1234", "56789", "0"]).into_response()
    })
    .await;
    assert!(unknown.is_unsigned());
    assert_eq!(unknown.body, b"1234567890");

    let exact = answer_of(short(), || streamed(&["1234", "5678"]).into_response()).await;
    assert!(!exact.is_unsigned());
    assert_eq!(exact.body, b"12345678");
}

#[tokio::test]
async fn r34_a_body_that_takes_too_long_is_passed_on() {
    let slow = || {
        let late = stream::once(async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            Ok::<_, Infallible>(Bytes::from_static(b"two"))
        });
        let first = stream::once(async { Ok(Bytes::from_static(b"one")) });
        Body::from_stream(first.chain(late)).into_response()
    };
    let answer = answer_of(short(), slow).await;
    assert!(answer.is_unsigned());
    assert_eq!(answer.body, b"onetwo");
}

#[tokio::test]
async fn r34_requests_above_the_limit_reach_the_handler_whole() {
    let echo = Router::new().route("/", post(|body: String| async move { body }));
    let router = settled(echo).layer(layer(short()).await);
    let answer = ask(router, paid("POST", "/", "a long request")).await;
    assert!(answer.is_unsigned());
    assert_eq!(answer.body, b"a long request");
}

#[tokio::test]
async fn x402_encoded_content_is_not_signed() {
    let response = || ([(header::CONTENT_ENCODING, "gzip")], "looks compressed").into_response();
    assert!(answer_of(options(), response).await.is_unsigned());
    let response = || ([(header::CONTENT_ENCODING, "identity")], "plain").into_response();
    assert!(!answer_of(options(), response).await.is_unsigned());
}

/// The answer to a settlement header of the paywall's own.
async fn with_settlement(value: String) -> (Answer, String) {
    let response = {
        let value = value.clone();
        move || async move { ([("payment-response", value)], "body").into_response() }
    };
    let router = Router::new()
        .route("/", get(response))
        .layer(layer(options()).await);
    (ask(router, paid("GET", "/", "")).await, value)
}

#[tokio::test]
async fn r34_only_settlements_with_a_transaction_are_signed() {
    let edited = |key: &str, value: serde_json::Value| {
        let mut edited = settlement();
        edited[key] = value;
        header(&edited)
    };
    let huge = "x".repeat(20_000);
    for value in [
        edited("success", json!(false)),
        edited("transaction", json!("")),
        edited("transaction", json!("0x12")),
        edited("network", json!("base-sepolia")),
        edited("extensions", json!([])),
        "not base64!".to_owned(),
        huge,
    ] {
        let (answer, value) = with_settlement(value).await;
        assert_eq!(answer.headers["payment-response"], value);
        assert_eq!(answer.body, b"body");
    }
    let (signed, value) = with_settlement(header(&settlement())).await;
    assert_ne!(signed.headers["payment-response"], value);
}

/// What says that a payment settled is not the paywall's if there was no payment.
#[tokio::test]
async fn r34_a_settlement_without_a_payment_is_not_signed() {
    for (method, body) in [("GET", ""), ("HEAD", ""), ("POST", "question")] {
        let router = Router::new().route("/", get(|| async { "a" }).post(|| async { "a" }));
        let router = settled(router).layer(layer(options()).await);
        let mut request = paid(method, "/", body);
        assert!(!ask(router.clone(), request).await.is_unsigned());
        request = paid(method, "/", body);
        request.headers_mut().remove("payment-signature");
        assert!(ask(router, request).await.is_unsigned(), "{method}");
    }
}

fn payment_required() -> serde_json::Value {
    json!({
        "x402Version": 2,
        "resource": { "url": "https://agent.example/weather" },
        "accepts": [],
        "extensions": { "offer-receipt": { "info": { "big": 12_345_678_901_234_567_890_u64 } } },
    })
}

#[tokio::test]
async fn r26_a_402_announces_the_agent_under_each_key_and_keeps_the_rest() {
    let value = header(&payment_required());
    let unpaid = move || async move {
        (StatusCode::PAYMENT_REQUIRED, [("payment-required", value)]).into_response()
    };
    let router = Router::new()
        .route("/", get(unpaid))
        .layer(layer(options()).await);
    for _ in 0..2 {
        let answer = ask(router.clone(), paid("GET", "/", "")).await;
        let mut found = answer.json("payment-required");
        let extensions = found["extensions"].as_object_mut().unwrap();
        for key in ["8004-reputation", "reputation"] {
            let announced = extensions.remove(key).unwrap();
            assert_eq!(announced["info"]["registrations"][0]["agentId"], "42");
            assert_eq!(announced["schema"]["type"], "object");
        }
        assert_eq!(found, payment_required());
        assert_eq!(answer.headers["cache-control"], "no-store");
    }
}

#[tokio::test]
async fn a_402_that_cannot_be_read_is_returned_as_it_is() {
    for value in ["e30", "!", "W10="] {
        // {} has no extensions and gets some; the others are not objects
        let unpaid = move || async move {
            (StatusCode::PAYMENT_REQUIRED, [("payment-required", value)]).into_response()
        };
        let router = Router::new()
            .route("/", get(unpaid))
            .layer(layer(options()).await);
        let answer = ask(router, paid("GET", "/", "")).await;
        assert_eq!(answer.headers["payment-required"] == value, value != "e30");
    }
}
