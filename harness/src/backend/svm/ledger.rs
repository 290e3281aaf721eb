use super::lookup_table;
use crate::backend::StepFault;
use anchor_lang::{AccountDeserialize, Discriminator};
use litesvm::{
    LiteSVM,
    types::{FailedTransactionMetadata, TransactionMetadata, TransactionResult},
};
use solana_account::Account;
use solana_address::Address;
use solana_clock::Clock;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_message::{VersionedMessage, v0};
use solana_signer::Signer;
use solana_transaction::{Message, Transaction, versioned::VersionedTransaction};

/// Pays for everything an actor does in a scenario.
pub const LAMPORTS: u64 = 100_000_000_000;
/// What fits one packet. The VM does not enforce it, a cluster does.
const TRANSACTION_MAX: usize = 1232;
const SIGNATURE: usize = 64;

/// A Solana VM in process.
#[derive(Clone)]
pub struct Ledger {
    pub svm: LiteSVM,
}

/// A transaction that the VM has run.
pub struct Sent {
    pub message: Message,
    pub result: TransactionResult,
}

/// What the VM made of a transaction that changed nothing.
pub type Simulated = Result<TransactionMetadata, FailedTransactionMetadata>;

impl Ledger {
    /// Runs one transaction; the first signer pays.
    pub fn send(
        &mut self,
        signers: &[&Keypair],
        instructions: &[Instruction],
    ) -> Result<Sent, StepFault> {
        self.svm.expire_blockhash(); // equal transactions in a row are two, not one
        let transaction = self.transaction(signers, instructions)?;
        Ok(Sent {
            message: transaction.message.clone(),
            result: self.svm.send_transaction(transaction),
        })
    }

    /// Runs one transaction without keeping what it does. What a packet holds only with an
    /// address lookup table gets one.
    pub fn simulate(
        &self,
        signer: &Keypair,
        instruction: &Instruction,
    ) -> Result<Simulated, StepFault> {
        if let Ok(transaction) = self.transaction(&[signer], std::slice::from_ref(instruction)) {
            return Ok(self.svm.simulate_transaction(transaction).map(|it| it.meta));
        }
        let table = lookup_table::of(instruction);
        let message = v0::Message::try_compile(
            &signer.pubkey(),
            std::slice::from_ref(instruction),
            std::slice::from_ref(&table),
            self.svm.latest_blockhash(),
        )
        .map_err(|fault| StepFault::Inexpressible(fault.to_string()))?;
        let message = VersionedMessage::V0(message);
        check_size(1, message.serialize().len())?;
        let transaction = VersionedTransaction::try_new(message, &[signer])
            .map_err(|fault| StepFault::Inexpressible(fault.to_string()))?;
        let mut with_table = self.clone();
        with_table.set(table.key, lookup_table::account(&table))?;
        let simulated = with_table.svm.simulate_transaction(transaction);
        Ok(simulated.map(|it| it.meta))
    }

    fn transaction(
        &self,
        signers: &[&Keypair],
        instructions: &[Instruction],
    ) -> Result<Transaction, StepFault> {
        let payer = signers[0].pubkey();
        let message = Message::new(instructions, Some(&payer));
        check_size(signers.len(), message.serialize().len())?;
        Ok(Transaction::new(
            signers,
            message,
            self.svm.latest_blockhash(),
        ))
    }

    /// Unix seconds.
    pub fn set_time(&mut self, time: u64) -> Result<(), StepFault> {
        let mut clock: Clock = self.svm.get_sysvar();
        clock.unix_timestamp = i64::try_from(time)
            .map_err(|_| StepFault::Inexpressible(format!("time {time} is beyond the clock")))?;
        self.svm.set_sysvar(&clock);
        Ok(())
    }

    /// Gives the owner of this key something to pay with.
    pub fn fund(&mut self, address: Address) -> Result<(), StepFault> {
        let account = Account {
            lamports: LAMPORTS,
            ..Account::default()
        };
        self.set(address, account)
    }

    fn set(&mut self, address: Address, account: Account) -> Result<(), StepFault> {
        self.svm
            .set_account(address, account)
            .map_err(|fault| StepFault::Unreachable(format!("account {address}: {fault:?}")))
    }

    /// The `T` of the program at `address`; `None` where there is none.
    pub fn load<T: AccountDeserialize + Discriminator>(
        &self,
        address: &Address,
    ) -> Result<Option<T>, StepFault> {
        self.svm
            .get_account(address)
            .filter(|account| account.data.starts_with(T::DISCRIMINATOR))
            .map(|account| decode(address, &account))
            .transpose()
    }
}

/// In bytes.
fn check_size(signers: usize, message: usize) -> Result<(), StepFault> {
    let size = 1 + SIGNATURE * signers + message;
    if size <= TRANSACTION_MAX {
        return Ok(());
    }
    Err(StepFault::Inexpressible(format!(
        "a transaction of {size} bytes does not fit a packet of {TRANSACTION_MAX}"
    )))
}

/// The `T` that `account` holds.
pub fn decode<T: AccountDeserialize>(address: &Address, account: &Account) -> Result<T, StepFault> {
    T::try_deserialize(&mut &account.data[..])
        .map_err(|fault| StepFault::UnexplainedState(format!("{address}: {fault}")))
}
