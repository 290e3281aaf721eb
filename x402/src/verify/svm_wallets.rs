//! R13: the wallet that an agent had when a payment was carried out. A cluster keeps no earlier state, so what its owner wrote since
//! is looked up in the agent's transactions: otherwise one more write would void an honest proof.

use concord_chain::{
    ChainError,
    svm::{Cluster, ExecutedTx, SignatureEntry},
};
use concord_registry::{
    event::{AccountId, AgentId, Decoded, Event},
    svm::{Address, Program, accounts::AgentIdentity},
};
use futures_util::future::try_join_all;

use super::reads::{Payment, Unavailable};

/// How many pages of the agent's transactions before the payment are looked through. A node's page has at most 1,000.
const PAGES_MAX: usize = 4;
/// How many transactions are asked for side by side.
const TOGETHER: usize = 16;

/// An agent of one program.
#[derive(Clone, Copy)]
pub struct AgentPlace<'a> {
    /// A node of the program's cluster.
    pub cluster: &'a Cluster,
    /// The cluster's CAIP-2 id.
    pub network: &'a str,
    /// The program.
    pub program: Program,
    /// The agent.
    pub mint: Address,
}

/// What is known of an agent's wallet at a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalletThen {
    /// It was this one; or the agent had none.
    Was(Option<Address>),
    /// The reason why nobody can say.
    NotKnown(&'static str),
}

impl AgentPlace<'_> {
    /// The agent as it is now, and its wallet when a payment of the same cluster was carried out; `None` if there is no such
    /// agent. `transaction` is the payment's.
    ///
    /// # Errors
    /// [`Unavailable`], also if the node does not have the agent's transactions from before the payment.
    pub async fn wallet_at(
        &self,
        transaction: &str,
        payment: &Payment,
    ) -> Result<Option<(AgentIdentity, WalletThen)>, Unavailable> {
        let slot = payment.block.unwrap_or_default();
        let address = self.program.agent(&self.mint);
        // R36: a node that is behind the payment could show a wallet that was replaced before it
        let (_, found) = self
            .cluster
            .accounts_in_slot(&[address], Some(slot))
            .await?;
        let Some(account) = found.into_iter().next().flatten() else {
            return Ok(None);
        };
        let agent: Option<AgentIdentity> = (self.program.find(&account.owner, &account.data))
            .map_err(|error| Unavailable(error.to_string()))?;
        let Some(agent) = agent else {
            return Ok(None);
        };
        let set_at = u64::try_from(agent.wallet_set_at).unwrap_or_default();
        // within the payment's second either may have been first; R12: zero is no time
        let then = if (1..payment.time).contains(&set_at) {
            WalletThen::Was(agent.wallet())
        } else {
            self.before(transaction, (slot, payment.time)).await?
        };
        Ok(Some((agent, then)))
    }

    /// The wallet that the agent's last write before the payment gave it. `paid`: slot and time.
    async fn before(&self, transaction: &str, paid: (u64, u64)) -> Result<WalletThen, Unavailable> {
        let payment = self.carried_out(transaction).await?;
        if self.written(&payment, paid)?.is_some() {
            let reason = "the payment's own transaction wrote the agent's wallet";
            return Ok(WalletThen::NotKnown(reason));
        }
        let mut oldest = transaction.to_owned();
        for _ in 0..PAGES_MAX {
            let page = self.page(&oldest, paid.0).await?;
            let Some(last) = page.last() else {
                let reason = "the node does not have the transaction that registered the agent";
                return Err(Unavailable(reason.to_owned()));
            };
            oldest.clone_from(&last.signature);
            if let Some(then) = self.last_written(&page, paid).await? {
                return Ok(then);
            }
        }
        let reason = "its wallet was written after the payment, and the write before it is too many transactions ago";
        Ok(WalletThen::NotKnown(reason))
    }

    /// The agent's transactions before one, newest first. A short page is not the last one, since endpoints have limits of
    /// their own: an empty one is, and is asked for twice.
    async fn page(&self, before: &str, slot: u64) -> Result<Vec<SignatureEntry>, Unavailable> {
        let address = self.program.agent(&self.mint);
        let ask = || (self.cluster).signatures(&address, Some(before), Some(slot));
        let mut page = ask().await?;
        if page.is_empty() {
            page = ask().await?;
        }
        if page.iter().all(|it| it.slot <= slot) {
            Ok(page)
        } else {
            Err(Unavailable("the node listed later transactions".to_owned()))
        }
    }

    async fn last_written(
        &self,
        page: &[SignatureEntry],
        paid: (u64, u64),
    ) -> Result<Option<WalletThen>, Unavailable> {
        let succeeded: Vec<_> = page.iter().filter(|it| it.err.is_null()).collect();
        for some in succeeded.chunks(TOGETHER) {
            let carried_out = some.iter().map(|it| self.carried_out(&it.signature));
            for executed in try_join_all(carried_out).await? {
                if let Some(then) = self.written(&executed, paid)? {
                    return Ok(Some(then));
                }
            }
        }
        Ok(None)
    }

    async fn carried_out(&self, signature: &str) -> Result<ExecutedTx, Unavailable> {
        let executed = self.cluster.transaction(signature).await;
        let executed = executed.map_err(|error: ChainError| Unavailable::from(error))?;
        executed.ok_or_else(|| Unavailable(format!("the node does not have {signature}")))
    }

    /// The wallet that a transaction left, if it wrote the agent's.
    fn written(
        &self,
        executed: &ExecutedTx,
        paid: (u64, u64),
    ) -> Result<Option<WalletThen>, Unavailable> {
        let unreadable =
            || Unavailable("one of the agent's transactions cannot be read".to_owned());
        let transaction = executed.program_calls().ok_or_else(unreadable)?;
        let decoded = self.program.events(self.network, &transaction);
        if !decoded.undecoded.is_empty() {
            return Err(unreadable());
        }
        let has_whole_log = executed.meta.log_messages.is_some() && !decoded.is_log_truncated;
        let mut hooked = self.program.hooked(&transaction);
        if !has_whole_log && hooked.any(|it| it == self.mint) {
            let reason = "the log of a transaction that may have transferred the agent is cut off";
            return Ok(Some(WalletThen::NotKnown(reason)));
        }
        let (slot, time) = paid;
        let last = self.last_event(decoded);
        match last {
            Some((_, at)) if executed.slot > slot || at > time => Err(Unavailable(
                "the node listed a later transaction".to_owned(),
            )),
            last => Ok(last.map(|(wallet, _)| WalletThen::Was(wallet))),
        }
    }

    /// What the last event that wrote the agent's wallet left, and when.
    fn last_event(&self, decoded: Decoded) -> Option<(Option<Address>, u64)> {
        let own = AgentId::Svm(self.mint);
        let mut written = decoded.events.into_iter().filter_map(|it| {
            let wallet = match it.event {
                Event::AgentRegistered { agent, owner, .. } if agent == own => Some(owner), // R3
                Event::AgentWalletSet { agent, wallet } if agent == own => wallet,
                Event::AgentTransferred { agent, .. } if agent == own => None, // R4
                _ => return None,
            };
            let wallet = wallet.and_then(|it| match it {
                AccountId::Svm(key) => Some(key),
                AccountId::Evm(_) => None,
            });
            let time = it.timestamp.and_then(|it| it.try_into().ok());
            Some((wallet, time.unwrap_or(u64::MAX)))
        });
        written.next_back()
    }
}
