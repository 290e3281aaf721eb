//! The registry on a public cluster, or on a development node ([`Development`]): its
//! clock and its slots are its own, and what is done there stays.
//!
//! A scenario's transaction is simulated first and sent only if it would be accepted, so that a
//! refusal costs nothing. The scenario's time and the cluster's are kept apart: the scenario begins at
//! the cluster's present time, and each timestamp that the registry stores is translated to the
//! scenario's time at which the transaction was sent. Time is that of the Clock sysvar, which the
//! program reads. A node's block times may differ.
use super::{
    Keyring, SvmLive, World,
    development::Development,
    landed_table,
    ledger::{Answer, Done, Failed, Ledger, Ran, Sent, called, check_instructions, check_size},
};
use crate::{
    backend::{RunSecret, StepFault},
    scenario::HEAD_START,
};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use concord_chain::{
    Blocking, ChainError, ChainId, Signer as TxSigner, Svm,
    svm::{self, Cluster, ExecutedTx, Simulation, land, sign, unsigned},
};
use concord_registry::svm::{Program, accounts};
use serde_json::Value;
use solana_account::Account;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_message::Message as Compiled;
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use solana_transaction::{CompiledInstruction, Message, TransactionError};
use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

/// On a public cluster.
const NAME: &str = "svm-live";
/// On a development node.
const NAME_ON_NODE: &str = "svm-rpc";
/// Lamports: more than the rent of whatever one transaction opens.
const LENT: u64 = 50_000_000;
/// How often the cluster's clock is asked.
const POLL: Duration = Duration::from_millis(200);

/// A cluster behind an endpoint of its own or of anybody's.
pub struct Live {
    pub(super) blocking: Blocking,
    pub(super) cluster: Cluster,
    /// Named as who pays for what is only simulated.
    payer: Address,
    /// No actor can pay: in simulations the payer lends the lamports, and whatever would be accepted is
    /// answered without being sent.
    is_read_only: bool,
    /// For a transaction, and for the clock to advance.
    pub(super) patience: Duration,
    scenario: ScenarioClock,
    /// What can be done only on a node of one's own.
    development: Option<Development>,
}

/// The cluster's clock, and the times of the scenario that is being played.
#[derive(Default)]
struct ScenarioClock {
    /// The time that was set last.
    next: u64,
    /// The time of the latest step, refused or not.
    latest: u64,
    times: BTreeMap<i64, u64>,
    /// What the clock showed at the latest transaction.
    landed: Option<i64>,
}

impl SvmLive {
    /// The registry of `program` on `chain`; the actors of the run that `secret` is of have what
    /// they need.
    pub fn funded(
        blocking: Blocking,
        cluster: Cluster,
        program: Program,
        chain: &ChainId,
        payer: Address,
        secret: RunSecret,
        patience: Duration,
    ) -> Self {
        let live = Live::new(blocking, cluster, payer, patience);
        Self::on(
            live,
            NAME,
            program,
            &chain.to_string(),
            Keyring::of_run(secret),
        )
    }

    /// The registry of `program`, which held what was `found`, on a development node.
    pub(super) fn of_node(
        node: Live,
        program: Program,
        found: accounts::Registry,
        secret: RunSecret,
    ) -> Self {
        let keys = Keyring::of_run(secret);
        let keys = match &node.development {
            Some(development) => keys.with_deployer(development.authority()),
            None => keys,
        };
        let chain = found.chain.clone();
        Self {
            found: Some(found),
            ..Self::on(node, NAME_ON_NODE, program, &chain, keys)
        }
    }

    /// Whether the program sees the times that scenarios name.
    pub fn can_set_time(&self) -> bool {
        self.ledger.can_set_time()
    }

    /// As [`Self::funded`], without anybody's key or money: only what is refused, and reads, can be
    /// checked. `payer` must exist.
    pub fn read_only(
        blocking: Blocking,
        cluster: Cluster,
        program: Program,
        chain: &ChainId,
        payer: Address,
        secret: RunSecret,
    ) -> Self {
        let funded = Self::funded(
            blocking,
            cluster,
            program,
            chain,
            payer,
            secret,
            Duration::ZERO,
        );
        let ledger = Live {
            is_read_only: true,
            ..funded.ledger
        };
        Self { ledger, ..funded }
    }

    fn on(ledger: Live, name: &'static str, program: Program, chain: &str, keys: Keyring) -> Self {
        Self {
            name,
            ledger,
            world: World::new(program, keys, chain.to_owned(), 0),
            found: None,
            transactions: Vec::new(),
        }
    }
}

impl Live {
    fn new(blocking: Blocking, cluster: Cluster, payer: Address, patience: Duration) -> Self {
        Self {
            blocking,
            cluster,
            payer,
            is_read_only: false,
            patience,
            scenario: ScenarioClock::default(),
            development: None,
        }
    }

    pub(super) fn on_node(
        blocking: Blocking,
        cluster: Cluster,
        development: Development,
        patience: Duration,
    ) -> Self {
        let payer = development.authority().pubkey();
        Self {
            development: Some(development),
            ..Self::new(blocking, cluster, payer, patience)
        }
    }

    fn try_out(&self, signers: &[&Keypair], instructions: &[Instruction]) -> Answer<Ran> {
        let actor = signers[0].pubkey();
        if !self.is_read_only {
            return self.ran(&unsigned(instructions, &actor));
        }
        let lend = system::transfer(&self.payer, &actor, LENT);
        let instructions = [&[lend], instructions].concat();
        let ran = self.ran(&unsigned(&instructions, &self.payer))?;
        ran.map_or_else(
            |failed| self.without_the_loan(failed).map(Err),
            |it| Ok(Ok(it)),
        )
    }

    pub(super) fn ask<T>(&self, request: impl Future<Output = Result<T, ChainError>>) -> Answer<T> {
        self.blocking.wait(request).map_err(unreachable)
    }

    fn can_set_time(&self) -> bool {
        self.development
            .as_ref()
            .is_some_and(Development::can_set_time)
    }

    fn ran(&self, raw: &[u8]) -> Answer<Ran> {
        ran(self.ask(self.cluster.simulate(raw))?)
    }

    /// The failure, with the scenario's own instructions numbered.
    fn without_the_loan(&self, failed: Failed) -> Answer<Failed> {
        let fault = match failed.fault {
            TransactionError::InstructionError(0, error) => {
                return Err(StepFault::Unreachable(format!(
                    "a simulation needs {LENT} lamports that {} has: {error}",
                    self.payer
                )));
            }
            TransactionError::InstructionError(at, error) => {
                TransactionError::InstructionError(at - 1, error)
            }
            other => other,
        };
        Ok(Failed { fault, ..failed })
    }

    /// Waits, so that no two transactions of a scenario have one timestamp.
    fn let_the_clock_advance(&self) -> Answer<()> {
        if self.can_set_time() {
            return Ok(()); // equal timestamps are equal times in the scenario too
        }
        let begun = Instant::now();
        while self.scenario.landed >= Some(self.ask(self.cluster.unix_time())?) {
            if begun.elapsed() > self.patience {
                let reason = "the cluster's clock does not advance".to_owned();
                return Err(StepFault::Unreachable(reason));
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    fn land(&mut self, signers: &[&Keypair], instructions: &[Instruction]) -> Answer<Sent> {
        self.let_the_clock_advance()?;
        let before = self.ask(self.cluster.unix_time())?;
        let recent = self.ask(self.cluster.recent_blockhash())?;
        let keys: Vec<&dyn TxSigner<Svm>> = signers.iter().map(|key| *key as _).collect();
        let transaction = self.ask(sign(instructions, &keys, &recent))?;
        let landed = self.ask(land(&self.cluster, &transaction, self.patience))?;
        let name = &transaction.signature;
        if !landed.meta.err.is_null() {
            let reason = format!("{name} failed, though its simulation did not");
            return Err(StepFault::Unreachable(reason));
        }
        // Another node may answer, which is behind; where block times are right, they are the Clock's.
        let after = self.ask(self.cluster.unix_time())?;
        let after = after.max(landed.block_time.unwrap_or(after)).max(before);
        Ok(Sent {
            clock: before..=after,
            transaction: Some(transaction.signature.clone()),
            ran: Ok(done(&compiled(signers, instructions), &landed)?),
        })
    }
}

fn compiled(signers: &[&Keypair], instructions: &[Instruction]) -> Message {
    Compiled::new(instructions, Some(&signers[0].pubkey()))
}

/// In the client's words, which have no more of the URL than its host.
fn unreachable(error: ChainError) -> StepFault {
    StepFault::Unreachable(error.to_string())
}

fn ran(simulation: Simulation) -> Answer<Ran> {
    let compute_units = simulation.units_consumed.unwrap_or_default();
    if !simulation.err.is_null() {
        return Ok(Err(Failed {
            fault: error(simulation.err)?,
            logs: simulation.logs.unwrap_or_default(),
            compute_units,
        }));
    }
    let returned = simulation.return_data.map(|returned| {
        let program = returned.program_id.parse::<Address>().ok();
        program.zip(BASE64.decode(&returned.data.0).ok())
    });
    let returned = match returned {
        None => (Address::default(), Vec::new()),
        Some(Some(returned)) => returned,
        Some(None) => return Err(malformed("return data")),
    };
    Ok(Ok(Done {
        instructions: Vec::new(),
        logs: Vec::new(),
        compute_units,
        returned,
    }))
}

fn error(json: Value) -> Answer<TransactionError> {
    let text = json.to_string();
    serde_json::from_value(json).map_err(|_| StepFault::UnmappedError(text))
}

fn done(message: &Message, landed: &ExecutedTx) -> Answer<Done> {
    let call = |call: &svm::InnerInstruction| {
        let data = bs58::decode(&call.data).into_vec();
        Ok(CompiledInstruction {
            program_id_index: call.program_id_index,
            accounts: call.accounts.clone(),
            data: data.map_err(|_| malformed("inner instructions"))?,
        })
    };
    let lists = landed.meta.inner_instructions.iter().flatten();
    let calls = lists
        .flat_map(|list| {
            let (index, call) = (usize::from(list.index), &call);
            let calls = list.instructions.iter();
            calls.map(move |it| Ok((index, call(it)?)))
        })
        .collect::<Answer<Vec<_>>>()?;
    Ok(Done {
        instructions: called(message, calls.iter().map(|(index, call)| (*index, call)))?,
        logs: landed.meta.log_messages.clone().unwrap_or_default(),
        compute_units: landed.meta.compute_units_consumed.unwrap_or_default(),
        returned: (Address::default(), Vec::new()),
    })
}

fn malformed(what: &str) -> StepFault {
    StepFault::Unreachable(format!("{what} not of the form that JSON-RPC has for them"))
}

fn account(found: svm::Account) -> Account {
    Account {
        lamports: found.lamports,
        data: found.data,
        owner: found.owner,
        executable: found.executable,
        ..Account::default()
    }
}

impl Ledger for Live {
    /// On a public cluster the actors were funded when the run began.
    fn fund(&mut self, address: Address) -> Answer<()> {
        match &self.development {
            Some(development) => development.fund(self, &address),
            None => Ok(()),
        }
    }

    fn set_time(&mut self, time: u64) -> Answer<()> {
        self.scenario.next = time;
        match &self.development {
            Some(development) => development.set_time(self, time),
            None => Ok(()),
        }
    }

    fn opening(&mut self, wanted: u64) -> Answer<u64> {
        let now = u64::try_from(self.ask(self.cluster.unix_time())?).unwrap_or_default();
        let start = match self.can_set_time() {
            true => wanted.max(now.saturating_add(1)), // it does not go back
            false => now.saturating_sub(HEAD_START),
        };
        self.scenario = ScenarioClock {
            next: start,
            latest: start,
            landed: self.scenario.landed,
            ..ScenarioClock::default()
        };
        Ok(start)
    }

    fn scenario_time(&self, timestamp: i64) -> Answer<u64> {
        self.scenario.times.get(&timestamp).copied().ok_or_else(|| {
            StepFault::UnexplainedState(format!(
                "timestamp {timestamp}, of no transaction of the scenario"
            ))
        })
    }

    /// Refuses the time of another transaction: it would be ambiguous.
    fn executed_at(&mut self, timestamp: i64) -> Answer<()> {
        self.scenario.landed = Some(timestamp);
        let next = self.scenario.next;
        match self.scenario.times.insert(timestamp, next) {
            Some(other) if other != next => Err(StepFault::Unreachable(format!(
                "two transactions have the time {timestamp}: it is ambiguous"
            ))),
            _ => Ok(()),
        }
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn leave(&mut self) -> Answer<()> {
        match &self.development {
            Some(development) => development.leave(self),
            None => Ok(()),
        }
    }

    fn time(&self) -> Answer<u64> {
        Ok(self.scenario.latest)
    }

    fn send(&mut self, signers: &[&Keypair], instructions: &[Instruction]) -> Answer<Sent> {
        check_instructions(signers.len(), instructions)?;
        let message = compiled(signers, instructions);
        check_size(signers.len(), message.serialize().len())?;
        let ran = self.try_out(signers, instructions)?;
        self.scenario.latest = self.scenario.next;
        if ran.is_ok() && !self.is_read_only {
            return self.land(signers, instructions);
        }
        let time = i64::try_from(self.scenario.next).unwrap_or(i64::MAX);
        Ok(Sent {
            clock: time..=time,
            transaction: None,
            ran,
        })
    }

    fn simulate(&self, instruction: &Instruction) -> Answer<Ran> {
        check_instructions(0, std::slice::from_ref(instruction))?;
        let raw = unsigned(std::slice::from_ref(instruction), &self.payer);
        match (check_size(0, raw.len()), &self.development) {
            (Err(_), Some(development)) => {
                self.ran(&landed_table::transaction(self, development, instruction)?)
            }
            (fits, _) => fits.and_then(|()| self.ran(&raw)),
        }
    }

    fn account(&self, address: &Address) -> Answer<Option<Account>> {
        let found = self.ask(self.cluster.account(address))?;
        Ok(found.map(account))
    }

    fn accounts(&self, addresses: &[Address]) -> Answer<Vec<Option<Account>>> {
        let found = self.ask(self.cluster.accounts(addresses))?;
        Ok(found.into_iter().map(|it| it.map(account)).collect())
    }

    fn accounts_of(&self, program: &Address) -> Answer<Vec<(Address, Account)>> {
        Err(StepFault::Inexpressible(format!(
            "everything of {program}, which others use too"
        )))
    }

    fn rent(&self, bytes: usize) -> Answer<u64> {
        self.ask(self.cluster.rent(bytes))
    }

    /// What is done stays done.
    fn mark(&mut self) -> Answer<()> {
        Ok(())
    }

    /// A scenario reads its own actors and agents, and none of what others left.
    fn restore(&mut self) -> Answer<()> {
        Ok(())
    }
}
