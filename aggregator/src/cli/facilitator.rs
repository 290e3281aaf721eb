use std::{path::PathBuf, sync::Arc};

use concord_chain::{ChainId, keys::read_keypair, svm::Cluster};
use concord_registry::svm::{Address, Program};
use concord_x402::verify::Payments;
use schemars::JsonSchema;
use serde::Deserialize;

use super::CliError;
use crate::Facilitator;

/// How payments are proven (R13).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PaymentProofConfig {
    /// A keypair file: the key that the program's registry lists as a facilitator.
    keypair: PathBuf,
    /// The accounts that pay the fees of what this facilitator settles, in base58.
    settlers: Vec<String>,
    /// Seconds that a proof counts.
    #[serde(default = "thirty_days")]
    validity: u64,
}

const fn thirty_days() -> u64 {
    30 * 86_400
}

impl PaymentProofConfig {
    pub(super) fn facilitator(
        &self,
        chain: &ChainId,
        cluster: Cluster,
        program: Program,
        payments: Arc<dyn Payments>,
    ) -> Result<Facilitator, CliError> {
        let field = format!("chains.{chain}.solana.paymentProofs.settlers");
        let settler = |(index, it): (usize, &String)| {
            it.parse::<Address>().map_err(|_| {
                // DEP-66
                CliError::Usage(format!("{field}[{index}]: expected an address in base58"))
            })
        };
        let settlers = self.settlers.iter().enumerate().map(settler);
        let settlers: Vec<Address> = settlers.collect::<Result<_, _>>()?;
        if settlers.is_empty() {
            return Err(CliError::Usage(format!(
                "{field} is empty: nothing is settled here"
            )));
        }
        Ok(Facilitator {
            network: chain.to_string(),
            cluster,
            program,
            payments,
            key: Box::new(read_keypair(&self.keypair)?),
            settlers,
            validity: self.validity,
        })
    }
}
