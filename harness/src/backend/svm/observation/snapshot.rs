use crate::backend::{
    StepFault,
    svm::{
        addresses::{TOKEN_2022, program},
        ledger::decode,
        token::TokenAccount,
    },
};
use agent_registry::{
    AgentIdentity, ClientIndex, FeedbackEntry, MetadataEntry, OpenClientIndex, OpenFeedback,
    Registry, SpentPayment, ValidationRequest, ValidationResponse,
};
use anchor_lang::{AccountDeserialize, Discriminator};
use solana_account::Account;
use solana_address::Address;

/// The program's accounts and the token accounts, sorted by what they hold.
#[derive(Default)]
pub struct Snapshot {
    pub identities: Vec<AgentIdentity>,
    pub metadata: Vec<MetadataEntry>,
    pub client_indexes: Vec<ClientIndex>,
    pub entries: Vec<FeedbackEntry>,
    pub open_client_indexes: Vec<OpenClientIndex>,
    pub open_entries: Vec<OpenFeedback>,
    pub requests: Vec<ValidationRequest>,
    pub responses: Vec<ValidationResponse>,
    pub token_accounts: Vec<TokenAccount>,
}

impl Snapshot {
    /// Accounts of other programs are passed over.
    ///
    /// # Errors
    /// An account of the program that holds nothing the program writes.
    pub fn of(accounts: impl IntoIterator<Item = (Address, Account)>) -> Result<Self, StepFault> {
        let mut snapshot = Self::default();
        for (address, account) in accounts {
            if account.owner == TOKEN_2022 {
                let held = TokenAccount::read(&account.data);
                snapshot.token_accounts.extend(held);
            } else if account.owner == program() {
                snapshot.sort_in(&address, &account)?;
            }
        }
        Ok(snapshot)
    }

    fn sort_in(&mut self, address: &Address, account: &Account) -> Result<(), StepFault> {
        let is_known = sort(&mut self.identities, address, account)?
            || sort(&mut self.metadata, address, account)?
            || sort(&mut self.client_indexes, address, account)?
            || sort(&mut self.entries, address, account)?
            || sort(&mut self.open_client_indexes, address, account)?
            || sort(&mut self.open_entries, address, account)?
            || sort(&mut self.requests, address, account)?
            || sort(&mut self.responses, address, account)?
            || is_without_state(account);
        match is_known {
            true => Ok(()),
            false => Err(StepFault::UnexplainedState(format!(
                "{address} is the program's, and of no known type"
            ))),
        }
    }
}

/// Whether the account held a `T`, which is in the list now.
fn sort<T: AccountDeserialize + Discriminator>(
    list: &mut Vec<T>,
    address: &Address,
    account: &Account,
) -> Result<bool, StepFault> {
    if !account.data.starts_with(T::DISCRIMINATOR) {
        return Ok(false);
    }
    list.push(decode(address, account)?);
    Ok(true)
}

/// What is no part of the canonical state: the registry's lists, markers of spent payments, and
/// the lists that the transfer hook's accounts are resolved from.
fn is_without_state(account: &Account) -> bool {
    [
        Registry::DISCRIMINATOR,
        SpentPayment::DISCRIMINATOR,
        &agent_registry::extra_account_metas::EXECUTE[..],
    ]
    .iter()
    .any(|discriminator| account.data.starts_with(discriminator))
}
