//! From a feedback's name to what an explanation is about: registries, client, index, transaction.
use super::{AgentName, EvmReader, FeedbackName, Online, OnlineError, SvmReader, block::missing};
use crate::{
    HexBytes, HexHash, Subject, Trust,
    evidence::SvmExecuted,
    proof::receipt::Receipt,
    rpc,
    trust::{AUTHORIZED, OPEN},
};
use alloy_primitives::{Address, B256, Bytes, Log};
use concord_canonical::{
    caip::{AccountId as Caip10, EIP155},
    word,
};
use concord_registry::{
    event::{AccountId, AgentId, Block, Emitted, Event, Profile, TransactionId},
    evm::{PlacedLog, RegistryAddresses, abi::Feedback::getIdentityRegistryCall},
    svm::{Address as SvmAddress, Program},
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What an event says of a feedback's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Given {
    profile: Profile,
    agent: AgentId,
    client: AccountId,
    index: u64,
}

impl Given {
    const fn read(event: &Event) -> Option<Self> {
        let (profile, agent, client, index) = match event {
            Event::OpenFeedback {
                agent,
                client,
                index,
                ..
            } => (Profile::Open, *agent, *client, *index),
            Event::AuthorizedFeedback {
                agent,
                client,
                index,
                ..
            } => (Profile::Authorized, *agent, *client, *index),
            _ => return None,
        };
        Some(Self {
            profile,
            agent,
            client,
            index,
        })
    }

    fn name(&self) -> String {
        let Self {
            profile,
            agent,
            client,
            index,
        } = self;
        format!("{agent}/{}/{client}/{index}", name_of(*profile))
    }
}

const fn name_of(profile: Profile) -> &'static str {
    match profile {
        Profile::Open => "open",
        Profile::Authorized => "authorized",
    }
}

impl Online {
    /// Finds the feedback that a name means.
    ///
    /// # Errors
    /// [`OnlineError::NotOne`] for a transaction that gives none or several; [`OnlineError::NoSuchFeedback`].
    pub async fn subject(
        &mut self,
        name: &FeedbackName,
        trust: &Trust,
    ) -> Result<Subject, OnlineError> {
        match name {
            FeedbackName::Transaction { chain, id } => {
                let found = self.subjects_in(chain, id).await?;
                only_one(id, found)
            }
            FeedbackName::Id {
                registry,
                agent,
                profile,
                client,
                index,
            } => {
                let not_of_chain = |_| OnlineError::NotOfChain(registry.clone());
                let registry = Caip10::parse(registry).map_err(not_of_chain)?;
                let chain = registry.chain_id().to_string();
                let wanted = wanted(&registry, agent, *profile, client, *index)?;
                if registry.chain_id().namespace() == EIP155 {
                    let reader = self.evm(&chain)?;
                    reader.find(&registry, wanted, trust).await
                } else {
                    self.svm(&chain)?.find(&registry, wanted).await
                }
            }
        }
    }

    /// Finds every feedback of an agent.
    ///
    /// # Errors
    /// [`OnlineError`].
    pub async fn feedback_of(
        &mut self,
        agent: &AgentName,
        profile: Profile,
        trust: &Trust,
    ) -> Result<AgentFeedback, OnlineError> {
        let not_of_chain = |_| OnlineError::NotOfChain(agent.registry.clone());
        let registry = Caip10::parse(&agent.registry).map_err(not_of_chain)?;
        let chain = registry.chain_id().to_string();
        let id = agent_id(&registry, &agent.agent)?;
        if registry.chain_id().namespace() == EIP155 {
            self.evm(&chain)?
                .all_of(&registry, id, profile, trust)
                .await
        } else {
            self.svm(&chain)?.all_of(&registry, id, profile).await
        }
    }

    /// Every feedback that a transaction gives, whatever registry it is in.
    ///
    /// # Errors
    /// [`OnlineError`].
    pub async fn subjects_in(
        &mut self,
        chain: &str,
        id: &str,
    ) -> Result<Vec<Subject>, OnlineError> {
        match self.svm.get(chain) {
            Some(cluster) => cluster.subjects_in(id).await,
            None => self.evm(chain)?.subjects_in(id).await,
        }
    }
}

fn only_one(id: &str, found: Vec<Subject>) -> Result<Subject, OnlineError> {
    let names: Vec<String> = found.iter().map(Subject::name).collect();
    match <[Subject; 1]>::try_from(found) {
        Ok([only]) => Ok(only),
        Err(_) => Err(OnlineError::NotOne {
            id: id.to_owned(),
            found: names.len(),
            names: names.join(", "),
        }),
    }
}

fn agent_id(registry: &Caip10<'_>, agent: &str) -> Result<AgentId, OnlineError> {
    let id = if registry.chain_id().namespace() == EIP155 {
        word::parse_decimal("agentId", agent).ok().map(AgentId::Evm)
    } else {
        agent.parse().ok().map(AgentId::Svm)
    };
    id.ok_or_else(|| OnlineError::NotOfChain(format!("the agent's id {agent:?}")))
}

fn wanted(
    registry: &Caip10<'_>,
    agent: &str,
    profile: Profile,
    client: &str,
    index: u64,
) -> Result<Given, OnlineError> {
    let agent = agent_id(registry, agent)?;
    let shown = client;
    // the account, or its CAIP-10 id
    let client = client.rsplit(':').next().unwrap_or_default();
    let client = match agent {
        AgentId::Evm(_) => client
            .parse::<Address>()
            .ok()
            .map(|it| AccountId::Evm(it.into_array())),
        AgentId::Svm(_) => client.parse().ok().map(AccountId::Svm),
    };
    Ok(Given {
        profile,
        agent,
        client: client.ok_or_else(|| OnlineError::NotOfChain(format!("the client {shown:?}")))?,
        index,
    })
}

impl EvmReader {
    async fn subjects_in(&mut self, id: &str) -> Result<Vec<Subject>, OnlineError> {
        let answer = self.receipt(id).await?;
        let number = rpc::quantity_of(&answer, "blockNumber")?;
        self.cover(number).await?;
        let unreadable = |_| missing(self.node(), format!("readable receipt of transaction {id}"));
        let receipt = Receipt::read(&rpc::receipt(&answer)?).map_err(unreadable)?;
        let placed = |(index, log)| PlacedLog {
            block: Block { number, hash: None },
            transaction: B256::ZERO,
            index,
            log,
        };
        let logs: Vec<_> = (0..).zip(receipt.logs).map(placed).collect();
        let emitters: BTreeSet<Address> = logs.iter().map(|it| it.log.address).collect();
        let mut found = Vec::new();
        for emitter in emitters {
            for profile in [Profile::Open, Profile::Authorized] {
                let events = registries(emitter, profile)
                    .events(self.chain(), &logs)
                    .events;
                let given: Vec<_> = events
                    .iter()
                    .filter_map(|it| Given::read(&it.event))
                    .collect();
                if given.is_empty() {
                    continue;
                }
                let identity = self.identity_of(emitter).await?;
                found.extend(
                    given
                        .iter()
                        .map(|it| self.subject(identity, emitter, it, id)),
                );
            }
        }
        Ok(found)
    }

    fn subject(&self, identity: Address, reputation: Address, given: &Given, id: &str) -> Subject {
        let (chain, at_block, _) = self.anchor();
        Subject {
            agent_registry: format!("{chain}:{identity}"),
            reputation_registry: reputation.to_string(),
            profile: name_of(given.profile).to_owned(),
            agent_id: given.agent.to_string(),
            client: given.client.to_string(),
            index: given.index,
            transaction: id.to_owned(),
            at_block,
        }
    }

    /// The identity registry that a reputation registry is bound to.
    async fn identity_of(&self, reputation: Address) -> Result<Address, OnlineError> {
        let answer = self
            .node()
            .read(reputation, &getIdentityRegistryCall {})
            .await?;
        answer.map_err(|_| missing(self.node(), format!("identity registry of {reputation}")))
    }

    /// Searches the events of the known reputation registries for a feedback.
    async fn find(
        &mut self,
        registry: &Caip10<'_>,
        wanted: Given,
        trust: &Trust,
    ) -> Result<Subject, OnlineError> {
        let (identity, reputation) = self.reputation_of(registry, wanted.profile, trust).await?;
        let all = self
            .events_of(reputation, wanted.profile, wanted.agent)
            .await?;
        let found = all.into_iter().find(|it| it.given == wanted);
        let found = found.ok_or_else(|| OnlineError::NoSuchFeedback {
            registry: reputation.to_string(),
            name: wanted.name(),
        })?;
        self.cover(found.block).await?;
        Ok(self.subject(identity, reputation, &wanted, &found.transaction))
    }

    /// The identity registry, and the known reputation registry that is bound to it.
    async fn reputation_of(
        &self,
        registry: &Caip10<'_>,
        profile: Profile,
        trust: &Trust,
    ) -> Result<(Address, Address), OnlineError> {
        let contract = match profile {
            Profile::Open => OPEN,
            Profile::Authorized => AUTHORIZED,
        };
        let identity: Address = registry
            .address()
            .parse()
            .map_err(|_| OnlineError::NotOfChain(registry.to_string()))?;
        let known = trust.addresses(self.chain(), contract);
        let known: Vec<Address> = known.filter_map(|it| it.parse().ok()).collect();
        for reputation in known {
            if self.identity_of(reputation).await.ok() == Some(identity) {
                return Ok((identity, reputation));
            }
        }
        Err(OnlineError::NoReputation {
            profile: name_of(profile),
            registry: registry.to_string(),
        })
    }

    /// Every feedback of an agent.
    async fn all_of(
        &mut self,
        registry: &Caip10<'_>,
        agent: AgentId,
        profile: Profile,
        trust: &Trust,
    ) -> Result<AgentFeedback, OnlineError> {
        let (identity, reputation) = self.reputation_of(registry, profile, trust).await?;
        let mut all = self.events_of(reputation, profile, agent).await?;
        if let Some(newest) = all.last() {
            match self.cover(newest.block).await {
                // of a block that the caller chose, later feedback is not there yet
                Err(OnlineError::AfterAnchor { anchor, .. }) => all.retain(|it| it.block <= anchor),
                covered => covered?,
            }
        }
        let subjects = all
            .iter()
            .map(|it| self.subject(identity, reputation, &it.given, &it.transaction));
        Ok(AgentFeedback {
            agent_registry: format!("{}:{identity}", self.chain()),
            reputation_registry: reputation.to_string(),
            at_block: self.anchor().1,
            subjects: subjects.collect(),
        })
    }

    /// The events of an agent's feedback, in the order of the chain.
    async fn events_of(
        &self,
        reputation: Address,
        profile: Profile,
        agent: AgentId,
    ) -> Result<Vec<Found>, OnlineError> {
        let newest = self.node().block_number().await?;
        let mut ranges = vec![(0, newest)];
        let mut found = Vec::new();
        while let Some((from, to)) = ranges.pop() {
            let Some(logs) = self.logs(reputation, agent, from, to).await? else {
                // the node refuses so many: the earlier half first
                let middle = from + (to - from) / 2;
                ranges.extend([(middle + 1, to), (from, middle)]);
                continue;
            };
            let decoded = registries(reputation, profile).events(self.chain(), &logs);
            found.extend(decoded.events.iter().filter_map(Found::read));
        }
        Ok(found)
    }

    /// `None` if the node refuses the range and a shorter one may do.
    async fn logs(
        &self,
        reputation: Address,
        agent: AgentId,
        from: u64,
        to: u64,
    ) -> Result<Option<Vec<PlacedLog>>, OnlineError> {
        const METHOD: &str = "eth_getLogs";
        let agent = match agent {
            AgentId::Evm(id) => HexHash(id),
            AgentId::Svm(_) => HexHash::default(),
        };
        let params = json!([{
            "address": reputation.to_string().to_lowercase(),
            "topics": [Value::Null, agent],
            "fromBlock": format!("{from:#x}"),
            "toBlock": format!("{to:#x}"),
        }]);
        let answer = self.node().endpoint().request(METHOD, params).await?;
        let logs: Vec<Value> = match answer {
            Ok(logs) => logs,
            Err(_) if from < to => return Ok(None),
            Err(refusal) => {
                let what = format!("logs of block {from}: {}", refusal.message);
                return Err(missing(self.node(), what));
            }
        };
        let placed = logs.iter().map(placed_log).collect::<Result<_, _>>()?;
        Ok(Some(placed))
    }
}

/// A feedback's event, and where it is.
struct Found {
    given: Given,
    block: u64,
    transaction: String,
}

impl Found {
    fn read(emitted: &Emitted) -> Option<Self> {
        let TransactionId::Evm(hash) = emitted.origin.transaction else {
            return None;
        };
        Some(Self {
            given: Given::read(&emitted.event)?,
            block: emitted.origin.block.number,
            transaction: format!("0x{}", hex::encode(hash)),
        })
    }
}

/// Every feedback of an agent, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFeedback {
    /// The identity registry, CAIP-10; on Solana the program.
    pub agent_registry: String,
    /// The reputation registry's address; on Solana the program again.
    pub reputation_registry: String,
    /// E: the block on which everything rests.
    pub at_block: u64,
    /// The feedbacks.
    pub subjects: Vec<Subject>,
}

fn registries(reputation: Address, profile: Profile) -> RegistryAddresses {
    let (open_reputation, authorized_reputation) = match profile {
        Profile::Open => (Some(reputation), None),
        Profile::Authorized => (None, Some(reputation)),
    };
    RegistryAddresses {
        identity: Address::ZERO,
        open_reputation,
        authorized_reputation,
        validation: None,
    }
}

fn placed_log(log: &Value) -> Result<PlacedLog, OnlineError> {
    let word = |member| rpc::read(log, member).map(|it: HexHash| B256::new(it.0));
    let topics: Vec<HexHash> = rpc::read(log, "topics")?;
    let data: HexBytes = rpc::read(log, "data")?;
    let address: HexBytes = rpc::read(log, "address")?;
    let address = Address::try_from(&address.0[..]);
    let malformed = || OnlineError::NotOfChain("a log's address".to_owned());
    let log_of = Log::new(
        address.map_err(|_| malformed())?,
        topics.into_iter().map(|it| B256::new(it.0)).collect(),
        Bytes::from(data.0),
    );
    Ok(PlacedLog {
        block: Block {
            number: rpc::quantity_of(log, "blockNumber")?,
            hash: None,
        },
        transaction: word("transactionHash")?,
        index: rpc::quantity_of(log, "logIndex")?,
        log: log_of.ok_or_else(malformed)?,
    })
}

impl SvmReader {
    async fn subjects_in(&self, signature: &str) -> Result<Vec<Subject>, OnlineError> {
        let found = self.executed(signature).await?;
        let unreadable = |_| self.missing(format!("readable transaction {signature}"));
        let executed = SvmExecuted::read(signature, &found).map_err(unreadable)?;
        let calls = executed.transaction.instructions.iter();
        let programs: BTreeSet<SvmAddress> = calls
            .flat_map(|it| it.calls.iter().map(|call| call.program).chain([it.program]))
            .collect();
        let mut subjects = Vec::new();
        for program in programs {
            let decoded = Program::new(program).events(self.chain(), &executed.transaction);
            let given = decoded
                .events
                .iter()
                .filter_map(|it| Given::read(&it.event));
            subjects.extend(given.map(|it| self.subject(program, &it, signature, found.slot)));
        }
        Ok(subjects)
    }

    fn subject(&self, program: SvmAddress, given: &Given, signature: &str, slot: u64) -> Subject {
        Subject {
            agent_registry: format!("{}:{program}", self.chain()),
            reputation_registry: program.to_string(),
            profile: name_of(given.profile).to_owned(),
            agent_id: given.agent.to_string(),
            client: given.client.to_string(),
            index: given.index,
            transaction: signature.to_owned(),
            at_block: slot,
        }
    }

    /// Every feedback of an agent, from the transactions that name its account.
    async fn all_of(
        &self,
        registry: &Caip10<'_>,
        agent: AgentId,
        profile: Profile,
    ) -> Result<AgentFeedback, OnlineError> {
        let not_of_chain = || OnlineError::NotOfChain(registry.to_string());
        let program: SvmAddress = registry.address().parse().map_err(|_| not_of_chain())?;
        let AgentId::Svm(mint) = agent else {
            return Err(not_of_chain());
        };
        let account = Program::new(program).agent(&mint);
        let (mut subjects, mut at_block) = (Vec::new(), 0);
        for signature in self.oldest_first(&account).await? {
            for found in self.subjects_in(&signature).await? {
                let is_own = found.agent_id == mint.to_string()
                    && found.profile == name_of(profile)
                    && found.reputation_registry == program.to_string();
                if is_own {
                    at_block = at_block.max(found.at_block);
                    subjects.push(found);
                }
            }
        }
        Ok(AgentFeedback {
            agent_registry: format!("{}:{program}", self.chain()),
            reputation_registry: program.to_string(),
            at_block,
            subjects,
        })
    }

    /// Searches the transactions that name the feedback's account. The one that gave it is the oldest.
    async fn find(&self, registry: &Caip10<'_>, wanted: Given) -> Result<Subject, OnlineError> {
        let not_of_chain = || OnlineError::NotOfChain(registry.to_string());
        let program: SvmAddress = registry.address().parse().map_err(|_| not_of_chain())?;
        let (AgentId::Svm(mint), AccountId::Svm(client)) = (wanted.agent, wanted.client) else {
            return Err(not_of_chain());
        };
        let accounts = Program::new(program);
        let account = match wanted.profile {
            Profile::Open => accounts.open_feedback(&mint, &client, wanted.index),
            Profile::Authorized => accounts.feedback_entry(&mint, &client, wanted.index),
        };
        for signature in self.oldest_first(&account).await? {
            let subjects = self.subjects_in(&signature).await?;
            let name = self.subject(program, &wanted, &signature, 0).name();
            if let Some(found) = subjects.into_iter().find(|it| it.name() == name) {
                return Ok(found);
            }
        }
        Err(OnlineError::NoSuchFeedback {
            registry: registry.to_string(),
            name: wanted.name(),
        })
    }

    async fn oldest_first(&self, account: &SvmAddress) -> Result<Vec<String>, OnlineError> {
        let mut all: Vec<String> = Vec::new();
        let mut before: Option<String> = None;
        loop {
            let page = self
                .cluster()
                .signatures(account, before.as_deref(), None)
                .await?;
            let Some(last) = page.last() else {
                break;
            };
            before = Some(last.signature.clone());
            let succeeded = page.into_iter().filter(|it| it.err.is_null());
            all.extend(succeeded.map(|it| it.signature));
        }
        all.reverse();
        Ok(all)
    }
}
