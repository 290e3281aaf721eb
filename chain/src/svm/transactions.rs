use super::{Cluster, Commitment, RecentBlockhash, Refusal, SignatureStatus};
use crate::{
    Amount, ChainError, Signer, Svm,
    submission::{Finality, Landing, Resend, SendOutcome, SignedTx, TxStatus},
};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use borsh::BorshDeserialize;
use concord_registry::svm::compute_budget::{set_unit_limit, set_unit_price};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use serde_json::Value;
use solana_address::Address;
use solana_compute_budget_interface::{self as compute_budget_program, ComputeBudgetInstruction};
use solana_instruction::Instruction;
use solana_loader_v3_interface::instruction::UpgradeableLoaderInstruction;
use solana_message::{Message, compiled_instruction::CompiledInstruction};
use solana_sdk_ids::bpf_loader_upgradeable;
use solana_signature::Signature;
use solana_transaction::Transaction;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

/// How long one block hash is used for new transactions: much shorter than it is valid.
const BLOCKHASH_FRESH: Duration = Duration::from_secs(1);
/// How long a transaction may take to reach a leader before it is sent again.
const RESEND_AFTER: Duration = Duration::from_secs(2);
/// So many requests are on their way at once: with more, latency does not matter, and public endpoints
/// limit connections too.
const IN_FLIGHT: usize = 8;
/// So many blocks after the one whose hash it names, a transaction can still land.
const BLOCKHASH_LIFETIME: u64 = 150;
/// JSON-RPC's code for a transaction that failed when it was tried.
const PREFLIGHT_FAILED: i64 = -32_002;

/// What a transaction pays beside its signatures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriorityFee {
    /// Microlamports for a compute unit, at first.
    pub first: u64,
    /// The most, after being raised.
    pub most: u64,
}

impl PriorityFee {
    /// What a price is raised from if none was paid: a usual one.
    const FLOOR: u64 = 10_000;

    /// Returns the price after so many transactions that were not taken: twice as much for each.
    #[must_use]
    pub fn after(self, expired: usize) -> u64 {
        let Some(doublings) = expired.checked_sub(1) else {
            return self.first;
        };
        let factor = 1u64.checked_shl(doublings as u32).unwrap_or(u64::MAX);
        let raised = self.first.max(Self::FLOOR / 2).saturating_mul(2);
        raised.saturating_mul(factor).min(self.most)
    }
}

/// Returns the most lamports that a transaction with so many signatures and units costs.
#[must_use]
pub fn fee(signatures: u64, units: u32, price: u64) -> u64 {
    const SIGNATURE: u64 = 5_000;
    let priority = u128::from(units) * u128::from(price);
    let priority = u64::try_from(priority.div_ceil(1_000_000)).unwrap_or(u64::MAX);
    signatures
        .saturating_mul(SIGNATURE)
        .saturating_add(priority)
}

/// The life of legacy transactions on one cluster: signed, sent, expired, found again.
#[derive(Debug)]
pub struct Transactions {
    cluster: Cluster,
    /// The last block hash, and when it was asked for.
    blockhash: Option<(RecentBlockhash, Instant)>,
    /// When this process last sent a transaction.
    sent_at: BTreeMap<String, Instant>,
    /// Those that the cluster did not have while it still had every block in which they could land.
    never_landed: BTreeSet<String>,
}

impl Transactions {
    /// Transactions on the cluster.
    #[must_use]
    pub fn new(cluster: Cluster) -> Self {
        Self {
            cluster,
            blockhash: None,
            sent_at: BTreeMap::new(),
            never_landed: BTreeSet::new(),
        }
    }

    /// Signs the instructions with a fresh block hash. The first signer pays.
    ///
    /// # Errors
    /// As [`sign`], and [`ChainError::Unreachable`].
    pub async fn sign(
        &mut self,
        instructions: &[Instruction],
        signers: &[&dyn Signer<Svm>],
    ) -> Result<SignedTx, ChainError> {
        let recent = self.fresh_blockhash().await?;
        let signed = sign(instructions, signers, &recent).await?;
        Ok(SignedTx {
            raw: BASE64.encode(&signed.bytes),
            transaction: signed.signature,
            valid_until: Some(recent.valid_until),
            signed_at: None,
            sent: false,
            failure_cost: None,
        })
    }

    async fn fresh_blockhash(&mut self) -> Result<RecentBlockhash, ChainError> {
        if let Some((known, at)) = self.blockhash
            && at.elapsed() < BLOCKHASH_FRESH
        {
            return Ok(known);
        }
        let recent = self.cluster.recent_blockhash().await?;
        self.blockhash = Some((recent, Instant::now()));
        Ok(recent)
    }

    /// Decides about a recorded transaction that the cluster does not have. One that pays more for a
    /// compute unit than `most` is not sent: its block hash expires.
    ///
    /// # Errors
    /// [`ChainError::RecordMalformed`].
    pub fn resend(&self, transaction: &SignedTx, most: u64) -> Result<Resend, ChainError> {
        let price = unit_price(&decode(transaction)?.message);
        if price <= most {
            Ok(Resend::Same)
        } else {
            Ok(Resend::Wait)
        }
    }

    /// Sends it.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn send(&mut self, transaction: &SignedTx) -> Result<SendOutcome, ChainError> {
        let mut outcomes = self.send_all(std::slice::from_ref(transaction)).await;
        outcomes.swap_remove(0) // one transaction, one answer
    }

    /// Sends each, several at once, and returns the answers in the same order.
    pub async fn send_all(
        &mut self,
        transactions: &[SignedTx],
    ) -> Vec<Result<SendOutcome, ChainError>> {
        let cluster = &self.cluster;
        let sent: Vec<_> = (transactions.iter())
            .map(|it| async move { (cluster.send(&it.raw).await, Instant::now()) })
            .collect();
        let answers: Vec<_> = stream::iter(sent).buffered(IN_FLIGHT).collect().await;
        let answered = transactions.iter().zip(answers);
        answered
            .map(|(transaction, (answer, at))| {
                self.sent_at.insert(transaction.transaction.clone(), at);
                answer.map(|answer| self.outcome(answer))
            })
            .collect()
    }

    fn outcome(&mut self, answer: Result<(), Refusal>) -> SendOutcome {
        let Err(no) = answer else {
            return SendOutcome::Accepted;
        };
        if reason_of(&no) == Some(&Value::from("AlreadyProcessed")) {
            return SendOutcome::Accepted;
        }
        self.blockhash = None; // it may be what the cluster refuses
        SendOutcome::Refused(words_of(&no))
    }

    /// Returns the status of each, in the same order.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn statuses(
        &mut self,
        transactions: &[SignedTx],
    ) -> Result<Vec<TxStatus>, ChainError> {
        if transactions.is_empty() {
            return Ok(Vec::new());
        }
        // Before the statuses: whatever lands in between is seen.
        let height = self.cluster.final_block_height().await?;
        let names: Vec<&str> = transactions.iter().map(|it| &*it.transaction).collect();
        let found = self.cluster.statuses(&names).await?;
        let missing = transactions.iter().zip(&found);
        let missing = missing.filter(|(it, status)| status.is_none() && is_over(it, height));
        let forgotten = self.forgotten(missing.map(|it| it.0)).await?;
        let both = transactions.iter().zip(found);
        let statuses: Vec<_> = both
            .map(|(transaction, status)| self.status(transaction, status, height, &forgotten))
            .collect();
        (stream::iter(statuses).buffered(IN_FLIGHT))
            .try_collect()
            .await
    }

    /// Returns the names of those that may have landed in blocks that the node has dropped, and the
    /// height of the first block that it still has.
    async fn forgotten<'t>(
        &mut self,
        missing: impl Iterator<Item = &'t SignedTx>,
    ) -> Result<BTreeMap<String, u64>, ChainError> {
        let undecided = missing.filter(|it| !self.never_landed.contains(&it.transaction));
        let undecided: Vec<(&String, u64)> = undecided
            .filter_map(|it| Some((&it.transaction, it.valid_until?)))
            .collect();
        if undecided.is_empty() {
            return Ok(BTreeMap::new());
        }
        let first = self.cluster.first_kept_block().await?.block_height;
        let mut forgotten = BTreeMap::new();
        for (name, last) in undecided {
            if first > last.saturating_sub(BLOCKHASH_LIFETIME - 1) {
                forgotten.insert(name.clone(), first);
            } else {
                self.never_landed.insert(name.clone());
            }
        }
        Ok(forgotten)
    }

    async fn status(
        &self,
        transaction: &SignedTx,
        status: Option<SignatureStatus>,
        height: u64,
        forgotten: &BTreeMap<String, u64>,
    ) -> Result<TxStatus, ChainError> {
        let Some(status) = status else {
            let name = &transaction.transaction;
            let sent_at = self.sent_at.get(name);
            let is_recent = sent_at.is_some_and(|sent| sent.elapsed() < RESEND_AFTER);
            return Ok(match (is_over(transaction, height), forgotten.get(name)) {
                (true, None) => TxStatus::Expired,
                (true, Some(first)) => TxStatus::Blocked(unknowable(transaction, *first)),
                (false, _) if is_recent => TxStatus::Pending,
                (false, _) => TxStatus::Unknown,
            });
        };
        // Its block may yet be dropped for another: it is as good as pending.
        if status.confirmation_status < Some(Commitment::Confirmed) {
            return Ok(TxStatus::Pending);
        }
        if let (true, Some(cost)) = (status.err.is_null(), fee_alone(transaction)?) {
            let landing = landing(transaction, status.slot, cost, Amount::default());
            return Ok(TxStatus::Landed(landing));
        }
        let executed = self.cluster.transaction(&transaction.transaction).await?;
        let Some(executed) = executed else {
            return Ok(TxStatus::Pending); // an endpoint with many nodes: this one does not have it yet
        };
        if !status.err.is_null() {
            let reason = format!("failed in slot {}: {}", status.slot, status.err);
            let landing = landing(
                transaction,
                executed.slot,
                executed.cost(),
                Amount::default(),
            );
            return Ok(TxStatus::Failed { reason, landing });
        }
        let (cost, refund) = (executed.cost(), executed.refund());
        let landing = landing(transaction, executed.slot, cost, refund);
        Ok(TxStatus::Landed(landing))
    }

    /// Returns how final each is, in the same order.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn finality(&self, landings: &[Landing]) -> Result<Vec<Finality>, ChainError> {
        let names: Vec<&str> = landings.iter().map(|it| &*it.transaction).collect();
        let statuses = self.cluster.statuses(&names).await?;
        // R36: a node that has dropped the block does not say that the chain has.
        let first_kept = if statuses.contains(&None) {
            self.cluster.first_kept_slot().await?
        } else {
            0
        };
        let finality = |(landing, status): (&Landing, Option<SignatureStatus>)| match status {
            None if landing.block < first_kept => Finality::NotYet,
            None => Finality::Reorganised,
            Some(status) if status.confirmation_status == Some(Commitment::Finalized) => {
                Finality::Final
            }
            Some(_) => Finality::NotYet,
        };
        Ok(landings.iter().zip(statuses).map(finality).collect())
    }
}

/// Returns whether no block to come can take the transaction.
fn is_over(transaction: &SignedTx, height: u64) -> bool {
    transaction.valid_until.is_none_or(|last| height > last)
}

fn unknowable(transaction: &SignedTx, first: u64) -> String {
    let name = &transaction.transaction;
    let last = transaction.valid_until.unwrap_or(0);
    format!(
        "whether {name} landed by block height {last} is not known: the node has blocks from height {first} on; \
         use a node that keeps older blocks"
    )
}

/// A transaction as the network carries it, and the signature that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// Base58.
    pub signature: String,
    /// The wire form: signatures and message.
    pub bytes: Vec<u8>,
}

/// Signs a legacy transaction. The first signer pays.
///
/// # Errors
/// [`ChainError::NotSigned`] if a key is missing that the instructions name as signer, or a signer
/// refuses.
pub async fn sign(
    instructions: &[Instruction],
    signers: &[&dyn Signer<Svm>],
    recent: &RecentBlockhash,
) -> Result<Signed, ChainError> {
    let payer = signers.first().map(|signer| signer.address());
    let message = Message::new_with_blockhash(instructions, payer.as_ref(), &recent.hash);
    let mut transaction = Transaction::new_unsigned(message);
    let mut payload = transaction.message.serialize();
    let count = transaction.signatures.len();
    for (at, key) in transaction
        .message
        .account_keys
        .iter()
        .take(count)
        .enumerate()
    {
        let signer = signers.iter().find(|signer| signer.address() == *key);
        let signer = signer.ok_or_else(|| ChainError::NotSigned {
            signer: key.to_string(),
            reason: "its key is missing".to_owned(),
        })?;
        transaction.signatures[at] = signer.sign(&mut payload).await?;
    }
    let name = transaction.signatures.first().map(Signature::to_string);
    Ok(Signed {
        signature: name.unwrap_or_default(),
        bytes: bytes_of(&transaction),
    })
}

/// Builds the same without signatures, for a simulation.
#[must_use]
pub fn unsigned(instructions: &[Instruction], payer: &Address) -> Vec<u8> {
    let message = Message::new(instructions, Some(payer));
    bytes_of(&Transaction::new_unsigned(message))
}

/// Decodes the raw bytes, whose first signature must be the transaction's name.
///
/// # Errors
/// [`ChainError::RecordMalformed`].
pub fn decode(transaction: &SignedTx) -> Result<Transaction, ChainError> {
    let bytes = BASE64.decode(&transaction.raw);
    let bytes = bytes.map_err(|_| transaction.malformed("has raw bytes that are not base64"))?;
    let decoded: Transaction = wincode::deserialize_exact(&bytes)
        .map_err(|_| transaction.malformed("has raw bytes that are not a transaction"))?;
    let name = decoded.signatures.first().map(ToString::to_string);
    if name.as_ref() == Some(&transaction.transaction) {
        Ok(decoded)
    } else {
        Err(transaction.malformed("is not the first signature of its raw bytes"))
    }
}

/// A compact-u16 count of signatures (one byte up to 127), the signatures, the message.
fn bytes_of(transaction: &Transaction) -> Vec<u8> {
    let mut bytes = vec![transaction.signatures.len() as u8];
    for signature in &transaction.signatures {
        bytes.extend_from_slice(signature.as_ref());
    }
    bytes.extend(transaction.message.serialize());
    bytes
}

/// Builds the compute budget's instructions: the limit in units, and the price of one in
/// microlamports.
#[must_use]
pub fn compute_budget(units: u32, price: u64) -> Vec<Instruction> {
    let limit = set_unit_limit(units);
    match price {
        0 => vec![limit],
        _ => vec![limit, set_unit_price(price)],
    }
}

fn landing(transaction: &SignedTx, slot: u64, cost: Amount, refund: Amount) -> Landing {
    Landing {
        transaction: transaction.transaction.clone(),
        block: slot,
        block_hash: None,
        cost,
        refund,
    }
}

/// What the message pays for a compute unit, in microlamports.
fn unit_price(message: &Message) -> u64 {
    let prices = budget(message).filter_map(|it| match it {
        ComputeBudgetInstruction::SetComputeUnitPrice(price) => Some(price),
        _ => None,
    });
    prices.max().unwrap_or(0)
}

/// How many compute units the message asks for, if it does.
fn unit_limit(message: &Message) -> Option<u32> {
    budget(message).find_map(|it| match it {
        ComputeBudgetInstruction::SetComputeUnitLimit(units) => Some(units),
        _ => None,
    })
}

/// What the message asks of the compute-budget program.
fn budget(message: &Message) -> impl Iterator<Item = ComputeBudgetInstruction> {
    let own = message
        .instructions
        .iter()
        .filter(|it| program_of(message, it) == Some(&compute_budget_program::ID));
    own.filter_map(|it| ComputeBudgetInstruction::deserialize(&mut &it.data[..]).ok())
}

fn program_of<'m>(message: &'m Message, instruction: &CompiledInstruction) -> Option<&'m Address> {
    let at = usize::from(instruction.program_id_index);
    message.account_keys.get(at)
}

/// What the transaction costs if it succeeds, if its bytes say so: it moves no lamports, because it only
/// writes to a buffer. Hundreds of these need not be read back one by one.
fn fee_alone(transaction: &SignedTx) -> Result<Option<Amount>, ChainError> {
    let message = decode(transaction)?.message;
    let moves_nothing = message.instructions.iter().all(|instruction| {
        let program = program_of(&message, instruction);
        program == Some(&compute_budget_program::ID)
            || (program == Some(&bpf_loader_upgradeable::ID) && is_write(instruction))
    });
    let units = unit_limit(&message).filter(|_| moves_nothing);
    let signatures = message.header.num_required_signatures.into();
    Ok(units.map(|units| Amount(fee(signatures, units, unit_price(&message)).into())))
}

fn is_write(instruction: &CompiledInstruction) -> bool {
    matches!(
        wincode::deserialize(&instruction.data),
        Ok(UpgradeableLoaderInstruction::Write { .. })
    )
}

/// Why a transaction failed when it was tried: JSON of a `TransactionError`.
fn reason_of(no: &Refusal) -> Option<&Value> {
    let data = no.data.as_ref().filter(|_| no.code == PREFLIGHT_FAILED)?;
    data.get("err")
}

/// The cluster's words, and the program's last.
pub(super) fn words_of(no: &Refusal) -> String {
    let logs = no
        .data
        .as_ref()
        .and_then(|data| data.get("logs")?.as_array());
    match logs.and_then(|logs| logs.iter().rev().find_map(Value::as_str)) {
        Some(last) => format!("{} ({last})", no.message),
        None => no.message.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_doubles_up_to_the_most() {
        let free = PriorityFee {
            first: 0,
            most: 30_000,
        };
        assert_eq!(
            [0, 1, 2, 3, 99].map(|expired| free.after(expired)),
            [0, 10_000, 20_000, 30_000, 30_000]
        );
        let paid = PriorityFee {
            first: 40_000,
            most: 1_000_000,
        };
        assert_eq!(
            [0, 1, 2].map(|expired| paid.after(expired)),
            [40_000, 80_000, 160_000]
        );
    }

    #[test]
    fn the_price_of_a_recorded_message_is_read() {
        let payer = Address::new_from_array([1; 32]);
        for price in [0, 1, 10_000, u64::MAX] {
            let message = Message::new(&compute_budget(3_000, price), Some(&payer));
            assert_eq!(unit_price(&message), price);
        }
    }

    #[test]
    fn what_a_write_to_a_buffer_costs_is_in_its_bytes() {
        let key = solana_keypair::Keypair::new_from_array([1; 32]);
        let payer = solana_signer::Signer::pubkey(&key);
        let instruction = |program: Address, data: &[u8]| Instruction {
            program_id: program,
            accounts: Vec::new(),
            data: data.to_vec(),
        };
        let cost = |units: u32, instruction: Instruction| {
            let instructions = [compute_budget(units, 1_000_000), vec![instruction]].concat();
            let recent = RecentBlockhash {
                hash: solana_hash::Hash::default(),
                valid_until: 0,
            };
            let signed =
                crate::Blocking::new()
                    .unwrap()
                    .wait(sign(&instructions, &[&key], &recent));
            let signed = signed.unwrap();
            fee_alone(&SignedTx {
                raw: BASE64.encode(&signed.bytes),
                transaction: signed.signature,
                valid_until: None,
                signed_at: None,
                sent: true,
                failure_cost: None,
            })
            .unwrap()
        };
        let loader = bpf_loader_upgradeable::ID;
        // 5,000 for the signature, and a lamport for each unit
        // Write (u32 LE 1) at 258 (u32 LE) of 1 byte (u64 LE)
        let write = [
            &[1, 0, 0, 0][..],
            &[2, 1, 0, 0],
            &[1, 0, 0, 0, 0, 0, 0, 0],
            &[9],
        ]
        .concat();
        let whole = instruction(loader, &write);
        assert_eq!(cost(3_000, whole), Some(Amount(8_000)));
        let cut = instruction(loader, &write[..16]);
        assert_eq!(cost(3_000, cut), None);
        let upgrade = instruction(loader, &[3, 0, 0, 0]);
        assert_eq!(cost(3_000, upgrade), None);
        let other = instruction(payer, &write);
        assert_eq!(cost(3_000, other), None);
    }

    #[test]
    fn a_fee_is_for_signatures_and_units() {
        // Solana's documentation of fees: 5,000 lamports a signature; price × limit in
        // microlamports, rounded up
        assert_eq!(fee(1, 3_000, 0), 5_000);
        assert_eq!(fee(2, 200_000, 1), 10_001);
        assert_eq!(fee(1, 200_000, 1_000_000), 205_000);
    }
}
