use async_trait::async_trait;

use super::{Authorization, PayFault};
use crate::{
    verify::{Chains, Unavailable},
    wire::Offer,
};

/// Whether an authorization was used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthorizationState {
    /// It was not used, and still may be.
    Unused,
    /// It was not used, and no longer can be.
    Expired,
    /// It was used: money moved.
    Used {
        /// The transaction, if the chain still has it.
        transaction: Option<String>,
    },
    /// The payer cancelled it.
    Cancelled,
    /// Its transaction failed: no money moved, and none can.
    Failed {
        /// The transaction.
        transaction: String,
    },
}

/// A payment that is ready to be signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// What is signed.
    pub authorization: Authorization,
    /// The chain's latest block or slot.
    pub since_block: u64,
}

/// Makes authorizations, and reads whether they were used.
#[async_trait]
pub trait Authorizations: Send + Sync {
    /// Makes the authorization that pays an offer, at `at` in unix seconds. Nothing is signed.
    ///
    /// # Errors
    /// [`PayFault::Unpayable`], [`PayFault::Chain`].
    async fn prepare(&self, offer: &Offer, payer: &str, at: u64) -> Result<Prepared, PayFault>;

    /// Whether an authorization was used after the block `since`.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn state(
        &self,
        authorization: &Authorization,
        since: u64,
    ) -> Result<AuthorizationState, Unavailable>;
}

#[async_trait]
impl Authorizations for Chains {
    async fn prepare(&self, offer: &Offer, payer: &str, at: u64) -> Result<Prepared, PayFault> {
        if offer.is_on(concord_canonical::caip::SOLANA) {
            self.svm.prepare(offer, payer, at).await
        } else {
            self.evm.prepare(offer, payer, at).await
        }
    }

    async fn state(
        &self,
        authorization: &Authorization,
        since: u64,
    ) -> Result<AuthorizationState, Unavailable> {
        match authorization {
            Authorization::Eip3009(_) => self.evm.state(authorization, since).await,
            Authorization::SolanaTransaction(_) => self.svm.state(authorization, since).await,
        }
    }
}
