use super::{
    EvmTarget, create2,
    fees::Fees,
    planning::{PROXY, PROXY_FUNDS, TRANSFER_GAS},
};
use crate::{Amount, Answer, Attempt, Depth, Fate, Fault, Landing, Step};
use alloy::{
    consensus::{SignableTransaction, Transaction, TxEip1559, TxEnvelope},
    eips::{Decodable2718, Encodable2718},
    network::TxSignerSync,
    primitives::{Address, B256, Bytes, TxKind, U256},
    rpc::types::TransactionReceipt,
    signers::local::PrivateKeySigner,
};

impl EvmTarget {
    pub(super) fn sign_step(&mut self, step: &Step) -> Result<Attempt, Fault> {
        let from = self.key()?.address();
        let (to, value, gas, input) = match (&*step.id, self.contract(step)) {
            (PROXY, _) => return Ok(presigned()),
            (_, Some(contract)) => {
                let gas = self.simulate_creation(contract, from)?;
                let input = create2::call(contract.salt, &contract.creation_code);
                (create2::PROXY, U256::ZERO, gas, input)
            }
            (PROXY_FUNDS, _) => {
                let balance = self.node.balance(create2::PROXY_SIGNER)?;
                let value = create2::missing_funds(balance);
                (create2::PROXY_SIGNER, value, TRANSFER_GAS, Bytes::new())
            }
            (other, _) => unreachable!("a plan of this target has no step {other}"),
        };
        let fees = Fees::current(&self.node, self.fee_limit)?;
        let nonce = self.node.next_nonce(from)?.max(self.nonce_floor);
        let transaction = TxEip1559 {
            chain_id: self.chain_id,
            nonce,
            gas_limit: gas,
            max_fee_per_gas: fees.max,
            max_priority_fee_per_gas: fees.priority,
            to: TxKind::Call(to),
            value,
            access_list: Default::default(),
            input,
        };
        sign(self.key()?, transaction)
    }

    pub(super) fn require_own_transaction(
        &self,
        step: &Step,
        attempt: &Attempt,
    ) -> Result<(), Fault> {
        let envelope = decode(attempt)?;
        let not_ours = |what: &str| Err(malformed(&attempt.transaction, what));
        if *envelope.tx_hash() != hash(&attempt.transaction)? {
            return not_ours("is not the hash of its raw bytes");
        }
        let (to, most, input) = match (&*step.id, self.contract(step)) {
            (PROXY, _) if *envelope.tx_hash() == create2::PROXY_TRANSACTION_HASH => return Ok(()),
            (PROXY_FUNDS, _) => {
                let most = U256::from(create2::PROXY_COST);
                (create2::PROXY_SIGNER, most, Bytes::new())
            }
            (_, Some(contract)) => {
                let input = create2::call(contract.salt, &contract.creation_code);
                (create2::PROXY, U256::ZERO, input)
            }
            _ => return not_ours("is not what the step sends"),
        };
        let is_the_step_s = envelope.to() == Some(to)
            && *envelope.input() == input
            && envelope.value() <= most
            && envelope.chain_id() == Some(self.chain_id);
        if !is_the_step_s {
            return not_ours("is not what the step sends");
        }
        let signed = envelope.signature_hash();
        match envelope.signature().recover_address_from_prehash(&signed) {
            Ok(signer) if signer == self.deployer()? => Ok(()),
            _ => not_ours("is not signed by the deployer"),
        }
    }

    /// The same nonce: only one of the two can land.
    pub(super) fn raise_fee(&self, attempt: &Attempt) -> Result<Option<Attempt>, Fault> {
        let TxEnvelope::Eip1559(signed) = decode(attempt)? else {
            return Ok(None); // the proxy's transaction cannot be changed
        };
        let mut transaction = signed.strip_signature();
        let before = Fees {
            max: transaction.max_fee_per_gas,
            priority: transaction.max_priority_fee_per_gas,
        };
        let raised = Fees::above(before, Fees::current(&self.node, self.fee_limit)?);
        if !self.fee_limit.allows(raised.max) {
            return Ok(None);
        }
        transaction.max_fee_per_gas = raised.max;
        transaction.max_priority_fee_per_gas = raised.priority;
        sign(self.key()?, transaction).map(Some)
    }

    pub(super) fn send_raw(&mut self, attempt: &Attempt) -> Result<Answer, Fault> {
        let no = match self.node.send(&raw(attempt)?)? {
            Ok(_) => return Ok(Answer::Accepted),
            Err(no) => no.message.to_lowercase(),
        };
        // Nodes have words for it, and no codes. What none of these is, the fate will explain.
        let says = |words: &[&str]| words.iter().any(|word| no.contains(word));
        if says(&["already known", "already imported", "known transaction"]) {
            return Ok(Answer::Accepted);
        }
        if says(&["underpriced", "less than block base fee", "fee too low"]) {
            return Ok(Answer::Underpriced);
        }
        if says(&["nonce too low"]) && sender(self, attempt)? != create2::PROXY_SIGNER {
            self.nonce_floor = self.nonce_floor.max(decode(attempt)?.nonce() + 1);
        }
        Ok(Answer::Refused(no))
    }

    pub(super) fn fate_of(&mut self, attempt: &Attempt) -> Result<Fate, Fault> {
        let hash = hash(&attempt.transaction)?;
        if let Some(receipt) = self.node.receipt(hash)? {
            return Ok(carried_out(attempt, &receipt));
        }
        if self.node.knows(hash)? {
            return Ok(Fate::Pending);
        }
        let mined = self.node.mined_nonce(sender(self, attempt)?)?;
        if mined <= decode(attempt)?.nonce() {
            return Ok(Fate::Unknown);
        }
        // The nonce is used. It may have been this very transaction, since the first question.
        match self.node.receipt(hash)? {
            Some(receipt) => Ok(carried_out(attempt, &receipt)),
            None => Ok(Fate::Expired),
        }
    }

    pub(super) fn depth_of(&self, landing: &Landing) -> Result<Depth, Fault> {
        let Some(receipt) = self.node.receipt(hash(&landing.transaction)?)? else {
            return Ok(Depth::Gone);
        };
        if receipt.block_number != Some(landing.block) {
            return Ok(Depth::Gone);
        }
        let last = landing.block.saturating_add(self.confirmations - 1);
        match self.node.block_number()? >= last {
            true => Ok(Depth::Final),
            false => Ok(Depth::Shallow),
        }
    }
}

/// The transaction with this key's signature.
pub(super) fn sign(key: &PrivateKeySigner, mut transaction: TxEip1559) -> Result<Attempt, Fault> {
    let signature = key
        .sign_transaction_sync(&mut transaction)
        .map_err(|fault| Fault::KeyUnreadable {
            source_name: "signing".to_owned(),
            reason: fault.to_string(),
        })?;
    let signed = TxEnvelope::from(transaction.into_signed(signature));
    Ok(Attempt {
        transaction: signed.tx_hash().to_string(),
        raw: Bytes::from(signed.encoded_2718()).to_string(),
        valid_until: None,
        sent: false,
    })
}

fn carried_out(attempt: &Attempt, receipt: &TransactionReceipt) -> Fate {
    let block = receipt.block_number.unwrap_or_default();
    if !receipt.status() {
        return Fate::Failed(format!(
            "reverted in block {block} after {} gas",
            receipt.gas_used
        ));
    }
    Fate::Landed(Landing {
        transaction: attempt.transaction.clone(),
        block,
        cost: Amount(
            receipt
                .effective_gas_price
                .saturating_mul(receipt.gas_used.into()),
        ),
    })
}

fn presigned() -> Attempt {
    Attempt {
        transaction: create2::PROXY_TRANSACTION_HASH.to_string(),
        raw: create2::PROXY_TRANSACTION.to_string(),
        valid_until: None,
        sent: false,
    }
}

fn sender(target: &EvmTarget, attempt: &Attempt) -> Result<Address, Fault> {
    match hash(&attempt.transaction)? == create2::PROXY_TRANSACTION_HASH {
        true => Ok(create2::PROXY_SIGNER),
        false => target.deployer(),
    }
}

fn hash(text: &str) -> Result<B256, Fault> {
    text.parse()
        .map_err(|_| malformed(text, "is no transaction hash"))
}

fn raw(attempt: &Attempt) -> Result<Bytes, Fault> {
    (attempt.raw.parse())
        .map_err(|_| malformed(&attempt.transaction, "has raw bytes that are no hex"))
}

fn decode(attempt: &Attempt) -> Result<TxEnvelope, Fault> {
    TxEnvelope::decode_2718_exact(&raw(attempt)?).map_err(|_| {
        malformed(
            &attempt.transaction,
            "has raw bytes that are no transaction",
        )
    })
}

fn malformed(value: &str, what: &str) -> Fault {
    Fault::RecordMalformed {
        transaction: value.to_owned(),
        what: what.to_owned(),
    }
}
