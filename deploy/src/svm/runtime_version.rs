//! Which versions of sBPF a cluster takes, by its feature gates.
use crate::DeployError;
use concord_chain::svm::{Account, Cluster};
use solana_address::Address;
use solana_feature_gate_interface::from_account;

/// The gates, as Agave 4.2 names them.
const ENABLE_V1: Address = Address::from_str_const("JE86WkYvTrzW8HgNmrHY7dFYpCmSptUpKupbo2AdQ9cG");
const ENABLE_V2: Address = Address::from_str_const("F6UVKh1ujTEFK3en2SyAL3cdVnqko1FVEXWhmdLRu6WP");
const ENABLE_V3: Address = Address::from_str_const("5cC3foj77CWun58pC51ebHFUWavHWKarWyR5UUik7dnC");
/// SIMD-0500: programs before version 3 can no longer be deployed.
const REFUSE_BEFORE_V3: Address =
    Address::from_str_const("B8JJXCy5amZyWG9r7EnUYLwzXSXTxG7GZ1qZ1qggo83g");

/// # Errors
/// [`DeployError::SbpfUnsupported`] where the cluster does not take programs of this version.
pub(super) async fn require(cluster: &Cluster, version: u32) -> Result<(), DeployError> {
    let gates = cluster
        .accounts(&[ENABLE_V1, ENABLE_V2, ENABLE_V3, REFUSE_BEFORE_V3])
        .await?;
    let [v1, v2, v3, refuse_old] = std::array::from_fn(|gate| is_active(gates[gate].as_ref()));
    let taken: Vec<u32> = [
        (0, !refuse_old),
        (1, v1 && !refuse_old),
        (2, v2 && !refuse_old),
        (3, v3),
    ]
    .into_iter()
    .filter_map(|(version, is_taken)| is_taken.then_some(version))
    .collect();
    if taken.contains(&version) {
        Ok(())
    } else {
        Err(DeployError::SbpfUnsupported { version, taken })
    }
}

/// A gate is an account of the feature program, with the slot since which it is active.
fn is_active(gate: Option<&Account>) -> bool {
    let feature = gate.and_then(|gate| {
        from_account(&solana_account::Account {
            owner: gate.owner,
            data: gate.data.clone(),
            ..solana_account::Account::default()
        })
    });
    feature.is_some_and(|it| it.activated_at.is_some())
}
