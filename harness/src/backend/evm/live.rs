//! Registries on a live chain: its clock, its blocks and its fees are its own, and
//! what is done there stays.
//!
//! A scenario's transaction is simulated first and sent only where it would be accepted, so that a
//! refusal costs nothing. The scenario's time and the chain's are held apart: the scenario begins when
//! the chain has got to, and each timestamp that a registry stores stands for the time that the
//! scenario had when the transaction was sent.
use super::{
    Dialect, EvmLive, Keyring, RegistryAddresses,
    deployment::accepts_draft_v1,
    ledger::{Answer, Ledger, Receipt, View},
    requests::Requests,
};
use crate::{
    backend::{RunSecret, StepFault},
    scenario::HEAD_START,
};
use alloy::{
    primitives::{Address, Bytes, U256},
    signers::local::PrivateKeySigner,
};
use concord_canonical::Word;
use concord_chain::{
    Blocking, ChainError,
    evm::{Client, TxCall, TxReceipt},
};
use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

const NAME: &str = "evm-live";
/// Endpoints limit how many calls they take at once.
const VIEWS_AT_ONCE: usize = 20;
/// From one transaction's block to the next transaction: more than a second of any chain's clock.
const PAUSE: Duration = Duration::from_millis(1_100);

/// A chain behind an endpoint of its own or of anybody's.
pub struct Live {
    blocking: Blocking,
    client: Client,
    /// Nobody has anything to pay with: whatever would be accepted is answered without being sent.
    is_read_only: bool,
    scenario: ScenarioClock,
}

/// What the chain's clock says of the scenario that is being played.
#[derive(Default)]
struct ScenarioClock {
    /// What the clock was told last.
    next: u64,
    /// The time of the latest step, refused or not.
    latest: u64,
    times: BTreeMap<u64, u64>,
    landed: Option<Instant>,
}

impl EvmLive {
    /// Registries that stand at `addresses` on the client's chain, in the run that `nonce` names;
    /// its actors have the keys of `secret`, and what they need.
    pub fn funded(
        blocking: Blocking,
        client: Client,
        addresses: RegistryAddresses,
        secret: RunSecret,
        nonce: Word,
    ) -> Self {
        let mut funded = Self::on(blocking, client, false, addresses, secret, nonce);
        // An endpoint that does not answer says so at the first scenario.
        let accepts = accepts_draft_v1(&mut funded.ledger, &addresses).unwrap_or(true);
        funded.accepting_draft_v1(accepts)
    }

    /// As [`Self::funded`], without anybody's money: only what is refused, and reads, can be checked.
    pub fn read_only(
        blocking: Blocking,
        client: Client,
        addresses: RegistryAddresses,
        nonce: Word,
    ) -> Self {
        let secret = RunSecret::without_funds(&nonce);
        Self::on(blocking, client, true, addresses, secret, nonce)
    }

    /// The same over an identity registry that may refuse as the canonical one does.
    #[must_use]
    pub fn over_canonical_identity(self) -> Self {
        Self {
            dialect: Dialect::OverCanonicalIdentity,
            ..self
        }
    }

    fn on(
        blocking: Blocking,
        client: Client,
        is_read_only: bool,
        addresses: RegistryAddresses,
        secret: RunSecret,
        nonce: Word,
    ) -> Self {
        let live = Live {
            blocking,
            client,
            is_read_only,
            scenario: ScenarioClock::default(),
        };
        Self {
            keyring: Keyring::Derived(secret),
            requests: Requests::of_run(nonce),
            ..Self::unmarked(NAME, live, addresses, Dialect::Concord)
        }
    }
}

impl Live {
    /// So that no two transactions of a scenario have one timestamp.
    fn let_the_second_pass(&self) {
        if let Some(landed) = self.scenario.landed {
            thread::sleep(PAUSE.saturating_sub(landed.elapsed()));
        }
    }

    fn land(&mut self, from: &PrivateKeySigner, call: TxCall) -> Answer<TxReceipt> {
        self.let_the_second_pass();
        let sent = self.blocking.wait(self.client.send(from, call));
        let hash = sent.map_err(unreachable)?;
        let receipt = self.blocking.wait(self.client.wait(hash));
        let receipt = receipt.map_err(unreachable)?;
        self.scenario.landed = Some(Instant::now());
        if !receipt.status() {
            let reason = format!("{hash} reverted, though its simulation did not");
            return Err(StepFault::Unreachable(reason));
        }
        let block = receipt.block_number.unwrap_or_default();
        let timestamp = self.client.node().time_of_block(block);
        let timestamp = self.blocking.wait(timestamp).map_err(unreachable)?;
        match self.scenario.times.insert(timestamp, self.scenario.next) {
            None => Ok(receipt),
            Some(_) => Err(StepFault::Unreachable(format!(
                "two transactions have the block time {timestamp}, so that its time is ambiguous"
            ))),
        }
    }
}

/// In the client's words, which have no more of the URL than its host.
fn unreachable(error: ChainError) -> StepFault {
    StepFault::Unreachable(error.to_string())
}

impl Ledger for Live {
    fn chain_id(&self) -> u64 {
        self.client.chain_id()
    }

    /// Lists by actor hold what other scenarios of the run did, too.
    fn answers_many(&self) -> bool {
        false
    }

    /// The actors have what they need since the run began.
    fn fund(&mut self, _accounts: &[Address]) -> Answer<()> {
        Ok(())
    }

    fn set_code(&mut self, _account: Address, _code: Bytes) -> Answer<()> {
        let reason = "a contract account, whose code only a development node sets";
        Err(StepFault::Inexpressible(reason.to_owned()))
    }

    fn set_next_block_time(&mut self, time: u64) -> Answer<()> {
        self.scenario.next = time;
        Ok(())
    }

    fn opening(&mut self, _wanted: u64) -> Answer<u64> {
        let now = self.blocking.wait(self.client.latest_time());
        let now = now.map_err(unreachable)?;
        let start = now.saturating_sub(HEAD_START);
        self.scenario = ScenarioClock {
            latest: start,
            landed: self.scenario.landed,
            ..ScenarioClock::default()
        };
        Ok(start)
    }

    fn scenario_times(&self) -> Option<&BTreeMap<u64, u64>> {
        Some(&self.scenario.times)
    }

    /// The scenario's.
    fn latest_block_time(&mut self) -> Answer<u64> {
        Ok(self.scenario.latest)
    }

    fn send(
        &mut self,
        from: &PrivateKeySigner,
        to: Option<Address>,
        input: Bytes,
    ) -> Answer<Receipt> {
        let to = to.ok_or_else(|| StepFault::Inexpressible("a contract's creation".to_owned()))?;
        let simulated = self.client.simulate(from.address(), to, &input);
        let simulated = self.blocking.wait(simulated).map_err(unreachable)?;
        self.scenario.latest = self.scenario.next;
        let gas = match simulated {
            Err(refusal) => return Ok(not_sent(Some(refusal))),
            Ok(_) if self.is_read_only => return Ok(not_sent(None)),
            Ok(gas) => gas,
        };
        let call = TxCall {
            to,
            value: U256::ZERO,
            gas,
            input,
        };
        let receipt = self.land(from, call)?;
        Ok(Receipt {
            refusal: None,
            logs: receipt.logs().iter().map(|log| log.inner.clone()).collect(),
            gas: receipt.gas_used,
            transaction: Some(receipt.transaction_hash),
            created: None,
        })
    }

    fn views(&mut self, views: &[View]) -> Answer<Vec<Result<Bytes, Bytes>>> {
        let mut answers = Vec::with_capacity(views.len());
        for some in views.chunks(VIEWS_AT_ONCE) {
            let some: Vec<_> = some
                .iter()
                .map(|view| (view.contract, view.input.clone()))
                .collect();
            let some = self.blocking.wait(self.client.views(&some));
            answers.extend(some.map_err(unreachable)?);
        }
        Ok(answers)
    }

    /// What is done stays done.
    fn mark(&mut self) -> Answer<()> {
        Ok(())
    }

    /// A scenario finds its own actors and agents, and none of what others left.
    fn restore(&mut self) -> Answer<()> {
        Ok(())
    }
}

/// The result of a transaction that is not sent.
fn not_sent(refusal: Option<Bytes>) -> Receipt {
    Receipt {
        refusal,
        logs: Vec::new(),
        gas: 0,
        transaction: None,
        created: None,
    }
}
