//! One transaction, sent until it has landed, and recorded nowhere.
use super::{Cluster, ExecutedTx, Signed, transactions::words_of};
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
            transaction,
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
            return Err(failed(transaction, &reason));
        }
        if sent_at.elapsed() > RESEND_AFTER {
            // It may have landed meanwhile: a refusal means nothing.
            let _ = cluster.send(&BASE64.encode(&transaction.bytes)).await?;
            sent_at = Instant::now();
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

fn failed(transaction: &Signed, reason: &str) -> ChainError {
    ChainError::TransactionFailed {
        job: JOB.to_owned(),
        reason: format!("{} {reason}", transaction.signature),
    }
}
