//! The accounts, the transactions carried out and the blocks: what a fork takes back.
use crate::{
    Options,
    blocks::{Block, Blocks, Schedule},
    programs::ChangedPrograms,
    record::{Keys, Record, Trial},
};
use agave_feature_set::FeatureSet;
use litesvm::LiteSVM;
use solana_address::Address;
use solana_address_lookup_table_interface::{
    program as address_lookup_table, state::AddressLookupTable,
};
use solana_clock::Clock;
use solana_epoch_schedule::EpochSchedule;
use solana_message::v0::MessageAddressTableLookup;
use solana_signature::Signature;
use solana_slot_hashes::SlotHashes;
use solana_transaction::versioned::VersionedTransaction;
use std::collections::HashMap;

#[derive(Clone)]
pub struct Ledger {
    pub svm: LiteSVM,
    pub blocks: Blocks,
    records: Vec<Record>,
    by_signature: HashMap<Signature, usize>,
    changed_programs: ChangedPrograms,
}

impl Ledger {
    pub fn new(options: &Options, schedule: &Schedule) -> Self {
        let mut ledger = Self {
            svm: machine(options),
            blocks: Blocks::new(schedule),
            records: Vec::new(),
            by_signature: HashMap::new(),
            changed_programs: ChangedPrograms::default(),
        };
        for (address, lamports) in &options.funded {
            ledger.credit(*address, *lamports);
        }
        for (address, account) in &options.accounts {
            let set = ledger.svm.set_account(*address, account.clone());
            set.expect("an account of no loader");
        }
        ledger.set_clock();
        ledger
    }

    /// Blocks for every slot up to this one.
    pub fn advance(&mut self, schedule: &Schedule, slot: u64, fork: u64, skipped: u64) {
        if slot <= self.blocks.newest().slot {
            return;
        }
        self.blocks.extend(schedule, slot, fork, skipped);
        self.set_clock();
        self.changed_programs.show(&mut self.svm);
    }

    pub fn epoch_schedule(&self) -> EpochSchedule {
        self.svm.get_sysvar::<EpochSchedule>()
    }

    fn set_clock(&mut self) {
        let Block { slot, time, .. } = self.blocks.newest();
        let epochs = self.epoch_schedule();
        self.svm.set_sysvar(&Clock {
            slot,
            epoch_start_timestamp: time,
            epoch: epochs.get_epoch(slot),
            leader_schedule_epoch: epochs.get_leader_schedule_epoch(slot),
            unix_timestamp: time,
        });
        // Those of finished slots: lookup tables are created against them.
        let finished = self.blocks.iter().skip(1);
        let hashes: Vec<_> = finished.map(|block| (block.slot, block.hash)).collect();
        self.svm.set_sysvar(&SlotHashes::new(&hashes));
    }

    pub fn record(&self, signature: &Signature) -> Option<&Record> {
        self.records.get(*self.by_signature.get(signature)?)
    }

    /// Drops what was carried out until now, but not what it did.
    pub fn forget(&mut self) {
        self.records.clear();
        self.by_signature.clear();
    }

    /// In the order in which they were carried out.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    pub fn balance(&self, address: &Address) -> u64 {
        self.svm.get_balance(address).unwrap_or(0)
    }

    /// Lamports from nowhere.
    pub fn credit(&mut self, address: Address, lamports: u64) {
        let mut account = self.svm.get_account(&address).unwrap_or_default();
        account.lamports = account.lamports.saturating_add(lamports);
        // Refused for sysvars and programs only, whose data stays as it was.
        let _ = self.svm.set_account(address, account);
    }

    /// What would become of it now; signatures and block hash are not looked at.
    pub fn simulate(&self, transaction: &VersionedTransaction) -> Trial {
        match self.svm.simulate_transaction(transaction.clone()) {
            Ok(done) => Trial {
                error: None,
                meta: done.meta,
                accounts: done.post_accounts,
            },
            Err(failed) => Trial {
                error: Some(failed.err),
                meta: failed.meta,
                accounts: Vec::new(),
            },
        }
    }

    /// Whether it got into the block; signatures and block hash have been checked.
    pub fn carry_out(&mut self, transaction: VersionedTransaction) -> bool {
        let Some(signature) = transaction.signatures.first().copied() else {
            return false;
        };
        if self.by_signature.contains_key(&signature) {
            return false;
        }
        let keys = self.keys(&transaction);
        let balances_before = self.balances(&keys);
        let (error, meta) = match self.svm.send_transaction(transaction.clone()) {
            Ok(meta) => (None, meta),
            // The VM leaves the signature out where a transaction is not worth its fee.
            Err(failed) if failed.meta.signature != signature => return false,
            Err(failed) => (Some(failed.err), failed.meta),
        };
        let Block { slot, time, .. } = self.blocks.newest();
        self.changed_programs.note(&mut self.svm, keys.iter(), slot);
        self.by_signature.insert(signature, self.records.len());
        self.records.push(Record {
            balances_after: self.balances(&keys),
            transaction,
            slot,
            time,
            keys,
            error,
            meta,
            balances_before,
        });
        true
    }

    pub fn balances(&self, keys: &Keys) -> Vec<u64> {
        keys.iter().map(|key| self.balance(key)).collect()
    }

    pub fn keys(&self, transaction: &VersionedTransaction) -> Keys {
        let lookups = transaction.message.address_table_lookups().unwrap_or(&[]);
        let loaded = |indexes: fn(&MessageAddressTableLookup) -> &[u8]| {
            let of_one = |lookup| self.looked_up(lookup, indexes(lookup));
            lookups.iter().flat_map(of_one).collect()
        };
        Keys {
            named: transaction.message.static_account_keys().to_vec(),
            loaded_writable: loaded(|lookup| &lookup.writable_indexes),
            loaded_readonly: loaded(|lookup| &lookup.readonly_indexes),
        }
    }

    /// None if the table is missing or too short; the VM then refuses the transaction.
    fn looked_up(&self, lookup: &MessageAddressTableLookup, indexes: &[u8]) -> Vec<Address> {
        let account = self.svm.get_account(&lookup.account_key);
        let table = account.as_ref().and_then(|it| {
            let is_table = it.owner == address_lookup_table::ID;
            AddressLookupTable::deserialize(&it.data)
                .ok()
                .filter(|_| is_table)
        });
        let addresses = table.map(|it| it.addresses).unwrap_or_default();
        let at = |index: &u8| addresses.get(usize::from(*index)).copied();
        indexes.iter().filter_map(at).collect()
    }
}

/// Signatures, block hashes and repetitions are judged before the VM sees a transaction.
fn machine(options: &Options) -> LiteSVM {
    let mut features: FeatureSet = LiteSVM::mainnet_feature_set();
    for feature in &options.active_features {
        features.activate(feature, 0);
    }
    for feature in &options.inactive_features {
        features.deactivate(feature);
    }
    LiteSVM::default()
        .with_feature_set(features)
        .with_builtins()
        .with_sysvars()
        .with_feature_accounts()
        .with_default_programs()
        .with_precompiles()
        .with_sigverify(false)
        .with_blockhash_check(false)
        .with_transaction_history(0)
}
