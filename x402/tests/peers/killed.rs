//! A buyer on Solana that is killed, and killed again while it resumes.
use crate::peers::{
    cluster::NETWORK,
    customer::{Customer, Hand, get, terms},
    shop::Shop,
    world::{PRICE, Registered, Token, World},
};
use crate::settled::killing::{self, POINTS, Signed, stop};
use crate::settled::reads::reads;
use async_trait::async_trait;
use concord_chain::{ChainError, ChainId, EndpointOptions, Signer, Svm, svm::Cluster as Rpc};
use concord_registry::svm::Address;
use concord_testkit::gate::Fault;
use concord_x402::{
    pay::{Asked, Buyer, Evidence, EvidenceFolder, HttpLimits, Payers},
    verify::Chains,
};
use http::HeaderMap;
use serde_json::{Value, json};
use solana_keypair::Keypair;
use solana_signature::Signature;
use std::path::Path;

const TEST: &str = "peers::killed::one_transfer_wherever_a_buyer_is_killed";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_transfer_wherever_a_buyer_is_killed() {
    match killing::errand() {
        Some(errand) => run_errand(&errand).await,
        None => kill_at_every_point().await,
    }
}

async fn kill_at_every_point() {
    let world = World::start().await;
    let shop = Shop::open(&world, Registered::Both).await;
    let folder = tempfile::tempdir().unwrap();
    let mut reached = Vec::new();
    // at each point twice, and at each point and then where the answer is lost
    let twice = POINTS.iter().map(|it| [*it, *it]);
    let pairs = twice.chain(POINTS.iter().map(|it| [*it, "AfterSettlement"]));
    for (number, points) in pairs.enumerate() {
        let token = [Token::Spl, Token::Token2022][number % 2];
        let id = format!("{number}-{}", points.join("-")).to_lowercase();
        let before = world.received(token).await;
        let mut signed = Signed::default();
        for point in points {
            if kill_at(&world, &shop, token, folder.path(), &id, point).await {
                reached.push(point);
            }
            signed.read(folder.path(), &id);
        }
        shop.gate.set(Fault::None);
        let customer = Customer::new(&world, folder.path());
        killing::assert_settled(customer.resume(&id).await, points);
        signed.read(folder.path(), &id);
        signed.assert_one(&id);
        let moved = world.received(token).await - before;
        assert_eq!(moved, PRICE, "{id}: one transfer");
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
    shop.gate.set(killing::fault(point));
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
    killing::kill(TEST, &errand, &shop.gate.held).await
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
        if self.stops { stop() } else { Ok(signature) }
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
    killing::end()
}
