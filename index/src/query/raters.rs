//! Agents that rate others: by BP, feedback by an agent's wallet is the agent's.
use crate::{
    StoreError,
    store::{Cell, DeploymentId, Engine, Sql, Store},
};
use concord_registry::event::{AccountId, AgentId};
use std::collections::BTreeMap;

impl<E: Engine> Store<E> {
    /// Returns the agents that have one of these accounts as their wallet now: for each account the first `limit` in
    /// the order of their ids.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn agents_by_wallet(
        &mut self,
        deployment: DeploymentId,
        wallets: &[AccountId],
        limit: usize,
    ) -> Result<BTreeMap<AccountId, Vec<AgentId>>, StoreError> {
        let mut found: BTreeMap<AccountId, Vec<AgentId>> = BTreeMap::new();
        for wallet in wallets {
            let mut sql = Sql::new("SELECT a.agent FROM agent a");
            let values = [deployment.0.to_value(), wallet.to_value()];
            sql.bind(" WHERE a.deployment = ? AND a.wallet = ?", values)
                .push(&format!(" ORDER BY a.agent LIMIT {limit}"));
            let mut agents = Vec::new();
            self.select(&sql, "agent", &mut |cells| {
                agents.push(cells.take("agent")?);
                Ok(())
            })?;
            if !agents.is_empty() {
                found.insert(*wallet, agents);
            }
        }
        Ok(found)
    }
}
