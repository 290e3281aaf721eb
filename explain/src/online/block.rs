//! A block's transactions and receipts as bytes, and the proof of one place of them.
use super::OnlineError;
use crate::{EvmTransaction, HexBytes, HexHash, proof_of_item, rpc};
use alloy_primitives::{B256, keccak256};
use concord_chain::evm::Node;
use serde_json::{Value, json};

/// The transaction at a place of a block, with the proofs of it and of its receipt.
pub(super) async fn transaction_at(
    node: &Node,
    block: &Value,
    place: u64,
) -> Result<EvmTransaction, OnlineError> {
    let hash = word(block, "hash")?;
    let raw = transactions(node, block).await?;
    let receipts = receipts(node, hash, raw.len()).await?;
    let index = usize::try_from(place).ok().filter(|it| *it < raw.len());
    let index =
        index.ok_or_else(|| missing(node, format!("transaction {place} in block {hash}")))?;
    let proof = prove(node, block, "transactions", "transactionsRoot", &raw, index)?;
    let receipt_proof = prove(node, block, "receipts", "receiptsRoot", &receipts, index)?;
    Ok(EvmTransaction {
        block: hash.into(),
        index: place,
        raw: raw[index].clone().into(),
        proof,
        receipt: receipts[index].clone().into(),
        receipt_proof,
    })
}

fn prove(
    node: &Node,
    block: &Value,
    what: &'static str,
    root: &str,
    items: &[Vec<u8>],
    index: usize,
) -> Result<Vec<HexBytes>, OnlineError> {
    let (made, proof) = proof_of_item(items, index);
    if made == word(block, root)? {
        Ok(proof)
    } else {
        Err(OnlineError::Root {
            host: node.endpoint().host().to_owned(),
            what,
            number: rpc::quantity_of(block, "number")?,
        })
    }
}

async fn transactions(node: &Node, block: &Value) -> Result<Vec<Vec<u8>>, OnlineError> {
    let found = rpc::elements(block, "transactions")?;
    let mut all = Vec::with_capacity(found.len());
    for transaction in found {
        let hash = word(transaction, "hash")?;
        let encoded = rpc::transaction(transaction).ok();
        // a type of the chain's own, or a member that its node writes in its own way
        all.push(match encoded.filter(|it| keccak256(it) == hash) {
            Some(encoded) => encoded,
            None => raw(node, hash).await?,
        });
    }
    Ok(all)
}

async fn raw(node: &Node, hash: B256) -> Result<Vec<u8>, OnlineError> {
    const METHOD: &str = "eth_getRawTransactionByHash";
    let answer: Option<String> = node.endpoint().expect(METHOD, json!([hash])).await?;
    let bytes = answer.and_then(|it| hex::decode(it.strip_prefix("0x")?).ok());
    bytes.ok_or_else(|| missing(node, format!("raw transaction {hash}")))
}

/// A node that does not know `eth_getBlockReceipts` is asked for none: its blocks cannot be proven.
async fn receipts(node: &Node, block: B256, length: usize) -> Result<Vec<Vec<u8>>, OnlineError> {
    const METHOD: &str = "eth_getBlockReceipts";
    let answer: Option<Vec<Value>> = node.endpoint().expect(METHOD, json!([block])).await?;
    let answer = answer.filter(|it| it.len() == length);
    let answer = answer.ok_or_else(|| missing(node, format!("receipts of block {block}")))?;
    let encoded = answer.iter().map(rpc::receipt).collect::<Result<_, _>>()?;
    Ok(encoded)
}

pub(super) fn word(object: &Value, member: &str) -> Result<B256, OnlineError> {
    let hash: HexHash = rpc::read(object, member)?;
    Ok(hash.0.into())
}

pub(super) fn missing(node: &Node, what: String) -> OnlineError {
    OnlineError::Missing {
        host: node.endpoint().host().to_owned(),
        what,
    }
}
