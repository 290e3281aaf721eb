//! Taking transactions.
use super::{
    Answer,
    params::Params,
    simulation::{not_signed, summary},
    transaction_json::decode,
};
use crate::{LocalCluster, RpcError, blocks::Commitment, cluster::is_signed, record::Trial};
use serde_json::json;
use solana_message::{Message, VersionedMessage};
use solana_signature::Signature;
use solana_signer::Signer;
use solana_system_interface::instruction::transfer;
use solana_transaction::versioned::VersionedTransaction;
use solana_transaction_error::TransactionError;

/// Enough for the fee of one signature.
const AIRDROP_FEE: u64 = 5_000;

/// Answers the first signature. That is not a promise: without preflight nothing at all is checked.
pub fn send(cluster: &mut LocalCluster, params: &Params) -> Answer {
    let config = params.config(1)?;
    let text = params.text(0, "transaction")?;
    let skip = config.flag("skipPreflight")?;
    let commitment = config.commitment("preflightCommitment")?;
    let transaction = decode(text, config.text("encoding")?)?;
    let unsigned = || RpcError::params("transaction", "has no signature");
    let signature = *transaction.signatures.first().ok_or_else(unsigned)?;
    if !skip {
        check(cluster, &transaction, &signature, commitment)?;
    }
    cluster.submit(transaction);
    Ok(json!(signature.to_string()))
}

/// The preflight. Accounts are judged in their newest state, block hashes and repetitions by the
/// bank of the commitment: that one may not know a block hash yet, nor a transaction that landed.
fn check(
    cluster: &LocalCluster,
    transaction: &VersionedTransaction,
    signature: &Signature,
    commitment: Commitment,
) -> Result<(), RpcError> {
    if !is_signed(transaction) {
        return Err(not_signed());
    }
    let hash = transaction.message.recent_blockhash();
    let trial = if cluster.ledger.blocks.valid(hash, commitment).is_none() {
        Trial::refused(TransactionError::BlockhashNotFound)
    } else {
        match cluster.commitment_of(signature) {
            Some(reached) if reached >= commitment => {
                Trial::refused(TransactionError::AlreadyProcessed)
            }
            Some(_) => return Ok(()),
            None => cluster.ledger.simulate(transaction),
        }
    };
    match &trial.error {
        None => Ok(()),
        Some(error) => {
            let message = format!("Transaction simulation failed: {error}");
            Err(RpcError::new(RpcError::PREFLIGHT, message).with_data(summary(&trial)))
        }
    }
}

pub fn airdrop(cluster: &mut LocalCluster, params: &Params) -> Answer {
    let to = params.address(0, "pubkey")?;
    let lamports = params.number(1, "lamports")?;
    let total = lamports.checked_add(AIRDROP_FEE);
    let total = total.ok_or_else(|| RpcError::params("lamports", "more than there are"))?;
    let faucet = cluster.next_faucet();
    cluster.ledger.credit(faucet.pubkey(), total);
    let message = Message::new_with_blockhash(
        &[transfer(&faucet.pubkey(), &to, lamports)],
        Some(&faucet.pubkey()),
        &cluster.newest().hash,
    );
    let signed = VersionedTransaction::try_new(VersionedMessage::Legacy(message), &[&faucet]);
    let transaction = signed.map_err(|fault| RpcError::params("pubkey", fault))?;
    let signature = transaction.signatures.first().map(ToString::to_string);
    cluster.submit(transaction);
    Ok(json!(signature))
}
