//! A chain of the EVM's kind, as far as the backend needs one.
use crate::backend::StepFault;
use alloy::{
    primitives::{Address, B256, Bytes, Log},
    signers::local::PrivateKeySigner,
    sol_types::SolCall,
};
use concord_registry::evm::RegistryAddresses;
use std::{collections::BTreeMap, marker::PhantomData};

/// Enough for a deployment and for texts of some ten thousand bytes, below every block gas limit.
/// Fixed, so that no transaction is estimated away before it can be refused on chain.
pub(super) const GAS_LIMIT: u64 = 25_000_000;

/// Nothing was decided, so it is not a refusal.
pub(super) fn out_of_gas() -> StepFault {
    StepFault::Inexpressible(format!("takes all of a transaction's {GAS_LIMIT} gas"))
}

/// What a funded account holds, in wei.
pub(super) const BALANCE: u128 = 1_000_000_000_000_000_000_000;

pub(super) type Answer<T> = Result<T, StepFault>;

/// Blocks of one transaction each, and views of the latest one.
pub trait Ledger: Send {
    fn chain_id(&self) -> u64;

    /// Gives each account enough for every transaction.
    fn fund(&mut self, accounts: &[Address]) -> Answer<()>;

    /// Gives an account code, and leaves its balance and nonce as they are.
    ///
    /// # Errors
    /// A live chain.
    fn set_code(&mut self, account: Address, code: Bytes) -> Answer<()>;

    /// Unix seconds of the next block, exactly.
    fn set_next_block_time(&mut self, time: u64) -> Answer<()>;

    /// Unix seconds at which a scenario begins that would begin at `wanted`. A chain with earlier blocks may
    /// be later: then the scenario takes place later.
    fn opening(&mut self, wanted: u64) -> Answer<u64> {
        let latest = self.latest_block_time()?;
        Ok(wanted.max(latest.saturating_add(1)))
    }

    /// Where the time cannot be set: the timestamps of blocks since the opening, each with what
    /// [`Self::set_next_block_time`] was told.
    fn scenario_times(&self) -> Option<&BTreeMap<u64, u64>> {
        None
    }

    /// Unix seconds.
    fn latest_block_time(&mut self) -> Answer<u64>;

    /// Sends a transaction of `from`, a contract's creation where `to` is `None`, and waits until
    /// it is in a block, refused or not.
    fn send(
        &mut self,
        from: &PrivateKeySigner,
        to: Option<Address>,
        input: Bytes,
    ) -> Answer<Receipt>;

    /// Can some hundred views be asked at once? A public endpoint counts each of them.
    fn answers_many(&self) -> bool {
        true
    }

    /// Asks views at the latest block. For each, in order, what it returned, or reverted with.
    fn views(&mut self, views: &[View]) -> Answer<Vec<Result<Bytes, Bytes>>>;

    /// Starts the chain again, if it is one that the harness started, with new registries.
    fn restart(&mut self) -> Answer<Option<RegistryAddresses>> {
        Ok(None)
    }

    /// Makes this the state that [`Self::restore`] goes back to.
    fn mark(&mut self) -> Answer<()>;

    /// As often as wanted; what [`Self::fund`] and [`Self::set_code`] gave since the mark is gone too.
    fn restore(&mut self) -> Answer<()>;
}

/// A transaction in its block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The revert data, if it was refused.
    pub refusal: Option<Bytes>,
    /// None if it was refused.
    pub logs: Vec<Log>,
    pub gas: u64,
    /// The transaction's id, on a chain that others can look it up on.
    pub transaction: Option<B256>,
    /// The address of a created contract.
    pub created: Option<Address>,
}

/// One call of a view function, or of one that would change something.
#[derive(Clone, Debug)]
pub struct View {
    /// The zero address for a view that does not look at it.
    pub from: Address,
    pub contract: Address,
    pub input: Bytes,
}

/// Views to be asked together.
#[derive(Default)]
pub(super) struct Views(Vec<View>);

/// Where in [`Answers`] a view's answer will be.
pub(super) struct Asked<C> {
    at: usize,
    call: PhantomData<C>,
}

/// What [`Views`] were answered, in their order.
pub(super) struct Answers(Vec<Result<Bytes, Bytes>>);

impl Views {
    pub fn ask<C: SolCall>(&mut self, contract: Address, call: &C) -> Asked<C> {
        self.0.push(View {
            from: Address::ZERO,
            contract,
            input: call.abi_encode().into(),
        });
        Asked {
            at: self.0.len() - 1,
            call: PhantomData,
        }
    }

    pub fn answers(self, ledger: &mut impl Ledger) -> Answer<Answers> {
        if self.0.is_empty() {
            return Ok(Answers(Vec::new()));
        }
        ledger.views(&self.0).map(Answers)
    }
}

impl Answers {
    /// What a view returned that has no reason to revert.
    pub fn get<C: SolCall>(&self, asked: &Asked<C>) -> Answer<C::Return> {
        self.try_get(asked)?.map_err(|data| {
            StepFault::UnexplainedState(format!("{} reverted with {data}", C::SIGNATURE))
        })
    }

    /// As [`Self::get`]; a revert is answered with its data.
    pub fn try_get<C: SolCall>(&self, asked: &Asked<C>) -> Answer<Result<C::Return, Bytes>> {
        match self.0.get(asked.at) {
            Some(Ok(returned)) => C::abi_decode_returns_validate(returned)
                .map(Ok)
                .map_err(|fault| StepFault::UnexplainedState(format!("{}: {fault}", C::SIGNATURE))),
            Some(Err(revert)) => Ok(Err(revert.clone())),
            None => Err(StepFault::Unreachable(format!(
                "{} was not answered",
                C::SIGNATURE
            ))),
        }
    }
}

/// Asks one view; a revert is answered with its data.
pub(super) fn try_view<C: SolCall>(
    ledger: &mut impl Ledger,
    contract: Address,
    call: &C,
) -> Answer<Result<C::Return, Bytes>> {
    let mut views = Views::default();
    let asked = views.ask(contract, call);
    views.answers(ledger)?.try_get(&asked)
}

/// Asks one view that has no reason to revert.
pub(super) fn view<C: SolCall>(
    ledger: &mut impl Ledger,
    contract: Address,
    call: &C,
) -> Answer<C::Return> {
    let mut views = Views::default();
    let asked = views.ask(contract, call);
    views.answers(ledger)?.get(&asked)
}
