use async_trait::async_trait;
use concord_canonical::{
    ErrorClass,
    score::Tally,
    summary::{Accumulator, Summary},
    tag::Tag,
};
use concord_chain::{
    ChainId,
    svm::{Account, Cluster},
};
use concord_registry::{
    event::AccountId,
    svm::{
        Address, Program,
        accounts::{
            AccountType, AgentIdentity, ClientIndex, FeedbackEntry, OpenClientIndex, OpenFeedback,
        },
        token::Mint,
    },
};

use super::instructions::{address, mint};
use crate::{
    Agent, ClientError, FeedbackState, Kind, Registries, StoredRating, Tags, Tallies,
    operation::malformed,
};

/// The program on a Solana cluster.
#[derive(Clone, Debug)]
pub struct SvmRegistries {
    pub(super) cluster: Cluster,
    pub(super) network: String,
    pub(super) program: Program,
}

impl SvmRegistries {
    /// The program on a cluster. `network` is the CAIP-2 id that the registry was initialized with. No request is
    /// made yet.
    #[must_use]
    pub fn new(cluster: Cluster, network: &ChainId, program: Program) -> Self {
        Self {
            cluster,
            network: network.to_string(),
            program,
        }
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> Program {
        self.program
    }

    pub(super) fn refused(&self, reason: impl Into<String>) -> ClientError {
        ClientError::Registry {
            network: self.network.clone(),
            reason: reason.into(),
        }
    }

    pub(super) fn no_agent(&self, mint: &Address) -> ClientError {
        ClientError::Refused {
            network: self.network.clone(),
            class: ErrorClass::AgentNotFound,
            reason: format!("there is no agent {mint}"),
        }
    }

    pub(super) async fn read<T: AccountType>(
        &self,
        address: &Address,
    ) -> Result<Option<T>, ClientError> {
        let account = self.cluster.account(address).await?;
        self.found(address, account)
    }

    fn found<T: AccountType>(
        &self,
        address: &Address,
        account: Option<Account>,
    ) -> Result<Option<T>, ClientError> {
        let Some(account) = account else {
            return Ok(None);
        };
        let found = self.program.find(&account.owner, &account.data);
        found.map_err(|error| self.refused(format!("{address}: {error}")))
    }

    async fn read_all<T: AccountType>(&self, addresses: &[Address]) -> Result<Vec<T>, ClientError> {
        let accounts = self.cluster.accounts(addresses).await?;
        let both = addresses.iter().zip(accounts);
        let read = both.map(|(address, account)| {
            let found = self.found(address, account)?;
            found.ok_or_else(|| self.refused(format!("{address} is missing")))
        });
        read.collect()
    }

    /// The clients that gave an agent feedback. The node's list must have as many as the agent counts (R46).
    async fn everyone<T: ClientAccount>(
        &self,
        mint: &Address,
    ) -> Result<Vec<Address>, ClientError> {
        let agent: Option<AgentIdentity> = self.read(&self.program.agent(mint)).await?;
        let Some(agent) = agent else {
            return Ok(Vec::new()); // §3a: as for an agent without feedback
        };
        let start = [&T::DISCRIMINATOR[..], mint.as_ref()].concat();
        let program = self.program.id();
        let found = self
            .cluster
            .accounts_starting_with(&program, &start)
            .await?;
        let found = found.map_err(|no| {
            let help = "name reviewers, or ask an index";
            self.refused(format!(
                "the endpoint lists no clients ({}): {help}",
                no.message
            ))
        })?;
        let addresses: Vec<Address> = found.into_iter().map(|(address, _)| address).collect();
        let (listed, counted) = (addresses.len() as u64, T::count(&agent));
        if listed != counted {
            let words = format!("the endpoint lists {listed} clients, and the agent has {counted}");
            return Err(self.refused(words));
        }
        let clients: Vec<T> = self.read_all(&addresses).await?;
        Ok(clients.iter().map(T::client).collect())
    }

    async fn clients<T: ClientAccount>(
        &self,
        mint: &Address,
        reviewers: Option<&[AccountId]>,
    ) -> Result<Vec<Address>, ClientError> {
        let Some(listed) = reviewers else {
            return self.everyone::<T>(mint).await;
        };
        let listed = listed.iter().map(|it| match it {
            AccountId::Svm(address) => Ok(*address),
            AccountId::Evm(_) => {
                let expected = "an address of this chain";
                Err(malformed("reviewer", &it.to_string(), expected))
            }
        });
        listed.collect()
    }

    /// Every entry of these clients. One who is listed twice is read twice.
    async fn entries<T: ClientAccount>(
        &self,
        mint: &Address,
        reviewers: Option<&[AccountId]>,
    ) -> Result<Vec<T::Entry>, ClientError> {
        let mut addresses = Vec::new();
        for client in self.clients::<T>(mint, reviewers).await? {
            let index: Option<T> = self.read(&T::place(&self.program, mint, &client)).await?;
            let last = index.map_or(0, |it| it.last());
            addresses.extend((1..=last).map(|it| T::entry(&self.program, mint, &client, it)));
        }
        self.read_all(&addresses).await
    }
}

/// How far a client's feedback of one kind has counted.
trait ClientAccount: AccountType {
    type Entry: AccountType;
    fn place(program: &Program, mint: &Address, client: &Address) -> Address;
    fn entry(program: &Program, mint: &Address, client: &Address, index: u64) -> Address;
    fn count(agent: &AgentIdentity) -> u64;
    fn client(&self) -> Address;
    fn last(&self) -> u64;
}

impl ClientAccount for OpenClientIndex {
    type Entry = OpenFeedback;

    fn place(program: &Program, mint: &Address, client: &Address) -> Address {
        program.open_client_index(mint, client)
    }

    fn entry(program: &Program, mint: &Address, client: &Address, index: u64) -> Address {
        program.open_feedback(mint, client, index)
    }

    fn count(agent: &AgentIdentity) -> u64 {
        agent.open_client_count
    }

    fn client(&self) -> Address {
        self.client
    }

    fn last(&self) -> u64 {
        self.last_index
    }
}

impl ClientAccount for ClientIndex {
    type Entry = FeedbackEntry;

    fn place(program: &Program, mint: &Address, client: &Address) -> Address {
        program.client_index(mint, client)
    }

    fn entry(program: &Program, mint: &Address, client: &Address, index: u64) -> Address {
        program.feedback_entry(mint, client, index)
    }

    fn count(agent: &AgentIdentity) -> u64 {
        agent.client_count
    }

    fn client(&self) -> Address {
        self.client
    }

    fn last(&self) -> u64 {
        self.last_index
    }
}

fn matches<T: PartialEq>(wanted: &T, is_any: bool, found: &T) -> bool {
    is_any || wanted == found
}

#[async_trait]
impl Registries for SvmRegistries {
    fn network(&self) -> &str {
        &self.network
    }

    fn registry(&self) -> String {
        format!("{}:{}", self.network, self.program.id())
    }

    async fn agent(&self, agent: &str) -> Result<Option<Agent>, ClientError> {
        let mint = mint(agent)?;
        let found: Option<AgentIdentity> = self.read(&self.program.agent(&mint)).await?;
        let Some(found) = found else {
            return Ok(None);
        };
        let account = self.cluster.account(&mint).await?;
        let read = account.and_then(|it| Mint::read(&it.owner, &it.data));
        let read = read.ok_or_else(|| self.refused(format!("{mint} is no agent's mint")))?;
        Ok(Some(Agent {
            owner: found.owner.into(),
            wallet: found.wallet().map(Into::into),
            uri: read.uri,
        }))
    }

    async fn feedback(
        &self,
        kind: Kind,
        agent: &str,
        client: &str,
        index: u64,
    ) -> Result<Option<FeedbackState>, ClientError> {
        let (mint, client) = (mint(agent)?, address("client", client)?);
        match kind {
            Kind::Open => {
                let place = self.program.open_feedback(&mint, &client, index);
                let found: Option<OpenFeedback> = self.read(&place).await?;
                Ok(found.map(|it| FeedbackState {
                    is_revoked: it.revoked,
                    rating: StoredRating::Open {
                        value: it.value,
                        decimals: it.value_decimals,
                        tag1: it.tag1,
                        tag2: it.tag2,
                    },
                }))
            }
            Kind::Authorized => {
                let place = self.program.feedback_entry(&mint, &client, index);
                let found: Option<FeedbackEntry> = self.read(&place).await?;
                Ok(found.map(|it| FeedbackState {
                    is_revoked: it.revoked,
                    rating: StoredRating::Authorized {
                        score: it.score,
                        tag1: it.tag1,
                        tag2: it.tag2,
                        has_payment_proof: it.has_payment_proof,
                    },
                }))
            }
        }
    }

    /// A read instruction takes 61 accounts at most, so the entries are read and summed here, by the rule that the
    /// program calls too (R16, R47).
    async fn open_summary(
        &self,
        agent: &str,
        reviewers: Option<&[AccountId]>,
        tags: Tags<'_>,
    ) -> Result<Summary, ClientError> {
        let mint = mint(agent)?;
        let entries = self.entries::<OpenClientIndex>(&mint, reviewers);
        let mut sums = Accumulator::default();
        for entry in entries.await? {
            let is_wanted = matches(&tags.tag1, tags.tag1.is_empty(), &&*entry.tag1)
                && matches(&tags.tag2, tags.tag2.is_empty(), &&*entry.tag2);
            if is_wanted && !entry.revoked {
                sums.add(entry.value, entry.value_decimals)?;
            }
        }
        Ok(sums.finish())
    }

    async fn tallies(
        &self,
        agent: &str,
        reviewers: Option<&[AccountId]>,
        tags: Tags<'_>,
    ) -> Result<Tallies, ClientError> {
        let [tag1, tag2] = [Tag::new(tags.tag1)?.padded(), Tag::new(tags.tag2)?.padded()]; // R14
        let mint = mint(agent)?;
        let entries = self.entries::<ClientIndex>(&mint, reviewers);
        let mut tallies = Tallies::default();
        for entry in entries.await? {
            let is_wanted = matches(&tag1, tags.tag1.is_empty(), &entry.tag1)
                && matches(&tag2, tags.tag2.is_empty(), &entry.tag2);
            if is_wanted && !entry.revoked {
                let tally: &mut Tally = if entry.has_payment_proof {
                    &mut tallies.verified
                } else {
                    &mut tallies.unverified
                };
                tally.count = tally.count.saturating_add(1);
                tally.score_sum = tally.score_sum.saturating_add(entry.score.into());
            }
        }
        Ok(tallies)
    }
}
