use std::hash::{BuildHasher, Hasher, RandomState};

use async_trait::async_trait;
use concord_chain::{
    Amount, ChainId, Signer, Svm,
    submission::{Landing, SignedTx, Timing, TxJob, TxRecord, submit},
    svm::{ExecutedTx, InstructionChain, PriorityFee, decode, unsigned},
};
use concord_registry::{
    event::{Block, Event},
    svm::{
        Address, Instruction,
        events::{Call, TopLevel, Transaction},
    },
};

use super::{
    SvmRegistries,
    submitting::{Content, Submitting, SvmJob},
    tries::refusal,
};
use crate::{Account, ClientError, Feedback, Operation, Registries};

/// Compute units of a feedback with its precompile; the largest flow takes about 25,000.
const UNITS: u32 = 100_000;
/// Compute units of a registration, which makes a mint, and of each entry of metadata.
const REGISTRATION_UNITS: u32 = 150_000;
const ENTRY_UNITS: u32 = 50_000;

/// One account at the program on a Solana cluster.
pub struct SvmAccount {
    registries: SvmRegistries,
    chain: InstructionChain,
    address: Address,
    timing: Timing,
}

impl SvmAccount {
    /// Connects an account. The cluster must be the registries' network: the CAIP-2 id that the registry was
    /// initialized with.
    ///
    /// # Errors
    /// [`ClientError::Chain`].
    pub async fn connect(
        registries: SvmRegistries,
        signer: Box<dyn Signer<Svm>>,
        priority_fee: PriorityFee,
        timing: Timing,
    ) -> Result<Self, ClientError> {
        let address = signer.address();
        let network: ChainId = registries.network.parse()?;
        let (cluster, signers) = (registries.cluster.clone(), vec![signer]);
        let chain = InstructionChain::connect(cluster, &network, signers, priority_fee).await?;
        Ok(Self {
            registries,
            chain,
            address,
            timing,
        })
    }

    /// Adds a key that signs what names it: a wallet that consents (R3).
    pub fn add_signer(&mut self, signer: Box<dyn Signer<Svm>>) {
        self.chain.add_signer(signer);
    }

    /// The account's address.
    #[must_use]
    pub const fn address(&self) -> Address {
        self.address
    }

    /// What is read without a key.
    #[must_use]
    pub fn reads(&self) -> &SvmRegistries {
        &self.registries
    }

    /// Returns the most that a feedback can cost now, fee and rent together, in lamports.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn cost(&self, feedback: &Feedback) -> Result<Amount, ClientError> {
        let rent = self.registries.rent_max(self.address, feedback).await?;
        let fee = self.chain.fee_max(UNITS);
        Ok(fee.saturating_add(Amount(rent.into())))
    }

    /// Brings other instructions on chain once, as [`Account::land`] does operations.
    ///
    /// # Errors
    /// As [`Account::land`].
    pub async fn land_instructions(
        &mut self,
        id: &str,
        instructions: Vec<Instruction>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), ClientError> {
        let job = SvmJob::new(id, UNITS, Content::Fixed(instructions));
        self.land_job(job, record).await
    }

    async fn land_job(
        &mut self,
        job: SvmJob,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), ClientError> {
        let mut report = |job: &SvmJob, words: &str| tracing::info!(job = job.id(), words);
        let mut chain = Submitting {
            chain: &mut self.chain,
            registries: &self.registries,
            account: self.address,
        };
        submit(&mut chain, &[&[job]], record, self.timing, &mut report).await
    }
}

/// A number that this account has not used as a nonce. One that it has used is refused, and another is drawn.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// The limit of compute units for an operation.
fn units(operation: &Operation) -> u32 {
    match operation {
        Operation::Register(it) => {
            let entries = u32::try_from(it.metadata.len()).unwrap_or(u32::MAX);
            REGISTRATION_UNITS.saturating_add(entries.saturating_mul(ENTRY_UNITS))
        }
        _ => UNITS,
    }
}

#[async_trait]
impl Account for SvmAccount {
    fn registries(&self) -> &dyn Registries {
        &self.registries
    }

    fn account(&self) -> String {
        format!("{}:{}", self.registries.network, self.address)
    }

    fn complete(&self, operation: &mut Operation, earlier: Option<&Operation>) {
        if let Operation::Register(it) = operation
            && it.nonce.is_none()
        {
            let earlier = match earlier {
                Some(Operation::Register(earlier)) => earlier.nonce,
                _ => None,
            };
            it.nonce = Some(earlier.unwrap_or_else(random));
        }
    }

    async fn try_out(&self, operation: &Operation) -> Result<(), ClientError> {
        let registries = &self.registries;
        let instructions = registries.instructions(self.address, operation).await?;
        let raw = unsigned(&instructions, &self.address);
        let simulation = registries.cluster.simulate(&raw).await?;
        if simulation.err.is_null() {
            Ok(())
        } else {
            Err(refusal(registries, &instructions, simulation))
        }
    }

    async fn land(
        &mut self,
        id: &str,
        operation: &Operation,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), ClientError> {
        let content = Content::Operation(Box::new(operation.clone()));
        let job = SvmJob::new(id, units(operation), content);
        self.land_job(job, record).await
    }

    async fn events(
        &self,
        landing: &Landing,
        signed: &SignedTx,
    ) -> Result<Vec<Event>, ClientError> {
        let registries = &self.registries;
        let gone = || registries.refused(format!("transaction {} is gone", landing.transaction));
        let executed = registries.cluster.transaction(&landing.transaction).await?;
        let transaction = carried(signed, &executed.ok_or_else(gone)?)?.ok_or_else(gone)?;
        let decoded = (registries.program).events(&registries.network, &transaction);
        Ok(decoded.events.into_iter().map(|it| it.event).collect())
    }
}

/// What events are decoded from: the signed bytes have the accounts, the cluster has the calls.
fn carried(signed: &SignedTx, executed: &ExecutedTx) -> Result<Option<Transaction>, ClientError> {
    let sent = decode(signed)?;
    let keys = &sent.message.account_keys;
    let program = |index: u8| keys.get(usize::from(index)).copied();
    let mut instructions = Vec::new();
    for instruction in &sent.message.instructions {
        let Some(program) = program(instruction.program_id_index) else {
            return Ok(None);
        };
        let calls = Vec::new();
        instructions.push(TopLevel { program, calls });
    }
    for list in executed.meta.inner_instructions.iter().flatten() {
        let Some(top) = instructions.get_mut(usize::from(list.index)) else {
            return Ok(None);
        };
        for call in &list.instructions {
            let data = bs58::decode(&call.data).into_vec().unwrap_or_default();
            let call = Call::resolve(keys, call.program_id_index, &call.accounts, data);
            top.calls.extend(call);
        }
    }
    Ok(sent.signatures.first().map(|signature| Transaction {
        signature: (*signature).into(),
        block: Block {
            number: executed.slot,
            hash: None,
        },
        instructions,
        logs: executed.meta.log_messages.clone().unwrap_or_default(),
    }))
}
