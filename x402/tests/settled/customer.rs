//! A customer with an evidence folder.
use crate::settled::reads::reads;
use alloy::{
    primitives::{Address, Signature},
    signers::local::PrivateKeySigner,
};
use async_trait::async_trait;
use concord_chain::ChainError;
use concord_testkit::chain::Chain;
use concord_testkit::shop;
use concord_x402::{
    pay::{
        Asked, Budget, Buyer, BuyerReads, EvidenceFolder, EvmPayer, HttpLimits, Offered, PayError,
        Payers, Purchase, Request, Terms, TransferAuthorization,
    },
    quote::KnownRegistries,
};
use http::{HeaderMap, Method};
use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

/// Signs with one key for an account, and counts.
pub struct Hand {
    pub account: Address,
    pub key: PrivateKeySigner,
    pub signed: AtomicUsize,
}

impl Hand {
    pub fn of(key: &PrivateKeySigner) -> Self {
        Self {
            account: key.address(),
            key: key.clone(),
            signed: AtomicUsize::new(0),
        }
    }

    pub fn signed(&self) -> usize {
        self.signed.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl EvmPayer for Hand {
    fn address(&self) -> Address {
        self.account
    }

    async fn sign(&self, transfer: &TransferAuthorization) -> Result<Signature, ChainError> {
        self.signed.fetch_add(1, Ordering::SeqCst);
        EvmPayer::sign(&self.key, transfer).await
    }
}

pub fn terms(token: &str, registry: &str, amount_max: u64) -> Terms {
    let mut registries = KnownRegistries::default();
    registries.trust(registry).unwrap();
    Terms {
        policy: shop::policy(token, amount_max),
        budgets: Vec::new(),
        registries,
        require_bound_origin: false,
    }
}

pub struct Customer<'a> {
    chain: &'a Chain,
    pub hand: Hand,
    pub folder: EvidenceFolder,
    pub amount_max: u64,
    pub budgets: Vec<Budget>,
}

impl<'a> Customer<'a> {
    pub fn new(chain: &'a Chain, folder: &Path) -> Self {
        Self {
            chain,
            hand: Hand::of(&chain.payer),
            folder: EvidenceFolder::open(folder).unwrap(),
            amount_max: shop::PRICE,
            budgets: Vec::new(),
        }
    }

    pub fn buyer(&self) -> Buyer<'_> {
        self.buyer_with(reads(&self.chain.reads, &self.chain.files))
    }

    pub fn buyer_with<'b>(&'b self, reads: BuyerReads<'b>) -> Buyer<'b> {
        let (chain, token) = (self.chain, self.chain.token.to_string());
        let terms = Terms {
            budgets: self.budgets.clone(),
            ..terms(&token, &chain.registry_account(), self.amount_max)
        };
        let limits = HttpLimits::default();
        Buyer::new(
            Payers::evm(&self.hand),
            reads,
            self.folder.clone(),
            terms,
            limits,
        )
        .unwrap()
    }

    pub async fn offered(&self, request: Request) -> Offered {
        match self.buyer().quote(request).await.unwrap() {
            Asked::Offered(offered) => *offered,
            Asked::Free(answer) => panic!("{} without a payment", answer.status),
        }
    }

    pub async fn pay(&self, id: &str, url: &str) -> Result<Purchase, PayError> {
        let offered = self.offered(get(url)).await;
        self.buyer().pay(id, offered).await
    }

    pub async fn resume(&self, id: &str) -> Result<Purchase, PayError> {
        self.buyer().resume(id, &HeaderMap::new()).await
    }
}

pub fn get(url: &str) -> Request {
    Request::new(Method::GET, url, HeaderMap::new(), "").unwrap()
}
