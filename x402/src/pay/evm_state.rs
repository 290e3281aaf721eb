//! Payments on EVM chains: the token itself says whether an authorization was used.

use alloy::{
    primitives::{Address, B256, Bytes},
    rpc::types::{Filter, TransactionRequest, state::StateOverride},
    sol,
    sol_types::{SolCall, SolEvent},
};
use async_trait::async_trait;
use concord_chain::{
    ChainError,
    evm::{Node, returned_or_reverted, view_request},
};
use futures_util::future::try_join;

use super::{
    Authorization, AuthorizationState, Authorizations, OfferUnpayable, PayFault, Prepared,
    TransferAuthorization,
};
use crate::{
    verify::{EvmChains, Unavailable},
    wire::Offer,
};

/// Public endpoints take as many blocks in one question.
const BLOCKS_AT_ONCE: u64 = 1_000;

sol! {
    /// EIP-3009's state.
    function authorizationState(address authorizer, bytes32 nonce) external view returns (bool);
    /// EIP-3009's events.
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);
}

#[async_trait]
impl Authorizations for EvmChains {
    async fn prepare(&self, offer: &Offer, payer: &str, at: u64) -> Result<Prepared, PayFault> {
        let Ok(from) = payer.parse::<Address>() else {
            return Err(OfferUnpayable::new("payer", payer, "an EVM address").into());
        };
        let transfer = TransferAuthorization::new(offer, from, B256::random(), at)?;
        let node = self.node(&offer.network)?;
        let read = try_join(node.block_number(), answers_state(node, &transfer)).await;
        let (block, answers_state) = read.map_err(Unavailable::from)?;
        if !answers_state {
            // there would be no way to learn whether it was paid
            let expected = "a token with EIP-3009's authorizationState";
            return Err(OfferUnpayable::new("asset", &offer.asset, expected).into());
        }
        Ok(Prepared {
            authorization: Authorization::Eip3009(transfer),
            since_block: block,
        })
    }

    async fn state(
        &self,
        authorization: &Authorization,
        since: u64,
    ) -> Result<AuthorizationState, Unavailable> {
        let Authorization::Eip3009(transfer) = authorization else {
            return Err(Unavailable("not a payment on an EVM chain".to_owned()));
        };
        let node = self.node(&transfer.network())?;
        // time and state of one block: else a use between the two would look like an expiry
        let block = node.block_number().await?;
        if !is_used(node, transfer, block).await? {
            let time = node.time_of_block(block).await?;
            return Ok(if time >= transfer.valid_before {
                AuthorizationState::Expired
            } else {
                AuthorizationState::Unused
            });
        }
        Ok(match event(node, transfer, since, block).await? {
            Some(Event::Cancelled) => AuthorizationState::Cancelled,
            Some(Event::Used(transaction)) => AuthorizationState::Used {
                transaction: transaction.map(|it| it.to_string()),
            },
            None => AuthorizationState::Used { transaction: None },
        })
    }
}

/// What ended an authorization.
enum Event {
    Used(Option<B256>),
    Cancelled,
}

/// Whether the token answers what is asked about each payment later. One without the function reverts, and an address without
/// code answers nothing.
async fn answers_state(node: &Node, transfer: &TransferAuthorization) -> Result<bool, ChainError> {
    let request = state_request(transfer);
    let answer = node.call(&request, &StateOverride::default()).await?;
    let answer = returned_or_reverted(answer).map_err(|no| {
        let reason = no.message.into_owned();
        node.endpoint().unreachable("eth_call", reason)
    })?;
    Ok(answer.is_ok_and(|it| used_in(&it).is_some()))
}

async fn is_used(
    node: &Node,
    transfer: &TransferAuthorization,
    block: u64,
) -> Result<bool, Unavailable> {
    let answers = node.calls(&[state_request(transfer)], block).await?;
    let answer = answers.first().and_then(|it| it.as_ref().ok());
    let token = transfer.domain.verifying_contract;
    let used = answer.and_then(used_in);
    used.ok_or_else(|| Unavailable(format!("{token} does not answer authorizationState")))
}

fn state_request(transfer: &TransferAuthorization) -> TransactionRequest {
    let call = authorizationStateCall {
        authorizer: transfer.from,
        nonce: transfer.nonce,
    };
    view_request(transfer.domain.verifying_contract, &call)
}

fn used_in(answer: &Bytes) -> Option<bool> {
    authorizationStateCall::abi_decode_returns_validate(answer).ok()
}

/// The event that ended an authorization, between two blocks. Nodes limit the blocks of one question, and a payment is made soon
/// after `since`.
async fn event(
    node: &Node,
    transfer: &TransferAuthorization,
    since: u64,
    newest: u64,
) -> Result<Option<Event>, Unavailable> {
    let filter = Filter::new()
        .address(transfer.domain.verifying_contract)
        .event_signature(vec![
            AuthorizationUsed::SIGNATURE_HASH,
            AuthorizationCanceled::SIGNATURE_HASH,
        ])
        .topic1(transfer.from.into_word())
        .topic2(transfer.nonce);
    let mut from = since;
    loop {
        let to = from.saturating_add(BLOCKS_AT_ONCE - 1).min(newest);
        let logs = filter.clone().from_block(from).to_block(to);
        if let Some(log) = node.logs(&logs).await?.first() {
            let is_used = log.topic0() == Some(&AuthorizationUsed::SIGNATURE_HASH);
            return Ok(Some(if is_used {
                Event::Used(log.transaction_hash)
            } else {
                Event::Cancelled
            }));
        }
        if to >= newest {
            return Ok(None);
        }
        from = to + 1;
        if node.time_of_block(to).await? >= transfer.valid_before {
            break; // only a cancellation can be later
        }
    }
    let logs = node.logs(&filter.from_block(from).to_block(newest)).await?;
    Ok(logs.first().map(|_| Event::Cancelled))
}
