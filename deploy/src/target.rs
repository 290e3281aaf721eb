use crate::{Amount, ChainId, Check, Deployment, Fault, Plan, Smoke, Standing, Step};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::Path, time::Duration};

/// One chain with one deployer and one set of sources: what a deployment is carried out on. Calls
/// block. Nothing but [`Target::send`] changes the chain, and every answer is read from it anew.
///
/// A target repeats reads that fail for passing reasons (time-outs, rate limits) by itself; what it
/// gives up on is [`Fault::Unreachable`], after which a run can be resumed.
pub trait Target {
    fn chain(&self) -> &ChainId;

    /// The steps, what stands already, and what the rest would cost, simulated.
    ///
    /// # Errors
    /// Every reason not to deploy that can be known beforehand: foreign code at an address, the
    /// wrong chain, a rule such as R6.
    fn plan(&mut self) -> Result<Plan, Fault>;

    /// # Errors
    /// A key is missing that a step of the plan needs beside the deployer's.
    fn require_keys(&self, _plan: &Plan) -> Result<(), Fault> {
        Ok(())
    }

    /// The choices that the addresses depend on, kept in the run file so that a resumed run makes
    /// the same ones.
    fn settings(&self) -> Settings;

    /// A hash of what is deployed, where the addresses do not say it: a resumed run must deploy the
    /// same.
    fn build(&self) -> Option<String> {
        None
    }

    /// Is this transaction, read from the run file, what the step sends, from the deployer? Whoever
    /// can write there must not choose what is sent, or signed anew at a higher fee.
    ///
    /// # Errors
    /// [`Fault::RecordMalformed`].
    fn require_own(&mut self, step: &Step, attempt: &Attempt) -> Result<(), Fault>;

    /// The program that nobody can change any more once every step stands, where that is chosen.
    fn final_for(&self) -> Option<String> {
        None
    }

    /// Whether what each step makes stands there now, in the same order.
    ///
    /// # Errors
    /// [`Fault::ForeignCode`] and its like where something else stands there.
    fn standing(&mut self, steps: &[&Step]) -> Result<Vec<bool>, Fault>;

    /// A signed transaction for the step that does not replace an earlier one. `expired` earlier
    /// ones can never land.
    fn sign(&mut self, step: &Step, expired: usize) -> Result<Attempt, Fault>;

    /// The same transaction at a higher fee, of which only one can land. `None` where the chain
    /// has no such thing, or the fee has reached its limit.
    fn outbid(&mut self, step: &Step, attempt: &Attempt) -> Result<Option<Attempt>, Fault>;

    /// Hands the transaction to the chain. May be called again for the same one.
    fn send(&mut self, attempt: &Attempt) -> Result<Answer, Fault>;

    /// What became of each, in the same order.
    fn fates(&mut self, attempts: &[Attempt]) -> Result<Vec<Fate>, Fault>;

    /// How deep the chain has buried each, in the same order.
    fn depths(&mut self, landings: &[Landing]) -> Result<Vec<Depth>, Fault>;

    /// What the address book should say once every step stands, with the transactions where known.
    fn deployment(&mut self, landings: &BTreeMap<String, Landing>) -> Result<Deployment, Fault>;

    /// What stands on chain against the local build and the deployment on record.
    fn verify(&mut self, recorded: &Deployment) -> Result<Vec<Check>, Fault>;

    /// Where each contract is on record, where the build would put it, and what stands there.
    fn status(&mut self, recorded: Option<&Deployment>) -> Result<Vec<Standing>, Fault>;

    /// Registers one agent, gives it one authorized feedback and reads the summary, once `confirm`
    /// lets it send so many transactions.
    fn smoke(
        &mut self,
        recorded: &Deployment,
        patience: Duration,
        confirm: &mut dyn FnMut(usize) -> Result<(), Fault>,
    ) -> Result<Smoke, Fault>;

    /// Writes into the folder what an explorer needs to show the sources, and returns the commands
    /// that send it there.
    fn publish(&mut self, folder: &Path) -> Result<Vec<String>, Fault>;
}

/// The choices behind a deployment: text or a flag, by name.
pub type Settings = BTreeMap<String, Setting>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    Flag(bool),
    Text(String),
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flag(flag) => flag.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// A signed transaction of a step. Nothing in it is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Attempt {
    /// Its name on the chain: a hash (EVM) or the first signature (Solana).
    pub transaction: String,
    /// Its bytes: hex with `0x` (EVM) or base64 (Solana), as the chain's JSON-RPC takes them.
    pub raw: String,
    /// Solana: the last block height at which it can land. EVM has the nonce in the bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<u64>,
    /// Whether the chain's answer to sending it has been seen. False does not mean that the chain
    /// has not seen it.
    pub sent: bool,
}

/// The chain's answer to a transaction sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Taken, now or before.
    Accepted,
    /// Not taken at this fee.
    Underpriced,
    /// Not taken, for a reason that the fate of the step's transactions will explain: a nonce that
    /// was used, a block hash that is too old.
    Refused(String),
}

/// What became of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The chain knows it and has not carried it out.
    Pending,
    /// The chain does not know it, and could still carry it out: send it again.
    Unknown,
    /// It can never be carried out.
    Expired,
    Landed(Landing),
    /// It was carried out and failed: nothing was changed but the fee paid.
    Failed(String),
}

/// How sure it is that a transaction stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// So much has been built on it that it is not expected to go away.
    Final,
    Shallow,
    /// It is not in the chain (any more), or in another block than was recorded.
    Gone,
}

/// A transaction that was carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Landing {
    pub transaction: String,
    /// Block number (EVM) or slot (Solana).
    pub block: u64,
    /// What it cost, fees and rent together.
    pub cost: Amount,
}
