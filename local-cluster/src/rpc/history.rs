//! What became of transactions.
use super::{
    Answer, in_context,
    params::{Params, signature},
    transaction_json as written,
};
use crate::{LocalCluster, RpcError, blocks::Commitment, record::Record};
use serde_json::{Value, json};
use solana_signature::Signature;

/// As many signatures as nodes answer for at once.
const LIMIT: usize = 256;
const ADDRESS_LIMIT: u64 = 1000;
/// For so many blocks nodes know a status without a search.
const RECENT: u64 = 300;

pub fn statuses(cluster: &LocalCluster, params: &Params) -> Answer {
    let search = params.config(1)?.flag("searchTransactionHistory")?;
    let signatures = params.list(0, "signatures", LIMIT)?.iter();
    let statuses: Result<Vec<_>, RpcError> = signatures
        .map(|value| Ok(status(cluster, &signature(value, "signatures")?, search)))
        .collect();
    Ok(in_context(cluster.newest(), &json!(statuses?)))
}

fn status(cluster: &LocalCluster, signature: &Signature, search: bool) -> Value {
    let Some(record) = cluster.ledger.record(signature) else {
        return Value::Null;
    };
    let depth = cluster.ledger.blocks.depth(record.slot);
    if depth > RECENT && !search {
        return Value::Null;
    }
    let commitment = Commitment::at_depth(depth);
    let confirmations = (commitment < Commitment::Finalized).then_some(depth);
    json!({
        "slot": record.slot,
        "confirmations": confirmations,
        "err": written::error(record.error.as_ref()),
        "status": written::status(record.error.as_ref()),
        "confirmationStatus": commitment.name(),
    })
}

/// `null` until it has reached the commitment.
pub fn transaction(cluster: &LocalCluster, params: &Params) -> Answer {
    let signature = params.signature(0, "signature")?;
    let config = params.config(1)?;
    let asked = config.commitment("commitment")?;
    check_is_kept(asked)?;
    let Some(record) = cluster.ledger.record(&signature) else {
        return Ok(Value::Null);
    };
    if cluster.commitment_of(&signature) < Some(asked) {
        return Ok(Value::Null);
    }
    let mut answer = json!({
        "slot": record.slot,
        "blockTime": record.time,
        "transaction": written::transaction(&record.transaction, config.text("encoding")?)?,
        "meta": written::meta(record),
    });
    let version = written::version(&record.transaction);
    match (
        config.number("maxSupportedTransactionVersion")?,
        version.as_u64(),
    ) {
        (None, None) => {}
        (Some(known), number) if number.is_none_or(|number| number <= known) => {
            answer["version"] = version;
        }
        (_, number) => return Err(version_unsupported(number.unwrap_or_default())),
    }
    Ok(answer)
}

/// Blocks are written down once they are confirmed.
fn check_is_kept(commitment: Commitment) -> Result<(), RpcError> {
    match commitment {
        Commitment::Processed => Err(RpcError::new(
            RpcError::PARAMS,
            "Method does not support commitment below `confirmed`",
        )),
        _ => Ok(()),
    }
}

fn version_unsupported(version: u64) -> RpcError {
    RpcError::new(
        RpcError::TRANSACTION_VERSION,
        format!(
            "Transaction version ({version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: \"maxSupportedTransactionVersion\": {version}"
        ),
    )
}

/// The newest first.
pub fn of_address(cluster: &LocalCluster, params: &Params) -> Answer {
    let address = params.address(0, "address")?;
    let config = params.config(1)?;
    let asked = config.commitment("commitment")?;
    check_is_kept(asked)?;
    let limit = config.number("limit")?.unwrap_or(ADDRESS_LIMIT);
    if !(1..=ADDRESS_LIMIT).contains(&limit) {
        let reason = format!("{limit} is not between 1 and {ADDRESS_LIMIT}");
        return Err(RpcError::params("limit", reason));
    }
    let before = config.signature("before")?;
    let until = config.signature("until")?;
    let is = |record: &Record, signature: Option<Signature>| {
        signature.is_some() && record.transaction.signatures.first() == signature.as_ref()
    };
    let depth = |record: &Record| cluster.ledger.blocks.depth(record.slot);
    let mut records = cluster.ledger.records().iter().rev();
    if before.is_some() {
        records.find(|record| is(record, before));
    }
    let found = records
        .take_while(|record| !is(record, until))
        .filter(|record| depth(record) >= asked.depth())
        .filter(|record| record.keys.iter().any(|key| *key == address))
        .take(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(found
        .map(|record| {
            json!({
                "signature": record.transaction.signatures.first().map(ToString::to_string),
                "slot": record.slot,
                "err": written::error(record.error.as_ref()),
                "memo": null,
                "blockTime": record.time,
                "confirmationStatus": Commitment::at_depth(depth(record)).name(),
            })
        })
        .collect())
}
