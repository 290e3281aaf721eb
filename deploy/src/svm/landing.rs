//! One transaction, sent until it has landed.
use super::{
    cluster::{Carried, Cluster},
    transactions::{Signed, words_of},
};
use crate::Fault;
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use std::{
    thread,
    time::{Duration, Instant},
};

/// How often a transaction on its way is asked for.
const POLL: Duration = Duration::from_millis(100);
/// After so long it may have been dropped: it is handed over again, which changes nothing where it
/// was not.
const ON_ITS_WAY: Duration = Duration::from_secs(2);
/// What errors call it.
const STEP: &str = "transaction";

/// Hands over a transaction for the first time.
///
/// # Errors
/// The cluster refuses it, or does not answer.
pub fn hand_over(cluster: &Cluster, transaction: &Signed) -> Result<(), Fault> {
    match cluster.send(&BASE64.encode(&transaction.bytes))? {
        Ok(()) => Ok(()),
        Err(no) => Err(failed(
            transaction,
            &format!("was refused: {}", words_of(&no)),
        )),
    }
}

/// Waits until a transaction that was handed over is confirmed, successful or not.
///
/// # Errors
/// It has not landed within `patience`, or the cluster does not answer.
pub fn wait(cluster: &Cluster, transaction: &Signed, patience: Duration) -> Result<Carried, Fault> {
    let (begun, mut handed_over) = (Instant::now(), Instant::now());
    loop {
        if let Some(carried) = cluster.carried(&transaction.signature)? {
            return Ok(carried);
        }
        if begun.elapsed() > patience {
            let reason = format!("has not landed after {} seconds", patience.as_secs());
            return Err(failed(transaction, &reason));
        }
        if handed_over.elapsed() > ON_ITS_WAY {
            // It may have landed meanwhile: a no means nothing.
            let _ = cluster.send(&BASE64.encode(&transaction.bytes))?;
            handed_over = Instant::now();
        }
        thread::sleep(POLL);
    }
}

/// [`hand_over`] and [`wait`].
///
/// # Errors
/// Theirs.
pub fn land(cluster: &Cluster, transaction: &Signed, patience: Duration) -> Result<Carried, Fault> {
    hand_over(cluster, transaction)?;
    wait(cluster, transaction, patience)
}

fn failed(transaction: &Signed, reason: &str) -> Fault {
    Fault::TransactionFailed {
        step: STEP.to_owned(),
        reason: format!("{} {reason}", transaction.signature),
    }
}
