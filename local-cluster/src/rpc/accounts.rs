//! Accounts, always in their newest state.
use super::{
    Answer,
    encoding::AccountView,
    filters::Filter,
    in_context,
    params::{Params, address},
};
use crate::LocalCluster;
use serde_json::{Value, json};
use solana_address::Address;

/// As many as nodes answer at once.
const LIMIT: usize = 100;

pub fn balance(cluster: &LocalCluster, params: &Params) -> Answer {
    let balance = cluster.ledger.balance(&params.address(0, "pubkey")?);
    params.commitment(1)?;
    Ok(in_context(cluster.newest(), &json!(balance)))
}

pub fn one(cluster: &LocalCluster, params: &Params) -> Answer {
    let address = params.address(0, "pubkey")?;
    params.commitment(1)?;
    let view = AccountView::read(params.config(1)?)?;
    Ok(in_context(
        cluster.newest(),
        &written(cluster, &view, &address)?,
    ))
}

pub fn several(cluster: &LocalCluster, params: &Params) -> Answer {
    params.commitment(1)?;
    let view = AccountView::read(params.config(1)?)?;
    let addresses = params.list(0, "pubkeys", LIMIT)?.iter();
    let accounts: Result<Vec<_>, _> = addresses
        .map(|value| written(cluster, &view, &address(value, "pubkeys")?))
        .collect();
    Ok(in_context(cluster.newest(), &json!(accounts?)))
}

/// `null` if there is none.
fn written(cluster: &LocalCluster, view: &AccountView, address: &Address) -> Answer {
    let account = cluster.ledger.svm.get_account(address);
    account.map_or(Ok(Value::Null), |account| view.write(&account))
}

pub fn of_program(cluster: &LocalCluster, params: &Params) -> Answer {
    let program = params.address(0, "pubkey")?;
    params.commitment(1)?;
    let config = params.config(1)?;
    let view = AccountView::read(config)?;
    let filters = Filter::read_all(config)?;
    let mut found = cluster.ledger.svm.get_program_accounts(&program);
    found.retain(|(_, account)| filters.iter().all(|filter| filter.accepts(account)));
    found.sort_by_key(|(address, _)| *address);
    let written: Result<Vec<_>, _> = found
        .iter()
        .map(|(address, account)| {
            let account = view.write(account)?;
            Ok(json!({"pubkey": address.to_string(), "account": account}))
        })
        .collect();
    if config.flag("withContext")? {
        Ok(in_context(cluster.newest(), &json!(written?)))
    } else {
        Ok(json!(written?))
    }
}
