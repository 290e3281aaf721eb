//! A Solana cluster, as far as the backend needs one.
use super::impostors::{Plan, Tried};
use crate::backend::StepFault;
use concord_registry::svm::{
    Program,
    accounts::AccountType,
    events::{Call, TopLevel},
};
use solana_account::Account;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_transaction::{CompiledInstruction, Message, TransactionError};
use std::ops::RangeInclusive;

/// What fits one packet.
const TRANSACTION_MAX: usize = 1232;
const SIGNATURE: usize = 64;
/// Accounts are numbered in one byte.
const METAS_MAX: usize = 256;

pub type Answer<T> = Result<T, StepFault>;

/// Transactions one after the other, and the accounts that they leave.
pub trait Ledger: Send {
    /// Gives the owner of this key enough for every transaction of a scenario.
    fn fund(&mut self, address: Address) -> Answer<()>;

    /// Unix seconds of the next transaction, exactly.
    fn set_time(&mut self, time: u64) -> Answer<()>;

    /// Unix seconds at which a scenario begins that would begin at `wanted`. A cluster with a clock of
    /// its own may be later: then the scenario begins later.
    fn opening(&mut self, wanted: u64) -> Answer<u64> {
        self.set_time(wanted)?;
        Ok(wanted)
    }

    /// The time that the scenario had when the cluster's clock showed `timestamp`, both in Unix
    /// seconds.
    ///
    /// # Errors
    /// The time of no transaction of the scenario.
    fn scenario_time(&self, timestamp: i64) -> Answer<u64> {
        u64::try_from(timestamp)
            .map_err(|_| StepFault::UnexplainedState(format!("timestamp {timestamp}")))
    }

    /// Others use the registry too: only what the scenario touched is compared.
    fn is_shared(&self) -> bool {
        false
    }

    /// Unix seconds, in the scenario's time.
    fn time(&self) -> Answer<u64>;

    /// The program saw this time, in Unix seconds, in the transaction that was sent last.
    ///
    /// # Errors
    /// Another transaction of the scenario has the same time: it would be ambiguous.
    fn executed_at(&mut self, _timestamp: i64) -> Answer<()> {
        Ok(())
    }

    /// Runs one transaction; the first signer pays.
    fn send(&mut self, signers: &[&Keypair], instructions: &[Instruction]) -> Answer<Sent>;

    /// Runs one transaction without keeping what it does; who pays does not matter.
    fn simulate(&self, instruction: &Instruction) -> Answer<Ran>;

    /// `None` if there is none.
    fn account(&self, address: &Address) -> Answer<Option<Account>>;

    /// In the order asked for.
    fn accounts(&self, addresses: &[Address]) -> Answer<Vec<Option<Account>>> {
        addresses.iter().map(|it| self.account(it)).collect()
    }

    /// Every account that belongs to a program.
    fn accounts_of(&self, program: &Address) -> Answer<Vec<(Address, Account)>>;

    /// The lamports that keep an account of so many bytes for ever.
    fn rent(&self, bytes: usize) -> Answer<u64>;

    /// The transaction that is sent or simulated next carries impostors, until [`Self::end_trial`] takes back what was done
    /// since. False: not on this cluster.
    fn begin_trial(&mut self, _plan: Plan) -> bool {
        false
    }

    /// What was replaced in it.
    fn end_trial(&mut self) -> Tried {
        Tried::default()
    }

    /// Makes this the state that [`Self::restore`] goes back to.
    fn mark(&mut self) -> Answer<()>;

    /// Lets the clock of a node run again if it was set.
    fn leave(&mut self) -> Answer<()> {
        Ok(())
    }

    /// As often as wanted; what [`Self::fund`] gave since the mark is gone too.
    fn restore(&mut self) -> Answer<()>;

    /// The `T` of the program at `address`; `None` if there is none.
    ///
    /// # Errors
    /// An account that begins as a `T` and is none.
    fn load<T: AccountType>(&self, program: &Program, address: &Address) -> Answer<Option<T>> {
        let Some(account) = self.account(address)? else {
            return Ok(None);
        };
        program
            .find(&account.owner, &account.data)
            .map_err(|fault| StepFault::UnexplainedState(format!("{address}: {fault}")))
    }
}

/// A transaction that was run.
pub struct Sent {
    /// Unix seconds that the cluster's clock showed before and after: the program saw one of them,
    /// or one between them.
    pub clock: RangeInclusive<i64>,
    /// The transaction's id, on a cluster that others can look it up on.
    pub transaction: Option<String>,
    pub ran: Ran,
}

/// What became of a transaction.
pub type Ran = Result<Done, Failed>;

/// A transaction that went through.
pub struct Done {
    /// Each with the calls that it made, in their order.
    pub instructions: Vec<TopLevel>,
    pub logs: Vec<String>,
    pub compute_units: u64,
    /// Which program returned what.
    pub returned: (Address, Vec<u8>),
}

/// A transaction that changed nothing.
pub struct Failed {
    pub fault: TransactionError,
    pub logs: Vec<String>,
    pub compute_units: u64,
}

/// Before a message is made of them, which has no form for more than it can count.
pub fn check_instructions(signers: usize, instructions: &[Instruction]) -> Answer<()> {
    let data = instructions.iter().map(|it| it.data.len()).sum();
    check_size(signers, data)?;
    let accounts: usize = instructions.iter().map(|it| it.accounts.len()).sum();
    if accounts <= METAS_MAX {
        return Ok(());
    }
    Err(StepFault::Inexpressible(format!(
        "{accounts} accounts are more than a transaction's {METAS_MAX}"
    )))
}

/// In bytes. A VM in process does not enforce it, a cluster does.
pub fn check_size(signers: usize, message: usize) -> Answer<()> {
    let size = 1 + SIGNATURE * signers + message;
    if size <= TRANSACTION_MAX {
        return Ok(());
    }
    Err(StepFault::Inexpressible(format!(
        "a transaction of {size} bytes does not fit a packet of {TRANSACTION_MAX}"
    )))
}

/// The instructions of `message`, each with its calls; `calls` has the index of the instruction
/// beside each call.
pub fn called<'a>(
    message: &Message,
    calls: impl IntoIterator<Item = (usize, &'a CompiledInstruction)>,
) -> Answer<Vec<TopLevel>> {
    let keys = &message.account_keys;
    let unresolved =
        || StepFault::Unreachable("a call of an account that its transaction lacks".to_owned());
    let mut instructions = message
        .instructions
        .iter()
        .map(|it| {
            let program = keys.get(usize::from(it.program_id_index)).copied();
            Some(TopLevel {
                program: program?,
                calls: Vec::new(),
            })
        })
        .collect::<Option<Vec<_>>>()
        .ok_or_else(unresolved)?;
    for (index, call) in calls {
        let resolved = Call::resolve(
            keys,
            call.program_id_index,
            &call.accounts,
            call.data.clone(),
        );
        let top = instructions.get_mut(index).ok_or_else(unresolved)?;
        top.calls.push(resolved.ok_or_else(unresolved)?);
    }
    Ok(instructions)
}
