//! Who pays on EVM chains, and what the actors need there.
use super::{Funder, Funding, Gift, LiveFault, Record, Swept, rehearsal};
use crate::{
    backend::{
        Backend, Cost, RunSecret,
        evm::{EvmRevm, Keyring},
    },
    model::{Actor, Verdict},
    scenario::Scenario,
};
use alloy::{
    consensus::Transaction,
    primitives::{Address, B256, U256},
    signers::local::PrivateKeySigner,
};
use concord_chain::{
    Amount, Blocking, ChainError, ChainId, Coin,
    evm::{Client, TRANSFER_GAS, decode, transfer},
};
use std::{collections::BTreeMap, path::Path};

/// A registry may take more gas than it took in the rehearsal: other storage is warm or written.
const GAS_MARGIN_PERCENT: u64 = 150;
/// More than any transaction of a live scenario has.
const TRANSACTION_BYTES: usize = 2_048;

/// What one actor sends in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    pub transactions: u64,
    pub gas: u64,
}

/// What the scenarios cost each actor, found out by playing them in this process. Actors that send
/// nothing are not named.
///
/// # Errors
/// The registries of this build cannot play a scenario.
pub fn rehearse(
    scenarios: &[Scenario],
    registries: &mut EvmRevm,
) -> Result<BTreeMap<Actor, Needs>, LiveFault> {
    let mut needs: BTreeMap<Actor, Needs> = BTreeMap::new();
    rehearsal::rehearse(scenarios, registries, |registries, moment| {
        let observed = registries.execute(&moment.operation, moment.time)?;
        if let (Verdict::Ok, Some(Cost::Gas(gas)), Some(by)) = (
            observed.outcome.verdict,
            observed.cost,
            moment.operation.by(),
        ) {
            let of_actor = needs.entry(by.clone()).or_default();
            of_actor.transactions += 1;
            of_actor.gas = of_actor.gas.saturating_add(gas);
        }
        Ok(())
    })?;
    Ok(needs)
}

/// Wei, from an account with a private key.
pub struct EvmFunder {
    blocking: Blocking,
    client: Client,
    funder: PrivateKeySigner,
    chain: ChainId,
}

impl EvmFunder {
    pub fn new(
        blocking: Blocking,
        client: Client,
        funder: PrivateKeySigner,
        chain: ChainId,
    ) -> Self {
        Self {
            blocking,
            client,
            funder,
            chain,
        }
    }

    /// At today's fees.
    ///
    /// # Errors
    /// The chain does not answer.
    pub fn funding(&self, needs: &BTreeMap<Actor, Needs>) -> Result<Funding, LiveFault> {
        let mut funding = Funding::default();
        // Each gift is a transaction of the funder's, and its return one of the actor's.
        let accounts = needs.len() as u64;
        let giving = TRANSFER_GAS.saturating_mul(accounts);
        funding.total = self.price(giving, accounts)?;
        for (actor, needs) in needs {
            let gas = needs.gas.saturating_mul(GAS_MARGIN_PERCENT) / 100 + TRANSFER_GAS;
            let transactions = needs.transactions + 1;
            let gift = self.price(gas, transactions)?;
            funding.total = funding.total.saturating_add(gift);
            funding.transactions += needs.transactions + 2;
            funding.to.insert(actor.clone(), gift);
        }
        Ok(funding)
    }

    fn price(&self, gas: u64, transactions: u64) -> Result<Amount, ChainError> {
        let price = self.client.price(gas, transactions, TRANSACTION_BYTES);
        self.blocking.wait(price)
    }

    /// What the keys of a run's actors are made from.
    pub fn secret(&self, record: &Record) -> RunSecret {
        let funder = self.funder.to_bytes();
        RunSecret::of_run(funder.as_slice(), &self.chain.to_string(), &record.nonce.0)
    }

    fn keyring(&self, record: &Record) -> Keyring {
        Keyring::Derived(self.secret(record))
    }

    fn balance_of(&self, address: Address) -> Result<Amount, ChainError> {
        let balance = self.client.node().balance(address);
        self.blocking.wait(balance).map(amount)
    }

    /// HARN-58: no gift of the run can land any more. The nonce says so, whichever node has the gift.
    fn settle(&mut self, record: &Record) -> Result<(), ChainError> {
        match record.gifts.iter().map(|gift| gift.ends_with).max() {
            None => Ok(()),
            Some(last) => (self.blocking).wait(self.client.use_nonces(&self.funder, last)),
        }
    }

    fn land(&mut self, hash: B256) -> Result<(), ChainError> {
        self.blocking.wait(self.client.landed(hash)).map(drop)
    }
}

impl Funder for EvmFunder {
    fn coin(&self) -> Coin {
        Coin::ETH
    }

    fn address(&self) -> String {
        self.funder.address().to_string()
    }

    fn balance(&self) -> Result<Amount, LiveFault> {
        Ok(self.balance_of(self.funder.address())?)
    }

    fn fund(
        &mut self,
        record: &mut Record,
        path: &Path,
        funding: &Funding,
    ) -> Result<(), LiveFault> {
        let keys = self.keyring(record);
        let mut sent = Vec::with_capacity(funding.to.len());
        for (actor, gift) in &funding.to {
            let give = transfer(keys.key(actor).address(), U256::from(gift.0));
            let signed = self.blocking.wait(self.client.sign(&self.funder, give))?;
            record.gifts.push(Gift {
                to: actor.clone(),
                transaction: signed.transaction.clone(),
                ends_with: decode(&signed)?.nonce(),
            });
            record.store(path)?;
            sent.push(self.blocking.wait(self.client.send_signed(&signed))?);
        }
        for hash in sent {
            self.land(hash)?;
        }
        Ok(())
    }

    /// An actor pays for its return: what that would cost, or more, stays with it.
    fn sweep(&mut self, record: &Record) -> Swept {
        let keys = self.keyring(record);
        let mut swept = Swept::default();
        if let Err(fault) = self.settle(record) {
            swept.failures.push(format!("a gift: {fault}"));
        }
        let mut sent = Vec::new();
        for actor in &record.actors {
            let key = keys.key(actor);
            let to = self.funder.address();
            match self.blocking.wait(self.client.send_all(&key, to)) {
                Ok(Some((hash, value))) => sent.push((actor, hash, value)),
                Ok(None) => (),
                Err(fault) => swept.failures.push(format!("{actor}: {fault}")),
            }
        }
        for (actor, hash, value) in sent {
            match self.land(hash) {
                Ok(()) => swept.returned = swept.returned.saturating_add(amount(value)),
                Err(fault) => swept.failures.push(format!("{actor}: {fault}")),
            }
        }
        for actor in &record.actors {
            let address = keys.key(actor).address();
            match self.balance_of(address) {
                Ok(left) => swept.left = swept.left.saturating_add(left),
                Err(fault) => swept.failures.push(format!("{actor} ({address}): {fault}")),
            }
        }
        swept
    }
}

fn amount(wei: U256) -> Amount {
    Amount(u128::try_from(wei).unwrap_or(u128::MAX))
}
