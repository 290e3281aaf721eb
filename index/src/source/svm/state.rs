//! R45, R46: what the program's accounts say of agents and clients.
use super::SvmSource;
use crate::{
    SourceError,
    batch::Header,
    state::{Fact, Field, StateRead, Subject},
    table::ClientKey,
};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use concord_registry::{
    event::{AccountId, AgentId, Profile},
    svm::{
        Address,
        accounts::{AgentIdentity, ClientIndex, OpenClientIndex},
        token::Mint,
    },
};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct AccountsJson {
    context: ContextJson,
    value: Vec<Option<AccountJson>>,
}

#[derive(Deserialize)]
struct ContextJson {
    slot: u64,
}

#[derive(Deserialize)]
struct AccountJson {
    owner: String,
    /// In base64, and the encoding's name.
    data: (String, String),
}

/// An account: its owner and what is in it.
type Account = Option<(Address, Vec<u8>)>;

impl SvmSource {
    /// All accounts are asked for at once: they are of one slot, which is not before `at`.
    pub(super) async fn read_state(
        &self,
        subjects: &[Subject],
        at: &Header,
    ) -> Result<StateRead, SourceError> {
        const METHOD: &str = "getMultipleAccounts";
        let asked: Vec<Vec<Address>> = subjects.iter().map(|it| self.accounts_of(it)).collect();
        let names: Vec<String> = asked.iter().flatten().map(ToString::to_string).collect();
        let config = json!({
            "encoding": "base64",
            "commitment": self.commitment(),
            "minContextSlot": at.number,
        });
        let found: AccountsJson = self.expect(METHOD, json!([names, config])).await?;
        let slot = found.context.slot;
        if slot < at.number || found.value.len() != names.len() {
            return Err(self.inconsistent(slot, "its accounts are of an earlier slot, or too few"));
        }
        let mut accounts = found.value.into_iter().map(|it| self.account(it, slot));
        let mut facts = Vec::new();
        for (subject, asked) in subjects.iter().zip(&asked) {
            let of: Vec<Account> =
                (accounts.by_ref().take(asked.len())).collect::<Result<_, _>>()?;
            match subject {
                Subject::Agent(agent) => facts.extend(self.agent_facts(*agent, &of)),
                Subject::Client(key) => facts.push(self.client_fact(key, &of)),
            }
        }
        Ok(StateRead {
            block: self.unchanged_since(at.number, slot).await?,
            facts,
        })
    }

    /// Slots pass whether or not the program is used: what is so after `slot` was so after `at` if no transaction of
    /// the program came between, not even one that is only confirmed.
    async fn unchanged_since(&self, at: u64, slot: u64) -> Result<u64, SourceError> {
        if slot == at {
            return Ok(at);
        }
        let between = self.signatures(at + 1, slot, "confirmed").await?;
        Ok(if between.is_empty() { at } else { slot })
    }

    /// The mint has the URI, and the program's account the rest.
    fn accounts_of(&self, subject: &Subject) -> Vec<Address> {
        match (subject, subject.agent()) {
            (Subject::Agent(_), AgentId::Svm(mint)) => vec![self.program.agent(&mint), mint],
            (Subject::Client(key), AgentId::Svm(mint)) => match (key.profile, key.client) {
                (Profile::Authorized, AccountId::Svm(client)) => {
                    vec![self.program.client_index(&mint, &client)]
                }
                (Profile::Open, AccountId::Svm(client)) => {
                    vec![self.program.open_client_index(&mint, &client)]
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn account(&self, found: Option<AccountJson>, slot: u64) -> Result<Account, SourceError> {
        let Some(found) = found else {
            return Ok(None);
        };
        let owner = found.owner.parse().ok();
        let data = BASE64.decode(&found.data.0).ok();
        let account = owner.zip(data);
        let malformed = || self.inconsistent(slot, "an account is not base64 with a base58 owner");
        account.ok_or_else(malformed).map(Some)
    }

    fn agent_facts(&self, agent: AgentId, accounts: &[Account]) -> Vec<Fact> {
        let says = |field, value| Fact {
            agent,
            field,
            value,
        };
        let [record, mint] = accounts else {
            return Vec::new();
        };
        let record = record.as_ref().and_then(|(owner, data)| {
            let found = self.program.find::<AgentIdentity>(owner, data);
            found.ok().flatten()
        });
        let Some(record) = record else {
            return vec![says(Field::Owner, String::new())];
        };
        let wallet = record.wallet().map(|it| it.to_string());
        let mut facts = vec![
            says(Field::Owner, record.owner.to_string()),
            says(Field::Wallet, wallet.unwrap_or_default()),
        ];
        let clients = [
            (Profile::Authorized, record.client_count),
            (Profile::Open, record.open_client_count),
        ];
        let clients = clients.map(|(of, count)| says(Field::Clients(of), count.to_string()));
        facts.extend(clients);
        let mint = mint
            .as_ref()
            .and_then(|(owner, data)| Mint::read(owner, data));
        facts.extend(mint.map(|it| says(Field::Uri, it.uri)));
        facts
    }

    fn client_fact(&self, key: &ClientKey, accounts: &[Account]) -> Fact {
        let account = accounts.first().and_then(Option::as_ref);
        let last = account.and_then(|(owner, data)| match key.profile {
            Profile::Authorized => {
                let found = self.program.find::<ClientIndex>(owner, data).ok().flatten();
                found.map(|it| it.last_index)
            }
            Profile::Open => {
                let found = self.program.find::<OpenClientIndex>(owner, data);
                found.ok().flatten().map(|it| it.last_index)
            }
        });
        Fact {
            agent: key.agent,
            field: Field::LastIndex(key.profile, key.client),
            value: last.unwrap_or_default().to_string(),
        }
    }
}
