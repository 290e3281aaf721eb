//! What a buyer refuses before anything is sent, each beside what it accepts.
use crate::settled::{
    customer::{Customer, get},
    paying::{ID, open},
    states,
};
use alloy::signers::local::PrivateKeySigner;
use concord_canonical::word;
use concord_chain::ChainError;
use concord_testkit::chain::{CHAIN_ID, Chain};
use concord_testkit::shop;
use concord_x402::{
    pay::{Budget, Money, PayError, PayFault, Request},
    quote::PreClass,
};
use http::{HeaderMap, Method};
use std::{fs, time::Duration};

#[tokio::test]
async fn nothing_is_sent_if_a_check_before_it_fails() {
    let chain = Chain::start().await;
    let (mut shop, folder, url) = open(&chain).await;
    let mut customer = Customer::new(&chain, folder.path());
    let offered = customer.offered(get(&url)).await;
    let refused = |error: PayError| {
        assert_eq!(error.money, Money::NotSent, "{error}");
        assert!(
            error.to_string().ends_with("; no payment was sent"),
            "{error}"
        );
        error.fault
    };

    // the policy, when it is quoted and when it is signed
    customer.amount_max = shop::PRICE - 1;
    let fault = refused(customer.buyer().quote(get(&url)).await.unwrap_err());
    assert!(
        matches!(&fault, PayFault::Refused(it) if it.class == Some(PreClass::NoAcceptableOffer)),
        "{fault}"
    );
    let fault = refused(customer.buyer().pay(ID, offered.clone()).await.unwrap_err());
    assert!(matches!(fault, PayFault::Policy(_)), "{fault}");
    customer.amount_max = shop::PRICE;

    // ids and URLs
    for id in ["", "../weather", "Weather", &"a".repeat(65)] {
        let fault = refused(customer.buyer().pay(id, offered.clone()).await.unwrap_err());
        assert!(matches!(fault, PayFault::IdMalformed(_)), "{fault}");
    }
    let fault = refused(customer.resume(ID).await.unwrap_err());
    assert!(matches!(fault, PayFault::UnknownPurchase(_)), "{fault}");
    for url in [
        "ftp://agent.example/",
        "https://user@agent.example/",
        "/weather",
    ] {
        assert!(Request::new(Method::GET, url, HeaderMap::new(), "").is_err());
    }
    for name in ["payment-signature", "x-payment", "accept-encoding", "host"] {
        let mut headers = HeaderMap::new();
        headers.insert(name, "a".parse().unwrap());
        assert!(
            Request::new(Method::GET, &url, headers, "").is_err(),
            "{name}"
        );
    }
    assert_eq!(customer.hand.signed(), 0);
    assert!(customer.folder.all().unwrap().is_empty());

    // a payer that signs with another key, then with the right one: the same authorization
    customer.hand.key = PrivateKeySigner::random();
    let fault = refused(customer.buyer().pay(ID, offered.clone()).await.unwrap_err());
    assert!(matches!(fault, PayFault::SignedByAnother { .. }), "{fault}");
    assert_eq!(shop.gate.paid(), 0);
    let authorization = customer.folder.load(ID).unwrap().unwrap().authorization;
    customer.hand.key = chain.payer.clone();
    let file = folder.path().join(format!("{ID}.json"));
    let written = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        written.replace(r#""value": "10000""#, r#""value": "9999""#),
    )
    .unwrap();
    let fault = refused(customer.resume(ID).await.unwrap_err());
    assert!(
        matches!(fault, PayFault::EvidenceMalformed { .. }),
        "{fault}"
    );
    fs::write(&file, written).unwrap();
    let purchase = customer.resume(ID).await.unwrap();
    assert_eq!(states(&purchase.report), []);
    let evidence = customer.folder.load(ID).unwrap().unwrap();
    assert_eq!(evidence.authorization, authorization);

    // the budget counts what was bought
    let budget = |limit| Budget {
        network: format!("eip155:{CHAIN_ID}"),
        asset: chain.token.to_string().to_lowercase(),
        amount_max: word::from_u64(limit),
        period: Duration::from_secs(3600),
    };
    customer.budgets = vec![budget(2 * shop::PRICE - 1)];
    let fault = refused(customer.pay("second", &url).await.unwrap_err());
    assert!(matches!(fault, PayFault::OverBudget(_)), "{fault}");
    customer.budgets = vec![budget(2 * shop::PRICE)];
    assert!(customer.pay("second", &url).await.is_ok());
    let fault = refused(customer.pay("third", &url).await.unwrap_err());
    assert!(matches!(fault, PayFault::OverBudget(_)), "{fault}");
    for evidence in customer.folder.all().unwrap() {
        let file = folder.path().join(format!("{}.json", evidence.id));
        let written = fs::read_to_string(&file).unwrap();
        let at = format!("\"at\": {},", evidence.quote.at);
        fs::write(&file, written.replacen(&at, "\"at\": 1,", 1)).unwrap();
    }
    // a name that the lock of the budgets had
    customer.budgets = vec![budget(shop::PRICE - 1)];
    let fault = refused(customer.pay("budgets", &url).await.unwrap_err());
    assert!(matches!(fault, PayFault::OverBudget(_)), "{fault}");
    customer.budgets = vec![budget(shop::PRICE)];
    let aged = customer.pay("after-the-period", &url).await;
    assert!(aged.is_ok(), "{}", aged.unwrap_err());
    customer.budgets.clear();

    // another process is at it
    let lock = fs::File::open(folder.path().join("second.lock")).unwrap();
    lock.lock().unwrap();
    for error in [
        customer.resume("second").await.unwrap_err(),
        customer
            .buyer()
            .pay("second", offered.clone())
            .await
            .unwrap_err(),
    ] {
        assert!(
            matches!(error.fault, PayFault::Local(ChainError::Locked(_))),
            "{error}"
        );
        assert!(matches!(error.money, Money::Settled { .. }), "{error}");
    }
    drop(lock);

    // evidence that somebody changed
    let file = folder.path().join("fourth.json");
    fs::copy(folder.path().join("second.json"), &file).unwrap();
    fs::write(folder.path().join("fifth.json"), "{").unwrap();
    for id in ["fourth", "fifth"] {
        let error = customer.resume(id).await.unwrap_err();
        assert_eq!(error.money, Money::Unreadable, "{error}");
    }
    fs::remove_file(folder.path().join("fifth.json")).unwrap();
    fs::remove_file(file).unwrap();

    // no server, then no node
    shop.close().await;
    let fault = refused(
        customer
            .buyer()
            .pay("third", offered.clone())
            .await
            .unwrap_err(),
    );
    assert!(matches!(fault, PayFault::Unreachable { .. }), "{fault}");
    let fault = refused(customer.resume("third").await.unwrap_err());
    assert!(matches!(fault, PayFault::Unreachable { .. }), "{fault}");
    chain.stop();
    let fault = refused(customer.buyer().pay("fifth", offered).await.unwrap_err());
    assert!(matches!(fault, PayFault::Chain(_)), "{fault}");
}

/// There would be no way to learn whether such a payment was made.
#[tokio::test]
async fn a_token_without_authorizations_is_not_paid_with() {
    let mut chain = Chain::start().await;
    let owner = chain.wallet;
    chain.replace_token().await;
    let with_transfers = chain.token;
    for token in [with_transfers, owner] {
        chain.token = token; // the second has no code
        let (shop, folder, url) = open(&chain).await;
        let customer = Customer::new(&chain, folder.path());
        let error = customer.pay(ID, &url).await.unwrap_err();
        let field = match &error.fault {
            PayFault::Unpayable(unpayable) => unpayable.field(),
            other => panic!("{other}"),
        };
        assert_eq!(field, "asset", "{error}");
        assert_eq!(error.money, Money::NotSent);
        assert_eq!((customer.hand.signed(), shop.gate.paid()), (0, 0));
        assert!(customer.folder.load(ID).unwrap().is_none());
    }
    // a node that does not answer says nothing about the token (R36)
    let (_shop, folder, url) = open(&chain).await;
    let customer = Customer::new(&chain, folder.path());
    let offered = customer.offered(get(&url)).await;
    chain.stop();
    let error = customer.buyer().pay(ID, offered).await.unwrap_err();
    assert!(matches!(error.fault, PayFault::Chain(_)), "{error}");
    assert_eq!(error.money, Money::NotSent);
}
