//! The Solana program, on any cluster that runs it: in litesvm ([`SvmLitesvm`]), with the real VM,
//! Token-2022 and precompiles, in process, and deployed to a cluster ([`SvmLive`]).
//!
//! - [`attach`], [`development`], [`governance`]: on a development node, which keeps what is done
//! - [`keyring`]: the keys of actors and mints
//! - [`precompile`], [`authorization`], [`payment`]: signed statements, sound or tampered with
//! - [`operations`]: each operation as a transaction; [`view`]: as a simulated call
//! - [`views`]: every account and read instruction, asked at the end of a scenario
//! - [`impostors`]: accounts that are not what they seem, in an operation's transaction
//! - [`labels`], [`observation`]: errors, events and accounts in the model's terms
//!
//! Addresses, instructions and the bytes of accounts and events are `concord-registry`'s. The
//! program's id is a value: that of the file that litesvm loads, or of the address book.
mod attach;
mod authorization;
mod deployment;
mod development;
mod governance;
mod impostors;
mod in_process;
mod keyring;
mod labels;
mod landed_table;
mod ledger;
mod live;
mod lookup_table;
mod observation;
mod operations;
mod payment;
mod precompile;
mod view;
mod views;

pub(super) use views::questions as view_questions;

use super::{
    Backend, Cost, Directory, Observed, SetupError, StepFault,
    impostor::{Impostor, Trial},
    views::{Draw, Known, ViewAnswer, ViewName},
};
use crate::model::{
    Actor, Agent, AgentState, CanonicalState, Chain, DEPLOYER, Operation, Outcome, Verdict,
};
pub use attach::{FoundProgram, NodeFault};
use concord_registry::svm::{
    Program,
    accounts::{self, AgentIdentity},
    events::Transaction,
};
pub use in_process::Litesvm;
pub use keyring::Keyring;
pub use ledger::Ledger;
use ledger::Sent;
pub use live::Live;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

type Agents = Directory<Address, Address>;
type States = BTreeMap<Agent, Option<AgentState>>;

/// The backend `svm-litesvm`: each scenario runs on a fresh copy of the VM after deployment.
pub type SvmLitesvm = Registry<Litesvm>;
/// The backend `svm-live`: the registry of a public cluster; or `svm-rpc`: that of a
/// development node ([`SvmLive::attach`]).
pub type SvmLive = Registry<Live>;

/// The program's one registry on a cluster, put back to its beginning for each scenario.
pub struct Registry<L> {
    name: &'static str,
    ledger: L,
    world: World,
    /// What the registry account held before the first scenario, if it is to hold it again.
    found: Option<accounts::Registry>,
    /// Successful transactions since they were taken.
    transactions: Vec<Transaction>,
}

/// What the backend knows of the scenario that runs.
#[derive(Clone)]
struct World {
    program: Program,
    keys: Keyring,
    /// CAIP-2 id that the registry is initialized for (R9).
    chain: String,
    /// Unix seconds.
    start: u64,
    /// Unix seconds, of the latest transaction.
    now: u64,
    agents: Agents,
    /// By mint, every account that a transaction about the agent could write.
    writable: BTreeMap<Address, BTreeSet<Address>>,
    /// Mints whose only token was burned.
    burned: BTreeSet<Address>,
    spare_accounts: u64,
    /// By label, the mints of the registrations that were tried (R4).
    mints: BTreeMap<Agent, Address>,
}

impl World {
    fn new(program: Program, keys: Keyring, chain: String, start: u64) -> Self {
        Self {
            program,
            keys,
            chain,
            start,
            now: start,
            agents: Agents::default(),
            writable: BTreeMap::new(),
            burned: BTreeSet::new(),
            spare_accounts: 0,
            mints: BTreeMap::new(),
        }
    }

    /// The mint of an agent's label. One that nobody tried to register has a mint of no agent.
    fn mint(&self, agent: &Agent) -> Address {
        let tried = self.mints.get(agent).copied();
        tried.unwrap_or_else(|| self.keys.mint_of_no_agent(agent))
    }

    /// R4: who registers an agent pays, and so decides its mint with the nonce.
    fn note_mint(&mut self, agent: &Agent, by: &Actor) {
        let (payer, nonce) = (self.keys.actor(by), self.keys.nonce(agent));
        let mint = self.program.agent_mint(&payer, nonce);
        self.mints.insert(agent.clone(), mint);
    }

    fn next_spare_account(&mut self) -> u64 {
        self.spare_accounts += 1;
        self.spare_accounts
    }

    fn note_writable(&mut self, agent: &Agent, instructions: &[Instruction]) {
        let metas = instructions.iter().flat_map(|it| &it.accounts);
        let addresses = metas.filter(|meta| meta.is_writable);
        let noted = self.writable.entry(self.mint(agent)).or_default();
        noted.extend(addresses.map(|meta| meta.pubkey));
    }
}

impl SvmLitesvm {
    const NAME: &str = "svm-litesvm";

    /// Loads the program from `file`, under the id that the build's note beside it names, and
    /// initializes its registry.
    ///
    /// # Errors
    /// A program that is missing or does not load, or whose registry cannot be initialized.
    pub fn start(file: &Path) -> Result<Self, SetupError> {
        Self::start_with(file, &[])
    }

    /// As [`Self::start`], with other ELFs than the VM's own at these addresses: clusters run other
    /// versions of Token-2022 than litesvm has.
    ///
    /// # Errors
    /// As [`Self::start`]; an ELF that does not load.
    pub fn start_with(file: &Path, replacements: &[(Address, &[u8])]) -> Result<Self, SetupError> {
        let (mut ledger, program) = deployment::deploy(file, replacements)?;
        ledger.mark().map_err(|fault| SetupError::Deployment {
            participant: Self::NAME,
            reason: fault.to_string(),
        })?;
        Ok(Self {
            name: Self::NAME,
            ledger,
            world: World::new(program, Keyring::Public, precompile::LOCALNET.to_owned(), 0),
            found: None,
            transactions: Vec::new(),
        })
    }
}

impl<L: Ledger> Registry<L> {
    /// The program.
    pub fn program(&self) -> Program {
        self.world.program
    }

    /// The successful transactions since this was last called, without signature and block.
    pub fn take_transactions(&mut self) -> Vec<Transaction> {
        std::mem::take(&mut self.transactions)
    }

    /// What an actor has.
    ///
    /// # Errors
    /// The cluster does not answer.
    pub fn lamports(&self, actor: &Actor) -> Result<u64, StepFault> {
        let account = self.ledger.account(&self.world.keys.actor(actor))?;
        Ok(account.map_or(0, |account| account.lamports))
    }

    /// One instruction, which `by` alone signs.
    fn submit_alone(
        &mut self,
        agent: &Agent,
        by: &Actor,
        instruction: Instruction,
    ) -> Result<Observed, StepFault> {
        let key = self.world.keys.actor_key(by);
        self.submit(Some(agent), &[&key], &[instruction])
    }

    /// One transaction, paid by the first signer; `agent` is whom it is about.
    fn submit(
        &mut self,
        agent: Option<&Agent>,
        signers: &[&Keypair],
        instructions: &[Instruction],
    ) -> Result<Observed, StepFault> {
        if let Some(agent) = agent {
            self.world.note_writable(agent, instructions);
        }
        let sent = self.ledger.send(signers, instructions)?;
        self.observe(&sent, instructions)
    }

    fn observe(
        &mut self,
        sent: &Sent,
        instructions: &[Instruction],
    ) -> Result<Observed, StepFault> {
        match &sent.ran {
            Ok(done) => {
                let transaction = labels::transaction(done);
                let (events, time) = labels::events(&transaction, &sent.clock, &self.world)?;
                self.transactions.push(transaction);
                if sent.transaction.is_some() {
                    self.ledger.executed_at(time)?;
                }
                Ok(Observed {
                    outcome: Outcome::accepted(events),
                    native_error: None,
                    cost: Some(Cost::ComputeUnits(done.compute_units)),
                    transaction: sent.transaction.clone(),
                    token_events: None,
                })
            }
            Err(failed) => Ok(Observed {
                outcome: Outcome::refused(labels::class_of(
                    &self.world.program,
                    &failed.fault,
                    instructions,
                    &failed.logs,
                )?),
                native_error: Some(format!("{:?}", failed.fault)),
                cost: Some(Cost::ComputeUnits(failed.compute_units)),
                transaction: None,
                token_events: None,
            }),
        }
    }

    fn identity(&self, mint: &Address) -> Result<Option<AgentIdentity>, StepFault> {
        let program = &self.world.program;
        self.ledger.load(program, &program.agent(mint))
    }

    /// Changes the registry's lists or authority, and no agent.
    fn govern(&mut self, by: &Actor, change: Instruction) -> Result<Observed, StepFault> {
        self.submit(None, &[&self.world.keys.actor_key(by)], &[change])
    }

    /// The operation, or a direct call of the hook about its agent, with impostors in it.
    fn played_with_impostors(
        &mut self,
        operation: &Operation,
        time: u64,
        hook: Option<Instruction>,
    ) -> Result<(Observed, Result<States, String>), StepFault> {
        let observed = match hook {
            None => self.execute(operation, time)?,
            Some(call) => self.submit(operation.agent(), &[], &[call])?,
        };
        let own = operation.agent().filter(|_| !operation.is_read());
        let agents: Vec<_> = match observed.outcome.verdict {
            Verdict::Ok => self.world.agents.agents().map(|it| it.1).collect(),
            _ => own.into_iter().collect(),
        };
        let states = agents.into_iter().map(|agent| {
            let state = observation::agent_state(&self.ledger, &self.world, agent)?;
            Ok((agent.clone(), state))
        });
        let states: Result<States, StepFault> = states.collect();
        Ok((observed, states.map_err(|it| it.to_string())))
    }

    fn run(&mut self, operation: &Operation) -> Result<Observed, StepFault> {
        let program = self.world.program;
        let key = |actor: &Actor| self.world.keys.actor(actor);
        match operation {
            Operation::Register(it) => self.register(it),
            Operation::SetAgentUri(it) => self.set_agent_uri(it),
            Operation::SetMetadata(it) => self.set_metadata(it),
            Operation::SetAgentWallet(it) => self.set_agent_wallet(it),
            Operation::UnsetAgentWallet(it) => self.unset_agent_wallet(it),
            Operation::Transfer(it) => self.transfer(it),
            Operation::Burn(it) => self.burn(it),
            Operation::SetFeedbackAuthority(it) => self.set_feedback_authority(it),
            Operation::SetAuthSchemes(it) => self.set_auth_schemes(it),
            Operation::ListPaymentToken(it) => {
                let (authority, token) = (key(&it.by), key(&it.token));
                let list = program.set_payment_token(authority, token, it.listed);
                self.govern(&it.by, list)
            }
            Operation::ListFacilitator(it) => {
                let (authority, facilitator) = (key(&it.by), key(&it.facilitator));
                let list = program.set_facilitator(authority, facilitator, it.listed);
                self.govern(&it.by, list)
            }
            Operation::ProposeRegistryAuthority(it) => {
                let successor = Some(key(&it.successor));
                let propose = program.propose_registry_authority(key(&it.by), successor);
                self.govern(&it.by, propose)
            }
            Operation::AcceptRegistryAuthority(it) => {
                let accept = program.accept_registry_authority(key(&it.by));
                self.govern(&it.by, accept)
            }
            Operation::GiveFeedback(it) => self.give_feedback(it),
            Operation::RevokeFeedback(it) => self.revoke_feedback(it),
            Operation::AppendResponse(it) => self.append_response(it),
            Operation::AttachPaymentProof(it) => self.attach_payment_proof(it),
            Operation::Summary(it) => self.summary(&it.agent),
            Operation::GiveOpenFeedback(it) => self.give_open_feedback(it),
            Operation::RevokeOpenFeedback(it) => self.revoke_open_feedback(it),
            Operation::AppendOpenResponse(it) => self.append_open_response(it),
            Operation::OpenSummary(it) => self.open_summary(it),
            Operation::ValidationRequest(it) => self.validation_request(it),
            Operation::ValidationResponse(it) => self.validation_response(it),
            // EVM only: declared variance 6.
            Operation::Approve(_) | Operation::SetOperator(_) => {
                Err(StepFault::Inexpressible(operation.name().to_owned()))
            }
        }
    }
}

impl<L: Ledger> Backend for Registry<L> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn chain(&self) -> Chain {
        Chain::Svm
    }

    fn supports(&self, operation: &Operation) -> bool {
        operation.only_on().unwrap_or(Chain::Svm) == Chain::Svm
    }

    fn reset(&mut self, start: u64, actors: &[Actor]) -> Result<(), StepFault> {
        self.undo_governance()?;
        self.ledger.restore()?;
        self.transactions.clear();
        let start = self.ledger.opening(start)?;
        let keys = self.world.keys.clone().next_scenario();
        self.world = World::new(self.world.program, keys, self.world.chain.clone(), start);
        for actor in actors.iter().chain([&Actor::from(DEPLOYER)]) {
            let address = self.world.keys.actor(actor);
            self.ledger.fund(address)?;
            self.world.agents.add_actor(address, actor.clone());
        }
        Ok(())
    }

    fn leave(&mut self) -> Result<(), StepFault> {
        self.undo_governance()?;
        self.ledger.leave()
    }

    fn execute(&mut self, operation: &Operation, time: u64) -> Result<Observed, StepFault> {
        if !operation.is_read() {
            self.world.now = self.world.start.saturating_add(time);
            self.ledger.set_time(self.world.now)?;
        }
        if let Operation::Register(it) = operation {
            self.world.note_mint(&it.agent, &it.by);
        }
        if let Some(agent) = operation.agent() {
            let mint = self.world.mint(agent);
            self.world.agents.add_agent(mint, agent.clone());
        }
        self.run(operation)
    }

    fn state(&mut self) -> Result<CanonicalState, StepFault> {
        observation::state(&self.ledger, &self.world)
    }

    fn agent_state(&mut self, agent: &Agent) -> Result<Option<AgentState>, StepFault> {
        observation::agent_state(&self.ledger, &self.world, agent)
    }

    fn impostors(&self) -> BTreeSet<Impostor> {
        impostors::all()
    }

    fn try_impostor(
        &mut self,
        operation: &Operation,
        time: u64,
        draw: u64,
    ) -> Result<Option<Trial>, StepFault> {
        let agent = operation.agent().filter(|_| !operation.is_read());
        let mint = operation.agent().map(|agent| self.world.mint(agent));
        let plan = impostors::Plan::new(self.world.program, mint.unwrap_or_default(), draw);
        let identity = (mint.filter(|_| agent.is_some())).map(|mint| self.identity(&mint));
        let owner = identity.transpose()?.flatten().map(|it| it.owner);
        let owner = owner.filter(|_| plan.calls_the_hook());
        let hook = owner.map(|owner| plan.hook_call(&owner));
        let world = self.world.clone();
        // Whoever signs for another, or is named in another's place, goes by the label of that one.
        let label = match operation {
            Operation::SetAgentWallet(it) => it.wallet.as_ref(),
            _ => operation.by(),
        };
        if let Some(label) = label {
            let address = plan.maker();
            self.world.agents.add_actor(address, label.clone());
        }
        let kept = self.transactions.len();
        let played = if self.ledger.begin_trial(plan) {
            self.played_with_impostors(operation, time, hook)
        } else {
            return Ok(None);
        };
        let tried = self.ledger.end_trial();
        self.world = world;
        self.transactions.truncate(kept);
        if tried.impostors.is_empty() {
            return Ok(None); // another program's operation, or one that this transaction has no room for
        }
        let (observed, states) = played?;
        Ok(Some(Trial {
            impostors: tried.impostors,
            observed,
            states,
            refusals: tried.refusals,
            may_do_as_well: tried.may_do_as_well,
        }))
    }

    fn views(&self) -> BTreeSet<ViewName> {
        self.askable()
    }

    fn ask_views(
        &mut self,
        known: Known<'_>,
        draw: &mut Draw,
    ) -> Result<Vec<ViewAnswer>, StepFault> {
        self.ask_every_view(known, draw)
    }
}
