//! A transaction that was carried out, and its outcome.
use litesvm::types::TransactionMetadata;
use solana_account::AccountSharedData;
use solana_address::Address;
use solana_transaction::versioned::VersionedTransaction;
use solana_transaction_error::TransactionError;

#[derive(Clone, Debug)]
pub struct Record {
    pub transaction: VersionedTransaction,
    pub slot: u64,
    /// Unix time in seconds.
    pub time: i64,
    pub keys: Keys,
    pub error: Option<TransactionError>,
    pub meta: TransactionMetadata,
    pub balances_before: Vec<u64>,
    pub balances_after: Vec<u64>,
}

/// The accounts of a transaction in the order of their indexes.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    pub named: Vec<Address>,
    pub loaded_writable: Vec<Address>,
    pub loaded_readonly: Vec<Address>,
}

impl Keys {
    pub fn iter(&self) -> impl Iterator<Item = &Address> {
        let loaded = self.loaded_writable.iter().chain(&self.loaded_readonly);
        self.named.iter().chain(loaded)
    }
}

/// What would become of a transaction.
#[derive(Debug, Default)]
pub struct Trial {
    pub error: Option<TransactionError>,
    pub meta: TransactionMetadata,
    /// The writable ones as it would leave them; none where it fails.
    pub accounts: Vec<(Address, AccountSharedData)>,
}

impl Trial {
    /// Of a transaction that no VM is shown.
    pub fn refused(error: TransactionError) -> Self {
        Self {
            error: Some(error),
            ..Self::default()
        }
    }
}
