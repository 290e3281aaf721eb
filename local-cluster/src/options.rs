use sha2::{Digest, Sha256};
use solana_account::Account;
use solana_address::Address;
use solana_hash::Hash;
use std::time::Duration;

/// What a cluster is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the cluster is known by. By default one of its own, which is not a public cluster's.
    pub genesis_hash: Hash,
    /// How long a slot takes by wall time; at least a millisecond. A real cluster's 400 ms.
    pub slot_duration: Duration,
    /// Features of the main network that this cluster has not activated, by the address of their
    /// account.
    pub inactive_features: Vec<Address>,
    /// Features that this cluster has activated before the main network.
    pub active_features: Vec<Address>,
    /// Accounts that hold lamports from the start.
    pub funded: Vec<(Address, u64)>,
    /// Accounts that exist from the start, such as those of a program that is not here.
    pub accounts: Vec<(Address, Account)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            genesis_hash: Hash::new_from_array(
                Sha256::digest(b"concord local cluster genesis").into(),
            ),
            slot_duration: Duration::from_millis(400),
            inactive_features: Vec::new(),
            active_features: Vec::new(),
            funded: Vec::new(),
            accounts: Vec::new(),
        }
    }
}

impl Options {
    /// The CAIP-2 id: `solana:` and the first 32 characters of the genesis hash in base58.
    pub fn chain_id(&self) -> String {
        let reference: String = self.genesis_hash.to_string().chars().take(32).collect();
        format!("solana:{reference}")
    }
}
