//! A customer with an account on each chain.
use crate::peers::world::{PRICE, TOKENS, World};
use crate::settled::reads::reads;
use alloy::signers::local::PrivateKeySigner;
use async_trait::async_trait;
use concord_canonical::word;
use concord_chain::{ChainError, Signer, Svm};
use concord_registry::svm::Address;
use concord_x402::{
    pay::{
        Asked, Budget, Buyer, EvidenceFolder, HttpLimits, Money, Offered, PayError, PayFault,
        Payers, Purchase, Request, Terms,
    },
    quote::{Allowance, FetchedFiles, KnownRegistries, Refusal, SpendPolicy},
};
use http::{HeaderMap, Method};
use solana_keypair::Keypair;
use solana_signature::Signature;
use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

/// Signs with one key for an account, and counts.
pub struct Hand {
    pub account: Address,
    pub key: Keypair,
    pub signed: AtomicUsize,
}

impl Hand {
    pub fn of(key: &Keypair) -> Self {
        let key = key.insecure_clone();
        Self {
            account: Signer::<Svm>::address(&key),
            key,
            signed: AtomicUsize::new(0),
        }
    }

    pub fn signed(&self) -> usize {
        self.signed.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Signer<Svm> for Hand {
    fn address(&self) -> Address {
        self.account
    }

    async fn sign(&self, message: &mut [u8]) -> Result<Signature, ChainError> {
        self.signed.fetch_add(1, Ordering::SeqCst);
        Signer::<Svm>::sign(&self.key, message).await
    }
}

pub fn terms(tokens: &[(String, String)], registries: &[String], amount_max: u64) -> Terms {
    let mut known = KnownRegistries::default();
    for registry in registries {
        known.trust(registry).unwrap();
    }
    let allowances = tokens.iter().map(|(network, asset)| Allowance {
        network: network.clone(),
        asset: asset.clone(),
        amount_max: word::from_u64(amount_max),
    });
    Terms {
        policy: SpendPolicy {
            allowances: allowances.collect(),
            timeout_max: 300,
        },
        budgets: Vec::new(),
        registries: known,
        require_bound_origin: false,
    }
}

pub struct Customer<'a> {
    world: &'a World,
    pub evm: PrivateKeySigner,
    pub hand: Hand,
    pub folder: EvidenceFolder,
    pub amount_max: u64,
    pub budgets: Vec<Budget>,
}

impl<'a> Customer<'a> {
    pub fn new(world: &'a World, folder: &Path) -> Self {
        Self {
            evm: world.evm.payer.clone(),
            hand: Hand::of(&world.solana.payer),
            folder: EvidenceFolder::open(folder).unwrap(),
            amount_max: PRICE,
            budgets: Vec::new(),
            world,
        }
    }

    pub fn tokens(world: &World) -> Vec<(String, String)> {
        let token = |it| {
            (
                crate::peers::world::Token::network(it).to_owned(),
                world.asset(it),
            )
        };
        TOKENS.map(token).to_vec()
    }

    pub fn buyer(&self) -> Buyer<'_> {
        self.buyer_with(&self.world.fetched)
    }

    fn buyer_with<'b>(&'b self, files: &'b FetchedFiles) -> Buyer<'b> {
        let world = self.world;
        let registries = [
            world.evm.registry_account(),
            world.solana.registry_account(),
        ];
        let terms = Terms {
            budgets: self.budgets.clone(),
            ..terms(&Self::tokens(world), &registries, self.amount_max)
        };
        let payers = Payers {
            evm: Some(&self.evm),
            svm: Some(&self.hand),
        };
        let reads = reads(&world.reads, files);
        let folder = self.folder.clone();
        Buyer::new(payers, reads, folder, terms, HttpLimits::default()).unwrap()
    }

    pub async fn quote(&self, url: &str) -> Result<Offered, PayError> {
        match self.buyer().quote(get(url)).await? {
            Asked::Offered(offered) => Ok(*offered),
            Asked::Free(answer) => panic!("{} without a payment", answer.status),
        }
    }

    /// Why an offer is refused, with files that are read anew.
    pub async fn refusal(&self, url: &str, files: &FetchedFiles) -> Refusal {
        let error = self.buyer_with(files).quote(get(url)).await.unwrap_err();
        assert_eq!(error.money, Money::NotSent);
        match error.fault {
            PayFault::Refused(refusal) => refusal,
            other => panic!("{other}"),
        }
    }

    pub async fn pay(&self, id: &str, url: &str) -> Result<Purchase, PayError> {
        let offered = self.quote(url).await?;
        self.buyer().pay(id, offered).await
    }

    pub async fn buy(&self, id: &str, request: Request) -> Result<Purchase, PayError> {
        match self.buyer().quote(request).await? {
            Asked::Offered(offered) => self.buyer().pay(id, *offered).await,
            Asked::Free(answer) => panic!("{} without a payment", answer.status),
        }
    }

    pub async fn resume(&self, id: &str) -> Result<Purchase, PayError> {
        self.buyer().resume(id, &HeaderMap::new()).await
    }
}

pub fn get(url: &str) -> Request {
    Request::new(Method::GET, url, HeaderMap::new(), "").unwrap()
}
