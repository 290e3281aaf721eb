//! Buffers of deployments that were given up: they keep their deployer's lamports.
use super::{cluster::Cluster, transport::Refusal};
use crate::{Amount, Coin, Fault};
use solana_address::Address;

/// The deployer's buffers but the one in use, with their lamports; or why they are not known.
pub(super) struct LeftOver(Result<Vec<(Address, u64)>, Refusal>);

impl LeftOver {
    pub fn of(
        cluster: &Cluster,
        deployer: &Address,
        in_use: &Option<Address>,
    ) -> Result<Self, Fault> {
        let buffers = cluster.buffers_of(deployer)?.map(|mut buffers| {
            buffers.retain(|(buffer, _)| Some(*buffer) != *in_use);
            buffers.sort();
            buffers
        });
        Ok(Self(buffers))
    }

    /// # Errors
    /// [`Fault::BuffersUnknown`] where the endpoint does not look for them.
    pub fn require_listed(&self) -> Result<&[(Address, u64)], Fault> {
        self.0
            .as_deref()
            .map_err(|no| Fault::BuffersUnknown(no.message.clone()))
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
        Some(match are_reclaimed {
            true => format!("{kept} come back from {count} buffers that were left over"),
            false => format!(
                "{count} other buffers of the deployer keep {kept}: --reclaim-buffers closes them"
            ),
        })
    }
}
