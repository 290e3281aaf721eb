//! A whole paid exchange over HTTP: x402-axum's paywall and x402-rs's facilitator and payer, Circle's
//! FiatTokenV2_2 and our identity registry on anvil, our layer around the paywall, our checks after it.
mod customer;
mod elsewhere;
mod hostile;
mod killed;
mod killed_feedback;
pub(crate) mod killing;
mod middleware;
mod paying;
mod rated;
mod rated_elsewhere;
mod reading;
pub(crate) mod reads;
mod refused;

use concord_files::X402Profile;
use concord_testkit::chain::Chain;
use concord_testkit::shop::{self, Exchange, Shop};
use concord_x402::{
    quote::{PreClass, PreStep, WalletState},
    verify::{Class, Report, State, Step},
    wire::{HEADER_MAX, PaymentRequired},
};

fn states(report: &Report) -> Vec<(Step, State, &str)> {
    let doubtful = report.steps.iter().filter(|it| it.state != State::Verified);
    doubtful
        .map(|it| (it.step, it.state, &*it.detail))
        .collect()
}

#[tokio::test]
async fn a_paid_response_is_signed_and_verified() {
    let chain = Chain::start().await;
    let shop = Shop::open(&chain, &X402Profile::ALL).await;

    let unpaid = shop.ask("GET", "/weather?city=London", None).await;
    assert_eq!(unpaid.status, 402);
    assert_eq!(unpaid.headers["cache-control"], "no-store");
    let header = unpaid.headers["payment-required"].as_bytes();
    assert!(header.len() < HEADER_MAX);
    let required = PaymentRequired::from_header(header).unwrap();
    let announced = required.reputation().unwrap();
    assert_eq!(announced.len(), 2, "both profiles (R26)");

    let quote = shop.quote(&chain, shop::PRICE).await.unwrap();
    assert_eq!(quote.wallet, WalletState::Verified);
    let unbound = quote.origin_unbound.unwrap();
    assert!(unbound.contains("not reached over HTTPS"), "{unbound}");
    let refusal = shop.quote(&chain, shop::PRICE - 1).await.unwrap_err();
    assert_eq!(refusal.class, Some(PreClass::NoAcceptableOffer));
    assert_eq!(chain.balance_of_wallet().await, 0, "no money moved");

    let exchange = shop.buy(&chain, "GET", "/weather?city=London").await;
    assert_eq!(
        (exchange.status, &*exchange.body),
        (200, shop::ANSWER.as_bytes())
    );
    let report = exchange.verify(&chain).await;
    assert_eq!(states(&report), []);
    assert!(report.is_verified());
    assert_eq!(report.profile, Some(X402Profile::Reputation8004));
    assert_eq!(chain.balance_of_wallet().await, shop::PRICE);

    // each of these differs in one thing
    let other = Exchange {
        body: b"{}".to_vec(),
        ..exchange.clone()
    };
    assert_eq!(
        other.verify(&chain).await.refused_for(),
        Some(Class::DataMismatch)
    );
    let other = Exchange {
        target: "/weather?city=Paris".to_owned(),
        ..exchange.clone()
    };
    assert_eq!(
        other.verify(&chain).await.refused_for(),
        Some(Class::DataMismatch)
    );
    let other = Exchange {
        payer: chain.wallet.to_string(),
        ..exchange.clone()
    };
    let report = other.verify(&chain).await;
    assert_eq!(report.refused_for(), Some(Class::SettlementMismatch));
    assert_eq!(
        report.step(Step::S11).unwrap().class,
        Some(Class::PaymentMismatch)
    );
    let second = shop.buy(&chain, "GET", "/weather?city=London").await;
    let replayed = Exchange {
        headers: exchange.with_interaction_of(&second),
        ..second
    };
    assert_eq!(
        replayed.verify(&chain).await.refused_for(),
        Some(Class::TaskRefMismatch)
    );

    // a later transfer of the agent clears its wallet, but not at the settlement's block
    chain.transfer_agent().await;
    let refusal = shop.quote(&chain, shop::PRICE).await.unwrap_err();
    assert_eq!(refusal.class, Some(PreClass::WalletUndeclared), "{refusal}");
    assert_eq!(states(&exchange.verify(&chain).await), []);
    chain.stop();
    let refusal = shop.quote(&chain, shop::PRICE).await.unwrap_err();
    assert_eq!(
        (refusal.step, refusal.class),
        (PreStep::P6, None),
        "R36: {refusal}"
    );
    let report = exchange.verify(&chain).await;
    assert_eq!(
        report.state(),
        State::CannotCheck,
        "R36: {:?}",
        states(&report)
    );
}

#[tokio::test]
async fn r33_r34_head_no_content_and_redirects_are_signed() {
    let chain = Chain::start().await;
    let shop = Shop::open(&chain, &[X402Profile::Reputation]).await;
    for (method, target, status) in [
        ("HEAD", "/weather", 200),
        ("GET", "/nothing", 204),
        ("GET", "/moved?to=1", 307),
        ("POST", "/echo", 200),
    ] {
        let exchange = shop.buy(&chain, method, target).await;
        assert_eq!(exchange.status, status, "{method} {target}");
        let report = exchange.verify(&chain).await;
        assert_eq!(states(&report), [], "{method} {target}");
    }
}

#[tokio::test]
async fn r34_a_failed_handler_and_an_event_stream_are_not_signed() {
    let chain = Chain::start().await;
    let shop = Shop::open(&chain, &X402Profile::ALL).await;
    let failed = shop.buy(&chain, "GET", "/broken").await;
    assert_eq!(failed.status, 500);
    assert!(
        !failed.headers.contains_key("payment-response"),
        "nothing was charged"
    );
    let report = failed.verify(&chain).await;
    assert_eq!(report.refused_for(), Some(Class::SettlementMissing));

    let stream = shop.buy(&chain, "GET", "/events").await;
    assert_eq!((stream.status, &*stream.body), (200, &b"data: 1\n\n"[..]));
    let report = stream.verify(&chain).await;
    assert_eq!(report.refused_for(), Some(Class::NotSigned));
    assert_eq!(report.step(Step::S2).unwrap().state, State::Verified);
}
