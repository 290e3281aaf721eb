//! The contracts in a revm of our own: no process, no JSON, no signed transactions.
use super::{
    EvmRevm, Registries,
    deployment::Artifacts,
    ledger::{Answer, BALANCE, GAS_LIMIT, Ledger, Receipt, View, out_of_gas},
};
use crate::backend::{SetupError, StepFault};
use alloy::{
    primitives::{Address, Bytes, TxKind, U256},
    signers::local::PrivateKeySigner,
};
use revm::{
    Context, Database, ExecuteCommitEvm, ExecuteEvm, MainBuilder, MainContext, MainnetEvm,
    context::{BlockEnv, TxEnv, result::ExecutionResult},
    database::{CacheDB, EmptyDB, InMemoryDB},
    handler::MainnetContext,
    primitives::hardfork::SpecId,
    state::{AccountInfo, Bytecode},
};
use std::path::Path;

const NAME: &str = "evm-revm";
/// Anvil's, so that the two sign and hash the same bytes.
const CHAIN_ID: u64 = 31_337;
const BLOCK_GAS_LIMIT: u64 = 30_000_000;

/// A chain in memory, at the hardfork that anvil is started with.
pub struct Revm {
    database: InMemoryDB,
    block: BlockEnv,
    marked: Option<(InMemoryDB, BlockEnv)>,
    next_block_time: u64,
}

impl EvmRevm {
    /// Deploys the contracts from forge's output folder `artifacts`.
    ///
    /// # Errors
    /// An artifact that is missing or unusable.
    pub fn start(artifacts: &Path) -> Result<Self, SetupError> {
        let artifacts = Artifacts::read(artifacts)?;
        let mut revm = Revm::new();
        let deployed = artifacts
            .deploy(&mut revm)
            .and_then(|addresses| Registries::deployed(NAME, revm, addresses));
        deployed.map_err(|fault| SetupError::Deployment {
            participant: NAME,
            reason: fault.to_string(),
        })
    }
}

impl Revm {
    fn new() -> Self {
        Self {
            database: CacheDB::new(EmptyDB::new()),
            block: BlockEnv {
                gas_limit: BLOCK_GAS_LIMIT,
                ..BlockEnv::default()
            },
            marked: None,
            next_block_time: 0,
        }
    }

    /// A machine on this chain. It is made anew where it is needed, because it cannot go from one
    /// thread to another, and the chain can.
    fn machine(&mut self) -> MainnetEvm<MainnetContext<&mut InMemoryDB>> {
        Context::mainnet()
            .modify_cfg_chained(|cfg| {
                cfg.set_spec_and_mainnet_gas_params(SpecId::PRAGUE);
                cfg.chain_id = CHAIN_ID;
                cfg.disable_nonce_check = true; // nothing is signed, so nothing can be replayed
            })
            .with_block(self.block.clone())
            .with_db(&mut self.database)
            .build_mainnet()
    }
}

/// Gas is free here, and counts all the same.
fn transaction(from: Address, kind: TxKind, data: Bytes) -> TxEnv {
    TxEnv {
        caller: from,
        kind,
        data,
        gas_limit: GAS_LIMIT,
        gas_price: 0,
        chain_id: Some(CHAIN_ID),
        ..TxEnv::default()
    }
}

fn refused(fault: &impl ToString) -> StepFault {
    StepFault::Inexpressible(fault.to_string())
}

impl Ledger for Revm {
    fn chain_id(&self) -> u64 {
        CHAIN_ID
    }

    fn fund(&mut self, accounts: &[Address]) -> Answer<()> {
        let funded = AccountInfo::from_balance(U256::from(BALANCE));
        for account in accounts {
            self.database.insert_account_info(*account, funded.clone());
        }
        Ok(())
    }

    fn set_code(&mut self, account: Address, code: Bytes) -> Answer<()> {
        let code = Bytecode::new_raw_checked(code).map_err(|fault| refused(&fault))?;
        let known = self.database.basic(account);
        let known = known.map_err(|fault| refused(&fault))?.unwrap_or_default();
        let info = AccountInfo {
            code_hash: code.hash_slow(),
            code: Some(code),
            ..known
        };
        self.database.insert_account_info(account, info);
        Ok(())
    }

    fn set_next_block_time(&mut self, time: u64) -> Answer<()> {
        self.next_block_time = time;
        Ok(())
    }

    fn latest_block_time(&mut self) -> Answer<u64> {
        Ok(self.block.timestamp.saturating_to())
    }

    fn send(
        &mut self,
        from: &PrivateKeySigner,
        to: Option<Address>,
        input: Bytes,
    ) -> Answer<Receipt> {
        self.block.number += U256::ONE;
        self.block.timestamp = U256::from(self.next_block_time);
        let kind = to.map_or(TxKind::Create, TxKind::Call);
        let done = self
            .machine()
            .transact_commit(transaction(from.address(), kind, input))
            .map_err(|fault| refused(&fault))?;
        let gas = done.tx_gas_used();
        Ok(match done {
            ExecutionResult::Success { logs, output, .. } => Receipt {
                refusal: None,
                logs,
                gas,
                transaction: None,
                created: output.address().copied(),
            },
            ExecutionResult::Halt { .. } if gas >= GAS_LIMIT => return Err(out_of_gas()),
            refusal => Receipt {
                refusal: Some(refusal.into_output().unwrap_or_default()),
                logs: Vec::new(),
                gas,
                transaction: None,
                created: None,
            },
        })
    }

    fn views(&mut self, views: &[View]) -> Answer<Vec<Result<Bytes, Bytes>>> {
        let mut machine = self.machine();
        let asked = views.iter().map(|view| {
            let kind = TxKind::Call(view.contract);
            let call = transaction(view.from, kind, view.input.clone());
            let done = machine.transact(call).map_err(|fault| refused(&fault))?;
            let is_answer = done.result.is_success();
            let output = done.result.into_output().unwrap_or_default();
            Ok(if is_answer { Ok(output) } else { Err(output) })
        });
        asked.collect()
    }

    fn mark(&mut self) -> Answer<()> {
        self.marked = Some((self.database.clone(), self.block.clone()));
        Ok(())
    }

    fn restore(&mut self) -> Answer<()> {
        let (database, block) = self
            .marked
            .clone()
            .ok_or_else(|| StepFault::Unreachable("nothing was marked".to_owned()))?;
        self.database = database;
        self.block = block;
        Ok(())
    }
}
