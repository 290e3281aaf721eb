//! A buyer on Solana that is killed, and killed again while it resumes.
use crate::{
    cluster::NETWORK,
    customer::{Customer, Hand, get, reads, terms},
    gate::Fault,
    shop::Shop,
    states,
    world::{PRICE, Registered, Token, World},
};
use async_trait::async_trait;
use concord_chain::{ChainError, ChainId, EndpointOptions, Signer, Svm, svm::Cluster as Rpc};
use concord_registry::svm::Address;
use concord_x402::{
    pay::{Asked, Buyer, Evidence, EvidenceFolder, HttpLimits, Money, PayFault, Payers},
    verify::Chains,
};
use http::HeaderMap;
use serde_json::{Value, json};
use solana_keypair::Keypair;
use solana_signature::Signature;
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

/// Where a buyer is killed: after its evidence has a state; when it has signed and nothing of it is on disk;
/// and while the server has the request, before and after the payment settles.
const POINTS: [&str; 8] = [
    "Quoted",
    "Signing",
    "Signed",
    "Sent",
    "BeforeSettlement",
    "AfterSettlement",
    "Answered",
    "Verified",
];

fn fault(point: &str) -> Fault {
    match point {
        "BeforeSettlement" => Fault::HoldBefore,
        "AfterSettlement" => Fault::HoldAfter,
        _ => Fault::None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_transfer_wherever_a_buyer_is_killed() {
    match env::var(ERRAND) {
        Ok(errand) => run_errand(&serde_json::from_str(&errand).unwrap()).await,
        Err(_) => kill_at_every_point().await,
    }
}

async fn kill_at_every_point() {
    let world = World::start().await;
    let shop = Shop::open(&world, Registered::Both).await;
    let folder = tempfile::tempdir().unwrap();
    let mut reached = Vec::new();
    // at each point twice, and at each point and then where the answer is lost
    let twice = POINTS.iter().map(|it| (*it, *it));
    let pairs = twice.chain(POINTS.iter().map(|it| (*it, "AfterSettlement")));
    for (number, (first, second)) in pairs.enumerate() {
        let pair = format!("{first} then {second}");
        let token = [Token::Spl, Token::Token2022][number % 2];
        let id = format!("{number}-{first}-{second}").to_lowercase();
        let before = world.received(token).await;
        let mut payments = Vec::new();
        for point in [first, second] {
            if kill_at(&world, &shop, token, folder.path(), &id, point).await {
                reached.push(point);
            }
            let evidence = EvidenceFolder::open(folder.path()).unwrap();
            let evidence = evidence.load(&id).unwrap().unwrap();
            payments.push((evidence.authorization, evidence.payment));
        }
        shop.gate.set(Fault::None);
        let customer = Customer::new(&world, folder.path());
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
                assert!([first, second].contains(&"AfterSettlement"), "{pair}");
            }
        }
        let evidence = customer.folder.load(&id).unwrap().unwrap();
        payments.push((evidence.authorization, evidence.payment));
        for (earlier, later) in payments.iter().zip(&payments[1..]) {
            assert_eq!(earlier.0, later.0, "{pair}: one message");
            let is_same = earlier.1.is_none() || earlier.1 == later.1;
            assert!(is_same, "{pair}: one signature");
        }
        let moved = world.received(token).await - before;
        assert_eq!(moved, PRICE, "{pair}: one transfer");
    }
    for point in POINTS {
        assert!(reached.contains(&point), "{point} was never reached");
    }
}

/// Starts a buyer, and kills it at the point. Whether it came there before it ended.
async fn kill_at(
    world: &World,
    shop: &Shop,
    token: Token,
    folder: &Path,
    id: &str,
    point: &str,
) -> bool {
    shop.gate.set(fault(point));
    let errand = json!({
        "url": shop.url(token),
        "rpc": world.solana.url,
        "asset": world.asset(token),
        "registry": world.solana.registry_account(),
        "key": hex::encode(world.solana.payer.secret_bytes()),
        "folder": folder,
        "id": id,
        "stop": point,
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
impl Signer<Svm> for StoppingHand {
    fn address(&self) -> Address {
        self.hand.account
    }

    async fn sign(&self, message: &mut [u8]) -> Result<Signature, ChainError> {
        let signature = self.hand.sign(message).await?;
        match self.stops {
            true => stop(),
            false => Ok(signature),
        }
    }
}

/// The child: buys, or resumes, and stops at the point it was given.
async fn run_errand(errand: &Value) {
    let text = |key: &str| errand[key].as_str().unwrap();
    let key: [u8; 32] = hex::decode(text("key")).unwrap().try_into().unwrap();
    let payer = StoppingHand {
        hand: Hand::of(&Keypair::new_from_array(key)),
        stops: text("stop") == "Signing",
    };
    let mut chains = Chains::default();
    let cluster = Rpc::new(&EndpointOptions::new(text("rpc"))).unwrap();
    let chain = ChainId::parse(NETWORK).unwrap();
    chains.svm.add(&chain, cluster).await.unwrap();
    let files = World::fetcher();
    let folder = EvidenceFolder::open(Path::new(text("folder"))).unwrap();
    let tokens = [(NETWORK.to_owned(), text("asset").to_owned())];
    let terms = terms(&tokens, &[text("registry").to_owned()], PRICE);
    let stop_at = |evidence: &Evidence| {
        if format!("{:?}", evidence.state) == text("stop") {
            stop();
        }
    };
    let has_begun = folder.load(text("id")).unwrap().is_some();
    let (payers, reads) = (Payers::svm(&payer), reads(&chains, &files));
    let buyer = Buyer::new(payers, reads, folder, terms, HttpLimits::default()).unwrap();
    let buyer = buyer.on_change(&stop_at);
    if has_begun {
        let _ = buyer.resume(text("id"), &HeaderMap::new()).await;
    } else if let Asked::Offered(offered) = buyer.quote(get(text("url"))).await.unwrap() {
        buyer.pay(text("id"), *offered).await.unwrap();
    }
    println!("{ENDED}");
    std::process::exit(0); // the test's own last words have no reader
}
