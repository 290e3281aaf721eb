//! Blocks, slots, fees.
use super::{Answer, encoding, in_context, params::Params};
use crate::{LocalCluster, RpcError};
use serde_json::{Value, json};
use solana_hash::Hash;
use solana_message::VersionedMessage;
use solana_signature::Signature;
use solana_transaction::versioned::VersionedTransaction;

/// Of the node software whose runtime answers.
pub const VERSION: &str = "4.2.2";
/// What an account can hold at most, in bytes.
const MAX_ACCOUNT_SIZE: u64 = 10 * 1024 * 1024;
/// As many blocks as nodes remember fees of.
const FEE_BLOCKS: usize = 150;

pub fn version() -> Value {
    let [a, b, c, d, ..] = agave_feature_set::ID.to_bytes();
    json!({"solana-core": VERSION, "feature-set": u32::from_le_bytes([a, b, c, d])})
}

/// `null` for a slot that the cluster has not reached or no longer remembers.
pub fn block_time(cluster: &LocalCluster, params: &Params) -> Answer {
    let slot = params.number(0, "slot")?;
    if slot > cluster.newest().slot {
        let message = format!("Block not available for slot {slot}");
        return Err(RpcError::new(RpcError::BLOCK_NOT_AVAILABLE, message));
    }
    let blocks = cluster.ledger.blocks.iter();
    let of_blocks = blocks.map(|block| (block.slot, block.time));
    let records = cluster.ledger.records().iter();
    let of_records = records.map(|record| (record.slot, record.time));
    let found = of_blocks.chain(of_records).find(|(at, _)| *at == slot);
    Ok(json!(found.map(|(_, time)| time)))
}

/// A block without its transactions, or with their signatures in the order in which they were carried
/// out.
pub fn block(cluster: &LocalCluster, params: &Params) -> Answer {
    let slot = params.number(0, "slot")?;
    let config = params.config(1)?;
    let asked = config.commitment("commitment")?;
    let unavailable = || {
        let message = format!("Block not available for slot {slot}");
        RpcError::new(RpcError::BLOCK_NOT_AVAILABLE, message)
    };
    if slot > cluster.at(asked).slot {
        return Err(unavailable());
    }
    let first = cluster.first();
    let at = |slot| {
        let mut blocks = cluster.ledger.blocks.iter().chain([&first]);
        let found = blocks.find(|it| it.slot == slot && slot >= first.slot);
        found.copied()
    };
    let block = at(slot).ok_or_else(unavailable)?;
    let parent = slot.saturating_sub(1);
    let mut answer = json!({
        "blockhash": block.hash.to_string(),
        "previousBlockhash": at(parent).map_or(Hash::default(), |it| it.hash).to_string(),
        "parentSlot": parent,
        "blockHeight": block.height,
        "blockTime": block.time,
    });
    match config.text("transactionDetails")? {
        Some("none") => (),
        Some("signatures") => {
            let records = cluster.ledger.records().iter();
            let of_slot = records.filter(|record| record.slot == slot);
            let names = of_slot.filter_map(|record| record.transaction.signatures.first());
            answer["signatures"] = names.map(ToString::to_string).collect();
        }
        _ => {
            let reason = "only \"none\" and \"signatures\" are answered here";
            return Err(RpcError::params("transactionDetails", reason));
        }
    }
    Ok(answer)
}

pub fn epoch_info(cluster: &LocalCluster, params: &Params) -> Answer {
    let block = cluster.at(params.commitment(0)?);
    let schedule = cluster.ledger.epoch_schedule();
    let (epoch, index) = schedule.get_epoch_and_slot_index(block.slot);
    Ok(json!({
        "absoluteSlot": block.slot,
        "blockHeight": block.height,
        "epoch": epoch,
        "slotIndex": index,
        "slotsInEpoch": schedule.get_slots_in_epoch(epoch),
        "transactionCount": cluster.ledger.records().len(),
    }))
}

pub fn latest_block_hash(cluster: &LocalCluster, params: &Params) -> Answer {
    let block = cluster.at(params.commitment(0)?);
    let value = json!({
        "blockhash": block.hash.to_string(),
        "lastValidBlockHeight": block.last_valid_height(),
    });
    Ok(in_context(block, &value))
}

pub fn is_block_hash_valid(cluster: &LocalCluster, params: &Params) -> Answer {
    let hash = params.hash(0, "blockhash")?;
    let commitment = params.commitment(1)?;
    let valid = cluster.ledger.blocks.valid(&hash, commitment);
    Ok(in_context(cluster.at(commitment), &json!(valid.is_some())))
}

/// What the VM would charge; nothing is signed.
pub fn fee_for_message(cluster: &LocalCluster, params: &Params) -> Answer {
    let bytes = encoding::from_base64(params.text(0, "message")?, "message")?;
    let commitment = params.commitment(1)?;
    let message: VersionedMessage = wincode::deserialize_exact(&bytes)
        .map_err(|fault| RpcError::params("message", format!("not a message: {fault}")))?;
    let hash = message.recent_blockhash();
    let is_valid = cluster.ledger.blocks.valid(hash, commitment).is_some();
    let signers = message.header().num_required_signatures;
    let transaction = VersionedTransaction {
        signatures: vec![Signature::default(); usize::from(signers)],
        message,
    };
    let fee = is_valid.then(|| cluster.ledger.simulate(&transaction).meta.fee);
    Ok(in_context(cluster.at(commitment), &json!(fee)))
}

/// Nobody competes here.
pub fn prioritization_fees(cluster: &LocalCluster) -> Value {
    let blocks = cluster.ledger.blocks.iter().take(FEE_BLOCKS);
    let fee = |slot| json!({"slot": slot, "prioritizationFee": 0});
    blocks.map(|block| fee(block.slot)).collect()
}

pub fn minimum_balance(cluster: &LocalCluster, params: &Params) -> Answer {
    let size = params.number(0, "dataLength")?;
    if size > MAX_ACCOUNT_SIZE {
        let reason = format!("{size} is more than {MAX_ACCOUNT_SIZE} bytes");
        return Err(RpcError::params("dataLength", reason));
    }
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let svm = &cluster.ledger.svm;
    Ok(json!(svm.minimum_balance_for_rent_exemption(size)))
}
