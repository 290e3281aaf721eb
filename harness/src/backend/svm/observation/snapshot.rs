use crate::backend::StepFault;
use concord_registry::svm::{
    Program,
    accounts::{
        Account as Held, AgentIdentity, ClientIndex, FeedbackEntry, MetadataEntry, OpenClientIndex,
        OpenFeedback, ValidationRequest, ValidationResponse,
    },
    programs::TOKEN_2022,
    token::TokenAccount,
};
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
    pub fn of(
        program: &Program,
        accounts: impl IntoIterator<Item = (Address, Account)>,
    ) -> Result<Self, StepFault> {
        let mut snapshot = Self::default();
        for (address, account) in accounts {
            if account.owner == TOKEN_2022 {
                let held = TokenAccount::read(&account.owner, &account.data);
                snapshot.token_accounts.extend(held);
            } else if account.owner == program.id() {
                let held = program.decode_any(&account.owner, &account.data);
                let held = held
                    .map_err(|fault| StepFault::UnexplainedState(format!("{address}: {fault}")))?;
                snapshot.sort_in(held);
            }
        }
        Ok(snapshot)
    }

    fn sort_in(&mut self, held: Held) {
        match held {
            Held::AgentIdentity(it) => self.identities.push(it),
            Held::MetadataEntry(it) => self.metadata.push(it),
            Held::ClientIndex(it) => self.client_indexes.push(it),
            Held::FeedbackEntry(it) => self.entries.push(it),
            Held::OpenClientIndex(it) => self.open_client_indexes.push(it),
            Held::OpenFeedback(it) => self.open_entries.push(it),
            Held::ValidationRequest(it) => self.requests.push(it),
            Held::ValidationResponse(it) => self.responses.push(it),
            // no part of the canonical state
            Held::Registry(_) | Held::SpentPayment(_) | Held::ExtraAccountMetas => (),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// m, n, initialized, then 11 keys that spell the rest: the mint, an owner, amount 1, initialized, the kind.
    #[test]
    fn r4_a_multisig_that_spells_a_token_account_holds_no_agent() {
        let mint = [&[1, 11, 1][..], &[7; 29]].concat();
        let base = [&mint[..], &[9; 32], &[1], &[0; 43], &[1], &[0; 56]].concat();
        let multisig = [&base[..], &[2], &[0; 189]].concat();
        assert_eq!((base.len(), multisig.len()), (165, 355));
        let held = |data: Vec<u8>| {
            let account = Account {
                data,
                owner: TOKEN_2022,
                ..Account::default()
            };
            let program = Program::new(Address::from([3; 32]));
            let accounts = [(Address::from([4; 32]), account)];
            Snapshot::of(&program, accounts)
                .expect("a snapshot")
                .token_accounts
                .len()
        };
        assert_eq!(held(base), 1);
        assert_eq!(held(multisig), 0);
    }
}
