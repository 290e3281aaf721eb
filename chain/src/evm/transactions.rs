use super::{Confirmations, FeeLimit, Fees, Node, TxReceipt};
use crate::{
    Amount, ChainError, Evm, Signer,
    endpoint::lag_pauses,
    submission::{Finality, Landing, Resend, SendOutcome, SignedTx, TxStatus},
};
use alloy::{
    consensus::{SignableTransaction, Transaction, TxEip1559, TxEnvelope},
    eips::{Decodable2718, Encodable2718},
    primitives::{Address, B256, Bytes, TxKind, U256},
};
use std::{cmp::max, collections::HashMap};
use tokio::time::sleep;

/// The call that a transaction makes, and its gas limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxCall {
    /// The contract.
    pub to: Address,
    /// Wei.
    pub value: U256,
    /// Its gas limit.
    pub gas: u64,
    /// The call's data: selector and arguments.
    pub input: Bytes,
}

/// The life of EIP-1559 transactions on one chain: signed, replaced, sent, found again.
#[derive(Debug)]
pub struct Transactions {
    node: Node,
    chain_id: u64,
    fee_limit: FeeLimit,
    confirmations: Confirmations,
    /// By sender: no nonce below is free, whatever a node that lags behind says.
    nonce_floors: HashMap<Address, u64>,
    /// By sender: the highest nonce whose transaction was seen in a block. Only a reorganisation frees it.
    seen_nonces: HashMap<Address, u64>,
    /// By transaction: the latest block, and its hash, when its nonce was first seen used by another.
    used_since: HashMap<String, (u64, B256)>,
    /// By block: the first one since that is not known to be empty.
    scanned: HashMap<u64, u64>,
}

/// Blocks that are looked at for a first transaction before the caller is answered. There are more empty ones only on chains that
/// nobody uses.
const SCANNED_AT_ONCE: u64 = 1_000;

impl Transactions {
    /// Transactions on the node's chain.
    #[must_use]
    pub fn new(
        node: Node,
        chain_id: u64,
        fee_limit: FeeLimit,
        confirmations: Confirmations,
    ) -> Self {
        Self {
            node,
            chain_id,
            fee_limit,
            confirmations,
            nonce_floors: HashMap::new(),
            seen_nonces: HashMap::new(),
            used_since: HashMap::new(),
            scanned: HashMap::new(),
        }
    }

    /// Returns the most that is offered for a unit of gas.
    #[must_use]
    pub fn fee_limit(&self) -> FeeLimit {
        self.fee_limit
    }

    /// Sets the most that is offered for a unit of gas from now on.
    pub fn set_fee_limit(&mut self, limit: FeeLimit) {
        self.fee_limit = limit;
    }

    /// Reads what gets a transaction mined now, within the limit.
    ///
    /// # Errors
    /// [`ChainError::FeeAboveLimit`], [`ChainError::Unreachable`].
    pub async fn fees(&self) -> Result<Fees, ChainError> {
        Fees::current(&self.node, self.fee_limit).await
    }

    /// Signs the call at `fees`, with the sender's next nonce.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`], [`ChainError::NotSigned`].
    pub async fn sign(
        &self,
        signer: &dyn Signer<Evm>,
        call: TxCall,
        fees: Fees,
    ) -> Result<SignedTx, ChainError> {
        let from = signer.address();
        let signed_at = self.node.block_number().await?; // before the nonce is read: it lands later
        let transaction = TxEip1559 {
            chain_id: self.chain_id,
            nonce: self.free_nonce(from).await?,
            gas_limit: call.gas,
            max_fee_per_gas: fees.max,
            max_priority_fee_per_gas: fees.priority,
            to: TxKind::Call(call.to),
            value: call.value,
            access_list: Default::default(),
            input: call.input,
        };
        sign(signer, transaction, signed_at).await
    }

    /// The sender's next nonce. A node that lags behind may count one that was seen in a block as free: it is asked again
    /// for a while. After a reorganisation it is free indeed.
    async fn free_nonce(&self, from: Address) -> Result<u64, ChainError> {
        let floor = self.nonce_floors.get(&from).copied().unwrap_or(0);
        let seen = self.seen_nonces.get(&from).copied();
        let mut next = self.node.next_nonce(from).await?;
        for pause in lag_pauses() {
            if seen.is_none_or(|seen| next > seen) {
                break;
            }
            sleep(pause).await;
            next = self.node.next_nonce(from).await?;
        }
        Ok(max(floor, next))
    }

    /// Signs the same transaction at a higher fee. It has the same nonce, so only one of the two can
    /// land. `None` if the fee limit is reached, or it is not an EIP-1559 transaction.
    ///
    /// # Errors
    /// [`ChainError::FeeAboveLimit`], [`ChainError::Unreachable`], [`ChainError::NotSigned`], also if another
    /// account signed it: at the same nonce of two accounts, both can land.
    pub async fn replace(
        &self,
        signer: &dyn Signer<Evm>,
        transaction: &SignedTx,
    ) -> Result<Option<SignedTx>, ChainError> {
        let Some(mut transaction) = own_unsigned(signer, transaction)? else {
            return Ok(None);
        };
        let before = Fees {
            max: transaction.max_fee_per_gas,
            priority: transaction.max_priority_fee_per_gas,
        };
        let Some(raised) = Fees::above(before, self.fees().await?, self.fee_limit) else {
            return Ok(None);
        };
        transaction.max_fee_per_gas = raised.max;
        transaction.max_priority_fee_per_gas = raised.priority;
        let signed_at = self.node.block_number().await?;
        sign(signer, transaction, signed_at).await.map(Some)
    }

    /// Decides about a recorded transaction that the chain does not have. One that offers more than
    /// the fee limit, or than the sender has, is never sent: another takes its nonce, so that only
    /// one of the two can land.
    ///
    /// # Errors
    /// [`ChainError::FeeAboveLimit`], [`ChainError::Unreachable`], [`ChainError::NotSigned`], also if another
    /// account signed it, [`ChainError::RecordMalformed`].
    pub async fn resend(
        &self,
        signer: &dyn Signer<Evm>,
        transaction: &SignedTx,
    ) -> Result<Resend, ChainError> {
        let Some(mut transaction) = own_unsigned(signer, transaction)? else {
            return Ok(Resend::Same); // signed in advance: it cannot be signed anew
        };
        let gas = u128::from(transaction.gas_limit);
        let cost = U256::from(transaction.max_fee_per_gas.saturating_mul(gas));
        let cost = cost.saturating_add(transaction.value);
        if self.fee_limit.allows(transaction.max_fee_per_gas)
            && cost <= self.node.balance(signer.address()).await?
        {
            return Ok(Resend::Same);
        }
        let fees = self.fees().await?;
        if fees.max >= transaction.max_fee_per_gas {
            return Ok(Resend::Wait); // only the balance is too low
        }
        transaction.max_fee_per_gas = fees.max;
        transaction.max_priority_fee_per_gas = fees.priority.min(fees.max);
        let signed_at = self.node.block_number().await?;
        sign(signer, transaction, signed_at)
            .await
            .map(Resend::Instead)
    }

    /// Sends it.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`], [`ChainError::RecordMalformed`].
    pub async fn send(&mut self, transaction: &SignedTx) -> Result<SendOutcome, ChainError> {
        let no = match self.node.send(&raw(transaction)?).await? {
            Ok(_) => return Ok(SendOutcome::Accepted),
            Err(no) => no.message.to_lowercase(),
        };
        // Nodes have words for it, and no codes. The status explains every other refusal.
        let says = |words: &[&str]| words.iter().any(|word| no.contains(word));
        if is_known(&no) {
            return Ok(SendOutcome::Accepted);
        }
        if says(&["underpriced", "less than block base fee", "fee too low"]) {
            return Ok(SendOutcome::Underpriced);
        }
        if says(&["nonce too low"]) {
            self.note_nonce(transaction)?;
        }
        Ok(SendOutcome::Refused(no))
    }

    /// Notes that the transaction's nonce is used. Not for every transaction that was accepted: a
    /// reorganisation may free its nonce again, and a gap before the next would never be filled.
    pub(crate) fn note_nonce(&mut self, transaction: &SignedTx) -> Result<(), ChainError> {
        let envelope = decode(transaction)?;
        let floor = self.nonce_floors.entry(sender(transaction, &envelope)?);
        let floor = floor.or_default();
        *floor = (*floor).max(envelope.nonce().saturating_add(1));
        Ok(())
    }

    /// Returns its status.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`], [`ChainError::RecordMalformed`].
    pub async fn status(&mut self, transaction: &SignedTx) -> Result<TxStatus, ChainError> {
        let hash = hash(transaction)?;
        if let Some(receipt) = self.node.receipt(hash).await? {
            let envelope = decode(transaction)?;
            let seen = self.seen_nonces.entry(sender(transaction, &envelope)?);
            let seen = seen.or_default();
            *seen = (*seen).max(envelope.nonce());
            return Ok(executed(transaction, &receipt));
        }
        if self.node.knows(hash).await? {
            return self.pending(transaction).await;
        }
        let envelope = decode(transaction)?;
        let mined = self.node.mined_nonce(sender(transaction, &envelope)?);
        if mined.await? <= envelope.nonce() {
            return Ok(TxStatus::Unknown);
        }
        // The nonce is used. It may have been this very transaction, since the first question.
        match self.node.receipt(hash).await? {
            Some(receipt) => Ok(executed(transaction, &receipt)),
            None => self.expired(transaction).await,
        }
    }

    /// Decides about a transaction without a receipt whose nonce is used: by another transaction, if the
    /// node would still show this one. A node that has dropped the receipts of its time says nothing
    /// about it (R36), and it is not signed again: both would have landed. Nor is it while a
    /// reorganisation can take the other one back, after which this one could still land.
    async fn expired(&mut self, transaction: &SignedTx) -> Result<TxStatus, ChainError> {
        let (name, signed_at) = (&transaction.transaction, transaction.signed_at.unwrap_or(0));
        if !self.keeps_receipts_since(signed_at).await? {
            return Ok(TxStatus::Blocked(format!(
                "{name} may have landed: its nonce is used, and the node has shown no receipt since block {signed_at}, when it \
                 was signed. If that stays so, continue with a node that keeps receipts"
            )));
        }
        Ok(if self.is_use_final(name).await? {
            TxStatus::Expired
        } else {
            TxStatus::Blocked(format!(
                "another transaction took the nonce of {name}, in a block that is not final yet: it is signed again when it is"
            ))
        })
    }

    /// Returns whether the block is final that was the latest when the nonce was first seen used.
    async fn is_use_final(&mut self, transaction: &str) -> Result<bool, ChainError> {
        if let Some((block, hash)) = self.used_since.get(transaction).copied()
            && self.node.block_hash(block).await? == Some(hash)
        {
            return self.node.is_final(block, self.confirmations).await;
        }
        let block = self.node.block_number().await?; // or the chain went back behind the one before
        let Some(hash) = self.node.block_hash(block).await? else {
            return Ok(false);
        };
        self.used_since
            .insert(transaction.to_owned(), (block, hash));
        self.node.is_final(block, self.confirmations).await
    }

    /// Returns whether the node has the receipt of the first transaction since the block. Nodes drop the
    /// oldest first, so that it then has all that follow. The search goes on when it is asked again.
    async fn keeps_receipts_since(&mut self, block: u64) -> Result<bool, ChainError> {
        let latest = self.node.block_number().await?;
        let start = self.scanned.get(&block).copied().unwrap_or(block);
        for number in start..=latest.min(start.saturating_add(SCANNED_AT_ONCE)) {
            self.scanned.insert(block, number);
            let Some(transactions) = self.node.transactions_of(number).await? else {
                return Ok(false);
            };
            if let Some(first) = transactions.first() {
                return Ok(self.node.receipt(*first).await?.is_some());
            }
        }
        Ok(false) // as from a node that lags behind: some transaction used the nonce
    }

    /// A pending transaction waits for every lower nonce of its sender. One that the chain does not
    /// have, because a node dropped its transaction or another program took it, blocks all above.
    async fn pending(&self, transaction: &SignedTx) -> Result<TxStatus, ChainError> {
        let envelope = decode(transaction)?;
        let sender = sender(transaction, &envelope)?;
        let next = self.node.next_nonce(sender).await?;
        Ok(if next < envelope.nonce() {
            TxStatus::Blocked(format!(
                "{} has nonce {} and waits for nonce {next} of {sender}, which the chain does not have",
                transaction.transaction,
                envelope.nonce()
            ))
        } else {
            TxStatus::Pending
        })
    }

    /// Returns how final it is. The block's hash says whether the chain was reorganised: an endpoint
    /// with many nodes may ask one that does not have the block, or the receipt, yet.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`], [`ChainError::RecordMalformed`].
    pub async fn finality(&self, landing: &Landing) -> Result<Finality, ChainError> {
        let mut pauses = lag_pauses();
        while !self.is_in_its_block(landing).await? {
            match pauses.next() {
                Some(pause) => sleep(pause).await, // it may be the node that lags
                None => return Ok(Finality::Reorganised),
            }
        }
        if self
            .node
            .is_final(landing.block, self.confirmations)
            .await?
        {
            Ok(Finality::Final)
        } else {
            Ok(Finality::NotYet)
        }
    }

    async fn is_in_its_block(&self, landing: &Landing) -> Result<bool, ChainError> {
        if let Some(recorded) = &landing.block_hash {
            let found = self.node.block_hash(landing.block).await?;
            return Ok(found == Some(parse_hash(recorded)?));
        }
        let receipt = self.node.receipt(parse_hash(&landing.transaction)?).await?;
        Ok(receipt.is_some_and(|receipt| receipt.block_number == Some(landing.block)))
    }
}

/// Signs the transaction, when the latest block is `signed_at`.
///
/// # Errors
/// [`ChainError::NotSigned`].
async fn sign(
    signer: &dyn Signer<Evm>,
    mut transaction: TxEip1559,
    signed_at: u64,
) -> Result<SignedTx, ChainError> {
    let signature = signer.sign(&mut transaction).await?;
    let signed = TxEnvelope::from(transaction.into_signed(signature));
    Ok(SignedTx {
        transaction: signed.tx_hash().to_string(),
        raw: Bytes::from(signed.encoded_2718()).to_string(),
        valid_until: None,
        signed_at: Some(signed_at),
        sent: false,
        failure_cost: None,
    })
}

/// Decodes the raw bytes, whose hash must be the transaction's name.
///
/// # Errors
/// [`ChainError::RecordMalformed`].
pub fn decode(transaction: &SignedTx) -> Result<TxEnvelope, ChainError> {
    let envelope = TxEnvelope::decode_2718_exact(&raw(transaction)?)
        .map_err(|_| transaction.malformed("has raw bytes that are not a transaction"))?;
    if *envelope.tx_hash() == hash(transaction)? {
        Ok(envelope)
    } else {
        Err(transaction.malformed("is not the hash of its raw bytes"))
    }
}

/// A recorded transaction without its signature, to be signed anew by the account that signed it. `None` if it is no
/// EIP-1559 transaction.
fn own_unsigned(
    signer: &dyn Signer<Evm>,
    transaction: &SignedTx,
) -> Result<Option<TxEip1559>, ChainError> {
    let envelope = decode(transaction)?;
    let TxEnvelope::Eip1559(signed) = &envelope else {
        return Ok(None);
    };
    let (found, own) = (sender(transaction, &envelope)?, signer.address());
    if found != own {
        return Err(ChainError::NotSigned {
            signer: own.to_string(),
            reason: format!(
                "transaction {} is signed by {found}",
                transaction.transaction
            ),
        });
    }
    Ok(Some(signed.clone().strip_signature()))
}

/// Recovers who signed it.
pub(crate) fn sender(transaction: &SignedTx, envelope: &TxEnvelope) -> Result<Address, ChainError> {
    let signed = envelope.signature_hash();
    let sender = envelope.signature().recover_address_from_prehash(&signed);
    sender.map_err(|_| transaction.malformed("has a signature that is none"))
}

fn hash(transaction: &SignedTx) -> Result<B256, ChainError> {
    parse_hash(&transaction.transaction)
}

fn parse_hash(text: &str) -> Result<B256, ChainError> {
    text.parse().map_err(|_| ChainError::RecordMalformed {
        transaction: text.to_owned(),
        what: "is not a transaction hash".to_owned(),
    })
}

/// Whether a refusal, in lower case, says that the node has the transaction already.
fn is_known(no: &str) -> bool {
    // "unknown transaction type" is none of these
    let no = no.replace("unknown", "");
    let words = ["already known", "already imported", "known transaction"];
    words.iter().any(|it| no.contains(it))
}

fn raw(transaction: &SignedTx) -> Result<Bytes, ChainError> {
    (transaction.raw.parse()).map_err(|_| transaction.malformed("has raw bytes that are not hex"))
}

fn executed(transaction: &SignedTx, receipt: &TxReceipt) -> TxStatus {
    let block = receipt.block_number.unwrap_or_default();
    let landing = Landing {
        transaction: transaction.transaction.clone(),
        block,
        block_hash: receipt.block_hash.map(|hash| hash.to_string()),
        cost: receipt.fee(),
        refund: Amount::default(),
    };
    if !receipt.status() {
        let gas = receipt.gas_used;
        let reason = format!("reverted in block {block} after {gas} gas");
        return TxStatus::Failed { reason, landing };
    }
    TxStatus::Landed(landing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Blocking, EndpointOptions};
    use alloy::signers::local::PrivateKeySigner;

    #[test]
    fn a_transaction_is_known_only_if_the_node_says_so() {
        for no in [
            "already known",
            "known transaction: 0xab",
            "transaction already imported",
        ] {
            assert!(is_known(no), "{no}");
        }
        for no in ["unknown transaction type", "nonce too low", ""] {
            assert!(!is_known(no), "{no}");
        }
    }

    /// No node is asked: nothing listens there.
    #[test]
    fn another_account_s_transaction_is_not_signed_anew() {
        let key = |byte: u8| PrivateKeySigner::from_bytes(&B256::repeat_byte(byte)).unwrap();
        let (before, present) = (key(1), key(2));
        let transaction = TxEip1559 {
            chain_id: 1,
            nonce: 0,
            gas_limit: 21_000,
            max_fee_per_gas: 1,
            max_priority_fee_per_gas: 1,
            to: TxKind::Call(Address::ZERO),
            value: U256::ZERO,
            access_list: Default::default(),
            input: Bytes::new(),
        };
        Blocking::new().unwrap().wait(async {
            let node = Node::new(&EndpointOptions::new("http://127.0.0.1:1")).unwrap();
            let limit = FeeLimit::default();
            let transactions = Transactions::new(node, 1, limit, Confirmations::Blocks(1));
            let signed = sign(&before, transaction.clone(), 0).await.unwrap();
            let own = own_unsigned(&before, &signed).unwrap();
            assert_eq!(own, Some(transaction));
            for error in [
                transactions.replace(&present, &signed).await.unwrap_err(),
                transactions.resend(&present, &signed).await.unwrap_err(),
            ] {
                let is_refused = matches!(error, ChainError::NotSigned { .. });
                assert!(is_refused, "{error}");
                let text = error.to_string();
                assert!(text.ends_with(&before.address().to_string()), "{text}");
            }
        });
    }
}
