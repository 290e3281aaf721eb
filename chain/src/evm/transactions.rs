use super::{FeeLimit, Fees, Node};
use crate::{
    Amount, ChainError, Evm, Signer,
    submission::{Finality, Landing, SendOutcome, SignedTx, TxStatus},
};
use alloy::{
    consensus::{SignableTransaction, Transaction, TxEip1559, TxEnvelope},
    eips::{Decodable2718, Encodable2718},
    primitives::{Address, B256, Bytes, TxKind, U256},
    rpc::types::TransactionReceipt,
};
use std::{cmp::max, collections::HashMap};

/// What a transaction does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub to: Address,
    /// Wei.
    pub value: U256,
    /// Its gas limit.
    pub gas: u64,
    pub input: Bytes,
}

/// The life of EIP-1559 transactions on one chain: signed, replaced, sent, found again.
#[derive(Debug)]
pub struct Transactions {
    node: Node,
    chain_id: u64,
    fee_limit: FeeLimit,
    /// Blocks, the transaction's own among them, before it is final.
    confirmations: u64,
    /// By sender: no nonce below is free, whatever a node that lags behind says.
    nonce_floors: HashMap<Address, u64>,
}

impl Transactions {
    /// Transactions on the node's chain.
    #[must_use]
    pub fn new(node: Node, chain_id: u64, fee_limit: FeeLimit, confirmations: u64) -> Self {
        Self {
            node,
            chain_id,
            fee_limit,
            confirmations: confirmations.max(1),
            nonce_floors: HashMap::new(),
        }
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
        call: Call,
        fees: Fees,
    ) -> Result<SignedTx, ChainError> {
        let from = signer.address();
        let floor = self.nonce_floors.get(&from).copied().unwrap_or(0);
        let transaction = TxEip1559 {
            chain_id: self.chain_id,
            nonce: max(floor, self.node.next_nonce(from).await?),
            gas_limit: call.gas,
            max_fee_per_gas: fees.max,
            max_priority_fee_per_gas: fees.priority,
            to: TxKind::Call(call.to),
            value: call.value,
            access_list: Default::default(),
            input: call.input,
        };
        sign(signer, transaction).await
    }

    /// Signs the same transaction at a higher fee. It has the same nonce, so only one of the two can
    /// land. `None` if the fee limit is reached, or it is no EIP-1559 transaction.
    ///
    /// # Errors
    /// [`ChainError::FeeAboveLimit`], [`ChainError::Unreachable`], [`ChainError::NotSigned`].
    pub async fn replace(
        &self,
        signer: &dyn Signer<Evm>,
        transaction: &SignedTx,
    ) -> Result<Option<SignedTx>, ChainError> {
        let TxEnvelope::Eip1559(signed) = decode(transaction)? else {
            return Ok(None);
        };
        let mut transaction = signed.strip_signature();
        let before = Fees {
            max: transaction.max_fee_per_gas,
            priority: transaction.max_priority_fee_per_gas,
        };
        let raised = Fees::above(before, self.fees().await?);
        if !self.fee_limit.allows(raised.max) {
            return Ok(None);
        }
        transaction.max_fee_per_gas = raised.max;
        transaction.max_priority_fee_per_gas = raised.priority;
        sign(signer, transaction).await.map(Some)
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
        if says(&["already known", "already imported", "known transaction"]) {
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

    /// Returns what became of it.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`], [`ChainError::RecordMalformed`].
    pub async fn status(&self, transaction: &SignedTx) -> Result<TxStatus, ChainError> {
        let hash = hash(transaction)?;
        if let Some(receipt) = self.node.receipt(hash).await? {
            return Ok(executed(transaction, &receipt));
        }
        if self.node.knows(hash).await? {
            return Ok(TxStatus::Pending);
        }
        let envelope = decode(transaction)?;
        let mined = self.node.mined_nonce(sender(transaction, &envelope)?);
        if mined.await? <= envelope.nonce() {
            return Ok(TxStatus::Unknown);
        }
        // The nonce is used. It may have been this very transaction, since the first question.
        match self.node.receipt(hash).await? {
            Some(receipt) => Ok(executed(transaction, &receipt)),
            None => Ok(TxStatus::Expired),
        }
    }

    /// Returns how final it is.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`], [`ChainError::RecordMalformed`].
    pub async fn finality(&self, landing: &Landing) -> Result<Finality, ChainError> {
        let hash = parse_hash(&landing.transaction)?;
        let Some(receipt) = self.node.receipt(hash).await? else {
            return Ok(Finality::Reorganised);
        };
        if receipt.block_number != Some(landing.block) {
            return Ok(Finality::Reorganised);
        }
        let last = landing.block.saturating_add(self.confirmations - 1);
        match self.node.block_number().await? >= last {
            true => Ok(Finality::Final),
            false => Ok(Finality::NotYet),
        }
    }
}

/// Signs the transaction.
///
/// # Errors
/// [`ChainError::NotSigned`].
pub async fn sign(
    signer: &dyn Signer<Evm>,
    mut transaction: TxEip1559,
) -> Result<SignedTx, ChainError> {
    let signature = signer.sign(&mut transaction).await?;
    let signed = TxEnvelope::from(transaction.into_signed(signature));
    Ok(SignedTx {
        transaction: signed.tx_hash().to_string(),
        raw: Bytes::from(signed.encoded_2718()).to_string(),
        valid_until: None,
        sent: false,
    })
}

/// Decodes the raw bytes, whose hash must be the transaction's name.
///
/// # Errors
/// [`ChainError::RecordMalformed`].
pub fn decode(transaction: &SignedTx) -> Result<TxEnvelope, ChainError> {
    let envelope = TxEnvelope::decode_2718_exact(&raw(transaction)?)
        .map_err(|_| transaction.malformed("has raw bytes that are no transaction"))?;
    match *envelope.tx_hash() == hash(transaction)? {
        true => Ok(envelope),
        false => Err(transaction.malformed("is not the hash of its raw bytes")),
    }
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
        what: "is no transaction hash".to_owned(),
    })
}

fn raw(transaction: &SignedTx) -> Result<Bytes, ChainError> {
    (transaction.raw.parse()).map_err(|_| transaction.malformed("has raw bytes that are no hex"))
}

fn executed(transaction: &SignedTx, receipt: &TransactionReceipt) -> TxStatus {
    let block = receipt.block_number.unwrap_or_default();
    if !receipt.status() {
        return TxStatus::Failed(format!(
            "reverted in block {block} after {} gas",
            receipt.gas_used
        ));
    }
    TxStatus::Landed(Landing {
        transaction: transaction.transaction.clone(),
        block,
        cost: Amount(
            receipt
                .effective_gas_price
                .saturating_mul(receipt.gas_used.into()),
        ),
    })
}
