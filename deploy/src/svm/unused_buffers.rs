//! Buffers of abandoned deployments: they keep the deployer's lamports.
use crate::DeployError;
use concord_chain::{
    Amount, Coin,
    svm::{Cluster, Refusal},
};
use solana_address::Address;
use solana_loader_v3_interface::state::UpgradeableLoaderState;
use solana_sdk_ids::bpf_loader_upgradeable;

/// The deployer's buffers but the one in use, with their lamports; or why they are not known.
pub(super) struct UnusedBuffers(Result<Vec<(Address, u64)>, Refusal>);

impl UnusedBuffers {
    pub async fn of(
        cluster: &Cluster,
        deployer: &Address,
        in_use: &Option<Address>,
    ) -> Result<Self, DeployError> {
        let start = wincode::serialize(&UpgradeableLoaderState::Buffer {
            authority_address: Some(*deployer),
        });
        let start = start.unwrap_or_default(); // 37 bytes, which no limit forbids
        let loader = bpf_loader_upgradeable::ID;
        let found = cluster.accounts_starting_with(&loader, &start).await?;
        let buffers = found.map(|mut buffers| {
            buffers.retain(|(buffer, _)| Some(*buffer) != *in_use);
            buffers.sort();
            buffers
        });
        Ok(Self(buffers))
    }

    /// # Errors
    /// [`DeployError::BuffersUnknown`] where the endpoint does not snapshot for them.
    pub fn require_listed(&self) -> Result<&[(Address, u64)], DeployError> {
        self.0
            .as_deref()
            .map_err(|no| DeployError::BuffersUnknown(no.message.clone()))
    }

    /// What a plan says of them, where there is anything to say.
    pub fn note(&self, are_reclaimed: bool) -> Option<String> {
        let buffers = match &self.0 {
            Ok(buffers) if buffers.is_empty() => return None,
            Ok(buffers) => buffers,
            Err(no) => {
                return Some(format!(
                    "buffers that were left over are not known: {}",
                    no.message
                ));
            }
        };
        let lamports = buffers.iter().map(|(_, lamports)| u128::from(*lamports));
        let kept = Coin::SOL.balance(Amount(lamports.sum()));
        let count = buffers.len();
        Some(if are_reclaimed {
            format!("{kept} come back from {count} buffers that were left over")
        } else {
            format!(
                "{count} other buffers of the deployer keep {kept}: --reclaim-buffers closes them"
            )
        })
    }
}
