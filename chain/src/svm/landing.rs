//! One transaction, sent until it has landed, and recorded nowhere.
use super::{Cluster, Commitment, ExecutedTx, SignatureStatus, Signed, transactions::words_of};
use crate::ChainError;
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// How often a pending transaction is asked for.
const POLL: Duration = Duration::from_millis(100);
/// After so long it may have been dropped. It is sent again, which changes nothing if it was not.
const RESEND_AFTER: Duration = Duration::from_secs(2);
/// What errors call it.
const JOB: &str = "transaction";

/// Sends a transaction for the first time.
///
/// # Errors
/// [`ChainError::TransactionFailed`] if the cluster refuses it, [`ChainError::Unreachable`].
pub async fn send(cluster: &Cluster, transaction: &Signed) -> Result<(), ChainError> {
    match cluster.send(&BASE64.encode(&transaction.bytes)).await? {
        Ok(()) => Ok(()),
        Err(no) => Err(failed(
            &transaction.signature,
            &format!("was refused: {}", words_of(&no)),
        )),
    }
}

/// Waits until a transaction that was sent is confirmed, successful or not.
///
/// # Errors
/// [`ChainError::TransactionFailed`] if it has not landed in time, [`ChainError::Unreachable`].
pub async fn wait(
    cluster: &Cluster,
    transaction: &Signed,
    give_up_after: Duration,
) -> Result<ExecutedTx, ChainError> {
    let (begun, mut sent_at) = (Instant::now(), Instant::now());
    loop {
        if let Some(executed) = cluster.transaction(&transaction.signature).await? {
            return Ok(executed);
        }
        if begun.elapsed() > give_up_after {
            let reason = format!("has not landed after {} seconds", give_up_after.as_secs());
            return Err(failed(&transaction.signature, &reason));
        }
        if sent_at.elapsed() > RESEND_AFTER {
            // It may have landed meanwhile: a refusal means nothing.
            let _ = cluster.send(&BASE64.encode(&transaction.bytes)).await?;
            sent_at = Instant::now();
        }
        sleep(POLL).await;
    }
}

/// Waits until each transaction has landed, successful or not, or can land no more. With each signature comes the last
/// block height at which its block hash counts. Returns the slot from which on none of them changes anything: behind one
/// endpoint may be nodes that have not reached it.
///
/// # Errors
/// [`ChainError::TransactionFailed`] if one may still land after so long, [`ChainError::Unreachable`].
pub async fn settle(
    cluster: &Cluster,
    transactions: &[(&str, u64)],
    give_up_after: Duration,
) -> Result<u64, ChainError> {
    let begun = Instant::now();
    let names: Vec<_> = transactions.iter().map(|(name, _)| *name).collect();
    loop {
        let reached = cluster.final_block().await?;
        let statuses = cluster.statuses(&names).await?;
        let is_open = |last: u64, status: &Option<SignatureStatus>| match status {
            Some(status) => status.confirmation_status < Some(Commitment::Confirmed),
            // If it has landed nevertheless, on any node, then before the slot that is returned.
            None => reached.block_height <= last,
        };
        let mut both = transactions.iter().zip(&statuses);
        let Some(((name, _), _)) = both.find(|((_, last), status)| is_open(*last, status)) else {
            let landed = statuses.iter().flatten().map(|status| status.slot);
            return Ok(landed.fold(reached.slot, u64::max));
        };
        if begun.elapsed() > give_up_after {
            let seconds = give_up_after.as_secs();
            let reason = format!("has not landed after {seconds} seconds, and still can");
            return Err(failed(name, &reason));
        }
        sleep(POLL).await;
    }
}

/// [`send`] and [`wait`].
///
/// # Errors
/// Theirs.
pub async fn land(
    cluster: &Cluster,
    transaction: &Signed,
    give_up_after: Duration,
) -> Result<ExecutedTx, ChainError> {
    send(cluster, transaction).await?;
    wait(cluster, transaction, give_up_after).await
}

fn failed(signature: &str, reason: &str) -> ChainError {
    ChainError::TransactionFailed {
        job: JOB.to_owned(),
        reason: format!("{signature} {reason}"),
    }
}
