//! When a program's code can be called. The VM takes new code at once; on a cluster it shows one
//! slot after it was deployed, upgraded or extended, and is gone in the slot in which it is closed.
use litesvm::LiteSVM;
use solana_account::Account;
use solana_address::Address;
use solana_loader_v3_interface::state::UpgradeableLoaderState;
use solana_sdk_ids::bpf_loader_upgradeable;
use std::collections::BTreeSet;

/// Programs whose code was changed in the present slot.
#[derive(Clone, Debug, Default)]
pub struct ChangedPrograms(BTreeSet<Address>);

impl ChangedPrograms {
    /// After a transaction in `slot`: what it did to any of these accounts.
    pub fn note<'a>(
        &mut self,
        svm: &mut LiteSVM,
        keys: impl Iterator<Item = &'a Address>,
        slot: u64,
    ) {
        for key in keys {
            let Some((program, place)) = program(svm, key) else {
                continue;
            };
            match svm
                .get_account(&place)
                .map(|data| (deployed_at(&data), data))
            {
                Some((Some(at), data)) if at == slot => {
                    hide(svm, *key, program, place, data);
                    self.0.insert(*key);
                }
                Some((Some(_), _)) => {}
                // Closed: the VM may have looked at the code before it was taken away.
                _ => put(svm, *key, program),
            }
        }
    }

    /// The next slot has begun.
    pub fn show(&mut self, svm: &mut LiteSVM) {
        for key in std::mem::take(&mut self.0) {
            if let Some((program, _)) = program(svm, &key) {
                put(svm, key, program);
            }
        }
    }
}

/// A program's account, and where its code is.
fn program(svm: &LiteSVM, key: &Address) -> Option<(Account, Address)> {
    let account = svm.get_account(key)?;
    match state(&account)? {
        UpgradeableLoaderState::Program {
            programdata_address,
        } => Some((account, programdata_address)),
        _ => None,
    }
}

/// The slot in which code was last changed.
fn deployed_at(program_data: &Account) -> Option<u64> {
    match state(program_data)? {
        UpgradeableLoaderState::ProgramData { slot, .. } => Some(slot),
        _ => None,
    }
}

fn state(account: &Account) -> Option<UpgradeableLoaderState> {
    let is_the_loaders = account.owner == bpf_loader_upgradeable::ID;
    let state = is_the_loaders.then(|| wincode::deserialize(&account.data));
    state?.ok()
}

/// The VM loads a program when its account is written; without code it remembers "not deployed",
/// and answers calls as a cluster does in the slot of a deployment.
fn hide(svm: &mut LiteSVM, key: Address, program: Account, place: Address, data: Account) {
    put(svm, place, Account::default());
    put(svm, key, program);
    put(svm, place, data);
}

/// The accounts written here are the VM's own, which it has checked before; should it refuse one
/// all the same, its code stays as it was.
fn put(svm: &mut LiteSVM, key: Address, account: Account) {
    let _ = svm.set_account(key, account);
}
