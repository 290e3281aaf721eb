use std::path::PathBuf;

use concord_chain::{ChainId, keys::read_keypair, svm::Cluster};
use concord_registry::svm::Program;
use schemars::JsonSchema;
use serde::Deserialize;

use super::CliError;
use crate::Sponsor;

/// How feedback is sponsored that reviewers sign themselves (R59).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SponsorConfig {
    /// A keypair file: the account that pays fees and rent. It may be that of `solana.keypair`.
    keypair: PathBuf,
    /// The most lamports in a day of UTC.
    lamports_per_day: u64,
    /// Microlamports for a compute unit. It is not raised: what expires is prepared again.
    #[serde(default)]
    unit_price: u64,
}

impl SponsorConfig {
    pub(super) fn sponsor(
        &self,
        chain: &ChainId,
        cluster: Cluster,
        program: Program,
    ) -> Result<Sponsor, CliError> {
        Ok(Sponsor {
            network: chain.to_string(),
            cluster,
            program,
            key: Box::new(read_keypair(&self.keypair)?),
            lamports_per_day: self.lamports_per_day,
            unit_price: self.unit_price,
        })
    }
}
