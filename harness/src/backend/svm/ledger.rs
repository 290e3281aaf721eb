use crate::backend::StepFault;
use litesvm::{
    LiteSVM,
    types::{TransactionMetadata, TransactionResult},
};
use solana_clock::Clock;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use solana_transaction::{Message, Transaction};

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

impl Sent {
    pub fn accepted(&self) -> Option<&TransactionMetadata> {
        self.result.as_ref().ok()
    }
}

impl Ledger {
    /// Runs one transaction; the first signer pays.
    pub fn send(
        &mut self,
        signers: &[&Keypair],
        instructions: &[Instruction],
    ) -> Result<Sent, StepFault> {
        self.svm.expire_blockhash(); // equal transactions in a row are two, not one
        let payer = signers[0].pubkey();
        let message = Message::new(instructions, Some(&payer));
        let size = 1 + SIGNATURE * signers.len() + message.serialize().len();
        if size > TRANSACTION_MAX {
            return Err(StepFault::Inexpressible(format!(
                "a transaction of {size} bytes does not fit a packet of {TRANSACTION_MAX}"
            )));
        }
        let transaction = Transaction::new(signers, message.clone(), self.svm.latest_blockhash());
        Ok(Sent {
            message,
            result: self.svm.send_transaction(transaction),
        })
    }

    /// Unix seconds.
    pub fn set_time(&mut self, time: u64) -> Result<(), StepFault> {
        let mut clock: Clock = self.svm.get_sysvar();
        clock.unix_timestamp = i64::try_from(time)
            .map_err(|_| StepFault::Inexpressible(format!("time {time} is beyond the clock")))?;
        self.svm.set_sysvar(&clock);
        Ok(())
    }
}
