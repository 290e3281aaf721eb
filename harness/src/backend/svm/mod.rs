//! The Solana program in litesvm: the real VM, Token-2022 and precompiles, in process.
mod addresses;
mod authorization;
mod deployment;
mod instructions;
mod ledger;
mod observation;
mod token;
mod translation;

use super::{Backend, Directory, Missing, Observed, StepFault};
use crate::model::{Actor, Agent, CanonicalState, Chain, Feedback, Operation, Outcome, Summary};
use agent_registry::{AgentIdentity, ClientIndex};
use anchor_lang::AccountDeserialize;
use ledger::{LAMPORTS, Ledger, Sent};
use solana_address::Address;
use std::path::Path;

const CAPABILITIES: &[&str] = &[
    "register",
    "transfer",
    "give_feedback",
    "revoke_feedback",
    "summary",
];

type Agents = Directory<Address, Address>;

/// The backend `svm-litesvm`: each scenario runs on a fresh copy of the VM after deployment.
pub struct SvmLitesvm {
    deployed: Ledger,
    ledger: Ledger,
    /// Unix seconds.
    start: u64,
    agents: Agents,
}

impl SvmLitesvm {
    const NAME: &str = "svm-litesvm";

    /// Loads the program from `file` and initializes its registry.
    ///
    /// # Errors
    /// A program that is missing or does not load.
    pub fn start(file: &Path) -> Result<Self, Missing> {
        let deployed = deployment::deploy(file)?;
        Ok(Self {
            ledger: deployed.clone(),
            deployed,
            start: 0,
            agents: Agents::default(),
        })
    }

    fn register(&mut self, agent: &Agent, by: &Actor, uri: &str) -> Result<Observed, StepFault> {
        let (owner, mint) = (addresses::actor_key(by), addresses::mint_key(agent));
        let address = addresses::mint(agent);
        let register = instructions::register(addresses::actor(by), address, uri);
        let sent = self.ledger.send(&[&owner, &mint], &[register])?;
        if sent.accepted().is_some() {
            self.agents.add_agent(address, agent.clone());
        }
        self.observe(&sent)
    }

    /// Sends the token from whoever is on record as its owner, signed by `by`.
    fn transfer(&mut self, agent: &Agent, by: &Actor, to: &Actor) -> Result<Observed, StepFault> {
        let mint = addresses::mint(agent);
        let (authority, receiver) = (addresses::actor(by), addresses::actor(to));
        let owner = self
            .identity(&mint)
            .map_or(authority, |identity| addresses::address(identity.owner));
        let sent = self.ledger.send(
            &[&addresses::actor_key(by)],
            &[
                instructions::open_token_account(authority, receiver, mint),
                instructions::transfer(authority, owner, receiver, mint),
            ],
        )?;
        self.observe(&sent)
    }

    fn give_feedback(&mut self, feedback: &Feedback) -> Result<Observed, StepFault> {
        let (reviewer, mint) = (
            addresses::actor(&feedback.by),
            addresses::mint(&feedback.agent),
        );
        let index = match feedback.index {
            Some(index) => index,
            None => self.next_index(&mint, &reviewer)?,
        };
        let sent_along = feedback.authorization.as_ref();
        let precompile = sent_along.and_then(|sent| authorization::precompile(sent, self.start));
        let claim = authorization::claim(sent_along, self.start);
        let give = instructions::give_feedback(reviewer, mint, index, feedback, claim);
        let sent = self.ledger.send(
            &[&addresses::actor_key(&feedback.by)],
            &precompile.into_iter().chain([give]).collect::<Vec<_>>(),
        )?;
        self.observe(&sent)
    }

    fn revoke_feedback(
        &mut self,
        agent: &Agent,
        by: &Actor,
        index: u64,
    ) -> Result<Observed, StepFault> {
        let revoke =
            instructions::revoke_feedback(addresses::actor(by), addresses::mint(agent), index);
        let sent = self.ledger.send(&[&addresses::actor_key(by)], &[revoke])?;
        self.observe(&sent)
    }

    /// The program has no read instruction: clients read its counters.
    fn summary(&self, agent: &Agent) -> Result<Observed, StepFault> {
        let answer = self.identity(&addresses::mint(agent)).map_or(
            Ok(Summary {
                count: 0,
                average: 0,
            }),
            |identity| observation::summary(&identity),
        )?;
        Ok(Outcome::answered(answer).into())
    }

    fn observe(&self, sent: &Sent) -> Result<Observed, StepFault> {
        match &sent.result {
            Ok(done) => {
                let events = translation::events(done, &sent.message, &self.agents, self.start)?;
                Ok(Outcome::accepted(events).into())
            }
            Err(fault) => Ok(Observed {
                outcome: Outcome::refused(translation::class_of(
                    &fault.err,
                    &sent.message,
                    &fault.meta.logs,
                )?),
                native_error: Some(format!("{:?}", fault.err)),
            }),
        }
    }

    fn identity(&self, mint: &Address) -> Option<AgentIdentity> {
        let account = self.ledger.svm.get_account(&addresses::identity(mint))?;
        AgentIdentity::try_deserialize(&mut &account.data[..]).ok()
    }

    /// What a client does who is not told an index: reads its last one and adds 1 (R12).
    fn next_index(&self, mint: &Address, client: &Address) -> Result<u64, StepFault> {
        let address = addresses::client_index(mint, client);
        let last = match self.ledger.svm.get_account(&address) {
            Some(account) => {
                ClientIndex::try_deserialize(&mut &account.data[..])
                    .map_err(|fault| StepFault::UnexplainedState(format!("{address}: {fault}")))?
                    .last_index
            }
            None => 0,
        };
        last.checked_add(1)
            .ok_or_else(|| StepFault::UnexplainedState(format!("{address}: last index {last}")))
    }
}

impl Backend for SvmLitesvm {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn chain(&self) -> Chain {
        Chain::Svm
    }

    fn capabilities(&self) -> &'static [&'static str] {
        CAPABILITIES
    }

    fn reset(&mut self, start: u64, actors: &[Actor]) -> Result<(), StepFault> {
        self.ledger = self.deployed.clone();
        self.ledger.set_time(start)?;
        self.start = start;
        self.agents = Agents::default();
        for actor in actors {
            let address = addresses::actor(actor);
            self.ledger
                .svm
                .airdrop(&address, LAMPORTS)
                .map_err(|fault| StepFault::Unreachable(format!("airdrop: {:?}", fault.err)))?;
            self.agents.add_actor(address, actor.clone());
        }
        Ok(())
    }

    fn execute(&mut self, operation: &Operation, time: u64) -> Result<Observed, StepFault> {
        if !operation.is_read() {
            self.ledger.set_time(self.start.saturating_add(time))?;
        }
        match operation {
            Operation::Register { agent, by, uri } => self.register(agent, by, uri),
            Operation::Transfer { agent, by, to } => self.transfer(agent, by, to),
            Operation::GiveFeedback(feedback) => self.give_feedback(feedback),
            Operation::RevokeFeedback { agent, by, index } => {
                self.revoke_feedback(agent, by, *index)
            }
            Operation::Summary { agent } => self.summary(agent),
        }
    }

    fn state(&mut self) -> Result<CanonicalState, StepFault> {
        observation::state(&self.ledger.svm, &self.agents, self.start)
    }
}
