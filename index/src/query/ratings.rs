//! What certain reviewers say of all agents of a deployment.
use super::{ReputationFilter, Sums, Tags};
use crate::{
    StoreError,
    fold::tag_key,
    store::{Cell, DeploymentId, Engine, Sql, Store, Stored, columns_of},
    table::{Parts, Totals},
};
use concord_registry::event::{AccountId, AgentId};
use std::collections::{BTreeMap, BTreeSet};

/// Of each agent.
pub(super) type Ratings = BTreeMap<AgentId, Sums>;

impl<E: Engine> Store<E> {
    /// Returns what the reviewers of a filter say of each agent of which they say something. Bounds
    /// are not applied.
    pub(super) fn ratings(
        &mut self,
        deployment: DeploymentId,
        filter: &ReputationFilter,
    ) -> Result<Ratings, StoreError> {
        let mut ratings = Ratings::new();
        match &filter.reviewers {
            Some(listed) => {
                let distinct: BTreeSet<&AccountId> = listed.iter().collect();
                self.add_clients(deployment, filter, &distinct, &mut ratings)?;
            }
            None => self.add_everyone(deployment, filter, &mut ratings)?,
        }
        ratings.retain(|_, sums| sums.all.count() > 0);
        Ok(ratings)
    }

    fn add_clients(
        &mut self,
        deployment: DeploymentId,
        filter: &ReputationFilter,
        clients: &BTreeSet<&AccountId>,
        ratings: &mut Ratings,
    ) -> Result<(), StoreError> {
        let of = |client: &&AccountId| {
            let mut sql = Sql::new(format!(
                "SELECT p.agent, p.is_paid, {} FROM part p",
                columns_of::<Parts>("p")
            ));
            let values = [
                deployment.0.to_value(),
                filter.profile.to_value(),
                client.to_value(),
            ];
            sql.bind(
                " WHERE p.deployment = ? AND p.profile = ? AND p.client = ?",
                values,
            );
            filter.tags().restrict_parts(&mut sql, "p");
            sql
        };
        let statements = clients.iter().map(of).collect();
        self.select_each(statements, "part", &mut |_, cells| {
            let agent = cells.take("agent")?;
            let is_paid = cells.take("is_paid")?;
            let part = Parts::read_row(cells)?;
            ratings.entry(agent).or_default().add(&part, is_paid)
        })
    }

    fn add_everyone(
        &mut self,
        deployment: DeploymentId,
        filter: &ReputationFilter,
        ratings: &mut Ratings,
    ) -> Result<(), StoreError> {
        let tags: Tags<'_> = filter.tags();
        let (added, twice) = tags.pairs();
        let added = added.into_iter().map(|pair| (pair, true));
        for ((tag1, tag2), is_added) in added.chain(twice.map(|pair| (pair, false))) {
            let mut sql = Sql::new(format!(
                "SELECT t.agent, {} FROM total t",
                columns_of::<Totals>("t")
            ));
            let values = [
                deployment.0.to_value(),
                filter.profile.to_value(),
                tag_key(tag1).to_value(),
                tag_key(tag2).to_value(),
            ];
            sql.bind(
                " WHERE t.deployment = ? AND t.profile = ? AND t.tag1 = ? AND t.tag2 = ?",
                values,
            );
            self.select(&sql, "total", &mut |cells| {
                let agent = cells.take("agent")?;
                let total = Totals::read_row(cells)?;
                let sums = ratings.entry(agent).or_default();
                if is_added {
                    sums.add_total(&total)
                } else {
                    sums.take_total(&total)
                }
            })?;
        }
        Ok(())
    }
}
