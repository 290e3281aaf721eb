//! R48: facts about the reviewers behind a summary. The index gives no score of its own.
use super::Tags;
use crate::{
    StoreError,
    store::{Cell, DeploymentId, Engine, Sql, Store},
};
use concord_registry::event::{AccountId, AgentId, Profile};
use std::collections::{BTreeMap, BTreeSet};

/// R48: what is known of the reviewers whose feedback is in a summary. Revoked feedback does not
/// count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// How many feedbacks there are. A reviewer who is listed twice counts once here.
    pub feedback: u64,
    /// How many reviewers gave them.
    pub reviewers: u64,
    /// How many the most active reviewer gave.
    pub most_active: u64,
    /// S: how many reviewers have a proven payment (R13).
    pub payers: u64,
    /// S: what was paid by proof, for each token in its smallest unit.
    pub paid: BTreeMap<AccountId, u128>,
    /// Unix seconds of the first feedback.
    pub first_at: Option<i64>,
    /// Unix seconds of the last feedback.
    pub last_at: Option<i64>,
}

/// Which feedback.
#[derive(Clone, Copy)]
struct Scope<'a> {
    deployment: DeploymentId,
    profile: Profile,
    agent: AgentId,
    tags: Tags<'a>,
}

impl<E: Engine> Store<E> {
    /// Returns the facts about these reviewers of an agent, or about everyone.
    ///
    /// # Errors
    /// The store cannot be read; [`StoreError::OutOfRange`].
    pub fn facts<'a>(
        &mut self,
        deployment: DeploymentId,
        (profile, agent): (Profile, AgentId),
        reviewers: Option<&[AccountId]>,
        tags: impl Into<Tags<'a>>,
    ) -> Result<Facts, StoreError> {
        let scope = Scope {
            deployment,
            profile,
            agent,
            tags: tags.into(),
        };
        let mut facts = Facts::default();
        match reviewers {
            None if scope.tags == Tags::default() => self.take_counted(&scope, &mut facts)?,
            None => self.take_facts(&scope, &[None], &mut facts)?,
            Some(listed) => {
                let distinct: BTreeSet<AccountId> = listed.iter().copied().collect();
                let distinct: Vec<_> = distinct.into_iter().map(Some).collect();
                self.take_facts(&scope, &distinct, &mut facts)?;
            }
        }
        Ok(facts)
    }

    /// Of each of these clients, or of all: `None` by itself.
    fn take_facts(
        &mut self,
        scope: &Scope<'_>,
        clients: &[Option<AccountId>],
        facts: &mut Facts,
    ) -> Result<(), StoreError> {
        let active = self.take_activity(scope, clients, facts)?;
        self.take_rest(scope, &active, facts)
    }

    /// The first and the last feedback, and what was paid.
    fn take_rest(
        &mut self,
        scope: &Scope<'_>,
        clients: &[Option<AccountId>],
        facts: &mut Facts,
    ) -> Result<(), StoreError> {
        let first = self.edges(scope, clients, "ASC")?;
        let last = self.edges(scope, clients, "DESC")?;
        facts.first_at = facts.first_at.into_iter().chain(first).min();
        facts.last_at = facts.last_at.into_iter().chain(last).max();
        match scope.profile {
            Profile::Authorized => self.take_payments(scope, clients, facts), // R13: of scores only
            Profile::Open => Ok(()),
        }
    }

    /// Of everyone, whatever the tags: what the fold has counted, however many reviewers there are.
    fn take_counted(&mut self, scope: &Scope<'_>, facts: &mut Facts) -> Result<(), StoreError> {
        let Scope {
            deployment,
            profile,
            agent,
            ..
        } = *scope;
        let Some(row) = self.agent(deployment, agent)? else {
            return Ok(());
        };
        facts.reviewers = match profile {
            Profile::Authorized => row.authorized_reviewers,
            Profile::Open => row.open_reviewers,
        };
        if facts.reviewers == 0 {
            return Ok(());
        }
        if profile == Profile::Authorized {
            facts.payers = row.payers;
        }
        let all = self
            .sums(deployment, (profile, agent), None, scope.tags)?
            .all;
        facts.feedback = all.count();
        let sql = "SELECT COALESCE(MAX(count), 0) FROM client \
                   WHERE deployment = $1 AND profile = $2 AND agent = $3";
        let values = [
            deployment.0.to_value(),
            profile.to_value(),
            agent.to_value(),
        ];
        facts.most_active = self.number(sql, &values)?;
        self.take_rest(scope, &[None], facts)
    }

    /// Returns those that have feedback.
    fn take_activity(
        &mut self,
        scope: &Scope<'_>,
        clients: &[Option<AccountId>],
        facts: &mut Facts,
    ) -> Result<Vec<Option<AccountId>>, StoreError> {
        let select = "SELECT CAST(SUM(p.count) AS BIGINT), MAX(p.is_paid) FROM part p";
        let statements = scope.select_each(select, "p", clients, " GROUP BY p.client");
        let mut active = BTreeSet::new();
        self.select_each(statements, "part", &mut |at, cells| {
            active.insert(clients[at]);
            let count: u64 = cells.take("count")?;
            facts.feedback = facts.feedback.saturating_add(count);
            facts.reviewers += 1;
            facts.most_active = facts.most_active.max(count);
            facts.payers += u64::from(cells.take::<bool>("is_paid")?);
            Ok(())
        })?;
        Ok(active.into_iter().collect())
    }

    /// The times of each client's first or last feedback.
    fn edges(
        &mut self,
        scope: &Scope<'_>,
        clients: &[Option<AccountId>],
        order: &str,
    ) -> Result<Vec<i64>, StoreError> {
        let one = format!(" AND f.revoked_at IS NULL ORDER BY f.place {order} LIMIT 1");
        let statements = scope.select_each("SELECT f.at FROM feedback f", "f", clients, &one);
        let mut times = Vec::new();
        self.select_each(statements, "feedback", &mut |_, cells| {
            times.push(cells.take("at")?);
            Ok(())
        })?;
        Ok(times)
    }

    fn take_payments(
        &mut self,
        scope: &Scope<'_>,
        clients: &[Option<AccountId>],
        facts: &mut Facts,
    ) -> Result<(), StoreError> {
        let select = "SELECT y.token, y.amount FROM feedback f JOIN payment y \
                      ON y.deployment = f.deployment AND y.profile = f.profile \
                      AND y.agent = f.agent AND y.client = f.client AND y.idx = f.idx";
        let paid = " AND f.is_paid = 1 AND f.revoked_at IS NULL";
        let statements = scope.select_each(select, "f", clients, paid);
        self.select_each(statements, "payment", &mut |_, cells| {
            let token = cells.take("token")?;
            let amount: i128 = cells.take("amount")?;
            let amount = u128::try_from(amount).map_err(|_| StoreError::Malformed {
                table: "payment",
                column: "amount",
            })?;
            let sum = facts.paid.entry(token).or_default();
            *sum = sum.saturating_add(amount); // 2^64 payments of 2^64 fit
            Ok(())
        })
    }
}

impl Scope<'_> {
    /// A statement about each client.
    fn select_each(
        &self,
        select: &str,
        table: &str,
        clients: &[Option<AccountId>],
        rest: &str,
    ) -> Vec<Sql> {
        let statement = |client: &Option<AccountId>| {
            let mut sql = self.select(select, table, *client);
            sql.push(rest);
            sql
        };
        clients.iter().map(statement).collect()
    }

    fn select(&self, select: &str, table: &str, client: Option<AccountId>) -> Sql {
        let mut sql = Sql::new(select);
        let values = [
            self.deployment.0.to_value(),
            self.agent.to_value(),
            self.profile.to_value(),
        ];
        // As an expression, the profile leaves the index by place, which has the order, to be used.
        let is_by_place = client.is_none() && table == "f";
        let profile = if is_by_place { "+" } else { "" };
        let of = format!(
            " WHERE {table}.deployment = ? AND {table}.agent = ? AND {profile}{table}.profile = ?"
        );
        sql.bind(&of, values);
        if let Some(client) = client {
            sql.bind(&format!(" AND {table}.client = ?"), [client.to_value()]);
        }
        match table {
            "p" => self.tags.restrict_parts(&mut sql, table),
            _ => self.tags.restrict(&mut sql, table),
        }
        sql
    }
}
