//! What a development node allows: its registry's authority is ours, money is worth nothing, and on
//! some nodes (Surfpool) the clock can be stopped and set.
use super::{ledger::Answer, live::Live};
use crate::backend::StepFault;
use concord_chain::{
    Refusable, Signer as TxSigner, Svm,
    svm::{land, sign},
};
use serde_json::{Value, json};
use solana_account::Account;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use std::{
    thread,
    time::{Duration, Instant},
};

/// Lamports: more than any actor spends in one scenario.
const ENOUGH: u64 = 500_000_000;
/// Lamports, for an actor that has less than [`ENOUGH`].
const GIFT: u64 = 2_000_000_000;

/// How often an airdrop is looked for.
const POLL: Duration = Duration::from_millis(50);

/// A node of one's own.
pub struct Development {
    /// The registry's, which also pays if the node has no faucet.
    authority: Keypair,
    can_set_time: bool,
}

impl Development {
    pub(super) fn new(authority: Keypair, can_set_time: bool) -> Self {
        Self {
            authority,
            can_set_time,
        }
    }

    pub(super) fn authority(&self) -> &Keypair {
        &self.authority
    }

    pub(super) fn can_set_time(&self) -> bool {
        self.can_set_time
    }

    /// From the node's faucet if it has one, else from the authority.
    pub(super) fn fund(&self, node: &Live, address: &Address) -> Answer<()> {
        if node.ask(node.cluster.balance(address))? >= ENOUGH {
            return Ok(());
        }
        let airdrop = json!([address.to_string(), GIFT]);
        match self.cheat(node, "requestAirdrop", airdrop)? {
            Ok(_) => self.wait_for_gift(node, address),
            Err(_) => self.give(node, address),
        }
    }

    fn wait_for_gift(&self, node: &Live, address: &Address) -> Answer<()> {
        let begun = Instant::now();
        while node.ask(node.cluster.balance(address))? < ENOUGH {
            if begun.elapsed() > node.patience {
                let reason = format!("{address} has not got what the node's faucet promised");
                return Err(StepFault::Unreachable(reason));
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    fn give(&self, node: &Live, address: &Address) -> Answer<()> {
        let payer = self.authority.pubkey();
        if *address == payer {
            return Err(StepFault::Unreachable(format!(
                "the registry's authority {payer} has less than {ENOUGH} lamports, and the node has no faucet"
            )));
        }
        let give = system::transfer(&payer, address, GIFT);
        self.land(node, &[give], "something to pay with")
    }

    /// Lands a transaction of the authority's; `what` is what it is for, if it fails.
    pub(super) fn land(&self, node: &Live, instructions: &[Instruction], what: &str) -> Answer<()> {
        let recent = node.ask(node.cluster.recent_blockhash())?;
        let keys: [&dyn TxSigner<Svm>; 1] = [&self.authority];
        let transaction = node.ask(sign(instructions, &keys, &recent))?;
        let landed = node.ask(land(&node.cluster, &transaction, node.patience))?;
        if landed.meta.err.is_null() {
            Ok(())
        } else {
            Err(StepFault::Unreachable(format!(
                "{what}: the transaction failed: {}",
                landed.meta.err
            )))
        }
    }

    /// Unix seconds. Later only: a node does not go back.
    pub(super) fn set_time(&self, node: &Live, time: u64) -> Answer<()> {
        let shown = node.ask(node.cluster.unix_time())?;
        if !self.can_set_time || u64::try_from(shown) == Ok(time) {
            return Ok(());
        }
        let milliseconds = time.saturating_mul(1000);
        let travel = json!([{ "absoluteTimestamp": milliseconds }]);
        match self.cheat(node, "surfnet_timeTravel", travel)? {
            Ok(_) => Ok(()),
            Err(no) => Err(StepFault::Inexpressible(format!(
                "time {time} on a node that says: {}",
                no.message
            ))),
        }
    }

    /// Writes an account, on a node that lets it (Surfpool); whether it did. Surfpool's slots do not advance
    /// while its clock is set, so that nothing can be made there that needs a later slot.
    pub(super) fn put(&self, node: &Live, address: &Address, account: &Account) -> Answer<bool> {
        let content = json!({
            "lamports": account.lamports,
            "owner": account.owner.to_string(),
            "data": hex::encode(&account.data),
            "executable": account.executable,
        });
        let params = json!([address.to_string(), content]);
        Ok(self.cheat(node, "surfnet_setAccount", params)?.is_ok())
    }

    /// Lets the clock run again.
    pub(super) fn leave(&self, node: &Live) -> Answer<()> {
        if self.can_set_time {
            // What it says does not matter: the scenarios have been checked.
            let _ = self.cheat(node, "surfnet_resumeClock", json!([]))?;
        }
        Ok(())
    }

    fn cheat(&self, node: &Live, method: &'static str, params: Value) -> Answer<Refusable<Value>> {
        node.ask(node.cluster.endpoint().request(method, params))
    }
}
