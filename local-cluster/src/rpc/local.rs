//! What networks do, on demand. Each answers with the slot that it left the cluster in.
use super::{Answer, params::Params};
use crate::{LocalCluster, RpcError};
use serde_json::{Value, json};

/// More at once would leave the range of time.
const ADVANCE_LIMIT: u64 = 1_000_000;

/// `local_advance [slots]`: so many slots pass at once.
pub fn advance(cluster: &mut LocalCluster, params: &Params) -> Answer {
    let slots = params.number(0, "slots")?;
    if slots > ADVANCE_LIMIT {
        let reason = format!("{slots} is more than {ADVANCE_LIMIT}");
        return Err(RpcError::params("slots", reason));
    }
    cluster.skip(slots);
    Ok(slot(cluster))
}

/// `local_checkpoint []`: remembers the present state, in place of one remembered before.
pub fn checkpoint(cluster: &mut LocalCluster) -> Value {
    cluster.keep_checkpoint();
    slot(cluster)
}

/// `local_rollback []`: a fork without everything since the checkpoint wins. Accounts, statuses and
/// block hashes are as they were then; slots and block heights go on, with other blocks. Forgets
/// the checkpoint.
pub fn rollback(cluster: &mut LocalCluster) -> Answer {
    if cluster.roll_back() {
        Ok(slot(cluster))
    } else {
        Err(RpcError::new(
            RpcError::REQUEST,
            "No checkpoint: call local_checkpoint first",
        ))
    }
}

/// `local_expire_blockhashes []`: so many slots pass that no block hash handed out until now is
/// valid.
pub fn expire_block_hashes(cluster: &mut LocalCluster) -> Value {
    cluster.expire_block_hashes();
    slot(cluster)
}

/// `local_forget []`: drops the transactions until now and the blocks before the newest final one, as nodes do that keep
/// a few days. Accounts stay. Answers with the first slot that is left.
pub fn forget(cluster: &mut LocalCluster) -> Value {
    cluster.forget();
    json!(cluster.first().slot)
}

/// `local_hold [true]`: transactions are taken and not carried out. `local_hold [false]`: those that
/// are still valid are carried out now, in the order in which they came.
pub fn hold(cluster: &mut LocalCluster, params: &Params) -> Answer {
    cluster.hold(params.flag(0, "hold")?);
    Ok(slot(cluster))
}

fn slot(cluster: &LocalCluster) -> Value {
    json!(cluster.newest().slot)
}
