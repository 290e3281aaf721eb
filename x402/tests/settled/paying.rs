//! The buyer, from offer to report, and everything that may go wrong on the way.
use crate::settled::{
    customer::{Customer, get},
    states,
};
use alloy::{
    primitives::{B256, Bytes},
    signers::Signer,
    sol,
    sol_types::SolStruct,
};
use concord_files::X402Profile;
use concord_testkit::chain::Chain;
use concord_testkit::gate::Fault;
use concord_testkit::shop::{self, Shop};
use concord_x402::{
    pay::{Asked, Money, PayFault, PurchaseState, Request},
    verify::{Class, State, Step},
};
use http::{HeaderMap, Method};
use std::{fs, io::ErrorKind, net::TcpListener, path::Path};

pub const ID: &str = "weather-1";

pub async fn open(chain: &Chain) -> (Shop, tempfile::TempDir, String) {
    let shop = Shop::open(chain, &X402Profile::ALL).await;
    let url = format!("{}/weather?city=London", shop.origin);
    (shop, tempfile::tempdir().unwrap(), url)
}

fn every_byte(folder: &Path) -> Vec<u8> {
    let files = fs::read_dir(folder).unwrap();
    files
        .flat_map(|it| fs::read(it.unwrap().path()).unwrap())
        .collect()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|it| it == part)
}

#[track_caller]
fn assert_unknown(money: &Money, customer: &Customer<'_>) {
    let evidence = customer.folder.load(ID).unwrap().unwrap();
    let expected = Money::Unknown {
        payment: evidence.payment.unwrap(),
        deadline: evidence.authorization.deadline(),
    };
    assert_eq!(*money, expected);
}

#[tokio::test]
async fn a_purchase_is_paid_verified_and_on_disk() {
    let chain = Chain::start().await;
    let (shop, folder, _) = open(&chain).await;
    let customer = Customer::new(&chain, folder.path());
    let url = format!("{}/echo", shop.origin);
    let mut headers = HeaderMap::new();
    headers.insert("authorization", "Bearer of-a-session".parse().unwrap());
    headers.insert("accept", "text/plain".parse().unwrap());
    let request = Request::new(Method::POST, &url, headers, "a question").unwrap();
    let offered = customer.offered(request).await;
    assert_eq!(customer.hand.signed(), 0, "a quote signs nothing");

    let purchase = customer.buyer().pay(ID, offered.clone()).await.unwrap();
    assert_eq!(purchase.response.status, 200);
    assert_eq!(purchase.response.body, "a question");
    assert!(purchase.response.is_complete && purchase.unrecorded.is_none());
    assert_eq!(states(&purchase.report), []);
    let settlement = &purchase.response.headers["payment-response"];
    let settlement = concord_x402::wire::Settlement::from_header(settlement.as_bytes()).unwrap();
    let transaction = Some(settlement.transaction);
    assert_eq!(purchase.money, Money::Settled { transaction });
    assert_eq!(chain.balance_of_wallet().await, shop::PRICE);

    let evidence = customer.folder.load(ID).unwrap().unwrap();
    assert_eq!(evidence.state, PurchaseState::Verified);
    let report: serde_json::Value = serde_json::from_str(evidence.report.unwrap().get()).unwrap();
    assert_eq!(report[10]["step"], "S11");
    assert_eq!(report[10]["state"], "verified");
    let accept = ("accept".to_owned(), "text/plain".to_owned());
    assert!(evidence.request.headers.contains(&accept));
    assert_eq!(evidence.request.withheld, ["authorization"]);
    let bytes = every_byte(folder.path());
    assert!(contains(&bytes, b"a question"));
    assert!(!contains(&bytes, b"of-a-session"));
    let secret = hex::encode(chain.payer.to_bytes());
    assert!(!contains(&bytes.to_ascii_lowercase(), secret.as_bytes()));
    #[cfg(unix)]
    for file in fs::read_dir(folder.path()).unwrap() {
        use std::os::unix::fs::PermissionsExt;
        let file = file.unwrap();
        let mode = file.metadata().unwrap().permissions().mode() & 0o777;
        let is_lock = file.path().extension().is_some_and(|it| it == "lock");
        assert!(is_lock || mode == 0o600, "{:?} has {mode:o}", file.path());
    }

    // nothing pays again
    let again = customer.buyer().pay(ID, offered).await.unwrap_err();
    assert!(matches!(again.fault, PayFault::AlreadyBegun(_)), "{again}");
    assert_eq!(again.money, purchase.money);
    let resumed = customer.resume(ID).await.unwrap();
    assert_eq!(resumed.response.body, purchase.response.body);
    assert_eq!(states(&resumed.report), []);
    assert_eq!((customer.hand.signed(), shop.gate.paid()), (1, 1));
    assert_eq!(chain.balance_of_wallet().await, shop::PRICE);
}

#[tokio::test]
async fn a_server_that_settles_and_drops_the_connection_is_paid_once() {
    let chain = Chain::start().await;
    let (shop, folder, url) = open(&chain).await;
    let customer = Customer::new(&chain, folder.path());
    shop.gate.set(Fault::DropAfter);
    let error = customer.pay(ID, &url).await.unwrap_err();
    assert!(matches!(error.fault, PayFault::NoAnswer { .. }), "{error}");
    let transaction = match &error.money {
        Money::Settled { transaction } => transaction.clone().unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(transaction.len(), 66);
    shop.gate.set(Fault::None);
    let again = customer.resume(ID).await.unwrap_err();
    assert!(matches!(again.fault, PayFault::AnswerLost), "{again}");
    assert_eq!(again.money, error.money);
    assert_eq!((customer.hand.signed(), shop.gate.paid()), (1, 1));
    assert_eq!(chain.balance_of_wallet().await, shop::PRICE);
}

#[tokio::test]
async fn a_request_that_was_lost_is_sent_again_with_the_same_bytes() {
    let chain = Chain::start().await;
    let (shop, folder, url) = open(&chain).await;
    let customer = Customer::new(&chain, folder.path());
    shop.gate.set(Fault::DropBefore);
    let mut headers = HeaderMap::new();
    headers.insert("authorization", "Bearer of-a-session".parse().unwrap());
    let request = Request::new(Method::GET, &url, headers.clone(), "").unwrap();
    let offered = customer.offered(request).await;
    let error = customer.buyer().pay(ID, offered).await.unwrap_err();
    assert!(matches!(error.fault, PayFault::NoAnswer { .. }), "{error}");
    assert_unknown(&error.money, &customer);
    let payment = customer.folder.load(ID).unwrap().unwrap().payment;
    shop.gate.set(Fault::None);
    let without = customer.resume(ID).await.unwrap_err();
    let is_named = matches!(&without.fault, PayFault::HeaderWithheld(it) if it == "authorization");
    assert!(is_named, "{without}");
    assert_unknown(&without.money, &customer);
    let purchase = customer.buyer().resume(ID, &headers).await.unwrap();
    assert_eq!(states(&purchase.report), []);
    let evidence = customer.folder.load(ID).unwrap().unwrap();
    assert_eq!(evidence.payment, payment);
    assert_eq!((customer.hand.signed(), shop.gate.paid()), (1, 2));
    assert_eq!(chain.balance_of_wallet().await, shop::PRICE);
}

#[tokio::test]
async fn a_server_that_asks_again_is_not_paid_again() {
    let chain = Chain::start().await;
    let (shop, folder, url) = open(&chain).await;
    let customer = Customer::new(&chain, folder.path());
    shop.gate.set(Fault::Ignore);
    let purchase = customer.pay(ID, &url).await.unwrap();
    assert_eq!(purchase.response.status, 402);
    assert_eq!(
        purchase.report.refused_for(),
        Some(Class::SettlementMissing)
    );
    assert_unknown(&purchase.money, &customer);
    shop.gate.set(Fault::None);
    let resumed = customer.resume(ID).await.unwrap();
    assert_eq!(resumed.response.status, 402);
    assert_unknown(&resumed.money, &customer);
    assert_eq!((customer.hand.signed(), shop.gate.paid()), (1, 1));
    // from then on the server's bytes are void
    chain.pass(301).await;
    assert_eq!(customer.resume(ID).await.unwrap().money, Money::Void);
    assert_eq!(chain.balance_of_wallet().await, 0);
}

#[tokio::test]
async fn a_redirect_takes_no_payment_elsewhere() {
    let chain = Chain::start().await;
    let (shop, folder, url) = open(&chain).await;
    let customer = Customer::new(&chain, folder.path());
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let to = format!("http://{}/weather", elsewhere.local_addr().unwrap());
    shop.gate.set(Fault::Redirect(to));
    let purchase = customer.pay(ID, &url).await.unwrap();
    assert_eq!(purchase.response.status, 307);
    let visited = elsewhere.accept().map(|_| ()).unwrap_err();
    assert_eq!(visited.kind(), ErrorKind::WouldBlock, "it was followed");
    assert_unknown(&purchase.money, &customer);
    assert_eq!(chain.balance_of_wallet().await, 0);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_returned_and_refutes_nothing() {
    let chain = Chain::start().await;
    let (shop, folder, url) = open(&chain).await;
    let customer = Customer::new(&chain, folder.path());
    shop.gate.set(Fault::CutBody);
    let purchase = customer.pay(ID, &url).await.unwrap();
    assert_eq!(purchase.response.status, 200);
    assert!(!purchase.response.is_complete);
    let s7 = purchase.report.step(Step::S7).unwrap();
    assert_eq!(s7.state, State::CannotCheck);
    assert_eq!(purchase.report.refused_for(), None);
    assert!(matches!(purchase.money, Money::Settled { .. }));
}

#[tokio::test]
async fn an_answer_without_a_payment_is_free() {
    let chain = Chain::start().await;
    let (shop, folder, _) = open(&chain).await;
    let customer = Customer::new(&chain, folder.path());
    let url = format!("{}/free", shop.origin);
    match customer.buyer().quote(get(&url)).await.unwrap() {
        Asked::Free(answer) => {
            assert_eq!(
                (answer.status.as_u16(), &*answer.body),
                (200, shop::ANSWER.as_bytes())
            );
        }
        Asked::Offered(_) => panic!("there is nothing to pay for"),
    }
}

sol! {
    struct CancelAuthorization { address authorizer; bytes32 nonce; }
}

#[tokio::test]
async fn what_is_unknown_stays_so_until_the_chain_says_more() {
    let chain = Chain::start().await;
    let (shop, folder, url) = open(&chain).await;
    let customer = Customer::new(&chain, folder.path());
    shop.gate.set(Fault::DropBefore);
    customer.pay(ID, &url).await.unwrap_err();
    let second = customer.pay("second", &url).await.unwrap_err();
    assert!(matches!(second.money, Money::Unknown { .. }));

    // the payer cancels the second
    let evidence = customer.folder.load("second").unwrap().unwrap();
    let authorization = evidence.authorization.as_eip3009().unwrap().clone();
    let nonce: B256 = authorization.nonce;
    let authorizer = chain.payer.address();
    let message = CancelAuthorization { authorizer, nonce };
    let digest = message.eip712_signing_hash(&authorization.eip712_domain());
    let signature = chain.payer.sign_hash(&digest).await.unwrap();
    chain.cancel(nonce, Bytes::from(signature.as_bytes())).await;
    let error = customer.resume("second").await.unwrap_err();
    assert!(matches!(error.fault, PayFault::Cancelled), "{error}");
    assert_eq!(error.money, Money::Void);

    // R36: a node that does not answer says nothing
    chain.stop();
    let error = customer.resume(ID).await.unwrap_err();
    assert!(matches!(error.fault, PayFault::Chain(_)), "{error}");
    assert_unknown(&error.money, &customer);
    assert_eq!(
        shop.gate.paid(),
        2,
        "nothing is sent before the chain was asked"
    );
}

#[tokio::test]
async fn what_was_seen_before_bytes_are_sent_again_says_nothing_about_them() {
    let chain = Chain::start().await;
    let (shop, folder, url) = open(&chain).await;
    let customer = Customer::new(&chain, folder.path());
    shop.gate.set(Fault::DropBefore);
    customer.pay(ID, &url).await.unwrap_err();
    // a node was wrong about it
    let file = folder.path().join(format!("{ID}.json"));
    let written = fs::read_to_string(&file).unwrap();
    for seen in ["void", "not-sent"] {
        let open = r#""money": null"#;
        assert!(written.contains(open), "{written}");
        let seen = format!(r#""money": {{ "state": "{seen}" }}"#);
        fs::write(&file, written.replace(open, &seen)).unwrap();
        let error = customer.resume(ID).await.unwrap_err();
        assert!(matches!(error.fault, PayFault::NoAnswer { .. }), "{error}");
        assert_unknown(&error.money, &customer);
        let on_record = customer.folder.load(ID).unwrap().unwrap().money;
        assert_eq!(on_record, None, "before they leave");
    }
}
