//! The token transfers of a Solana transaction: its own instructions, and those that programs called. All of
//! them took effect if the transaction succeeded.

use concord_chain::svm::{self, Cluster, ExecutedTx};
use concord_registry::svm::{Address, events::Call};

use super::{
    reads::{Transfer, Unavailable},
    token_transfers::{TokenBalance, TokenChanges, TokenHolder, TokenMove},
};

pub(super) async fn read(
    cluster: &Cluster,
    executed: &ExecutedTx,
) -> Result<Vec<Transfer>, Unavailable> {
    let unreadable = || Unavailable("the node's answer has no readable transaction".to_owned());
    let transaction = executed.decode().ok_or_else(unreadable)?;
    let keys = executed.account_keys(&transaction);
    let moved = |program: u8, accounts: &[u8], data: Vec<u8>| {
        TokenMove::read(&Call::resolve(&keys, program, accounts, data)?)
    };
    let own = transaction.message.instructions().iter();
    let own = own.filter_map(|it| moved(it.program_id_index, &it.accounts, it.data.clone()));
    let mut all: Vec<TokenMove> = own.collect();
    let inner = executed.meta.inner_instructions.iter().flatten();
    for call in inner.flat_map(|it| &it.instructions) {
        let data = bs58::decode(&call.data).into_vec();
        let data = data.map_err(|_| unreadable())?;
        all.extend(moved(call.program_id_index, &call.accounts, data));
    }
    let changes = changes(cluster, executed, &keys, &all).await?;
    Ok(changes.transfers(&all))
}

/// As the transaction recorded them; as the accounts are now only if the node keeps no token balances at all.
async fn changes(
    cluster: &Cluster,
    executed: &ExecutedTx,
    keys: &[Address],
    all: &[TokenMove],
) -> Result<TokenChanges, Unavailable> {
    let meta = &executed.meta;
    match (&meta.pre_token_balances, &meta.post_token_balances) {
        (Some(before), Some(after)) => {
            let [before, after] = [before, after].map(|it| balances(it, keys));
            Ok(TokenChanges::recorded(&before, &after))
        }
        (None, None) => Ok(TokenChanges::now(holders_now(cluster, all).await?)),
        _ => Err(Unavailable(
            "the node's answer has the token balances of one end of the transaction only"
                .to_owned(),
        )),
    }
}

/// Those whose owner and amount the node says.
fn balances(of: &[svm::TokenBalance], keys: &[Address]) -> Vec<TokenBalance> {
    let known = |it: &svm::TokenBalance| {
        Some(TokenBalance {
            account: *keys.get(usize::from(it.account_index))?,
            holder: TokenHolder {
                mint: it.mint.parse().ok()?,
                owner: it.owner.as_ref()?.parse().ok()?,
            },
            amount: it.ui_token_amount.amount.parse().ok()?,
        })
    };
    of.iter().filter_map(known).collect()
}

async fn holders_now(
    cluster: &Cluster,
    all: &[TokenMove],
) -> Result<Vec<(Address, TokenHolder)>, Unavailable> {
    let ends = all.iter().flat_map(|it| [it.source, it.destination]);
    let mut wanted: Vec<_> = ends.collect();
    wanted.sort_unstable();
    wanted.dedup();
    let found = cluster.accounts(&wanted).await?;
    let holder = |(address, account): (&Address, Option<svm::Account>)| {
        let account = account?;
        Some((*address, TokenHolder::read(&account.owner, &account.data)?))
    };
    Ok(wanted.iter().zip(found).filter_map(holder).collect())
}
