//! The checks before a payment: one 402 answer that passes, and a twin for each class. [`quote`] has no key,
//! so a refusal cannot have signed anything.
mod files;
mod market;
mod registries;

use concord_x402::quote::{PreClass, PreStep, WalletState};
use market::{Market, OTHER, REGISTRY, WALLET};
use serde_json::{Value, json};

#[track_caller]
fn assert_refused(market: &Market, step: PreStep, class: Option<PreClass>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let refusal = runtime.block_on(market.quote()).unwrap_err();
    assert_eq!((refusal.step, refusal.class), (step, class), "{refusal}");
    assert!(
        refusal.to_string().ends_with("; nothing was signed"),
        "{refusal}"
    );
}

fn edited(edit: impl FnOnce(&mut Market)) -> Market {
    let mut market = Market::honest();
    edit(&mut market);
    market
}

#[tokio::test]
async fn an_honest_offer_is_quoted() {
    let quote = Market::honest().quote().await.unwrap();
    assert_eq!(quote.wallet, WalletState::Verified);
    assert_eq!(quote.origin_unbound, None);
    assert_eq!(
        (&*quote.offer.pay_to, &*quote.offer.amount),
        (WALLET, "10000")
    );
    assert_eq!(quote.registration.agent_registry, REGISTRY);
}

#[test]
fn p1_the_answer_is_readable_and_of_version_2() {
    let class = Some(PreClass::PaymentRequiredMalformed);
    assert_refused(&edited(|it| it.header = None), PreStep::P1, class);
    assert_refused(
        &edited(|it| it.required["x402Version"] = json!(1)),
        PreStep::P1,
        class,
    );
    assert_refused(
        &edited(|it| it.required["accepts"] = json!("all")),
        PreStep::P1,
        class,
    );
}

#[test]
fn p2_the_resource_has_the_request_s_origin() {
    let class = Some(PreClass::ResourceMismatch);
    for url in [
        "https://attacker.example/weather",
        "http://agent.example/weather",
        "https://agent.example:8443/weather",
        "https://agent.example@attacker.example/weather",
        "/weather",
    ] {
        assert_refused(
            &edited(|it| it.required["resource"]["url"] = json!(url)),
            PreStep::P2,
            class,
        );
    }
    assert_refused(
        &edited(|it| it.required["resource"] = Value::Null),
        PreStep::P2,
        class,
    );
}

#[tokio::test]
async fn p2_ports_and_case_of_hosts_do_not_matter() {
    let market =
        edited(|it| it.required["resource"]["url"] = json!("https://AGENT.example:443/other"));
    assert!(market.quote().await.is_ok());
}

#[test]
fn p3_an_offer_is_within_the_policy() {
    let class = Some(PreClass::NoAcceptableOffer);
    for (key, value) in [
        ("scheme", json!("upto")),
        ("network", json!("eip155:8453")),
        ("asset", json!(OTHER)),
        ("amount", json!("10001")),
        ("amount", json!("-1")),
        (
            "amount",
            json!("115792089237316195423570985008687907853269984665640564039457584007913129639935"),
        ),
        ("maxTimeoutSeconds", json!(301)),
    ] {
        assert_refused(
            &edited(|it| it.required["accepts"][0][key] = value),
            PreStep::P3,
            class,
        );
    }
    assert_refused(
        &edited(|it| it.required["accepts"] = json!([])),
        PreStep::P3,
        class,
    );
}

#[test]
fn p4_the_agent_is_announced() {
    let missing = Some(PreClass::IdentityMissing);
    assert_refused(
        &edited(|it| it.required["extensions"] = json!({ "other": {} })),
        PreStep::P4,
        missing,
    );
    assert_refused(
        &edited(|it| it.required["extensions"] = Value::Null),
        PreStep::P4,
        missing,
    );
    let malformed = edited(|it| it.info()["registrations"] = json!([]));
    assert_refused(&malformed, PreStep::P4, Some(PreClass::IdentityMalformed));
}

#[test]
fn p5_the_registry_is_known() {
    let attacker_s = format!("eip155:84532:{OTHER}");
    let market = edited(|it| it.info()["registrations"][0]["agentRegistry"] = json!(attacker_s));
    assert_refused(&market, PreStep::P5, Some(PreClass::RegistryUnknown));
}

#[test]
fn p6_the_agent_exists() {
    let market = edited(|it| it.agent = Some(Value::Null));
    assert_refused(&market, PreStep::P6, Some(PreClass::AgentNotFound));
    assert_refused(&edited(|it| it.agent = None), PreStep::P6, None); // R36
}

#[test]
fn p7_the_file_is_had_proven_and_read() {
    let malformed = Some(PreClass::RegistrationMalformed);
    assert_refused(&edited(|it| it.file = json!([])), PreStep::P7, malformed);
    assert_refused(
        &edited(|it| it.record()["uri"] = json!("")),
        PreStep::P7,
        malformed,
    );
    assert_refused(
        &edited(|it| it.file = json!("mismatch")),
        PreStep::P7,
        Some(PreClass::ContentMismatch),
    );
    assert_refused(
        &edited(|it| it.file = json!("unavailable")),
        PreStep::P7,
        None,
    ); // R36
}

#[test]
fn p8_the_file_lists_the_registration() {
    let class = Some(PreClass::RegistrationNotClaimed);
    assert_refused(
        &edited(|it| it.file["registrations"] = json!([])),
        PreStep::P8,
        class,
    );
    assert_refused(
        &edited(|it| it.file["registrations"][0]["agentId"] = json!("43")),
        PreStep::P8,
        class,
    );
}

#[test]
fn p9_r27_the_recipient_is_the_wallet_on_the_payment_chain() {
    let mismatch = Some(PreClass::PayToMismatch);
    assert_refused(
        &edited(|it| it.required["accepts"][0]["payTo"] = json!(OTHER)),
        PreStep::P9,
        mismatch,
    );
    let undeclared = Some(PreClass::WalletUndeclared);
    assert_refused(
        &edited(|it| it.record()["wallet"] = Value::Null),
        PreStep::P9,
        undeclared,
    );
    // the file cannot stand in for a wallet on chain
    let listed = json!([{ "name": "agentWallet", "endpoint": format!("eip155:84532:{WALLET}") }]);
    let market = edited(|it| {
        it.record()["wallet"] = Value::Null;
        it.file["services"] = listed;
    });
    assert_refused(&market, PreStep::P9, undeclared);
    let other = json!([{ "name": "agentWallet", "endpoint": format!("eip155:84532:{OTHER}") }]);
    let conflict = Some(PreClass::WalletConflict);
    assert_refused(
        &edited(|it| it.file["services"] = other),
        PreStep::P9,
        conflict,
    );
    let malformed = json!([{ "name": "agentWallet", "endpoint": WALLET }]);
    assert_refused(
        &edited(|it| it.file["services"] = malformed),
        PreStep::P9,
        conflict,
    );
}

const ELSEWHERE: &str = "eip155:8453";

/// The payment is on another chain than the registry.
fn crossed(wallets: &[&str]) -> Market {
    edited(|it| {
        it.required["accepts"][0]["network"] = json!(ELSEWHERE);
        it.allowed_network = ELSEWHERE;
        let service = |wallet: &&str| json!({ "name": "agentWallet", "endpoint": format!("{ELSEWHERE}:{wallet}") });
        it.file["services"] = wallets.iter().map(service).collect();
    })
}

#[tokio::test]
async fn p9_r27_on_another_chain_a_listed_wallet_is_claimed() {
    let quote = crossed(&[OTHER, WALLET]).quote().await.unwrap();
    assert_eq!(quote.wallet, WalletState::Claimed);
}

#[test]
fn p9_r27_on_another_chain_another_wallet_is_refused() {
    assert_refused(&crossed(&[]), PreStep::P9, Some(PreClass::WalletUndeclared));
    assert_refused(
        &crossed(&[OTHER]),
        PreStep::P9,
        Some(PreClass::PayToMismatch),
    );
}

#[test]
fn p9_r27_a_registration_that_the_offer_leaves_out_counts() {
    let mut market = crossed(&[OTHER]);
    market.required["accepts"][0]["payTo"] = json!(OTHER);
    let there = format!("{ELSEWHERE}:{}", REGISTRY.rsplit(':').next().unwrap());
    market.trusted.push(there.clone());
    let registrations = market.file["registrations"].as_array_mut().unwrap();
    registrations.push(json!({ "agentRegistry": there, "agentId": "7" }));
    // the chain has WALLET; the file names another, which the offer pays
    assert_refused(&market, PreStep::P9, Some(PreClass::WalletConflict));
}

#[tokio::test]
async fn p10_r43_an_unbound_origin_is_a_warning_unless_binding_is_required() {
    // R43: the agentURI is on another host
    let unproven = || {
        edited(|it| {
            it.record()["uri"] = json!("https://files.example/agent.json");
            it.proof = json!({ "registrations": [] });
        })
    };
    let quote = unproven().quote().await.unwrap();
    assert!(
        quote
            .origin_unbound
            .unwrap()
            .contains("does not list the agent")
    );
    let proven = edited(|it| it.record()["uri"] = json!("https://files.example/agent.json"));
    assert_eq!(proven.quote().await.unwrap().origin_unbound, None);
    let down = edited(|it| {
        it.record()["uri"] = json!("https://files.example/agent.json");
        it.proof = json!("unavailable");
    });
    assert!(down.quote().await.unwrap().origin_unbound.is_some());
}

#[test]
fn p10_r43_an_unbound_origin_is_refused_if_binding_is_required() {
    let market = edited(|it| {
        it.record()["uri"] = json!("https://files.example/agent.json");
        it.proof = json!({ "registrations": [] });
        it.require_bound_origin = true;
    });
    assert_refused(&market, PreStep::P10, Some(PreClass::OriginUnbound));
    let plain = edited(|it| {
        it.url = "http://agent.example/weather";
        it.required["resource"]["url"] = json!(it.url);
        it.require_bound_origin = true;
    });
    assert_refused(&plain, PreStep::P10, Some(PreClass::OriginUnbound));
}
