//! A payment that a file of PROFILE or BP states, against the chain on which it should be.
use super::{
    file::FeedbackFacts,
    verdict::{Checked, Verdict},
};
use crate::evidence::{Evidence, Gap};
use alloy_primitives::{Address, B256, Log, b256};
use concord_canonical::caip::{EIP155, TaskRef};
use concord_files::{FeedbackFile, ProofOfPayment};

/// `Transfer(address,address,uint256)` of ERC-20, with both addresses indexed.
pub(super) const TRANSFER: B256 =
    b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");

/// [`crate::Step::PaymentProof`].
pub(super) fn check(evidence: &Evidence<'_>, facts: &FeedbackFacts) -> Checked {
    let file = facts.plain_file()?;
    let Some(proof) = file.and_then(proof_in) else {
        return Ok(Verdict::not_applicable("the file states no payment"));
    };
    let verdict = match on_chain(evidence, proof) {
        // what cannot be read stays the file's claim
        Err(Gap::CannotCheck(reason)) => {
            Verdict::claimed(format!("only the file says so: {reason}"))
        }
        Err(gap) => return Err(gap),
        Ok(verdict) => verdict,
    };
    Ok(verdict.with("task reference", proof.task_ref()))
}

fn proof_in(file: &FeedbackFile) -> Option<&ProofOfPayment> {
    let payment = match file {
        FeedbackFile::Profile(file) => &file.payment,
        FeedbackFile::BestPractices(file) => &file.payment,
        FeedbackFile::Agent0(file) => &file.payment,
        FeedbackFile::X402(_) => return None, // its payment is the task reference
    };
    payment.as_ref().map(|it| it.proof())
}

fn on_chain(evidence: &Evidence<'_>, proof: &ProofOfPayment) -> Checked {
    let task_ref = proof.task_ref();
    let task_ref = TaskRef::parse(&task_ref).map_err(Gap::cannot_check)?;
    if task_ref.chain_id().namespace() != EIP155 {
        return Err(Gap::cannot_check(
            "payments on this kind of chain are not checked yet",
        ));
    }
    let accounts = [&proof.from_address, &proof.to_address].map(|it| address(it));
    let [Some(from), Some(to)] = accounts else {
        return Ok(Verdict::refuted(
            "payer or payee is not an address of the payment's chain",
        ));
    };
    let chain = task_ref.chain_id().to_string();
    let hash: B256 = task_ref.transaction().parse().map_err(Gap::cannot_check)?;
    let executed = evidence.evm(&chain).transaction(hash)?;
    if !executed.receipt.succeeded {
        return Ok(Verdict::refuted("the transaction failed"));
    }
    let token = proof.token_address.as_deref().and_then(address);
    let is_it = |log: &Log| is_transfer(log, from, to) && token.is_none_or(|it| it == log.address);
    Ok(match (executed.receipt.logs.iter().any(is_it), token) {
        (true, _) => Verdict::verified().with("block", executed.header.number),
        (false, Some(token)) => {
            Verdict::refuted(format!("no transfer of {token} from {from} to {to}"))
        }
        (false, None) => Verdict::cannot_check(format!(
            "no token moved from {from} to {to}; payments in the chain's coin are not checked"
        )),
    })
}

/// An address alone, or a CAIP-10 id.
fn address(text: &str) -> Option<Address> {
    text.rsplit(':').next()?.parse().ok()
}

/// ERC-721's event of this name has a fourth topic.
fn is_transfer(log: &Log, from: Address, to: Address) -> bool {
    let parties = [from, to].map(|it| it.into_word());
    let [kind, payer, payee] = log.topics() else {
        return false;
    };
    *kind == TRANSFER && [*payer, *payee] == parties
}
