//! A buyer that is killed, and killed again while it resumes, at every pair of points of a purchase.
use crate::{
    chain::{CHAIN_ID, Chain},
    customer::{Customer, Hand, get, reads, terms},
    gate::Fault,
    shop::{self, Shop},
    states,
};
use alloy::{
    primitives::{Address, Signature},
    signers::local::PrivateKeySigner,
};
use async_trait::async_trait;
use concord_chain::{
    ChainError, EndpointOptions,
    evm::Node,
    fetch::{FetchOptions, Fetcher},
};
use concord_files::X402Profile;
use concord_x402::{
    pay::{
        Asked, Buyer, Evidence, EvidenceFolder, EvmPayer, HttpLimits, Money, PayFault, Payers,
        TransferAuthorization,
    },
    quote::FetchedFiles,
    verify::EvmChains,
};
use http::HeaderMap;
use serde_json::{Value, json};
use std::{
    env,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
};

/// What the child's environment says it is to buy.
const ERRAND: &str = "CONCORD_TEST_ERRAND";
const REACHED: &str = "reached";
const ENDED: &str = "ended";

/// Where a buyer is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    /// The evidence has this state, and the next step has not begun.
    State(&'static str),
    /// The payer has signed, and nothing of it is on disk.
    Signing,
    /// The server has the request.
    BeforeSettlement,
    /// The payment settled, and the answer has not left the server.
    AfterSettlement,
}

const POINTS: [Point; 8] = [
    Point::State("Quoted"),
    Point::Signing,
    Point::State("Signed"),
    Point::State("Sent"),
    Point::BeforeSettlement,
    Point::AfterSettlement,
    Point::State("Answered"),
    Point::State("Verified"),
];

impl Point {
    fn name(self) -> String {
        match self {
            Self::State(name) => name.to_owned(),
            other => format!("{other:?}"),
        }
    }

    fn fault(self) -> Fault {
        match self {
            Self::BeforeSettlement => Fault::HoldBefore,
            Self::AfterSettlement => Fault::HoldAfter,
            _ => Fault::None,
        }
    }
}

#[tokio::test]
async fn one_transfer_wherever_a_buyer_is_killed() {
    match env::var(ERRAND) {
        Ok(errand) => run_errand(&serde_json::from_str(&errand).unwrap()).await,
        Err(_) => kill_at_every_pair().await,
    }
}

async fn kill_at_every_pair() {
    let chain = Chain::start().await;
    let shop = Shop::open(&chain, &[X402Profile::Reputation8004]).await;
    let folder = tempfile::tempdir().unwrap();
    let mut reached = Vec::new();
    for (first, second) in POINTS
        .iter()
        .flat_map(|a| POINTS.iter().map(move |b| (*a, *b)))
    {
        let pair = format!("{first:?} then {second:?}");
        let id = format!("{}-{}", first.name(), second.name()).to_lowercase();
        let before = chain.balance_of_wallet().await;
        let mut payments = Vec::new();
        for point in [first, second] {
            if kill_at(&chain, &shop, folder.path(), &id, point).await {
                reached.push(point);
            }
            let evidence = EvidenceFolder::open(folder.path()).unwrap();
            let evidence = evidence.load(&id).unwrap().unwrap();
            payments.push((evidence.authorization, evidence.payment));
        }
        shop.gate.set(Fault::None);
        let customer = Customer::new(&chain, folder.path());
        match customer.resume(&id).await {
            Ok(purchase) => {
                assert_eq!(states(&purchase.report), [], "{pair}");
                assert!(matches!(purchase.money, Money::Settled { .. }), "{pair}");
            }
            Err(error) => {
                assert!(
                    matches!(error.fault, PayFault::AnswerLost),
                    "{pair}: {error}"
                );
                assert!(matches!(error.money, Money::Settled { .. }), "{pair}");
                assert!([first, second].contains(&Point::AfterSettlement), "{pair}");
            }
        }
        let evidence = customer.folder.load(&id).unwrap().unwrap();
        payments.push((evidence.authorization, evidence.payment));
        for (earlier, later) in payments.iter().zip(&payments[1..]) {
            assert_eq!(earlier.0, later.0, "{pair}: one authorization");
            assert!(
                earlier.1.is_none() || earlier.1 == later.1,
                "{pair}: one signature"
            );
        }
        let moved = chain.balance_of_wallet().await - before;
        assert_eq!(moved, shop::PRICE, "{pair}: one transfer");
    }
    for point in POINTS {
        assert!(reached.contains(&point), "{point:?} was never reached");
    }
}

/// Starts a buyer, and kills it at the point. Whether it came there before it ended.
async fn kill_at(chain: &Chain, shop: &Shop, folder: &Path, id: &str, point: Point) -> bool {
    shop.gate.set(point.fault());
    let errand = json!({
        "url": format!("{}/weather?city=London", shop.origin),
        "rpc": chain.url,
        "token": chain.token.to_string(),
        "registry": chain.registry_account(),
        "key": hex::encode(chain.payer.to_bytes()),
        "folder": folder,
        "id": id,
        "stop": point.name(),
    });
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "killed::one_transfer_wherever_a_buyer_is_killed",
            "--nocapture",
        ])
        .env(ERRAND, errand.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said = first_word(&mut child);
    let has_reached = tokio::select! {
        said = said => said == REACHED,
        () = shop.gate.held.notified() => true,
    };
    child.kill().unwrap(); // SIGKILL
    child.wait().unwrap();
    has_reached
}

/// The first of the two words that the child prints.
async fn first_word(child: &mut Child) -> &'static str {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let found = tokio::task::spawn_blocking(|| {
        lines.map_while(Result::ok).find_map(|line| {
            [REACHED, ENDED]
                .into_iter()
                .find(|word| line.ends_with(word))
        })
    });
    found.await.unwrap().expect("the buyer ends without a word")
}

fn stop() -> ! {
    println!("{REACHED}");
    loop {
        thread::park();
    }
}

struct StoppingHand {
    hand: Hand,
    stops: bool,
}

#[async_trait]
impl EvmPayer for StoppingHand {
    fn address(&self) -> Address {
        self.hand.account
    }

    async fn sign(&self, transfer: &TransferAuthorization) -> Result<Signature, ChainError> {
        let signature = self.hand.sign(transfer).await?;
        match self.stops {
            true => stop(),
            false => Ok(signature),
        }
    }
}

/// The child: buys, or resumes, and stops at the point it was given.
async fn run_errand(errand: &Value) {
    let text = |key: &str| errand[key].as_str().unwrap();
    let key: PrivateKeySigner = text("key").parse().unwrap();
    let payer = StoppingHand {
        hand: Hand::of(&key),
        stops: text("stop") == "Signing",
    };
    let mut chains = EvmChains::default();
    let node = Node::new(&EndpointOptions::new(text("rpc"))).unwrap();
    chains.add(CHAIN_ID, node).await.unwrap();
    let files = FetchedFiles::new(Fetcher::new(FetchOptions::default()).unwrap());
    let folder = EvidenceFolder::open(Path::new(text("folder"))).unwrap();
    let terms = terms(text("token"), text("registry"), shop::PRICE);
    let stop_at = |evidence: &Evidence| {
        if format!("{:?}", evidence.state) == text("stop") {
            stop();
        }
    };
    let limits = HttpLimits::default();
    let has_begun = folder.load(text("id")).unwrap().is_some();
    let buyer = Buyer::new(
        Payers::evm(&payer),
        reads(&chains, &files),
        folder,
        terms,
        limits,
    )
    .unwrap();
    let buyer = buyer.on_change(&stop_at);
    if has_begun {
        let _ = buyer.resume(text("id"), &HeaderMap::new()).await;
    } else if let Asked::Offered(offered) = buyer.quote(get(text("url"))).await.unwrap() {
        buyer.pay(text("id"), *offered).await.unwrap();
    }
    println!("{ENDED}");
    std::process::exit(0); // the test's own last words have no reader
}
