//! What the chain of a task reference says of its payment.
use super::verdict::Verdict;
use crate::evidence::{Evidence, Gap};
use alloy_primitives::{Address, B256, Log, U256, b256};
use concord_canonical::{
    Word,
    caip::{EIP155, SOLANA, TaskRef},
};
use concord_x402::verify::{Payment, Transfer};

/// `Transfer(address,address,uint256)` of ERC-20, with both addresses indexed.
const TRANSFER: B256 = b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");
/// What is said of a payment on Solana.
const NODES_WORD: &str = "its signatures hold; that it was executed is the node's word";

/// What the chain says about a task reference.
pub(super) fn payment(evidence: &Evidence<'_>, task_ref: &TaskRef<'_>) -> Result<Payment, Gap> {
    let chain = task_ref.chain_id().to_string();
    match task_ref.chain_id().namespace() {
        EIP155 => evm_payment(evidence, task_ref),
        SOLANA => evidence.svm(&chain).payment(task_ref.transaction()),
        _ => Err(Gap::cannot_check(
            "payments on this kind of chain are not read",
        )),
    }
}

fn evm_payment(evidence: &Evidence<'_>, task_ref: &TaskRef<'_>) -> Result<Payment, Gap> {
    let chain = task_ref.chain_id().to_string();
    let hash: B256 = task_ref.transaction().parse().map_err(Gap::cannot_check)?;
    let executed = evidence.evm(&chain).transaction(hash)?;
    // R36: of the registry's own chain `inclusion` says so
    let is_home = evidence.bundle.feedback.chain() == chain;
    if !is_home && evidence.trust.block(&chain).is_none() {
        return Err(Gap::CannotCheck(format!(
            "no trusted block hash of {chain} was given; the payment rests on the bundle's"
        )));
    }
    Ok(Payment {
        succeeded: executed.receipt.succeeded,
        block: Some(executed.header.number),
        time: executed.header.time,
        transfers: executed.receipt.logs.iter().filter_map(transfer).collect(),
    })
}

/// ERC-20's event; ERC-721's of this name has a fourth topic.
fn transfer(log: &Log) -> Option<Transfer> {
    let [kind, from, to] = log.topics() else {
        return None;
    };
    let amount: Word = log.data.data.as_ref().try_into().ok()?;
    let account = |topic: &B256| {
        let is_address = topic[..12].iter().all(|byte| *byte == 0);
        is_address.then(|| Address::from_word(*topic).to_string())
    };
    (*kind == TRANSFER).then_some(())?;
    Some(Transfer {
        asset: log.address.to_string(),
        from: account(from)?,
        to: account(to)?,
        amount,
    })
}

/// A transfer's amount, in the token's smallest unit.
pub(super) fn decimal(transfer: &Transfer) -> String {
    U256::from_be_bytes(transfer.amount).to_string()
}

/// On what a payment rests besides.
pub(super) fn with_trust(verdict: Verdict, task_ref: &TaskRef<'_>) -> Verdict {
    match task_ref.chain_id().namespace() {
        SOLANA => verdict.with("rests on", NODES_WORD),
        _ => verdict,
    }
}
