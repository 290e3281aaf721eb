//! The token transfers of a Solana transaction: its own instructions, and those that programs called. All of
//! them took effect if the transaction succeeded.

use std::collections::HashMap;

use concord_canonical::word;
use concord_chain::svm::{Cluster, ExecutedTx, TokenBalance};
use concord_registry::svm::Address;

use super::reads::{Transfer, Unavailable};
use crate::spl_token::{Holding, TOKEN_PROGRAMS, TransferParts};

/// A transfer between token accounts.
struct Moved {
    source: Address,
    destination: Address,
    amount: u64,
}

/// Mint and owner of token accounts.
type Holders = HashMap<Address, (String, String)>;

pub(super) async fn read(
    cluster: &Cluster,
    executed: &ExecutedTx,
) -> Result<Vec<Transfer>, Unavailable> {
    let unreadable = || Unavailable("the node's answer has no readable transaction".to_owned());
    let transaction = executed.decode().ok_or_else(unreadable)?;
    let keys = executed.account_keys(&transaction);
    let own = transaction.message.instructions().iter();
    let own = own.filter_map(|it| moved(&keys, it.program_id_index, &it.accounts, &it.data));
    let mut all: Vec<Moved> = own.collect();
    let inner = executed.meta.inner_instructions.iter().flatten();
    for call in inner.flat_map(|it| &it.instructions) {
        let data = bs58::decode(&call.data).into_vec();
        let data = data.map_err(|_| unreadable())?;
        all.extend(moved(&keys, call.program_id_index, &call.accounts, &data));
    }
    let holders = holders(cluster, executed, &keys, &all).await?;
    Ok(all.iter().filter_map(|it| transfer(it, &holders)).collect())
}

fn moved(keys: &[Address], program: u8, accounts: &[u8], data: &[u8]) -> Option<Moved> {
    let key = |index: u8| keys.get(usize::from(index)).copied();
    if !TOKEN_PROGRAMS.contains(&key(program)?) {
        return None;
    }
    let parts = TransferParts::read(data)?;
    Some(Moved {
        source: key(*accounts.get(parts.source)?)?,
        destination: key(*accounts.get(parts.destination)?)?,
        amount: parts.amount,
    })
}

/// As the transaction recorded them; as they are now if the node keeps no token balances.
async fn holders(
    cluster: &Cluster,
    executed: &ExecutedTx,
    keys: &[Address],
    all: &[Moved],
) -> Result<Holders, Unavailable> {
    let meta = &executed.meta;
    let recorded = [&meta.post_token_balances, &meta.pre_token_balances];
    let recorded = recorded.into_iter().flatten().flatten();
    let known = |it: &TokenBalance| {
        let key = keys.get(usize::from(it.account_index))?;
        Some((*key, (it.mint.clone(), it.owner.clone()?)))
    };
    let mut holders: Holders = recorded.filter_map(known).collect();
    let mut missing: Vec<_> = all
        .iter()
        .flat_map(|it| [it.source, it.destination])
        .collect();
    missing.retain(|it| !holders.contains_key(it));
    missing.sort_unstable();
    missing.dedup();
    for (address, account) in missing.iter().zip(cluster.accounts(&missing).await?) {
        let holding = account.and_then(|it| Holding::read(&it.owner, &it.data));
        if let Some(Holding { mint, owner, .. }) = holding {
            holders.insert(*address, (mint.to_string(), owner.to_string()));
        }
    }
    Ok(holders)
}

fn transfer(moved: &Moved, holders: &Holders) -> Option<Transfer> {
    let (asset, from) = holders.get(&moved.source)?;
    let (_, to) = holders.get(&moved.destination)?;
    Some(Transfer {
        asset: asset.clone(),
        from: from.clone(),
        to: to.clone(),
        amount: word::from_u64(moved.amount),
    })
}
