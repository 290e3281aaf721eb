//! Signing, sending, and what became of it.
use super::{
    SvmTarget,
    cluster::{Commitment, RecentBlockhash, Status},
    transport::Refusal,
    work::Work,
};
use crate::{Action, Answer, Attempt, Depth, Fate, Fault, Landing, Step};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use concord_registry::svm::compute_budget;
use serde_json::Value;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_message::Message;
use solana_signer::Signer;
use solana_transaction::Transaction;
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

/// How long one block hash is used for new transactions: much shorter than it is good for.
const BLOCKHASH_FRESH: Duration = Duration::from_secs(1);
/// How long a transaction may be on its way to a leader before it is sent again.
const ON_ITS_WAY: Duration = Duration::from_secs(2);
/// JSON-RPC's code for a transaction that failed when it was tried.
const PREFLIGHT_FAILED: i64 = -32_002;

impl SvmTarget {
    pub(super) fn sign_step(&mut self, step: &Step, expired: usize) -> Result<Attempt, Fault> {
        let work = Work::of(step)?;
        let recent = self.fresh_blockhash()?;
        let price = self.priority_fee.after(expired);
        let instructions = [budget(work.units(), price), self.instructions(work)?].concat();
        let deployer = self.key()?;
        let mut signers = vec![deployer];
        if work.needs_program_key() {
            signers.push(self.program_key()?);
        }
        let raw = signed(&instructions, &signers, &recent);
        Ok(Attempt {
            transaction: raw.signature,
            raw: BASE64.encode(&raw.bytes),
            valid_until: Some(recent.valid_until),
            sent: false,
        })
    }

    /// Rent and fees may be others by now, so that not every byte is compared: who pays, and all
    /// accounts and programs that the step names.
    pub(super) fn require_own_transaction(
        &self,
        step: &Step,
        attempt: &Attempt,
    ) -> Result<(), Fault> {
        if step.action == Action::Exists {
            return Ok(()); // it is not sent, and how it came about it does not say
        }
        let not_ours = |what: &str| Fault::RecordMalformed {
            transaction: attempt.transaction.clone(),
            what: what.to_owned(),
        };
        let bytes = BASE64.decode(&attempt.raw);
        let bytes = bytes.map_err(|_| not_ours("has raw bytes that are no base64"))?;
        let carried: Transaction = wincode::deserialize_exact(&bytes)
            .map_err(|_| not_ours("has raw bytes that are no transaction"))?;
        let name = carried.signatures.first().map(ToString::to_string);
        if name.as_ref() != Some(&attempt.transaction) {
            return Err(not_ours("is not the first signature of its raw bytes"));
        }
        let work = Work::of(step)?;
        let deployer = self.deployer()?;
        let instructions = [budget(work.units(), 0), self.instructions(work)?].concat();
        let planned = Message::new(&instructions, Some(&deployer));
        let names = |message: &Message| -> BTreeSet<Address> {
            message.account_keys.iter().copied().collect()
        };
        match carried.message.account_keys.first() == Some(&deployer)
            && names(&carried.message) == names(&planned)
        {
            true => Ok(()),
            false => Err(not_ours(
                "is not what the step sends, or not from the deployer",
            )),
        }
    }

    fn fresh_blockhash(&mut self) -> Result<RecentBlockhash, Fault> {
        if let Some((known, at)) = self.blockhash
            && at.elapsed() < BLOCKHASH_FRESH
        {
            return Ok(known);
        }
        let recent = self.cluster.recent_blockhash()?;
        self.blockhash = Some((recent, Instant::now()));
        Ok(recent)
    }

    pub(super) fn send_raw(&mut self, attempt: &Attempt) -> Result<Answer, Fault> {
        let now = Instant::now();
        self.sent_at.insert(attempt.transaction.clone(), now);
        let Err(no) = self.cluster.send(&attempt.raw)? else {
            return Ok(Answer::Accepted);
        };
        if reason_of(&no) == Some(&Value::from("AlreadyProcessed")) {
            return Ok(Answer::Accepted);
        }
        self.blockhash = None; // it may be what the cluster refuses
        Ok(Answer::Refused(words_of(&no)))
    }

    /// What became of each. The height is asked for first: a transaction that is unknown after it
    /// has passed can never land.
    pub(super) fn fates_of(&mut self, attempts: &[Attempt]) -> Result<Vec<Fate>, Fault> {
        if attempts.is_empty() {
            return Ok(Vec::new());
        }
        let height = self.cluster.final_block_height()?;
        let names: Vec<&str> = attempts.iter().map(|it| &*it.transaction).collect();
        let statuses = self.cluster.statuses(&names)?;
        let both = attempts.iter().zip(statuses);
        both.map(|(attempt, status)| self.fate_of(attempt, status, height))
            .collect()
    }

    fn fate_of(
        &self,
        attempt: &Attempt,
        status: Option<Status>,
        height: u64,
    ) -> Result<Fate, Fault> {
        let Some(status) = status else {
            let is_over = attempt.valid_until.is_none_or(|last| height > last);
            let sent_at = self.sent_at.get(&attempt.transaction);
            let is_on_its_way = sent_at.is_some_and(|sent| sent.elapsed() < ON_ITS_WAY);
            return Ok(match (is_over, is_on_its_way) {
                (true, _) => Fate::Expired,
                (false, true) => Fate::Pending,
                (false, false) => Fate::Unknown,
            });
        };
        // Its block may yet be dropped for another: it is as good as pending.
        if status.confirmation_status < Some(Commitment::Confirmed) {
            return Ok(Fate::Pending);
        }
        if !status.err.is_null() {
            let reason = format!("failed in slot {}: {}", status.slot, status.err);
            return Ok(Fate::Failed(reason));
        }
        let carried = self.cluster.carried(&attempt.transaction)?;
        Ok(match carried {
            Some(carried) => Fate::Landed(Landing {
                transaction: attempt.transaction.clone(),
                block: carried.slot,
                cost: carried.cost(),
            }),
            None => Fate::Pending, // an endpoint of many nodes: this one does not have it yet
        })
    }

    pub(super) fn depths_of(&mut self, landings: &[Landing]) -> Result<Vec<Depth>, Fault> {
        let names: Vec<&str> = landings.iter().map(|it| &*it.transaction).collect();
        let statuses = self.cluster.statuses(&names)?;
        let depth = |status: Option<Status>| match status {
            None => Depth::Gone,
            Some(status) if status.confirmation_status == Some(Commitment::Finalized) => {
                Depth::Final
            }
            Some(_) => Depth::Shallow,
        };
        Ok(statuses.into_iter().map(depth).collect())
    }
}

/// A transaction as the network carries it, and the signature that names it.
pub struct Signed {
    pub signature: String,
    pub bytes: Vec<u8>,
}

/// Signs a legacy transaction; the first signer pays.
pub fn signed(
    instructions: &[Instruction],
    signers: &[&Keypair],
    recent: &RecentBlockhash,
) -> Signed {
    let payer = signers[0].pubkey();
    let message = Message::new_with_blockhash(instructions, Some(&payer), &recent.hash);
    let transaction = Transaction::new(signers, message, recent.hash);
    Signed {
        signature: transaction.signatures[0].to_string(),
        bytes: bytes_of(&transaction),
    }
}

/// The same without signatures, for a simulation.
pub fn unsigned(instructions: &[Instruction], payer: &Address) -> Vec<u8> {
    let message = Message::new(instructions, Some(payer));
    bytes_of(&Transaction::new_unsigned(message))
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

/// The compute budget's instructions: the limit in units, and the price of one in microlamports.
pub(super) fn budget(units: u32, price: u64) -> Vec<Instruction> {
    let limit = compute_budget::set_unit_limit(units);
    match price {
        0 => vec![limit],
        _ => vec![limit, compute_budget::set_unit_price(price)],
    }
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
    use crate::svm::{loader, work::CHUNK};
    use solana_hash::Hash;

    #[test]
    fn the_largest_write_fits_a_packet() {
        /// Solana's documentation of transactions: what one packet carries, signatures and all.
        const PACKET: usize = 1_232;
        let deployer = Keypair::new_from_array([1; 32]);
        let payer = deployer.pubkey();
        let recent = RecentBlockhash {
            hash: Hash::default(),
            valid_until: 0,
        };
        let bytes_of_chunk = |length| {
            let write = loader::write(
                &payer,
                &Address::new_from_array([2; 32]),
                1,
                &vec![0; length],
            );
            let instructions = [budget(3_000, u64::MAX), vec![write]].concat();
            signed(&instructions, &[&deployer], &recent).bytes.len()
        };
        let bytes = bytes_of_chunk(CHUNK);
        assert!(bytes <= PACKET, "{bytes}");
        assert!(PACKET - bytes < 64, "{bytes}: room for more");
    }
}
