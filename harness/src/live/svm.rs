//! Who pays on Solana, what the actors need there, and how they give it back.
use super::{LiveFault, Record};
use crate::{
    backend::{
        Backend, RunSecret,
        svm::{Keyring, SvmLitesvm},
    },
    model::{Actor, Verdict},
    scenario::Scenario,
};
use concord_deploy::{
    Amount, ChainId, Fault,
    svm::{
        Signed,
        cluster::{Cluster, RecentBlockhash},
        hand_over, signed, wait,
    },
};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use std::{collections::BTreeMap, time::Duration};

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
    for scenario in scenarios {
        let at_fault = |fault| LiveFault::Rehearsal {
            scenario: scenario.name.clone(),
            fault,
        };
        registry
            .reset(scenario.start, &scenario.actors)
            .map_err(at_fault)?;
        for moment in &scenario.moments {
            let Some(by) = moment.operation.by() else {
                continue;
            };
            if !registry.supports(&moment.operation) {
                continue;
            }
            let before = registry.lamports(by).map_err(at_fault)?;
            let observed = registry
                .execute(&moment.operation, moment.time)
                .map_err(at_fault)?;
            let of_actor = needs.entry(by.clone()).or_default();
            if observed.outcome.verdict == Verdict::Ok {
                let after = registry.lamports(by).map_err(at_fault)?;
                of_actor.transactions += 1;
                of_actor.spent += before.saturating_sub(after);
            }
        }
    }
    Ok(needs)
}

/// Who pays, and what it gives and takes back.
pub struct Purse {
    cluster: Cluster,
    funder: Keypair,
    chain: ChainId,
    /// For each transaction.
    patience: Duration,
}

/// What a run's actors gave back.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Lamports.
    pub returned: u64,
    /// What could not be taken back, in words.
    pub failures: Vec<String>,
}

impl Purse {
    pub fn new(cluster: Cluster, funder: Keypair, chain: ChainId, patience: Duration) -> Self {
        Self {
            cluster,
            funder,
            chain,
            patience,
        }
    }

    pub fn chain(&self) -> &ChainId {
        &self.chain
    }

    pub fn funder(&self) -> Address {
        self.funder.pubkey()
    }

    /// What each actor gets, in lamports, and what all of it can cost the funder.
    pub fn estimate(needs: &BTreeMap<Actor, Needs>) -> (BTreeMap<Actor, u64>, Amount) {
        let gift = |needs: &Needs| needs.spent.saturating_add(AT_HAND);
        let gifts: BTreeMap<_, _> = needs
            .iter()
            .map(|(actor, needs)| (actor.clone(), gift(needs)))
            .collect();
        let fees = SIGNATURE_FEE * SIGNATURES_OF_AN_ACCOUNT * gifts.len() as u64;
        let given = gifts.values().map(|gift| u128::from(*gift)).sum::<u128>();
        (gifts, Amount(given + u128::from(fees)))
    }

    /// Lamports.
    ///
    /// # Errors
    /// The cluster does not answer.
    pub fn balance(&self) -> Result<Amount, LiveFault> {
        Ok(Amount(self.cluster.balance(&self.funder())?.into()))
    }

    /// Of the run that `nonce` names.
    pub fn secret(&self, record: &Record) -> RunSecret {
        let secret = self.funder.secret_bytes();
        RunSecret::of_run(secret, &self.chain.to_string(), &record.nonce.0)
    }

    fn keyring(&self, record: &Record) -> Keyring {
        Keyring::of_run(self.secret(record))
    }

    /// Gives the actors of a run what they need.
    ///
    /// # Errors
    /// A transaction that does not land.
    pub fn fund(&self, record: &Record, gifts: &BTreeMap<Actor, u64>) -> Result<(), LiveFault> {
        let keys = self.keyring(record);
        let recent = self.cluster.recent_blockhash()?;
        let mut sent = Vec::with_capacity(gifts.len());
        for (actor, gift) in gifts {
            let give = system::transfer(&self.funder(), &keys.actor(actor), *gift);
            let transaction = signed(&[give], &[&self.funder], &recent);
            hand_over(&self.cluster, &transaction)?;
            sent.push(transaction);
        }
        for transaction in sent {
            self.land(&transaction)?;
        }
        Ok(())
    }

    fn land(&self, transaction: &Signed) -> Result<(), Fault> {
        let carried = wait(&self.cluster, transaction, self.patience)?;
        match carried.meta.err.is_null() {
            true => Ok(()),
            false => Err(Fault::TransactionFailed {
                step: "conform --live".to_owned(),
                reason: format!("{} failed: {}", transaction.signature, carried.meta.err),
            }),
        }
    }

    /// Takes back all that the actors of a run have left. Does what it can: what it cannot is told.
    pub fn sweep(&self, record: &Record) -> Swept {
        let keys = self.keyring(record);
        let mut swept = Swept::default();
        let mut sent = Vec::new();
        let recent = match self.cluster.recent_blockhash() {
            Ok(recent) => recent,
            Err(fault) => {
                swept.failures.push(fault.to_string());
                return swept;
            }
        };
        for actor in &record.actors {
            match self.send_all(&keys.actor_key(actor), &recent) {
                Ok(Some((transaction, lamports))) => sent.push((actor, transaction, lamports)),
                Ok(None) => (),
                Err(fault) => swept.failures.push(format!("{actor}: {fault}")),
            }
        }
        for (actor, transaction, lamports) in sent {
            match self.land(&transaction) {
                Ok(()) => swept.returned += lamports,
                Err(fault) => swept.failures.push(format!("{actor}: {fault}")),
            }
        }
        swept
    }

    /// The funder pays the fee, so that nothing is left. `None` where there is nothing.
    fn send_all(
        &self,
        key: &Keypair,
        recent: &RecentBlockhash,
    ) -> Result<Option<(Signed, u64)>, Fault> {
        let lamports = self.cluster.balance(&key.pubkey())?;
        if lamports == 0 {
            return Ok(None);
        }
        let give = system::transfer(&key.pubkey(), &self.funder(), lamports);
        let transaction = signed(&[give], &[&self.funder, key], recent);
        hand_over(&self.cluster, &transaction)?;
        Ok(Some((transaction, lamports)))
    }
}
