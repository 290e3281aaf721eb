//! Trying a transaction without carrying it out.
use super::{
    Answer,
    encoding::AccountView,
    in_context,
    params::{Config, Params, address, list},
    transaction_json as written,
};
use crate::{LocalCluster, RpcError, blocks::Block, cluster::is_signed, record::Trial};
use serde_json::{Value, json};
use solana_account::{Account, AccountSharedData};
use solana_address::Address;
use solana_transaction::versioned::VersionedTransaction;
use solana_transaction_error::TransactionError;

pub fn simulate(cluster: &LocalCluster, params: &Params) -> Answer {
    let config = params.config(1)?;
    let commitment = config.commitment("commitment")?;
    let text = params.text(0, "transaction")?;
    let mut transaction = written::decode(text, config.text("encoding")?)?;
    let replace = config.flag("replaceRecentBlockhash")?;
    let is_checked = config.flag("sigVerify")?;
    if is_checked && replace {
        let reason = "may not be used with replaceRecentBlockhash";
        return Err(RpcError::params("sigVerify", reason));
    }
    if is_checked && !is_signed(&transaction) {
        return Err(not_signed());
    }
    let replacement = replace.then(|| cluster.at(commitment));
    if let Some(block) = replacement {
        transaction.message.set_recent_blockhash(block.hash);
    }
    let blocks = &cluster.ledger.blocks;
    let is_recent = blocks.valid(transaction.message.recent_blockhash(), commitment);
    let trial = match is_recent {
        Some(_) => cluster.ledger.simulate(&transaction),
        None => Trial::refused(TransactionError::BlockhashNotFound),
    };
    let mut answer = summary(&trial);
    answer["accounts"] = accounts_after(cluster, config, &transaction, &trial)?;
    if config.flag("innerInstructions")? {
        let calls = &trial.meta.inner_instructions;
        answer["innerInstructions"] = written::inner_instructions(calls);
    }
    answer["replacementBlockhash"] = replacement.map_or(Value::Null, replacement_json);
    Ok(in_context(cluster.at(commitment), &answer))
}

pub fn not_signed() -> RpcError {
    let message = "Transaction signature verification failure";
    RpcError::new(RpcError::SIGNATURE, message)
}

fn replacement_json(block: Block) -> Value {
    json!({
        "blockhash": block.hash.to_string(),
        "lastValidBlockHeight": block.last_valid_height(),
    })
}

/// What nodes say of a trial, also in the data of a failed preflight.
pub fn summary(trial: &Trial) -> Value {
    json!({
        "accounts": null,
        "err": written::error(trial.error.as_ref()),
        "innerInstructions": null,
        "logs": trial.meta.logs,
        "replacementBlockhash": null,
        "returnData": written::return_data(&trial.meta),
        "unitsConsumed": trial.meta.compute_units_consumed,
    })
}

/// The accounts that were asked for, as the transaction would leave them.
fn accounts_after(
    cluster: &LocalCluster,
    config: Config<'_>,
    transaction: &VersionedTransaction,
    trial: &Trial,
) -> Answer {
    let Some(asked) = config.object("accounts")? else {
        return Ok(Value::Null);
    };
    let view = AccountView::read(asked)?;
    let missing = || RpcError::params("addresses", "missing in accounts");
    let addresses = asked.get("addresses").ok_or_else(missing)?;
    let limit = cluster.ledger.keys(transaction).iter().count();
    let addresses = list(addresses, "addresses", limit)?;
    let after = |value| -> Answer {
        let account = account_after(cluster, trial, &address(value, "addresses")?);
        account.map_or(Ok(Value::Null), |account| view.write(&account))
    };
    let written: Result<Vec<_>, _> = addresses.iter().map(after).collect();
    Ok(json!(written?))
}

/// None if it would not exist, and for all of them if the transaction failed.
fn account_after(cluster: &LocalCluster, trial: &Trial, key: &Address) -> Option<Account> {
    if trial.error.is_some() {
        return None;
    }
    let changed = trial.accounts.iter().find(|(address, _)| address == key);
    let account = match changed {
        Some((_, account)) => Account::from(AccountSharedData::clone(account)),
        None => cluster.ledger.svm.get_account(key)?,
    };
    (account.lamports > 0).then_some(account)
}
