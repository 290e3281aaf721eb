use super::{LiveFault, Needs, Record};
use crate::{
    backend::{RunSecret, evm::Keyring},
    model::Actor,
};
use alloy::{
    primitives::{B256, Bytes, U256},
    signers::local::PrivateKeySigner,
};
use concord_deploy::{
    Amount, ChainId, Fault,
    evm::{
        Call,
        client::{Client, TRANSFER_GAS},
    },
};
use std::collections::BTreeMap;

/// A registry may take more gas than it took in the rehearsal: other storage is warm or written.
const GAS_MARGIN_PERCENT: u64 = 150;
/// More than any transaction of a live scenario has.
const TRANSACTION_BYTES: usize = 2_048;

/// Who pays, and what it gives and takes back.
pub struct Purse {
    client: Client,
    funder: PrivateKeySigner,
    chain: ChainId,
}

/// What a run's actors gave back.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Wei.
    pub returned: U256,
    /// Wei that its return would have cost, or more.
    pub left: U256,
    /// What could not be taken back, in words.
    pub failures: Vec<String>,
}

impl Purse {
    pub fn new(client: Client, funder: PrivateKeySigner, chain: ChainId) -> Self {
        Self {
            client,
            funder,
            chain,
        }
    }

    pub fn chain(&self) -> &ChainId {
        &self.chain
    }

    /// What each actor gets, in wei, at today's fees, and what all of it can cost the funder.
    ///
    /// # Errors
    /// The chain does not answer.
    pub fn estimate(
        &self,
        needs: &BTreeMap<Actor, Needs>,
    ) -> Result<(BTreeMap<Actor, Amount>, Amount), LiveFault> {
        let mut gifts = BTreeMap::new();
        // Each gift is a transaction of the funder's, and its return one of the actor's.
        let accounts = needs.len() as u64;
        let giving = TRANSFER_GAS.saturating_mul(accounts);
        let mut total = self.client.price(giving, accounts, TRANSACTION_BYTES)?;
        for (actor, needs) in needs {
            let gas = needs.gas.saturating_mul(GAS_MARGIN_PERCENT) / 100 + TRANSFER_GAS;
            let transactions = needs.transactions + 1;
            let gift = self.client.price(gas, transactions, TRANSACTION_BYTES)?;
            total = total.saturating_add(gift);
            gifts.insert(actor.clone(), gift);
        }
        Ok((gifts, total))
    }

    /// Wei.
    ///
    /// # Errors
    /// The chain does not answer.
    pub fn balance(&self) -> Result<Amount, LiveFault> {
        let balance = self.client.balance(self.funder.address())?;
        Ok(Amount(u128::try_from(balance).unwrap_or(u128::MAX)))
    }

    pub fn secret(&self, nonce: &B256) -> RunSecret {
        RunSecret::of_run(
            self.funder.to_bytes().as_slice(),
            &self.chain.to_string(),
            &nonce.0,
        )
    }

    fn keyring(&self, nonce: &B256) -> Keyring {
        Keyring::Derived(self.secret(nonce))
    }

    /// Gives the actors of a run what they need.
    ///
    /// # Errors
    /// A transaction that does not land.
    pub fn fund(
        &mut self,
        record: &Record,
        gifts: &BTreeMap<Actor, Amount>,
    ) -> Result<(), LiveFault> {
        let keys = self.keyring(&record.nonce);
        let mut sent = Vec::with_capacity(gifts.len());
        for (actor, gift) in gifts {
            let call = Call {
                to: keys.key(actor).address(),
                value: U256::from(gift.0),
                gas: TRANSFER_GAS,
                input: Bytes::new(),
            };
            sent.push(self.client.send(&self.funder, call)?);
        }
        for hash in sent {
            self.land(hash)?;
        }
        Ok(())
    }

    fn land(&mut self, hash: B256) -> Result<(), Fault> {
        match self.client.wait(hash)?.status() {
            true => Ok(()),
            false => Err(Fault::TransactionFailed {
                step: "conform --live".to_owned(),
                reason: format!("{hash} reverted"),
            }),
        }
    }

    /// Takes back what the actors of a run have left. Does what it can: what it cannot is told.
    pub fn sweep(&mut self, record: &Record) -> Swept {
        let keys = self.keyring(&record.nonce);
        let mut swept = Swept::default();
        let mut sent = Vec::new();
        for actor in &record.actors {
            let key = keys.key(actor);
            match self.client.send_all(&key, self.funder.address()) {
                Ok(Some((hash, value))) => sent.push((actor, hash, value)),
                Ok(None) => (),
                Err(fault) => swept.failures.push(format!("{actor}: {fault}")),
            }
        }
        for (actor, hash, value) in sent {
            match self.land(hash) {
                Ok(()) => swept.returned += value,
                Err(fault) => swept.failures.push(format!("{actor}: {fault}")),
            }
        }
        for actor in &record.actors {
            let address = keys.key(actor).address();
            match self.client.balance(address) {
                Ok(left) => swept.left += left,
                Err(fault) => swept.failures.push(format!("{actor} ({address}): {fault}")),
            }
        }
        swept
    }
}
