//! The buyer on Solana, and everything that may go wrong on the way.
use crate::peers::{
    cluster::{FUNDS, NETWORK},
    customer::Customer,
    nodes::Liar,
    shop::{ANSWER, Memo, Shop},
    states,
    world::{PRICE, Registered, Token, World},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use concord_canonical::word;
use concord_chain::{ChainId, EndpointOptions, svm::Cluster as Rpc};
use concord_registry::svm::Address;
use concord_testkit::gate::Fault;
use concord_x402::{
    pay::{Budget, Deadline, Evidence, Money, PayFault, PurchaseState},
    verify::{Class, Payments, State, Step, SvmChains, Transfer},
    wire::{PaymentPayload, Settlement},
};
use serde_json::{Value, json};
use solana_keypair::{Keypair, Signer};
use solana_transaction::versioned::VersionedTransaction;
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

const ID: &str = "weather-1";

fn evidence(customer: &Customer<'_>, id: &str) -> Evidence {
    customer.folder.load(id).unwrap().unwrap()
}

#[track_caller]
fn assert_unknown(money: &Money, customer: &Customer<'_>) {
    let evidence = evidence(customer, ID);
    let Deadline::Height(height) = evidence.authorization.deadline() else {
        panic!("a block hash expires at a height");
    };
    assert!(height > 0);
    let expected = Money::Unknown {
        payment: evidence.payment.unwrap(),
        deadline: Deadline::Height(height),
    };
    assert_eq!(*money, expected);
}

/// The transaction that the payer signed, without the fee payer's signature.
fn signed(evidence: &Evidence) -> VersionedTransaction {
    let payment = evidence.payment.as_ref().unwrap();
    let payload = PaymentPayload::from_header(payment.as_bytes()).unwrap();
    let payload: Value = serde_json::from_str(payload.payload.as_str()).unwrap();
    let bytes = STANDARD.decode(payload["transaction"].as_str().unwrap());
    wincode::deserialize_exact(&bytes.unwrap()).unwrap()
}

#[tokio::test]
async fn a_purchase_is_paid_verified_and_on_disk() {
    let mut world = World::start().await;
    for token in [Token::Spl, Token::Token2022] {
        let folder = tempfile::tempdir().unwrap();
        let customer = Customer::new(&world, folder.path());
        let shop = Shop::open(&world, Registered::Both).await;
        let offered = customer.quote(&shop.url(token)).await.unwrap();
        assert_eq!(customer.hand.signed(), 0, "a quote signs nothing");
        let purchase = customer.buyer().pay(ID, offered.clone()).await.unwrap();
        assert_eq!(purchase.response.body, ANSWER);
        assert_eq!(states(&purchase.report), [], "{token:?}");
        assert!(purchase.report.is_verified() && purchase.unrecorded.is_none());
        let settlement = &purchase.response.headers["payment-response"];
        let settlement = Settlement::from_header(settlement.as_bytes()).unwrap();
        let transaction = Some(settlement.transaction.clone());
        assert_eq!(purchase.money, Money::Settled { transaction });
        assert_eq!(world.received(token).await, PRICE);
        let asset: Address = world.asset(token).parse().unwrap();
        let payer = world.solana.payer.pubkey();
        assert_eq!(world.solana.balance(&payer, &asset), FUNDS - PRICE);

        // the payer paid no fee: the account does not even exist
        let found = world
            .solana
            .ask("getAccountInfo", json!([payer.to_string()]));
        assert_eq!(found["value"], Value::Null);
        let evidence = evidence(&customer, ID);
        assert_eq!(evidence.state, PurchaseState::Verified);
        assert_eq!(evidence.authorization.network(), NETWORK);
        assert_eq!(evidence.authorization.payer(), payer.to_string());
        let task_ref = settlement.task_ref().unwrap();
        let landed = world.reads.payment(&task_ref).await.unwrap().unwrap();
        assert!(landed.succeeded && landed.block >= Some(evidence.since_block));
        let expected = Transfer {
            asset: world.asset(token),
            from: payer.to_string(),
            to: world.pay_to(token),
            amount: word::from_u64(PRICE),
        };
        assert_eq!(landed.transfers, [expected]);

        // nothing pays again
        let again = customer.buyer().pay(ID, offered).await.unwrap_err();
        assert!(matches!(again.fault, PayFault::AlreadyBegun(_)), "{again}");
        assert_eq!(again.money, purchase.money);
        let resumed = customer.resume(ID).await.unwrap();
        assert_eq!(states(&resumed.report), []);
        assert_eq!((customer.hand.signed(), shop.gate.paid()), (1, 1));
        assert_eq!(world.received(token).await, PRICE);
    }

    // Solana keeps no history: the report says when the agent was read
    let folder = tempfile::tempdir().unwrap();
    let customer = Customer::new(&world, folder.path());
    let shop = Shop::open(&world, Registered::Both).await;
    for id in [ID, "never-refuted"] {
        customer.pay(id, &shop.url(Token::Spl)).await.unwrap();
    }
    world.solana.ask("local_advance", json!([3]));
    let report = customer.resume(ID).await.unwrap().report;
    for step in [Step::S9, Step::S11] {
        let found = report.step(step).unwrap();
        assert_eq!(found.state, State::Verified);
        assert!(
            found.detail.contains("after the payment in block"),
            "{found:?}"
        );
    }
    let agent = world.registrations(Registered::Both)[1]["agentId"].clone();
    let agent = agent.as_str().unwrap().parse().unwrap();
    let owner = world.solana.owner.pubkey();
    let unset = world.solana.program.unset_agent_wallet(owner, agent);
    world.solana.send(&[], &[unset]);
    world.solana.ask("local_advance", json!([2]));
    let report = customer.resume(ID).await.unwrap().report;
    assert_eq!(report.refused_for(), Some(Class::PaymentMismatch));

    // R36: without a node nothing else is refuted, and what is on record stays: the settlement, and a refuted payment
    drop(customer);
    world.solana.stop();
    let customer = Customer::new(&world, folder.path());
    for (id, refused_for) in [("never-refuted", None), (ID, Some(Class::PaymentMismatch))] {
        let purchase = customer.resume(id).await.unwrap();
        let s9 = purchase.report.step(Step::S9).unwrap();
        assert_eq!(s9.state, State::CannotCheck, "{id}");
        assert_ne!(purchase.report.state(), State::Verified, "{id}");
        assert_eq!(purchase.report.refused_for(), refused_for, "{id}");
        let settled = matches!(
            &purchase.money,
            Money::Settled {
                transaction: Some(_)
            }
        );
        assert!(settled, "{:?}", purchase.money);
    }
}

#[tokio::test]
async fn a_lost_answer_is_found_by_its_message_and_a_lost_request_is_sent_again() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let customer = Customer::new(&world, folder.path());
    let shop = Shop::open(&world, Registered::Both).await;
    let url = shop.url(Token::Token2022);
    shop.gate.set(Fault::DropAfter);
    let error = customer.pay("lost-answer", &url).await.unwrap_err();
    assert!(matches!(error.fault, PayFault::NoAnswer { .. }), "{error}");
    let Money::Settled {
        transaction: Some(transaction),
    } = &error.money
    else {
        panic!("{error}");
    };
    assert!(
        transaction.len() > 80,
        "the fee payer's signature: {transaction}"
    );
    shop.gate.set(Fault::None);
    let again = customer.resume("lost-answer").await.unwrap_err();
    assert!(matches!(again.fault, PayFault::AnswerLost), "{again}");
    assert_eq!(again.money, error.money);
    assert_eq!(world.received(Token::Token2022).await, PRICE);

    // a request that is lost, beside the payment that settled
    shop.gate.set(Fault::DropBefore);
    let error = customer.pay(ID, &url).await.unwrap_err();
    assert!(matches!(error.fault, PayFault::NoAnswer { .. }), "{error}");
    assert_unknown(&error.money, &customer);
    let payment = evidence(&customer, ID).payment;
    shop.gate.set(Fault::None);
    let purchase = customer.resume(ID).await.unwrap();
    assert_eq!(states(&purchase.report), []);
    assert_eq!(evidence(&customer, ID).payment, payment, "the same bytes");
    assert_eq!(customer.hand.signed(), 2);
    assert_eq!(world.received(Token::Token2022).await, 2 * PRICE);
}

#[tokio::test]
async fn what_is_unknown_stays_so_until_the_block_hash_expires() {
    let mut world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let customer = Customer::new(&world, folder.path());
    let shop = Shop::open(&world, Registered::Both).await;
    let url = shop.url(Token::Spl);
    shop.gate.set(Fault::Ignore);
    let purchase = customer.pay(ID, &url).await.unwrap();
    assert_eq!(purchase.response.status, 402);
    assert_unknown(&purchase.money, &customer);
    assert_unknown(&customer.resume(ID).await.unwrap().money, &customer);

    // expired, but not for a node that has forgotten the time since the signature
    world.solana.ask("local_expire_blockhashes", json!([]));
    world.solana.ask("local_advance", json!([40]));
    let file = folder.path().join(format!("{ID}.json"));
    let written = std::fs::read_to_string(&file).unwrap();
    let since = format!("\"sinceBlock\": {}", evidence(&customer, ID).since_block);
    assert!(written.contains(&since), "{written}");
    std::fs::write(&file, written.replace(&since, "\"sinceBlock\": 1")).unwrap();
    assert_unknown(&customer.resume(ID).await.unwrap().money, &customer);
    std::fs::write(&file, written).unwrap();
    assert_eq!(customer.resume(ID).await.unwrap().money, Money::Void);

    // a lost request: expired before it is sent again
    shop.gate.set(Fault::DropBefore);
    customer.pay("second", &url).await.unwrap_err();
    customer.pay("fourth", &url).await.unwrap_err(); // which stays open
    // and one that fails on the chain: the payer has spent the tokens
    customer.pay("third", &url).await.unwrap_err();
    let spl = world.solana.spl;
    let mut failing = signed(&evidence(&customer, "third"));
    let message = failing.message.serialize();
    failing.signatures[0] = world.solana.facilitator.sign_message(&message);
    world.solana.spend_all(&spl);
    let raw = STANDARD.encode(wincode::serialize(&failing).unwrap());
    let config = json!({ "encoding": "base64", "skipPreflight": true });
    world.solana.ask("sendTransaction", json!([raw, config]));
    let error = customer.resume("third").await;
    assert!(
        error.is_err(),
        "the gate drops it while the failure is not final"
    );
    world.solana.ask("local_advance", json!([40]));
    let error = customer.resume("third").await.unwrap_err();
    let expected = failing.signatures[0].to_string();
    assert!(
        matches!(&error.fault, PayFault::TransactionFailed(it) if *it == expected),
        "{error}"
    );
    assert_eq!(error.money, Money::Void);
    world.solana.ask("local_expire_blockhashes", json!([]));
    world.solana.ask("local_advance", json!([40]));
    shop.gate.set(Fault::None);
    let paid = shop.gate.paid();
    let error = customer.resume("second").await.unwrap_err();
    assert!(
        matches!(error.fault, PayFault::Expired(Deadline::Height(_))),
        "{error}"
    );
    assert_eq!(error.money, Money::Void);
    assert_eq!(
        shop.gate.paid(),
        paid,
        "nothing is sent before the chain was asked"
    );

    // R36: a node that does not answer says nothing about what is open, and what was decided stays
    drop(customer);
    world.solana.stop();
    let customer = Customer::new(&world, folder.path());
    let error = customer.resume("fourth").await.unwrap_err();
    assert!(matches!(error.money, Money::Unknown { .. }), "{error}");
    let decided = customer.resume(ID).await.unwrap();
    assert_eq!(decided.money, Money::Void);
}

/// How a node answers for an account's transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Everything,
    /// Nothing.
    Nothing,
    /// A node that is behind the newest final block: an empty list, unless the request names a slot that it must have reached.
    Behind,
    /// Nothing, as a node that has not written down yet what it carried out.
    Unwritten,
    /// Nothing, until it was asked for a block, which it has just written down.
    WritesNow,
}

/// The cluster through a node that says so.
async fn reads_of(world: &World, said: Arc<Mutex<Said>>) -> (Liar, SvmChains) {
    let node = Liar::start(&world.solana.url, move |method, params, _| {
        let mut said = said.lock().unwrap();
        match (method, *said) {
            (_, Said::Everything) => None,
            ("getBlock", Said::WritesNow) => {
                *said = Said::Everything;
                None
            }
            ("getSignaturesForAddress", Said::Behind) if !params[1]["minContextSlot"].is_null() => {
                let message = "Minimum context slot has not been reached";
                Some(Err(json!({ "code": -32016, "message": message })))
            }
            ("getSignaturesForAddress", _) => Some(Ok(json!([]))),
            ("getBlock", Said::Unwritten) => {
                let message = "Block status not yet available";
                Some(Err(json!({ "code": -32014, "message": message })))
            }
            _ => None,
        }
    })
    .await;
    let mut reads = SvmChains::default();
    let cluster = Rpc::new(&EndpointOptions::new(&node.url)).unwrap();
    let chain = ChainId::parse(NETWORK).unwrap();
    reads.add(&chain, cluster).await.unwrap();
    (node, reads)
}

#[tokio::test]
async fn r36_a_payment_is_void_only_if_a_node_that_would_know_it_does_not() {
    let mut world = World::start().await;
    let said = Arc::new(Mutex::new(Said::Everything));
    let say = |it| *said.lock().unwrap() = it;
    let (_node, reads) = reads_of(&world, said.clone()).await;
    world.reads.svm = reads;
    let folder = tempfile::tempdir().unwrap();
    let customer = Customer::new(&world, folder.path());
    let shop = Shop::open(&world, Registered::Both).await;
    let url = shop.url(Token::Spl);
    customer.pay("answered", &url).await.unwrap();
    // two answers are lost, and one payment is on record as settled
    shop.gate.set(Fault::DropAfter);
    for id in ["seen", "unseen"] {
        let error = customer.pay(id, &url).await.unwrap_err();
        assert!(matches!(error.money, Money::Settled { .. }), "{error}");
    }
    let seen = customer.resume("seen").await.unwrap_err().money;
    assert!(matches!(seen, Money::Settled { .. }), "{seen}");
    shop.gate.set(Fault::None);
    world.solana.ask("local_expire_blockhashes", json!([]));
    world.solana.ask("local_advance", json!([40]));

    // a node that does not know the time of the payment says nothing about it
    for it in [Said::Behind, Said::Unwritten] {
        say(it);
        let error = customer.resume("unseen").await.unwrap_err();
        assert!(matches!(error.fault, PayFault::Chain(_)), "{it:?}: {error}");
        let is_unknown = matches!(error.money, Money::Unknown { .. });
        assert!(is_unknown, "{it:?}: {error}");
        let error = customer.resume("seen").await.unwrap_err();
        assert_eq!(error.money, seen, "{it:?}: {error}");
    }
    // nor does one that says something else undo what was seen
    say(Said::Nothing);
    let error = customer.resume("seen").await.unwrap_err();
    assert!(matches!(error.fault, PayFault::AnswerLost), "{error}");
    assert_eq!(error.money, seen);
    let money = customer.resume("answered").await.unwrap().money;
    assert!(matches!(money, Money::Settled { .. }), "{money}");
    let on_record = evidence(&customer, "answered").money.unwrap();
    assert_eq!(on_record, money);

    // a node is asked whether it would know before it is asked what it knows
    say(Said::WritesNow);
    let error = customer.resume("unseen").await.unwrap_err();
    assert!(matches!(error.fault, PayFault::AnswerLost), "{error}");
    assert!(matches!(error.money, Money::Settled { .. }), "{error}");
    assert_eq!(world.received(Token::Spl).await, 3 * PRICE);
}

#[tokio::test]
async fn a_seller_s_memo_does_not_make_two_payments_one() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let customer = Customer::new(&world, folder.path());
    let shop = Shop::open_with(&world, Registered::Both, Memo::Fixed).await;
    let offered = customer.quote(&shop.url(Token::Spl)).await.unwrap();
    for (id, total) in [("first", PRICE), ("second", 2 * PRICE)] {
        let purchase = customer.buyer().pay(id, offered.clone()).await.unwrap();
        assert_eq!(states(&purchase.report), [], "{id}");
        assert_eq!(world.received(Token::Spl).await, total);
        let evidence = evidence(&customer, id);
        let transfer = evidence.authorization.as_solana_transaction().unwrap();
        assert_eq!(transfer.memo, "invoice 7");
    }
}

#[tokio::test]
async fn nothing_is_sent_if_a_check_before_it_fails() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let mut customer = Customer::new(&world, folder.path());
    let shop = Shop::open(&world, Registered::Both).await;
    let url = shop.url(Token::Spl);
    let offered = customer.quote(&url).await.unwrap();

    customer.amount_max = PRICE - 1;
    let error = customer.quote(&url).await.unwrap_err();
    assert!(matches!(error.fault, PayFault::Refused(_)), "{error}");
    let error = customer.buyer().pay(ID, offered.clone()).await.unwrap_err();
    assert!(matches!(error.fault, PayFault::Policy(_)), "{error}");
    customer.amount_max = PRICE;

    // a signature of another key, then the right one: the same message
    customer.hand.key = Keypair::new();
    let error = customer.buyer().pay(ID, offered.clone()).await.unwrap_err();
    assert!(
        matches!(error.fault, PayFault::SignedByAnother { .. }),
        "{error}"
    );
    assert_eq!((error.money, shop.gate.paid()), (Money::NotSent, 0));
    let authorization = evidence(&customer, ID).authorization;
    customer.hand.key = world.solana.payer.insecure_clone();

    // evidence that somebody changed
    let file = folder.path().join(format!("{ID}.json"));
    let written = std::fs::read_to_string(&file).unwrap();
    let (mine, theirs) = (world.pay_to(Token::Spl), world.payer(Token::Spl));
    for (from, to) in [
        (r#""amount": 10000"#, r#""amount": 9999"#),
        (
            &*format!(r#""to": "{mine}""#),
            &*format!(r#""to": "{theirs}""#),
        ),
        (r#""units": 20000"#, r#""units": 20001"#),
    ] {
        assert!(written.contains(from), "{from}: {written}");
        std::fs::write(&file, written.replace(from, to)).unwrap();
        let error = customer.resume(ID).await.unwrap_err();
        assert!(
            matches!(error.fault, PayFault::EvidenceMalformed { .. }),
            "{error}"
        );
    }
    std::fs::write(&file, written).unwrap();
    assert_eq!(world.received(Token::Spl).await, 0);
    let purchase = customer.resume(ID).await.unwrap();
    assert_eq!(states(&purchase.report), []);
    assert_eq!(evidence(&customer, ID).authorization, authorization);

    // the budget counts what was bought
    customer.budgets = vec![Budget {
        network: NETWORK.to_owned(),
        asset: world.asset(Token::Spl),
        amount_max: word::from_u64(2 * PRICE - 1),
        period: Duration::from_secs(3600),
    }];
    let error = customer.buyer().pay("second", offered.clone()).await;
    let error = error.unwrap_err();
    assert!(matches!(error.fault, PayFault::OverBudget(_)), "{error}");
    customer.budgets[0].amount_max = word::from_u64(2 * PRICE);
    customer.buyer().pay("second", offered).await.unwrap();
    assert_eq!(world.received(Token::Spl).await, 2 * PRICE);
}
