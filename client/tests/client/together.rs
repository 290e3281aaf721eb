//! Two processes with one key that give equal feedback at once, under two ids: two feedbacks (CLI-1).
use crate::world::{Role, TIMING, World, evm_fees, evm_registries, svm_registries, worlds};
use alloy::{
    consensus::SignableTransaction,
    primitives::{Address as EvmAddress, Signature as EvmSignature},
};
use async_trait::async_trait;
use concord_canonical::value::Value;
use concord_chain::{
    ChainError, Evm, Signer, Svm,
    keys::{Keypair, PrivateKeySigner},
    svm::PriorityFee,
};
use concord_client::{
    Account, Client, Document, EvmAccount, FileFolder, Given, Kind, Review, SvmAccount,
};
use concord_registry::svm::Address;
use solana_signature::Signature;
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::Barrier,
    time::{sleep, timeout},
};

/// Only to end a test that hangs.
const LIMIT: Duration = Duration::from_secs(600);

/// A key whose first signature waits until the other process has its own.
struct Together<K> {
    key: K,
    both: Arc<Barrier>,
    has_signed: AtomicBool,
}

impl<K> Together<K> {
    fn new(key: K, both: &Arc<Barrier>) -> Self {
        Self {
            key,
            both: both.clone(),
            has_signed: AtomicBool::new(false),
        }
    }

    async fn wait(&self) {
        if !self.has_signed.swap(true, Ordering::SeqCst) {
            self.both.wait().await;
        }
    }
}

#[async_trait]
impl Signer<Evm> for Together<PrivateKeySigner> {
    fn address(&self) -> EvmAddress {
        Signer::<Evm>::address(&self.key)
    }

    async fn sign(
        &self,
        transaction: &mut (dyn SignableTransaction<EvmSignature> + 'static),
    ) -> Result<EvmSignature, ChainError> {
        let signature = Signer::<Evm>::sign(&self.key, transaction).await?;
        self.wait().await;
        Ok(signature)
    }
}

#[async_trait]
impl Signer<Svm> for Together<Keypair> {
    fn address(&self) -> Address {
        Signer::<Svm>::address(&self.key)
    }

    async fn sign(&self, message: &mut [u8]) -> Result<Signature, ChainError> {
        let signature = Signer::<Svm>::sign(&self.key, message).await?;
        self.wait().await;
        Ok(signature)
    }
}

async fn account(world: &World, both: &Arc<Barrier>) -> Box<dyn Account> {
    match world {
        World::Evm(chain) => {
            let registries = evm_registries(&chain.url, chain.addresses);
            let key = Box::new(Together::new(world.key(Role::Reviewer), both));
            let connected = EvmAccount::connect(registries, key, evm_fees(), TIMING);
            Box::new(connected.await.unwrap())
        }
        World::Svm(solana) => {
            let registries = svm_registries(&solana.url, solana.program);
            let key = Box::new(Together::new(Role::Reviewer.keypair(), both));
            let fee = PriorityFee::default();
            let connected = SvmAccount::connect(registries, key, fee, TIMING);
            Box::new(connected.await.unwrap())
        }
    }
}

/// Gives the feedback, with the same id again while the other one has its index.
async fn give(account: Box<dyn Account>, folder: &Path, id: &str, review: Review) -> Given {
    let files = Arc::new(FileFolder::ipfs(&folder.join("files")));
    let mut client = Client::new(account, &folder.join(id), files);
    loop {
        match client.give(id, review.clone(), Document::None).await {
            Ok(given) => return given,
            Err(_) => sleep(TIMING.poll).await,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cli_1_equal_feedbacks_of_two_ids_are_two() {
    for world in worlds().await {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let agent = world.register("rated", folder, Document::None).await.agent;
        let review = Review::open(&agent, Value::new(95, 0).unwrap());
        let both = Arc::new(Barrier::new(2));
        let [first, second] = [account(&world, &both).await, account(&world, &both).await];
        let given = async {
            tokio::join!(
                give(first, folder, "first", review.clone()),
                give(second, folder, "second", review.clone()),
            )
        };
        let (first, second) = timeout(LIMIT, given).await.expect("both are given");
        let mut indices = [first.feedback.index, second.feedback.index];
        indices.sort_unstable();
        assert_eq!(indices, [1, 2], "{}", world.name());
        assert_ne!(first.outcome.transaction, second.outcome.transaction);
        let (registries, client) = (world.registries(), &first.feedback.client);
        let third = registries.feedback(Kind::Open, &agent, client, 3);
        assert_eq!(third.await.unwrap(), None, "{}", world.name());
    }
}
