//! A buyer that is killed, and killed again while it resumes, at every pair of points of a purchase.
use crate::settled::{
    customer::{Customer, Hand, get, terms},
    killing::{self, POINTS, Signed, stop},
    reads::reads,
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
use concord_testkit::chain::{CHAIN_ID, Chain};
use concord_testkit::gate::Fault;
use concord_testkit::shop::{self, Shop};
use concord_x402::{
    pay::{
        Asked, Buyer, Evidence, EvidenceFolder, EvmPayer, HttpLimits, Payers, TransferAuthorization,
    },
    quote::FetchedFiles,
    verify::EvmChains,
};
use http::HeaderMap;
use serde_json::{Value, json};
use std::path::Path;

const TEST: &str = "settled::killed::one_transfer_wherever_a_buyer_is_killed";

#[tokio::test]
async fn one_transfer_wherever_a_buyer_is_killed() {
    match killing::errand() {
        Some(errand) => run_errand(&errand).await,
        None => kill_at_every_pair().await,
    }
}

async fn kill_at_every_pair() {
    let chain = Chain::start().await;
    let shop = Shop::open(&chain, &[X402Profile::Reputation8004]).await;
    let folder = tempfile::tempdir().unwrap();
    let mut reached = Vec::new();
    let pairs = POINTS.iter().flat_map(|a| POINTS.iter().map(|b| [*a, *b]));
    for points in pairs {
        let id = points.join("-").to_lowercase();
        let before = chain.balance_of_wallet().await;
        let mut signed = Signed::default();
        for point in points {
            if kill_at(&chain, &shop, folder.path(), &id, point).await {
                reached.push(point);
            }
            signed.read(folder.path(), &id);
        }
        shop.gate.set(Fault::None);
        let customer = Customer::new(&chain, folder.path());
        killing::assert_settled(customer.resume(&id).await, points);
        signed.read(folder.path(), &id);
        signed.assert_one(&id);
        let moved = chain.balance_of_wallet().await - before;
        assert_eq!(moved, shop::PRICE, "{id}: one transfer");
    }
    for point in POINTS {
        assert!(reached.contains(&point), "{point} was never reached");
    }
}

/// Starts a buyer, and kills it at the point. Whether it came there before it ended.
async fn kill_at(chain: &Chain, shop: &Shop, folder: &Path, id: &str, point: &str) -> bool {
    shop.gate.set(killing::fault(point));
    let errand = json!({
        "url": format!("{}/weather?city=London", shop.origin),
        "rpc": chain.url,
        "token": chain.token.to_string(),
        "registry": chain.registry_account(),
        "key": hex::encode(chain.payer.to_bytes()),
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
impl EvmPayer for StoppingHand {
    fn address(&self) -> Address {
        self.hand.account
    }

    async fn sign(&self, transfer: &TransferAuthorization) -> Result<Signature, ChainError> {
        let signature = self.hand.sign(transfer).await?;
        if self.stops { stop() } else { Ok(signature) }
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
    killing::end()
}
