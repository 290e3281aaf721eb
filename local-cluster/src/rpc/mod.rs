//! The questions, by method.
mod accounts;
mod chain;
mod encoding;
mod filters;
mod history;
mod local;
mod params;
mod sending;
mod simulation;
mod transaction_json;

use crate::{LocalCluster, RpcError, blocks::Block};
use params::Params;
use serde_json::{Value, json};

type Answer = Result<Value, RpcError>;

pub fn answer(cluster: &mut LocalCluster, method: &str, params: &Value) -> Answer {
    let params = &Params::new(params)?;
    params.check_min_context_slot(cluster)?;
    match method {
        "getHealth" => Ok(json!("ok")),
        "getVersion" => Ok(chain::version()),
        "getGenesisHash" => Ok(json!(cluster.genesis_hash().to_string())),
        "getSlot" => Ok(json!(cluster.at(params.commitment(0)?).slot)),
        "getBlockHeight" => Ok(json!(cluster.at(params.commitment(0)?).height)),
        "getFirstAvailableBlock" => Ok(json!(cluster.first().slot)),
        "getBlock" => chain::block(cluster, params),
        "getBlockTime" => chain::block_time(cluster, params),
        "getEpochInfo" => chain::epoch_info(cluster, params),
        "getLatestBlockhash" => chain::latest_block_hash(cluster, params),
        "isBlockhashValid" => chain::is_block_hash_valid(cluster, params),
        "getFeeForMessage" => chain::fee_for_message(cluster, params),
        "getRecentPrioritizationFees" => Ok(chain::prioritization_fees(cluster)),
        "getMinimumBalanceForRentExemption" => chain::minimum_balance(cluster, params),
        "getBalance" => accounts::balance(cluster, params),
        "getAccountInfo" => accounts::one(cluster, params),
        "getMultipleAccounts" => accounts::several(cluster, params),
        "getProgramAccounts" => accounts::of_program(cluster, params),
        "getSignatureStatuses" => history::statuses(cluster, params),
        "getTransaction" => history::transaction(cluster, params),
        "getSignaturesForAddress" => history::of_address(cluster, params),
        "simulateTransaction" => simulation::simulate(cluster, params),
        "sendTransaction" => sending::send(cluster, params),
        "requestAirdrop" => sending::airdrop(cluster, params),
        "local_advance" => local::advance(cluster, params),
        "local_checkpoint" => Ok(local::checkpoint(cluster)),
        "local_rollback" => local::rollback(cluster),
        "local_expire_blockhashes" => Ok(local::expire_block_hashes(cluster)),
        "local_forget" => Ok(local::forget(cluster)),
        "local_hold" => local::hold(cluster, params),
        _ => Err(RpcError::new(
            RpcError::METHOD,
            format!("Method not found: {method}"),
        )),
    }
}

/// An answer together with the slot that it is true of.
fn in_context(block: Block, value: &Value) -> Value {
    json!({"context": {"apiVersion": chain::VERSION, "slot": block.slot}, "value": value})
}
