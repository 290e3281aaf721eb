use alloy::{
    primitives::B256,
    rpc::types::Filter,
    sol,
    sol_types::{SolCall, SolEvent},
};
use async_trait::async_trait;
use concord_chain::evm::Node;

use super::TransferAuthorization;
use crate::verify::{EvmChains, Unavailable, request};

sol! {
    /// EIP-3009's state.
    function authorizationState(address authorizer, bytes32 nonce) external view returns (bool);
    /// EIP-3009's events.
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);
}

/// Whether an authorization was used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthorizationState {
    /// It has not been used after a block of this time, in unix seconds.
    Unused {
        /// The block's time.
        time: u64,
    },
    /// It was used: money moved.
    Used {
        /// The transaction, if the chain still has its log.
        transaction: Option<String>,
    },
    /// The payer cancelled it.
    Cancelled,
}

/// Reads whether authorizations were used.
#[async_trait]
pub trait Authorizations: Send + Sync {
    /// The latest block of a chain.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn block(&self, network: &str) -> Result<u64, Unavailable>;

    /// What became of an authorization that was signed after the block `since`.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn state(
        &self,
        transfer: &TransferAuthorization,
        since: u64,
    ) -> Result<AuthorizationState, Unavailable>;
}

#[async_trait]
impl Authorizations for EvmChains {
    async fn block(&self, network: &str) -> Result<u64, Unavailable> {
        Ok(self.node(network)?.block_number().await?)
    }

    async fn state(
        &self,
        transfer: &TransferAuthorization,
        since: u64,
    ) -> Result<AuthorizationState, Unavailable> {
        let node = self.node(&transfer.network())?;
        // time and state of one block: else a use between the two would look like an expiry
        let block = node.block_number().await?;
        if !is_used(node, transfer, block).await? {
            let time = node.time_of_block(block).await?;
            return Ok(AuthorizationState::Unused { time });
        }
        if let Some(transaction) = log::<AuthorizationUsed>(node, transfer, since).await? {
            let transaction = Some(transaction.to_string());
            return Ok(AuthorizationState::Used { transaction });
        }
        let cancelled = log::<AuthorizationCanceled>(node, transfer, since).await?;
        Ok(match cancelled {
            Some(_) => AuthorizationState::Cancelled,
            None => AuthorizationState::Used { transaction: None },
        })
    }
}

async fn is_used(
    node: &Node,
    transfer: &TransferAuthorization,
    block: u64,
) -> Result<bool, Unavailable> {
    let call = authorizationStateCall {
        authorizer: transfer.from,
        nonce: transfer.nonce,
    };
    let token = transfer.domain.verifying_contract;
    let answers = node.calls(&[request(token, &call)], block).await?;
    let answer = answers.first().and_then(|it| it.as_ref().ok());
    let used = answer.and_then(|it| authorizationStateCall::abi_decode_returns_validate(it).ok());
    used.ok_or_else(|| Unavailable(format!("{token} does not answer authorizationState")))
}

/// The transaction of an authorization's event.
async fn log<E: SolEvent>(
    node: &Node,
    transfer: &TransferAuthorization,
    since: u64,
) -> Result<Option<B256>, Unavailable> {
    let filter = Filter::new()
        .address(transfer.domain.verifying_contract)
        .event_signature(E::SIGNATURE_HASH)
        .topic1(transfer.from.into_word())
        .topic2(transfer.nonce)
        .from_block(since);
    let logs = node.logs(&filter).await?;
    Ok(logs.first().and_then(|it| it.transaction_hash))
}
