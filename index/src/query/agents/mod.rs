//! Searches agents, by what the chain says of them and by what reviewers say (BP).
mod conditions;
mod search;

use super::{
    Bounds, FileFilter, Sums, Tags,
    page::{Page, Paged, merge},
    ratings::Ratings,
};
use crate::{
    StoreError,
    store::{Cell, DeploymentId, Engine, Sql, Store, Value},
    table::Agent,
};
use concord_registry::event::{AccountId, AgentId, Profile};
use search::Search;
use std::collections::{BTreeMap, BTreeSet};

/// Rows that a statement reads at most, unless a page is larger.
const MOST_ROWS: usize = 8_192;
/// Agents that a statement looks up by their ids.
const CANDIDATES: usize = 512;
/// So many candidates are looked up without reading the rows in their order first.
const FEW: usize = 2_048;

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

/// Agents found by reading rows in order, and the last position if there may be more.
struct Walk {
    found: Vec<FoundAgent>,
    rest: Option<AgentPosition>,
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
        let everyone = |_: &FoundAgent| true;
        let walk = match &search.filter.reputation {
            Some(reputation) if reputation.has_feedback && !reputation.is_in_totals() => {
                return self.rated_agents(search, reputation, after);
            }
            Some(reputation) if !reputation.has_feedback => {
                let rated = self.ratings(search.deployment, reputation)?;
                let is_unrated = |it: &FoundAgent| !rated.contains_key(&it.agent);
                self.walk(search, after, usize::MAX, &is_unrated)?
            }
            _ => self.walk(search, after, usize::MAX, &everyone)?,
        };
        Ok(walk.found)
    }

    /// Agents in an order that the store has, of at most so many rows. Each statement reads twice as many rows as the one before,
    /// since it looks operators up again.
    fn walk(
        &mut self,
        search: &Search<'_>,
        after: Option<&AgentPosition>,
        most: usize,
        admits: &dyn Fn(&FoundAgent) -> bool,
    ) -> Result<Walk, StoreError> {
        let mut after = after.cloned();
        let mut found: Vec<FoundAgent> = Vec::new();
        let (mut limit, mut left) = (search.wanted, most);
        loop {
            limit = limit.min(left);
            let mut rows = Vec::new();
            let sql = search.sql(after.as_ref(), limit);
            self.select(&sql, "agent", &mut |cells| {
                rows.push(search.read(cells)?);
                Ok(())
            })?;
            let is_last = rows.len() < limit;
            left -= rows.len();
            after = rows.last().map(FoundAgent::position).or(after);
            found.extend((rows.into_iter()).filter(|it| search.admits(it) && admits(it)));
            let is_whole = is_last || found.len() >= search.wanted;
            if is_whole || left == 0 {
                found.truncate(search.wanted);
                let rest = after.filter(|_| !is_whole);
                return Ok(Walk { found, rest });
            }
            limit = limit.saturating_mul(2).min(MOST_ROWS.max(search.wanted));
        }
    }

    /// Agents that certain reviewers rated. Each agent's parts are added up first.
    fn rated_agents(
        &mut self,
        search: &Search<'_>,
        reputation: &ReputationFilter,
        after: Option<&AgentPosition>,
    ) -> Result<Vec<FoundAgent>, StoreError> {
        let mut rated = self.ratings(search.deployment, reputation)?;
        rated.retain(|_, sums| reputation.admits(sums));
        if search.filter.is_of_named() {
            let named = self.named_agents(search)?;
            rated.retain(|agent, _| named.contains(agent));
        }
        let mut found = if search.order.is_of_reputation() {
            self.ranked_agents(search, &rated, after)?
        } else {
            self.sorted_agents(search, &rated, after)?
        };
        for it in &mut found {
            it.sums = rated.get(&it.agent).copied();
        }
        Ok(found)
    }

    /// In the order of what the reviewers say.
    fn ranked_agents(
        &mut self,
        search: &Search<'_>,
        rated: &Ratings,
        after: Option<&AgentPosition>,
    ) -> Result<Vec<FoundAgent>, StoreError> {
        let ranks = rated.iter();
        let ranks = ranks.map(|(agent, sums)| (number(&search.order_of(sums)), *agent));
        let ranks = ranks.filter(|it| search.is_after(after, *it));
        let mut candidates: Vec<(f64, AgentId)> = ranks.collect();
        candidates.sort_unstable_by(|a, b| search.compare(*a, *b));
        let candidates: Vec<AgentId> = candidates.into_iter().map(|(_, agent)| agent).collect();
        let owners = self.owners_of(search)?;
        let mut found = Vec::new();
        let (mut left, mut size) = (candidates.as_slice(), search.wanted.min(CANDIDATES));
        while !left.is_empty() && found.len() < search.wanted {
            let (agents, rest) = left.split_at(size.min(left.len()));
            let mut rows = self.agents_among(search, &owners, agents)?;
            for agent in agents {
                if let (Some(mut it), Some(sums)) = (rows.remove(agent), rated.get(agent)) {
                    it.order = search.order_of(sums);
                    found.push(it);
                }
            }
            (left, size) = (rest, size.saturating_mul(2).min(CANDIDATES));
        }
        found.truncate(search.wanted);
        Ok(found)
    }

    /// In an order that rows have. Of many candidates the first ones are soon met by who reads the rows in their order; but they
    /// may all be at its end, so that it reads no more rows than there are candidates.
    fn sorted_agents(
        &mut self,
        search: &Search<'_>,
        rated: &Ratings,
        after: Option<&AgentPosition>,
    ) -> Result<Vec<FoundAgent>, StoreError> {
        if rated.len() <= FEW {
            return self.first_of(search, rated, after);
        }
        let is_rated = |it: &FoundAgent| rated.contains_key(&it.agent);
        let mut walk = self.walk(search, after, rated.len(), &is_rated)?;
        if walk.rest.is_some() {
            walk.found
                .extend(self.first_of(search, rated, walk.rest.as_ref())?);
            walk.found.truncate(search.wanted);
        }
        Ok(walk.found)
    }

    /// Looks all candidates up. Of those that were read, only the first ones are kept.
    fn first_of(
        &mut self,
        search: &Search<'_>,
        rated: &Ratings,
        after: Option<&AgentPosition>,
    ) -> Result<Vec<FoundAgent>, StoreError> {
        let key = |it: &FoundAgent| (number(&it.order), it.agent);
        let owners = self.owners_of(search)?;
        let candidates: Vec<AgentId> = rated.keys().copied().collect();
        let mut found: Vec<FoundAgent> = Vec::new();
        for agents in candidates.chunks(CANDIDATES) {
            let rows = self.agents_among(search, &owners, agents)?;
            found.extend((rows.into_values()).filter(|it| search.is_after(after, key(it))));
            found.sort_by(|a, b| search.compare(key(a), key(b)));
            found.truncate(search.wanted);
        }
        Ok(found)
    }

    /// The agents that the filter names, or whose owners or wallets it names.
    fn named_agents(&mut self, search: &Search<'_>) -> Result<BTreeSet<AgentId>, StoreError> {
        let mut sql = Sql::new("SELECT a.agent FROM agent a");
        sql.bind(" WHERE a.deployment = ?", [search.deployment.0.to_value()]);
        search.filter.restrict_named(&mut sql);
        let mut named = BTreeSet::new();
        self.select(&sql, "agent", &mut |cells| {
            named.insert(cells.take("agent")?);
            Ok(())
        })?;
        Ok(named)
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

    /// Those of some agents that the rest of the filter admits.
    fn agents_among(
        &mut self,
        search: &Search<'_>,
        owners: &BTreeSet<AccountId>,
        agents: &[AgentId],
    ) -> Result<BTreeMap<AgentId, FoundAgent>, StoreError> {
        let mut found = BTreeMap::new();
        self.select(&search.among(agents), "agent", &mut |cells| {
            let it = search.read_plain(cells)?;
            if search.filter.admits_operators(&it.row, owners) {
                found.insert(it.agent, it);
            }
            Ok(())
        })?;
        Ok(found)
    }
}
