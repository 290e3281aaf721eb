//! Agents that rate others: by BP, feedback by an agent's wallet is the agent's.
use crate::{
    StoreError,
    store::{Cell, DeploymentId, Engine, Sql, Store},
};
use concord_registry::event::{AccountId, AgentId};
use std::collections::BTreeMap;

impl<E: Engine> Store<E> {
    /// Returns the agents that have one of these accounts as their wallet now, for each account in
    /// the order of their ids.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn agents_by_wallet(
        &mut self,
        deployment: DeploymentId,
        wallets: &[AccountId],
    ) -> Result<BTreeMap<AccountId, Vec<AgentId>>, StoreError> {
        let mut found: BTreeMap<AccountId, Vec<AgentId>> = BTreeMap::new();
        if wallets.is_empty() {
            return Ok(found);
        }
        let mut sql = Sql::new("SELECT a.wallet, a.agent FROM agent a");
        sql.bind(" WHERE a.deployment = ?", [deployment.0.to_value()])
            .list("a.wallet", wallets.iter().map(Cell::to_value))
            .push(" ORDER BY a.wallet, a.agent");
        self.select(&sql, "agent", &mut |cells| {
            let wallet = cells.take("wallet")?;
            found.entry(wallet).or_default().push(cells.take("agent")?);
            Ok(())
        })?;
        Ok(found)
    }
}
