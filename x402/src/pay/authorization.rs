use core::fmt;

use alloy::primitives::U256;
use serde::{Deserialize, Serialize};

use super::{OfferUnpayable, TransferAuthorization, TransferTransaction};
use crate::wire::Offer;

/// The only payment of a purchase, before it is signed. The chain takes it once, however often it is signed
/// or sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Authorization {
    /// On EVM chains: EIP-3009.
    Eip3009(TransferAuthorization),
    /// On Solana: a transaction that the seller's fee payer signs too, and sends.
    SolanaTransaction(TransferTransaction),
}

/// When signed bytes can no longer be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Deadline {
    /// From this time on, in unix seconds.
    Time(u64),
    /// After the block of this height.
    Height(u64),
}

impl Authorization {
    /// The chain, CAIP-2.
    #[must_use]
    pub fn network(&self) -> String {
        match self {
            Self::Eip3009(transfer) => transfer.network(),
            Self::SolanaTransaction(transfer) => transfer.network.clone(),
        }
    }

    /// Who pays.
    #[must_use]
    pub fn payer(&self) -> String {
        match self {
            Self::Eip3009(transfer) => transfer.from.to_string(),
            Self::SolanaTransaction(transfer) => transfer.payer.to_string(),
        }
    }

    /// The token.
    #[must_use]
    pub fn asset(&self) -> String {
        match self {
            Self::Eip3009(transfer) => transfer.domain.verifying_contract.to_string(),
            Self::SolanaTransaction(transfer) => transfer.mint.to_string(),
        }
    }

    /// In the token's smallest unit.
    #[must_use]
    pub fn amount(&self) -> U256 {
        match self {
            Self::Eip3009(transfer) => transfer.value,
            Self::SolanaTransaction(transfer) => U256::from(transfer.amount),
        }
    }

    /// When it can no longer be used.
    #[must_use]
    pub fn deadline(&self) -> Deadline {
        match self {
            Self::Eip3009(transfer) => Deadline::Time(transfer.valid_before),
            Self::SolanaTransaction(transfer) => Deadline::Height(transfer.valid_until),
        }
    }

    /// EIP-3009's message.
    #[must_use]
    pub fn as_eip3009(&self) -> Option<&TransferAuthorization> {
        match self {
            Self::Eip3009(transfer) => Some(transfer),
            Self::SolanaTransaction(_) => None,
        }
    }

    /// Solana's transaction.
    #[must_use]
    pub fn as_solana_transaction(&self) -> Option<&TransferTransaction> {
        match self {
            Self::SolanaTransaction(transfer) => Some(transfer),
            Self::Eip3009(_) => None,
        }
    }

    /// Whether it pays this offer, made at `at`, and nothing else.
    pub(super) fn pays(&self, offer: &Offer, at: u64) -> Result<bool, OfferUnpayable> {
        Ok(match self {
            Self::Eip3009(own) => {
                TransferAuthorization::new(offer, own.from, own.nonce, at)? == *own
            }
            Self::SolanaTransaction(own) => own.rebuilt(offer)? == *own,
        })
    }
}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => write!(f, "{time}"),
            Self::Height(height) => write!(f, "block height {height}"),
        }
    }
}
