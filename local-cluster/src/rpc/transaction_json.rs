//! Transactions as JSON has them, in and out.
use super::encoding::{from_base58, from_base64, to_base64};
use crate::{
    RpcError,
    record::{Keys, Record},
};
use litesvm::types::TransactionMetadata;
use serde_json::{Value, json};
use solana_message::{
    VersionedMessage, compiled_instruction::CompiledInstruction,
    inner_instruction::InnerInstructionsList,
};
use solana_transaction::versioned::VersionedTransaction;
use solana_transaction_error::TransactionError;

/// What fits in a packet, in bytes.
const SIZE_LIMIT: usize = 1232;

/// A transaction in base58 or base64.
pub fn decode(text: &str, encoding: Option<&str>) -> Result<VersionedTransaction, RpcError> {
    const FIELD: &str = "transaction";
    let bytes = match encoding {
        None | Some("base58" | "binary") => from_base58(text, FIELD)?,
        Some("base64") => from_base64(text, FIELD)?,
        Some(other) => {
            let reason = format!("{other:?} is not base58 or base64");
            return Err(RpcError::params("encoding", reason));
        }
    };
    if bytes.len() > SIZE_LIMIT {
        let reason = format!("too large: {} bytes (max: {SIZE_LIMIT} bytes)", bytes.len());
        return Err(RpcError::params(FIELD, reason));
    }
    let transaction: VersionedTransaction = wincode::deserialize_exact(&bytes)
        .map_err(|fault| RpcError::params(FIELD, format!("failed to deserialize: {fault}")))?;
    transaction
        .sanitize()
        .map_err(|fault| RpcError::params(FIELD, format!("failed to sanitize: {fault}")))?;
    Ok(transaction)
}

/// `null` if there is none.
pub fn error(error: Option<&TransactionError>) -> Value {
    serde_json::to_value(error).unwrap_or(Value::Null)
}

pub fn transaction(
    transaction: &VersionedTransaction,
    encoding: Option<&str>,
) -> Result<Value, RpcError> {
    match encoding {
        None | Some("json") => Ok(as_json(transaction)),
        Some("base64") => Ok(json!([to_base64(&bytes(transaction)), "base64"])),
        Some("base58") => Ok(json!([
            bs58::encode(bytes(transaction)).into_string(),
            "base58"
        ])),
        Some(other) => Err(RpcError::params(
            "encoding",
            format!("{other:?} is not json, base58 or base64"),
        )),
    }
}

/// Bytes that this node has read.
fn bytes(transaction: &VersionedTransaction) -> Vec<u8> {
    wincode::serialize(transaction).unwrap_or_default()
}

fn as_json(transaction: &VersionedTransaction) -> Value {
    let signatures = transaction.signatures.iter().map(ToString::to_string);
    let message = &transaction.message;
    let header = message.header();
    let instructions = message.instructions().iter();
    let mut written = json!({
        "accountKeys": addresses(message.static_account_keys()),
        "header": {
            "numReadonlySignedAccounts": header.num_readonly_signed_accounts,
            "numReadonlyUnsignedAccounts": header.num_readonly_unsigned_accounts,
            "numRequiredSignatures": header.num_required_signatures,
        },
        "instructions": instructions.map(|call| instruction(call, 1)).collect::<Value>(),
        "recentBlockhash": message.recent_blockhash().to_string(),
    });
    if let Some(lookups) = message.address_table_lookups() {
        let lookup = |table: &solana_message::v0::MessageAddressTableLookup| {
            json!({
                "accountKey": table.account_key.to_string(),
                "writableIndexes": table.writable_indexes,
                "readonlyIndexes": table.readonly_indexes,
            })
        };
        written["addressTableLookups"] = lookups.iter().map(lookup).collect();
    }
    json!({"signatures": signatures.collect::<Vec<_>>(), "message": written})
}

fn instruction(call: &CompiledInstruction, stack_height: u8) -> Value {
    json!({
        "accounts": call.accounts,
        "data": bs58::encode(&call.data).into_string(),
        "programIdIndex": call.program_id_index,
        "stackHeight": stack_height,
    })
}

fn addresses(addresses: &[solana_address::Address]) -> Value {
    addresses.iter().map(ToString::to_string).collect()
}

/// `null` for a version that JSON has no number for.
pub fn version(transaction: &VersionedTransaction) -> Value {
    match transaction.message {
        VersionedMessage::Legacy(_) => json!("legacy"),
        VersionedMessage::V0(_) => json!(0),
        VersionedMessage::V1(_) => json!(1),
    }
}

/// Those of instructions that called others.
pub fn inner_instructions(lists: &InnerInstructionsList) -> Value {
    let calls = lists
        .iter()
        .enumerate()
        .filter(|(_, calls)| !calls.is_empty());
    calls
        .map(|(index, calls)| {
            let calls = calls.iter();
            let written: Value = calls
                .map(|call| instruction(&call.instruction, call.stack_height))
                .collect();
            json!({"index": index, "instructions": written})
        })
        .collect()
}

/// `null` where a transaction returned nothing.
pub fn return_data(meta: &TransactionMetadata) -> Value {
    let returned = &meta.return_data;
    if returned.data.is_empty() {
        Value::Null
    } else {
        json!({
            "programId": returned.program_id.to_string(),
            "data": [to_base64(&returned.data), "base64"],
        })
    }
}

pub fn loaded_addresses(keys: &Keys) -> Value {
    json!({"writable": addresses(&keys.loaded_writable), "readonly": addresses(&keys.loaded_readonly)})
}

/// Token balances are left out: `null`, as by a node that does not keep them.
pub fn meta(record: &Record) -> Value {
    let mut meta = json!({
        "err": error(record.error.as_ref()),
        "status": status(record.error.as_ref()),
        "fee": record.meta.fee,
        "preBalances": record.balances_before,
        "postBalances": record.balances_after,
        "innerInstructions": inner_instructions(&record.meta.inner_instructions),
        "logMessages": record.meta.logs,
        "preTokenBalances": null,
        "postTokenBalances": null,
        "rewards": [],
        "loadedAddresses": loaded_addresses(&record.keys),
        "computeUnitsConsumed": record.meta.compute_units_consumed,
    });
    let returned = return_data(&record.meta);
    if !returned.is_null() {
        meta["returnData"] = returned;
    }
    meta
}

pub fn status(error: Option<&TransactionError>) -> Value {
    match error {
        None => json!({"Ok": null}),
        Some(_) => json!({"Err": self::error(error)}),
    }
}
