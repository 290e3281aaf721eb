use std::{collections::BTreeSet, path::PathBuf, sync::Arc};

use concord_chain::{
    ChainId,
    evm::{Confirmations, FeeLimit, Node},
    keys::EvmKeySource,
    submission::Timing,
};
use concord_registry::evm;
use concord_x402::{feedback::EvmRegistry, verify::Payments};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::{CliError, config::Registry};
use crate::{EvmSettler, lane::LaneRegistries};

// The registries on an EVM chain, and the account that submits there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EvmConfig {
    /// The identity registry.
    #[schemars(schema_with = "evm_address")]
    pub(super) identity: evm::Address,
    /// The open reputation registry.
    #[schemars(schema_with = "evm_address")]
    reputation: evm::Address,
    /// An encrypted keystore; without one `CONCORD_EVM_PRIVATE_KEY` has the key.
    #[serde(default)]
    keystore: Option<PathBuf>,
    /// The keystore's password.
    #[serde(default)]
    password_file: Option<PathBuf>,
    /// The most that is offered for a unit of gas, in gwei.
    #[serde(default)]
    max_fee: Option<String>,
    /// A number of blocks, `safe` or `finalized`.
    confirmations: String,
    /// The accounts that send what this facilitator settles: revenues are what they settled (R60). None by default.
    #[serde(default)]
    #[schemars(schema_with = "evm_addresses")]
    pub(super) settlers: Option<Vec<evm::Address>>,
    /// The agents that are served; all if it is absent.
    #[serde(default)]
    pub(super) agents: Option<BTreeSet<String>>,
}

fn evm_address(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": "^0x[0-9a-fA-F]{40}$" })
}

fn evm_addresses(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["array", "null"], "items": evm_address(generator) })
}

impl EvmConfig {
    fn confirmations(&self, chain: &ChainId) -> Result<Confirmations, CliError> {
        let parsed: Result<Confirmations, String> = self.confirmations.parse();
        parsed
            .map_err(|error| CliError::Usage(format!("chains.{chain}.evm.confirmations: {error}")))
    }

    /// What this operator settles on the chain (R60).
    pub(super) fn settler(
        &self,
        chain: &ChainId,
        node: Node,
        settlers: &[evm::Address],
        payments: Arc<dyn Payments>,
    ) -> Result<EvmSettler, CliError> {
        if settlers.is_empty() {
            let field = format!("chains.{chain}.evm.settlers");
            return Err(CliError::Usage(format!(
                "{field} is empty: nothing is settled here"
            )));
        }
        Ok(EvmSettler {
            network: chain.to_string(),
            node,
            identity: self.identity,
            payments,
            settlers: settlers.to_vec(),
            confirmations: self.confirmations(chain)?,
        })
    }

    /// Connects to the registries.
    pub(super) async fn connect(&self, chain: &ChainId, node: Node) -> Result<Registry, CliError> {
        let usage = |field: &str, error: &dyn ToString| {
            CliError::Usage(format!("chains.{chain}.evm.{field}: {}", error.to_string()))
        };
        let source = EvmKeySource {
            keystore: self.keystore.clone(),
            password_file: self.password_file.clone(),
        };
        let missing = "no key: give keystore, or set CONCORD_EVM_PRIVATE_KEY";
        let signer = source.open()?.ok_or_else(|| usage("keystore", &missing))?;
        let limit = FeeLimit::parse(self.max_fee.as_deref());
        let expected = "expected a number of gwei with at most 9 decimals"; // DEP-66
        let limit = limit.map_err(|_| usage("maxFee", &expected))?;
        let confirmations = self.confirmations(chain)?;
        let addresses = evm::RegistryAddresses::open(self.identity, self.reputation);
        let connect = async || {
            let (node, signer) = (node.clone(), Box::new(signer.clone()));
            let (fees, timing) = ((limit, confirmations), Timing::UNHURRIED);
            EvmRegistry::connect(node, chain, addresses, signer, fees, timing).await
        };
        let registries = LaneRegistries {
            landing: vec![Box::new(connect().await?)], // one nonce after the other
            finality: Box::new(connect().await?),
        };
        Ok((registries, format!("{chain}:{}", self.reputation)))
    }
}
