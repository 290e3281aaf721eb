//! Who pays on Solana, and what the actors need there.
use super::{Funder, Funding, Gift, LiveFault, Record, Swept, rehearsal};
use crate::{
    backend::{
        Backend, RunSecret,
        svm::{Keyring, SvmLitesvm},
    },
    model::{Actor, Verdict},
    scenario::Scenario,
};
use concord_chain::{
    Amount, Blocking, ChainError, ChainId, Coin, Signer, Svm,
    svm::{self, Cluster, RecentBlockhash, Signed, sign, wait},
};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer as _;
use solana_system_interface::instruction as system;
use std::{collections::BTreeMap, path::Path, time::Duration};

/// Lamports that each actor has beside what it spends. What is refused is simulated as if its
/// caller paid, and opens accounts before it is refused; and an account that holds anything must
/// keep its own rent.
const AT_HAND: u64 = 20_000_000;
/// Lamports for each signature of a transaction without a priority fee.
const SIGNATURE_FEE: u64 = 5_000;
/// Of a gift, the funder's; of its return, the funder's and the actor's.
const SIGNATURES_OF_AN_ACCOUNT: u64 = 3;

/// What one actor does in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    pub transactions: u64,
    /// Lamports, for fees and rent.
    pub spent: u64,
}

/// What the scenarios cost each actor, found out by playing them in this process. Whoever does
/// nothing, not even what is refused, is not named.
///
/// # Errors
/// The program of this build cannot play a scenario.
pub fn rehearse(
    scenarios: &[Scenario],
    registry: &mut SvmLitesvm,
) -> Result<BTreeMap<Actor, Needs>, LiveFault> {
    let mut needs: BTreeMap<Actor, Needs> = BTreeMap::new();
    rehearsal::rehearse(scenarios, registry, |registry, moment| {
        let Some(by) = moment.operation.by() else {
            return Ok(());
        };
        let before = registry.lamports(by)?;
        let observed = registry.execute(&moment.operation, moment.time)?;
        let of_actor = needs.entry(by.clone()).or_default();
        if observed.outcome.verdict == Verdict::Ok {
            of_actor.transactions += 1;
            of_actor.spent += before.saturating_sub(registry.lamports(by)?);
        }
        Ok(())
    })?;
    Ok(needs)
}

/// Lamports, from an account with a keypair.
pub struct SvmFunder {
    blocking: Blocking,
    cluster: Cluster,
    funder: Keypair,
    chain: ChainId,
    /// For each transaction.
    patience: Duration,
}

impl SvmFunder {
    pub fn new(
        blocking: Blocking,
        cluster: Cluster,
        funder: Keypair,
        chain: ChainId,
        patience: Duration,
    ) -> Self {
        Self {
            blocking,
            cluster,
            funder,
            chain,
            patience,
        }
    }

    pub fn address(&self) -> Address {
        self.funder.pubkey()
    }

    pub fn funding(needs: &BTreeMap<Actor, Needs>) -> Funding {
        let mut funding = Funding::default();
        for (actor, needs) in needs {
            let gift = Amount(needs.spent.saturating_add(AT_HAND).into());
            let fees = Amount((SIGNATURE_FEE * SIGNATURES_OF_AN_ACCOUNT).into());
            funding.total = funding.total.saturating_add(gift).saturating_add(fees);
            funding.transactions += needs.transactions + 2;
            funding.to.insert(actor.clone(), gift);
        }
        funding
    }

    /// What the keys of a run's actors are made from.
    pub fn secret(&self, record: &Record) -> RunSecret {
        let secret = self.funder.secret_bytes();
        RunSecret::of_run(secret, &self.chain.to_string(), &record.nonce.0)
    }

    fn keyring(&self, record: &Record) -> Keyring {
        Keyring::of_run(self.secret(record))
    }

    fn land(&self, transaction: &Signed) -> Result<(), ChainError> {
        let landed = wait(&self.cluster, transaction, self.patience);
        let landed = self.blocking.wait(landed)?;
        if landed.meta.err.is_null() {
            Ok(())
        } else {
            Err(ChainError::TransactionFailed {
                job: "conform --live".to_owned(),
                reason: format!("{} failed: {}", transaction.signature, landed.meta.err),
            })
        }
    }

    /// HARN-58: no gift of the run can land any more, and accounts have them from this slot on.
    fn settle(&self, record: &Record) -> Result<Option<u64>, ChainError> {
        let gifts = record.gifts.iter();
        let gifts: Vec<_> = gifts.map(|it| (&*it.transaction, it.ends_with)).collect();
        if gifts.is_empty() {
            return Ok(None);
        }
        let settled = svm::settle(&self.cluster, &gifts, self.patience);
        self.blocking.wait(settled).map(Some)
    }

    /// The funder pays the fee, so that nothing is left. `None` if there is nothing, which no node says that has not
    /// reached the slot `since`.
    fn send_all(
        &self,
        key: &Keypair,
        since: Option<u64>,
        recent: &RecentBlockhash,
    ) -> Result<Option<(Signed, u64)>, ChainError> {
        let address = key.pubkey();
        let lamports = self.cluster.balance_since(&address, since);
        let lamports = self.blocking.wait(lamports)?;
        if lamports == 0 {
            return Ok(None);
        }
        let give = system::transfer(&address, &self.address(), lamports);
        let signers: [&dyn Signer<Svm>; 2] = [&self.funder, key];
        let transaction = self.blocking.wait(sign(&[give], &signers, recent))?;
        self.blocking.wait(svm::send(&self.cluster, &transaction))?;
        Ok(Some((transaction, lamports)))
    }
}

impl Funder for SvmFunder {
    fn coin(&self) -> Coin {
        Coin::SOL
    }

    fn address(&self) -> String {
        self.address().to_string()
    }

    fn balance(&self) -> Result<Amount, LiveFault> {
        let balance = self.blocking.wait(self.cluster.balance(&self.address()))?;
        Ok(Amount(balance.into()))
    }

    fn fund(
        &mut self,
        record: &mut Record,
        path: &Path,
        funding: &Funding,
    ) -> Result<(), LiveFault> {
        let keys = self.keyring(record);
        let recent = self.blocking.wait(self.cluster.recent_blockhash())?;
        let mut sent = Vec::with_capacity(funding.to.len());
        for (actor, gift) in &funding.to {
            let lamports = u64::try_from(gift.0).unwrap_or(u64::MAX);
            let give = system::transfer(&self.address(), &keys.actor(actor), lamports);
            let transaction = self
                .blocking
                .wait(sign(&[give], &[&self.funder], &recent))?;
            record.gifts.push(Gift {
                to: actor.clone(),
                transaction: transaction.signature.clone(),
                ends_with: recent.valid_until,
            });
            record.store(path)?;
            self.blocking.wait(svm::send(&self.cluster, &transaction))?;
            sent.push(transaction);
        }
        for transaction in sent {
            self.land(&transaction)?;
        }
        Ok(())
    }

    fn sweep(&mut self, record: &Record) -> Swept {
        let keys = self.keyring(record);
        let mut swept = Swept::default();
        let settled = self.settle(record).unwrap_or_else(|fault| {
            swept.failures.push(format!("a gift: {fault}"));
            None
        });
        let mut sent = Vec::new();
        let recent = match self.blocking.wait(self.cluster.recent_blockhash()) {
            Ok(recent) => recent,
            Err(fault) => {
                swept.failures.push(fault.to_string());
                return swept;
            }
        };
        for actor in &record.actors {
            match self.send_all(&keys.actor_key(actor), settled, &recent) {
                Ok(Some((transaction, lamports))) => sent.push((actor, transaction, lamports)),
                Ok(None) => (),
                Err(fault) => swept.failures.push(format!("{actor}: {fault}")),
            }
        }
        for (actor, transaction, lamports) in sent {
            let lamports = Amount(lamports.into());
            match self.land(&transaction) {
                Ok(()) => swept.returned = swept.returned.saturating_add(lamports),
                Err(fault) => {
                    swept.left = swept.left.saturating_add(lamports);
                    swept.failures.push(format!("{actor}: {fault}"));
                }
            }
        }
        swept
    }
}
