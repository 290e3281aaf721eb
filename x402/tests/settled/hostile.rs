//! A server, or a proxy before it, that changes what was paid for.
use crate::settled::{
    customer::{Customer, get},
    paying::{ID, open},
    reads::reads,
    states,
};
use async_trait::async_trait;
use concord_canonical::interaction;
use concord_files::{RegistrationId, X402Profile};
use concord_testkit::chain::Chain;
use concord_testkit::gate::Fault;
use concord_testkit::shop::{self, Extras, Shop};
use concord_x402::{
    feedback::Interaction,
    pay::{
        Authorization, AuthorizationState, Authorizations, BuyerReads, Money, PayFault, Prepared,
        Request,
    },
    verify::{Class, EvmChains, State, Step, Unavailable},
    wire::Offer,
};
use http::{HeaderMap, HeaderValue, Method};

#[tokio::test]
async fn a_body_that_a_proxy_compresses_is_hashed_after_decoding() {
    let chain = Chain::start().await;
    let (shop, folder, url) = open(&chain).await;
    let customer = Customer::new(&chain, folder.path());
    shop.gate.set(Fault::Compress);
    let purchase = customer.pay(ID, &url).await.unwrap();
    assert_eq!(purchase.response.headers["content-encoding"], "gzip");
    assert_ne!(purchase.response.body, shop::ANSWER, "as it arrived");
    assert_eq!(states(&purchase.report), []);
    let resumed = customer.resume(ID).await.unwrap();
    assert_eq!(states(&resumed.report), [], "from the evidence too");

    // not what it says, and an encoding that was not asked for: no hash, and no refusal (R36)
    for (id, encoding) in [
        ("not-gzip", "gzip"),
        ("not-deflate", "deflate"),
        ("other", "br"),
    ] {
        shop.gate.set(Fault::Encoding(encoding));
        let purchase = customer.pay(id, &url).await.unwrap();
        let [(Step::S7, State::CannotCheck, detail)] = states(&purchase.report)[..] else {
            panic!("{encoding}: {:?}", states(&purchase.report));
        };
        assert!(detail.contains(encoding), "{detail}");
        assert_eq!(purchase.response.body, shop::ANSWER);
    }
    shop.gate.set(Fault::Encoding("identity"));
    let purchase = customer.pay("identity", &url).await.unwrap();
    assert_eq!(states(&purchase.report), []);

    // S7 shows both hashes
    shop.gate.set(Fault::Append);
    let purchase = customer.pay("changed", &url).await.unwrap();
    let [(Step::S7, State::Refuted, detail)] = states(&purchase.report)[..] else {
        panic!("{:?}", states(&purchase.report));
    };
    let target = b"/weather?city=London";
    for body in [shop::ANSWER.to_owned(), format!("{}\n", shop::ANSWER)] {
        let hash = interaction::data_hash(target, body.as_bytes()).unwrap();
        assert!(detail.contains(&hex::encode(hash)), "{detail}");
    }
}

/// One payment for two purchases: the header of the first answers the second, with the same body.
#[tokio::test]
async fn a_replayed_header_is_not_this_purchase_s_payment() {
    let chain = Chain::start().await;
    let (shop, folder, url) = open(&chain).await;
    let customer = Customer::new(&chain, folder.path());
    let first = customer.pay("first", &url).await.unwrap();
    let header: HeaderValue = first.response.headers["payment-response"].clone();

    shop.gate.set(Fault::Replay(header.clone()));
    let second = customer.pay("second", &url).await.unwrap();
    assert_eq!(second.report.refused_for(), Some(Class::PaymentMismatch));
    assert_eq!(second.report.step(Step::S11).unwrap().state, State::Refuted);
    assert!(matches!(second.money, Money::Settled { .. }));
    assert_ne!(second.money, first.money);

    shop.gate.set(Fault::ReplayUnpaid(header));
    let third = customer.pay("third", &url).await.unwrap();
    assert_eq!(third.response.body, shop::ANSWER);
    let s11 = third.report.step(Step::S11).unwrap();
    assert_eq!(
        s11.state,
        State::CannotCheck,
        "it may still be settled: {s11:?}"
    );
    assert!(matches!(third.money, Money::Unknown { .. }));
    chain.pass(301).await;
    let third = customer.resume("third").await.unwrap();
    assert_eq!(third.report.refused_for(), Some(Class::PaymentMismatch));
    assert_eq!(third.money, Money::Void);
    assert_eq!(chain.balance_of_wallet().await, 2 * shop::PRICE);
}

/// The transfer clears the wallet on chain, so the chain no longer says that the recipient is the agent (R27).
#[tokio::test]
async fn an_agent_that_changes_hands_between_offer_and_settlement_is_noticed() {
    let chain = Chain::start().await;
    let (shop, folder, url) = open(&chain).await;
    let customer = Customer::new(&chain, folder.path());
    let kept = customer.pay("kept", &url).await.unwrap();
    assert_eq!(states(&kept.report), []);
    let offered = customer.offered(get(&url)).await;
    chain.transfer_agent().await;
    let purchase = customer.buyer().pay(ID, offered).await.unwrap();
    let [(Step::S11, State::Refuted, detail)] = states(&purchase.report)[..] else {
        panic!("{:?}", states(&purchase.report));
    };
    assert!(detail.contains("no wallet on chain"), "{detail}");
    assert!(matches!(purchase.money, Money::Settled { .. }));
    assert_eq!(
        purchase.response.body,
        shop::ANSWER,
        "it is returned anyway"
    );
    assert_eq!(shop.gate.paid(), 2);
}

#[tokio::test]
async fn r33_r34_the_buyer_verifies_answers_without_a_body() {
    let chain = Chain::start().await;
    let (shop, folder, _) = open(&chain).await;
    let customer = Customer::new(&chain, folder.path());
    for (id, method, target, status) in [
        ("head", Method::HEAD, "/weather?city=London", 200),
        ("nothing", Method::GET, "/nothing", 204),
        ("moved", Method::GET, "/moved?to=1", 307),
    ] {
        let url = format!("{}{target}", shop.origin);
        let request = Request::new(method, &url, HeaderMap::new(), "").unwrap();
        let offered = customer.offered(request).await;
        let purchase = customer.buyer().pay(id, offered).await.unwrap();
        assert_eq!(purchase.response.status, status);
        assert_eq!(
            (purchase.response.body.len(), states(&purchase.report)),
            (0, vec![]),
            "{id}"
        );
    }
    // R34: an event stream is paid for and not signed
    let url = format!("{}/events", shop.origin);
    let purchase = customer.pay("events", &url).await.unwrap();
    assert_eq!(purchase.report.refused_for(), Some(Class::NotSigned));
    assert_eq!(purchase.response.body, "data: 1\n\n");
    assert!(matches!(purchase.money, Money::Settled { .. }));
}

/// A file is read or refused with its name, whatever is in it, and never taken for another purchase's.
#[tokio::test]
async fn evidence_of_any_bytes_is_read_or_refused() {
    let chain = Chain::start().await;
    let (_shop, folder, url) = open(&chain).await;
    let customer = Customer::new(&chain, folder.path());
    customer.pay(ID, &url).await.unwrap();
    let file = folder.path().join(format!("{ID}.json"));
    let written = std::fs::read(&file).unwrap();
    let (mut read, mut refused) = (0, 0);
    for at in (0..written.len()).step_by(5) {
        for byte in [b'"', b'{', b'9', 0xff] {
            let mut changed = written.clone();
            changed[at] = byte;
            for bytes in [&changed[..], &changed[..=at]] {
                std::fs::write(&file, bytes).unwrap();
                match customer.folder.load(ID) {
                    Ok(evidence) => {
                        assert_eq!(evidence.unwrap().id, ID);
                        read += 1;
                    }
                    Err(fault) => {
                        assert!(fault.to_string().contains(ID), "{fault}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(
        read > 100 && refused > 1000,
        "{read} read, {refused} refused"
    );
}

/// R26: the server adds unsigned data under the other key, beside the data that it announced and signed.
#[tokio::test]
async fn r26_data_beside_what_was_judged_is_not_rated() {
    let chain = Chain::start().await;
    let (announced, other) = (X402Profile::ALL[1], X402Profile::ALL[0]);
    let shop = Shop::open(&chain, &[announced]).await;
    let folder = tempfile::tempdir().unwrap();
    let customer = Customer::new(&chain, folder.path());
    shop.gate.set(Fault::Forge(|said| {
        let extensions = said["extensions"].as_object_mut().unwrap();
        let [other, announced] = X402Profile::ALL.map(X402Profile::extension_key);
        let mut data = extensions[announced].clone();
        data["interactionHash"] = format!("0x{}", "77".repeat(32)).into();
        extensions.insert(other.to_owned(), data);
    }));
    let url = format!("{}/weather?city=London", shop.origin);
    let purchase = customer.pay(ID, &url).await.unwrap();
    assert_eq!(states(&purchase.report), []);
    assert!(purchase.response.headers.contains_key("payment-response"));
    let evidence = customer.folder.load(ID).unwrap().unwrap();
    let rated = Interaction::of(&evidence).unwrap();
    assert_eq!(rated.profile, announced);
    assert_ne!(rated.profile, other);
    assert_ne!(rated.data.interaction_hash.0, [0x77; 32]);
}

/// S5, R28: a seller announces an agent of a registry that does not count beside the one that is checked, and signs as the
/// former.
#[tokio::test]
async fn s5_r28_an_agent_that_was_not_checked_does_not_sign() {
    let chain = Chain::start().await;
    let unlisted = RegistrationId {
        agent_registry: format!(
            "eip155:{}:0x{}",
            concord_testkit::chain::CHAIN_ID,
            "e1".repeat(20)
        ),
        ..chain.registration()
    };
    let extras = Extras {
        preferred: vec![unlisted],
        ..Extras::default()
    };
    let shop = Shop::open_with(&chain, &X402Profile::ALL, extras).await;
    let folder = tempfile::tempdir().unwrap();
    let customer = Customer::new(&chain, folder.path());
    let url = format!("{}/weather?city=London", shop.origin);
    let purchase = customer.pay(ID, &url).await.unwrap();
    assert_eq!(purchase.report.refused_for(), Some(Class::IdentityChanged));
    let evidence = customer.folder.load(ID).unwrap().unwrap();
    assert_eq!(evidence.quote.agent_registry, chain.registry_account());
    let refused = Interaction::of(&evidence).unwrap_err();
    assert!(refused.to_string().contains("refuted at S5"), "{refused}");
}

/// The same evidence, verified before that rule: the report says that S5 holds.
#[tokio::test]
async fn s5_a_purchase_that_another_agent_signed_is_not_rated() {
    let chain = Chain::start().await;
    let (_shop, folder, url) = open(&chain).await;
    let customer = Customer::new(&chain, folder.path());
    customer.pay(ID, &url).await.unwrap();
    let mut evidence = customer.folder.load(ID).unwrap().unwrap();
    assert!(Interaction::of(&evidence).is_ok());
    evidence.quote.agent_id = "4242".to_owned();
    let refused = Interaction::of(&evidence).unwrap_err();
    assert!(refused.to_string().contains("refuted at S5"), "{refused}");
}

/// R36: what is known of the money is still known if the node is asked again and does not answer.
#[tokio::test]
async fn r36_a_payment_that_settled_stays_settled_without_a_node() {
    let chain = Chain::start().await;
    let (_shop, folder, url) = open(&chain).await;
    let customer = Customer::new(&chain, folder.path());
    let purchase = customer.pay(ID, &url).await.unwrap();
    assert!(matches!(purchase.money, Money::Settled { .. }));
    let evidence = || customer.folder.load(ID).unwrap().unwrap();
    let known = evidence().money;
    assert_eq!(known.as_ref(), Some(&purchase.money));

    let nodes = EvmChains::default();
    let blind = customer.buyer_with(reads(&nodes, &chain.files));
    let again = blind.resume(ID, &HeaderMap::new()).await.unwrap();
    assert_eq!(
        again.report.step(Step::S11).unwrap().state,
        State::CannotCheck
    );
    assert_eq!(again.money, purchase.money);
    assert_eq!(evidence().money, known);
}

/// A node that does not say in which transaction a purchase was paid.
struct Withholding(Result<AuthorizationState, Unavailable>);

#[async_trait]
impl Authorizations for Withholding {
    async fn prepare(&self, _: &Offer, _: &str, _: u64) -> Result<Prepared, PayFault> {
        panic!("nothing is paid")
    }

    async fn state(&self, _: &Authorization, _: u64) -> Result<AuthorizationState, Unavailable> {
        self.0.clone()
    }
}

/// R36: a header that was not compared with this purchase's own payment is not verified, and one that was refuted stays so.
#[tokio::test]
async fn s11_r36_without_this_purchase_s_own_payment_nothing_is_verified() {
    let chain = Chain::start().await;
    let (shop, folder, url) = open(&chain).await;
    let customer = Customer::new(&chain, folder.path());
    let honest = customer.pay(ID, &url).await.unwrap();
    let header = honest.response.headers["payment-response"].clone();
    shop.gate.set(Fault::Replay(header));
    customer.pay("replayed", &url).await.unwrap();

    let refused = Err(Unavailable("eth_getLogs is refused".to_owned()));
    let unnamed = Ok(AuthorizationState::Used { transaction: None });
    for withheld in [refused, unnamed] {
        let node = Withholding(withheld);
        let seen = BuyerReads {
            authorizations: &node,
            ..reads(&chain.reads, &chain.files)
        };
        let buyer = customer.buyer_with(seen);
        for (id, expected) in [(ID, State::CannotCheck), ("replayed", State::Refuted)] {
            let again = buyer.resume(id, &HeaderMap::new()).await.unwrap();
            let s11 = again.report.step(Step::S11).unwrap();
            assert_eq!(s11.state, expected, "{id}, {:?}: {s11:?}", node.0);
            assert!(matches!(again.money, Money::Settled { .. }));
            let evidence = customer.folder.load(id).unwrap().unwrap();
            assert!(Interaction::of(&evidence).is_err(), "{id} is not rated");
        }
        let again = customer.resume(ID).await.unwrap();
        assert_eq!(states(&again.report), [], "the node answers again");
    }
}
