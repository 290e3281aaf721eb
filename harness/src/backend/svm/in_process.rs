//! The program in litesvm: the real VM, without a process or JSON.
use super::{
    Keyring,
    impostors::{Plan, Tried},
    ledger::{Answer, Done, Failed, Ledger, Ran, Sent, called, check_instructions, check_size},
    lookup_table,
};
use crate::{
    backend::StepFault,
    model::{Actor, DEPLOYER},
};
use litesvm::{
    LiteSVM,
    types::{FailedTransactionMetadata, TransactionMetadata},
};
use solana_account::Account;
use solana_address::Address;
use solana_clock::Clock;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use solana_transaction::{Message, Transaction, versioned::VersionedTransaction};

/// Pays for everything an actor does in a scenario.
pub const LAMPORTS: u64 = 100_000_000_000;

/// A Solana VM in process.
pub struct Litesvm {
    pub(super) svm: LiteSVM,
    marked: Option<LiteSVM>,
    trial: Option<Trial>,
}

/// A transaction with impostors.
struct Trial {
    plan: Plan,
    before: LiteSVM,
}

impl Litesvm {
    pub(super) fn new(svm: LiteSVM) -> Self {
        Self {
            svm,
            marked: None,
            trial: None,
        }
    }

    /// Nothing of it has to fit a packet: whoever attacks has address lookup tables.
    fn disguised(
        &self,
        svm: &mut LiteSVM,
        plan: &Plan,
        signers: &[&Keypair],
        instructions: &[Instruction],
    ) -> Answer<Transaction> {
        let mut instructions = instructions.to_vec();
        plan.disguise(svm, &mut instructions)?;
        let signers = plan.signers(svm, signers, &instructions)?;
        let message = Message::new(&instructions, Some(&signers[0].pubkey()));
        Ok(Transaction::new(&signers, message, svm.latest_blockhash()))
    }

    fn transaction(
        &self,
        signers: &[&Keypair],
        instructions: &[Instruction],
    ) -> Answer<Transaction> {
        check_instructions(signers.len(), instructions)?;
        let payer = signers[0].pubkey();
        let message = Message::new(instructions, Some(&payer));
        check_size(signers.len(), message.serialize().len())?;
        Ok(Transaction::new(
            signers,
            message,
            self.svm.latest_blockhash(),
        ))
    }

    /// What a packet holds only with an address lookup table gets one.
    fn simulate_with_table(&self, signer: &Keypair, instruction: &Instruction) -> Answer<Ran> {
        check_instructions(1, std::slice::from_ref(instruction))?;
        let table = lookup_table::of(instruction);
        let recent = self.svm.latest_blockhash();
        let message = lookup_table::message(&signer.pubkey(), instruction, &table, recent)?;
        let transaction = VersionedTransaction::try_new(message, &[signer])
            .map_err(|fault| StepFault::Inexpressible(fault.to_string()))?;
        let mut svm = self.svm.clone();
        set(&mut svm, table.key, lookup_table::account(&table))?;
        let simulated = svm.simulate_transaction(transaction);
        Ok(simulated.map(|it| answered(it.meta)).map_err(failed))
    }
}

fn set(svm: &mut LiteSVM, address: Address, account: Account) -> Answer<()> {
    svm.set_account(address, account)
        .map_err(|fault| StepFault::Unreachable(format!("account {address}: {fault:?}")))
}

/// The result of a transaction without events.
fn answered(meta: TransactionMetadata) -> Done {
    Done {
        instructions: Vec::new(),
        logs: meta.logs,
        compute_units: meta.compute_units_consumed,
        returned: (meta.return_data.program_id, meta.return_data.data),
    }
}

fn done(message: &Message, mut meta: TransactionMetadata) -> Answer<Done> {
    let inner = std::mem::take(&mut meta.inner_instructions);
    let calls = inner.iter().enumerate().flat_map(|(index, calls)| {
        let calls = calls.iter();
        calls.map(move |call| (index, &call.instruction))
    });
    Ok(Done {
        instructions: called(message, calls)?,
        ..answered(meta)
    })
}

fn failed(failed: FailedTransactionMetadata) -> Failed {
    Failed {
        fault: failed.err,
        logs: failed.meta.logs,
        compute_units: failed.meta.compute_units_consumed,
    }
}

impl Ledger for Litesvm {
    fn fund(&mut self, address: Address) -> Answer<()> {
        let account = Account {
            lamports: LAMPORTS,
            ..Account::default()
        };
        set(&mut self.svm, address, account)
    }

    fn set_time(&mut self, time: u64) -> Answer<()> {
        let mut clock: Clock = self.svm.get_sysvar();
        clock.unix_timestamp = i64::try_from(time)
            .map_err(|_| StepFault::Inexpressible(format!("time {time} is beyond the clock")))?;
        self.svm.set_sysvar(&clock);
        Ok(())
    }

    fn time(&self) -> Answer<u64> {
        self.scenario_time(self.svm.get_sysvar::<Clock>().unix_timestamp)
    }

    fn send(&mut self, signers: &[&Keypair], instructions: &[Instruction]) -> Answer<Sent> {
        self.svm.expire_blockhash(); // equal transactions in a row are two, not one
        let transaction = match self.trial.take() {
            None => self.transaction(signers, instructions)?,
            Some(trial) => {
                let mut svm = self.svm.clone();
                let disguised = self.disguised(&mut svm, &trial.plan, signers, instructions);
                (self.svm, self.trial) = (svm, Some(trial));
                disguised?
            }
        };
        let message = transaction.message.clone();
        let now = self.svm.get_sysvar::<Clock>().unix_timestamp;
        Ok(Sent {
            clock: now..=now,
            transaction: None,
            ran: match self.svm.send_transaction(transaction) {
                Ok(meta) => Ok(done(&message, meta)?),
                Err(fault) => Err(failed(fault)),
            },
        })
    }

    fn simulate(&self, instruction: &Instruction) -> Answer<Ran> {
        let signer = &Keyring::Public.actor_key(&Actor::from(DEPLOYER));
        if let Some(trial) = &self.trial {
            let mut svm = self.svm.clone();
            let instructions = std::slice::from_ref(instruction);
            let disguised = self.disguised(&mut svm, &trial.plan, &[signer], instructions)?;
            let simulated = svm.simulate_transaction(disguised);
            return Ok(simulated.map(|it| answered(it.meta)).map_err(failed));
        }
        match self.transaction(&[signer], std::slice::from_ref(instruction)) {
            Ok(transaction) => {
                let simulated = self.svm.simulate_transaction(transaction);
                Ok(simulated.map(|it| answered(it.meta)).map_err(failed))
            }
            Err(_) => self.simulate_with_table(signer, instruction),
        }
    }

    fn account(&self, address: &Address) -> Answer<Option<Account>> {
        Ok(self.svm.get_account(address))
    }

    fn accounts_of(&self, program: &Address) -> Answer<Vec<(Address, Account)>> {
        Ok(self.svm.get_program_accounts(program))
    }

    fn rent(&self, bytes: usize) -> Answer<u64> {
        Ok(self.svm.minimum_balance_for_rent_exemption(bytes))
    }

    fn begin_trial(&mut self, plan: Plan) -> bool {
        let before = self.svm.clone();
        self.trial = Some(Trial { plan, before });
        true
    }

    fn end_trial(&mut self) -> Tried {
        let Some(trial) = self.trial.take() else {
            return Tried::default();
        };
        self.svm = trial.before;
        trial.plan.into_tried()
    }

    fn mark(&mut self) -> Answer<()> {
        self.marked = Some(self.svm.clone());
        Ok(())
    }

    fn restore(&mut self) -> Answer<()> {
        self.svm = self
            .marked
            .clone()
            .ok_or_else(|| StepFault::Unreachable("nothing was marked".to_owned()))?;
        Ok(())
    }
}
