//! Searches agents, by what the chain says of them and by what reviewers say (BP).
mod conditions;
mod search;

use super::{
    Bounds, FileFilter, Sums, Tags,
    page::{Page, Paged, merge},
};
use crate::{
    StoreError,
    store::{Cell, DeploymentId, Engine, Sql, Store, Value},
    table::Agent,
};
use concord_registry::event::{AccountId, AgentId, Profile};
use search::Search;
use std::collections::BTreeSet;

/// Rows that a statement reads at most, unless a page is larger.
const MOST_ROWS: usize = 8_192;

/// Which agents of one deployment are searched for.
#[derive(Debug, Clone, Default)]
pub struct AgentFilter {
    /// Only these; all if it is empty.
    pub agents: Vec<AgentId>,
    /// Of these owners; of any if it is empty.
    pub owners: Vec<AccountId>,
    /// With one of these wallets; with any or none if it is empty.
    pub wallets: Vec<AccountId>,
    /// For which one of these may act: the approved account, or one that the owner approved for all agents (ERC-721).
    /// For any agent if it is empty.
    pub operators: Vec<AccountId>,
    /// Registered at or after this, and at or before that, in Unix seconds.
    pub created: (Option<i64>, Option<i64>),
    /// Likewise for the last event about the agent.
    pub updated: (Option<i64>, Option<i64>),
    /// With or without a URI.
    pub has_uri: Option<bool>,
    /// With this metadata key.
    pub metadata_key: Option<String>,
    /// With this metadata value.
    pub metadata: Option<(String, Vec<u8>)>,
    /// R46: of which events are missing, or of which none are.
    pub is_incomplete: Option<bool>,
    /// By their registration files.
    pub file: FileFilter,
    /// By what reviewers say.
    pub reputation: Option<ReputationFilter>,
}

/// What reviewers must say. R48: they are named.
#[derive(Debug, Clone)]
pub struct ReputationFilter {
    /// Of which kind.
    pub profile: Profile,
    /// By these; `None` for everyone. One that is listed twice counts once.
    pub reviewers: Option<Vec<AccountId>>,
    /// The first tag or the second one (R50).
    pub tag: String,
    /// The first tag.
    pub tag1: String,
    /// The second tag.
    pub tag2: String,
    /// `false` asks for agents without feedback; the conditions below are ignored then.
    pub has_feedback: bool,
    /// At least so many.
    pub min_count: Option<u64>,
    /// At most so many.
    pub max_count: Option<u64>,
    /// On the average.
    pub average: Bounds,
}

/// What agents are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentOrder {
    /// Their registration.
    Created,
    /// The last event about them.
    Updated,
    /// How many feedbacks they have, of all kinds, revoked or not.
    FeedbackCount,
    /// The average that the filter is about.
    Average,
    /// The count that the filter is about.
    Count,
}

/// A search, in one or more deployments.
#[derive(Debug, Clone)]
pub struct AgentQuery {
    /// Where, and for what.
    pub deployments: Vec<(DeploymentId, AgentFilter)>,
    /// What agents are sorted by.
    pub order: AgentOrder,
    /// From the largest on.
    pub is_descending: bool,
    /// Where the page before ended.
    pub after: Vec<AgentPosition>,
    /// Rows of a page.
    pub limit: usize,
}

/// Where a page of agents ends in one deployment.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentPosition {
    /// The deployment.
    pub deployment: DeploymentId,
    /// The last agent's place in the order.
    pub order: Value,
    /// The last agent.
    pub agent: AgentId,
}

/// An agent that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundAgent {
    /// Its deployment.
    pub deployment: DeploymentId,
    /// Its id.
    pub agent: AgentId,
    /// Its row.
    pub row: Agent,
    /// What reviewers say, if the filter is about that.
    pub sums: Option<Sums>,
    order: Value,
}

impl Paged for FoundAgent {
    type Position = AgentPosition;

    fn position(&self) -> AgentPosition {
        AgentPosition {
            deployment: self.deployment,
            order: self.order.clone(),
            agent: self.agent,
        }
    }

    fn order(&self) -> f64 {
        number(&self.order)
    }

    fn deployment(position: &AgentPosition) -> i64 {
        position.deployment.0
    }
}

/// Times and counts are far below 2^53.
fn number(value: &Value) -> f64 {
    match value {
        Value::Int(number) => *number as f64,
        Value::Real(number) => *number,
        _ => 0.0,
    }
}

impl<E: Engine> Store<E> {
    /// Searches agents. An order by reputation needs a filter by reputation in each deployment.
    ///
    /// # Errors
    /// The store cannot be read; [`StoreError::OutOfRange`].
    pub fn search_agents(
        &mut self,
        query: &AgentQuery,
    ) -> Result<Page<FoundAgent, AgentPosition>, StoreError> {
        let mut streams = Vec::new();
        for (deployment, filter) in &query.deployments {
            let after = query.after.iter().find(|it| it.deployment == *deployment);
            let search = Search {
                deployment: *deployment,
                filter,
                order: query.order,
                is_descending: query.is_descending,
                wanted: query.limit.saturating_add(1),
            };
            streams.push(self.agents_of(&search, after)?);
        }
        Ok(merge(
            streams,
            &query.after,
            query.limit,
            query.is_descending,
        ))
    }

    fn agents_of(
        &mut self,
        search: &Search<'_>,
        after: Option<&AgentPosition>,
    ) -> Result<Vec<FoundAgent>, StoreError> {
        match &search.filter.reputation {
            Some(reputation) if reputation.has_feedback && !reputation.is_in_totals() => {
                self.rated_agents(search, reputation, after)
            }
            Some(reputation) if !reputation.has_feedback => {
                let rated = self.ratings(search.deployment, reputation)?;
                let rated = rated.into_keys().collect();
                self.stored_agents(search, after, &rated)
            }
            _ => self.stored_agents(search, after, &BTreeSet::new()),
        }
    }

    /// Agents in an order that the store has. Each statement reads twice as many rows as the one before, since it looks
    /// operators up again.
    fn stored_agents(
        &mut self,
        search: &Search<'_>,
        after: Option<&AgentPosition>,
        without: &BTreeSet<AgentId>,
    ) -> Result<Vec<FoundAgent>, StoreError> {
        let mut after = after.cloned();
        let mut found: Vec<FoundAgent> = Vec::new();
        let mut limit = search.wanted;
        loop {
            let mut rows = Vec::new();
            let sql = search.sql(after.as_ref(), limit);
            self.select(&sql, "agent", &mut |cells| {
                rows.push(search.read(cells)?);
                Ok(())
            })?;
            let is_last = rows.len() < limit;
            after = rows.last().map(FoundAgent::position);
            found.extend(rows.into_iter().filter(|it| search.admits(it, without)));
            if is_last || found.len() >= search.wanted {
                found.truncate(search.wanted);
                return Ok(found);
            }
            limit = limit.saturating_mul(2).min(MOST_ROWS.max(search.wanted));
        }
    }

    /// Agents in the order of what certain reviewers say: of each its parts are added up first.
    fn rated_agents(
        &mut self,
        search: &Search<'_>,
        reputation: &ReputationFilter,
        after: Option<&AgentPosition>,
    ) -> Result<Vec<FoundAgent>, StoreError> {
        let rated = self.ratings(search.deployment, reputation)?;
        let rated = rated.into_iter().filter(|(_, it)| reputation.admits(it));
        let mut candidates: Vec<(Option<Value>, AgentId, Sums)> = rated
            .map(|(agent, sums)| (search.order_of(&sums), agent, sums))
            .collect();
        if !search.order.is_of_reputation() {
            return self.sorted_agents(search, candidates, after);
        }
        let key = |order: &Option<Value>| order.as_ref().map_or(0.0, number);
        candidates.sort_by(|a, b| search.compare((key(&a.0), a.1), (key(&b.0), b.1)));
        let owners = self.owners_of(search)?;
        let mut found = Vec::new();
        for (order, agent, sums) in candidates {
            let is_next = after.is_none_or(|after| {
                let last = (number(&after.order), after.agent);
                search.compare(last, (key(&order), agent)).is_lt()
            });
            if is_next && let Some(mut it) = self.agent_if(search, &owners, agent)? {
                it.sums = Some(sums);
                it.order = order.unwrap_or(Value::Null);
                found.push(it);
            }
            if found.len() == search.wanted {
                break;
            }
        }
        Ok(found)
    }

    /// Agents in an order that their rows have. Of those that were read, only the first ones are kept.
    fn sorted_agents(
        &mut self,
        search: &Search<'_>,
        candidates: Vec<(Option<Value>, AgentId, Sums)>,
        after: Option<&AgentPosition>,
    ) -> Result<Vec<FoundAgent>, StoreError> {
        let key = |it: &FoundAgent| (number(&it.order), it.agent);
        let keep_first = |found: &mut Vec<FoundAgent>| {
            found.sort_by(|a, b| search.compare(key(a), key(b)));
            found.truncate(search.wanted);
        };
        let owners = self.owners_of(search)?;
        let last = after.map(|after| (number(&after.order), after.agent));
        let mut found = Vec::new();
        for (_, agent, sums) in candidates {
            let agent = self.agent_if(search, &owners, agent)?;
            let is_next =
                |it: &FoundAgent| last.is_none_or(|last| search.compare(last, key(it)).is_lt());
            if let Some(mut it) = agent.filter(is_next) {
                it.sums = Some(sums);
                found.push(it);
            }
            if found.len() >= search.wanted.saturating_mul(2) {
                keep_first(&mut found);
            }
        }
        keep_first(&mut found);
        Ok(found)
    }

    /// Who approved one of the filter's operators for all agents.
    fn owners_of(&mut self, search: &Search<'_>) -> Result<BTreeSet<AccountId>, StoreError> {
        let mut owners = BTreeSet::new();
        if search.filter.operators.is_empty() {
            return Ok(owners);
        }
        let mut sql = Sql::new("");
        search.filter.select_owners(&mut sql, search.deployment);
        self.select(&sql, "setting", &mut |cells| {
            owners.insert(cells.take("subject")?);
            Ok(())
        })?;
        Ok(owners)
    }

    /// One agent, if the rest of the filter admits it.
    fn agent_if(
        &mut self,
        search: &Search<'_>,
        owners: &BTreeSet<AccountId>,
        agent: AgentId,
    ) -> Result<Option<FoundAgent>, StoreError> {
        let mut sql = search.plain();
        sql.bind(" AND a.agent = ?", [agent.to_value()]);
        let mut found: Option<FoundAgent> = None;
        self.select(&sql, "agent", &mut |cells| {
            found = Some(search.read_plain(cells)?);
            Ok(())
        })?;
        Ok(found.filter(|it| search.filter.admits_operators(&it.row, owners)))
    }
}
