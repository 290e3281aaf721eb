//! Agents that rate others: by BP, feedback by an agent's wallet is the agent's.
use crate::{
    StoreError,
    store::{Cell, DeploymentId, Engine, Store},
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
        let parameters: Vec<_> = (wallets.iter())
            .map(|it| vec![deployment.0.to_value(), it.to_value()])
            .collect();
        let sql = format!(
            "SELECT agent FROM agent WHERE deployment = $1 AND wallet = $2 ORDER BY agent LIMIT {limit}"
        );
        let mut found: BTreeMap<AccountId, Vec<AgentId>> = BTreeMap::new();
        self.each_of(&sql, &parameters, "agent", &mut |at, cells| {
            let agents = found.entry(wallets[at]).or_default();
            agents.push(cells.take("agent")?);
            Ok(())
        })?;
        Ok(found)
    }
}
