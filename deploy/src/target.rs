use crate::{Check, DeployError, Deployment, Plan, StatusRow, Step};
use async_trait::async_trait;
use concord_chain::{
    ChainId,
    submission::{Landing, SignedTx, TxChain},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::Path};

/// One chain with one deployer and one set of sources. Only [`TxChain::send`] changes the chain, and
/// every answer is read from it anew.
#[async_trait]
pub trait Target: TxChain<Job = Step, Error = DeployError> + Sync {
    fn chain(&self) -> &ChainId;

    /// Plans the steps: what exists already, and what the rest would cost, simulated.
    ///
    /// # Errors
    /// Every reason not to deploy that can be known beforehand: foreign code at an address, the
    /// wrong chain, a rule such as R6.
    async fn plan(&mut self) -> Result<Plan, DeployError>;

    /// Requires the keys that the plan needs beside the deployer's.
    ///
    /// # Errors
    /// A key is missing.
    fn require_keys(&self, _plan: &Plan) -> Result<(), DeployError> {
        Ok(())
    }

    /// The choices that the addresses depend on, kept in the run file so that a resumed run makes
    /// the same ones.
    fn settings(&self) -> Settings;

    /// A hash of what is deployed, unless the addresses depend on it: a resumed run must deploy the
    /// same.
    fn build(&self) -> Option<String> {
        None
    }

    /// Requires that this transaction, read from the run file, is what the step sends, from the
    /// deployer. Write access to the file must not decide what is sent, or signed again at a
    /// higher fee.
    ///
    /// # Errors
    /// [`concord_chain::ChainError::RecordMalformed`].
    async fn require_own(&mut self, step: &Step, transaction: &SignedTx)
    -> Result<(), DeployError>;

    /// The program that cannot be changed any more once the plan is done, if that is chosen.
    fn final_for(&self) -> Option<String> {
        None
    }

    /// The next upgrade authority, if the plan hands the program over to a key.
    fn successor(&self, _plan: &Plan) -> Option<String> {
        None
    }

    /// What the address book should say once every step is done, with the transactions if known.
    async fn deployment(
        &mut self,
        landings: &BTreeMap<String, Landing>,
    ) -> Result<Deployment, DeployError>;

    /// Compares the chain with the local build and the deployment on record.
    async fn verify(&mut self, recorded: &Deployment) -> Result<Vec<Check>, DeployError>;

    /// Returns each contract's address on record, its address by the build, and what is there.
    async fn status(
        &mut self,
        recorded: Option<&Deployment>,
    ) -> Result<Vec<StatusRow>, DeployError>;

    /// Writes into the folder what an explorer needs to show the sources, and returns the commands
    /// that send it there.
    fn publish(&mut self, folder: &Path) -> Result<Vec<String>, DeployError>;
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
