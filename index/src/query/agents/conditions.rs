//! What filters mean in SQL.
use super::{AgentFilter, AgentOrder, ReputationFilter, Sums, Tags};
use crate::{
    store::{Cell, DeploymentId, Sql},
    table::Agent,
};
use concord_canonical::hash::keccak256;
use concord_registry::event::AccountId;
use std::collections::BTreeSet;

impl ReputationFilter {
    pub(in crate::query) fn tags(&self) -> Tags<'_> {
        Tags {
            either: &self.tag,
            tag1: &self.tag1,
            tag2: &self.tag2,
        }
    }

    /// Whether one total of each agent says it all.
    pub(in crate::query) fn is_in_totals(&self) -> bool {
        self.reviewers.is_none() && self.tag.is_empty()
    }

    pub(in crate::query) fn admits(&self, sums: &Sums) -> bool {
        let count = sums.all.count();
        count > 0
            && self.min_count.is_none_or(|min| count >= min)
            && self.max_count.is_none_or(|max| count <= max)
            && self.average.admit_average(&sums.all)
    }
}

impl AgentFilter {
    /// The reputation that is looked up in totals, row by row.
    pub(super) fn totals(&self) -> Option<&ReputationFilter> {
        self.reputation
            .as_ref()
            .filter(|it| it.has_feedback && it.is_in_totals())
    }

    /// Whether agents are named, or who owns them or is paid: these are looked up first.
    pub(super) fn is_of_named(&self) -> bool {
        !(self.agents.is_empty() && self.owners.is_empty() && self.wallets.is_empty())
    }

    /// Those that are named.
    pub(super) fn restrict_named(&self, sql: &mut Sql) {
        sql.list("a.agent", self.agents.iter().map(Cell::to_value))
            .list("a.owner", self.owners.iter().map(Cell::to_value))
            .list("a.wallet", self.wallets.iter().map(Cell::to_value));
    }

    /// All but operators.
    pub(super) fn restrict(&self, sql: &mut Sql) {
        self.restrict_named(sql);
        self.restrict_rest(sql);
    }

    /// All but those that are named, and operators.
    pub(super) fn restrict_rest(&self, sql: &mut Sql) {
        let times = [
            ("a.created_at", self.created),
            ("a.updated_at", self.updated),
        ];
        for (column, (from, to)) in times {
            if let Some(from) = from {
                sql.bind(&format!(" AND {column} >= ?"), [from.to_value()]);
            }
            if let Some(to) = to {
                sql.bind(&format!(" AND {column} <= ?"), [to.to_value()]);
            }
        }
        match self.has_uri {
            Some(true) => sql.push(" AND a.uri <> ''"),
            Some(false) => sql.push(" AND a.uri = ''"),
            None => sql,
        };
        let incomplete = "(a.owner IS NULL OR a.missing > 0 OR a.unexplained > 0)";
        match self.is_incomplete {
            Some(true) => sql.push(&format!(" AND {incomplete}")),
            Some(false) => sql.push(&format!(" AND NOT {incomplete}")),
            None => sql,
        };
        self.restrict_metadata(sql);
        self.file.restrict(sql);
    }

    /// Owners are looked up once, and not for each agent: a statement reads all approvals.
    pub(super) fn restrict_operators(&self, sql: &mut Sql, deployment: DeploymentId) {
        if self.operators.is_empty() {
            return;
        }
        sql.push(" AND (1 = 0 OR (1 = 1")
            .list("a.approved", self.operators.iter().map(Cell::to_value))
            .push(") OR a.owner IN (");
        self.select_owners(sql, deployment);
        sql.push("))");
    }

    /// The owners who approved one of the operators for all their agents. A setting's subject is an owner and an operator.
    pub(super) fn select_owners(&self, sql: &mut Sql, deployment: DeploymentId) {
        sql.push("SELECT SUBSTR(s.subject, 1, 20) FROM setting s")
            .bind(
                " WHERE s.deployment = ? AND s.name = 'operator'",
                [deployment.0.to_value()],
            )
            .list(
                "SUBSTR(s.subject, 21)",
                self.operators.iter().map(Cell::to_value),
            );
    }

    /// What [`Self::restrict_operators`] asks, of one agent.
    pub(super) fn admits_operators(&self, row: &Agent, owners: &BTreeSet<AccountId>) -> bool {
        self.operators.is_empty()
            || row.approved.is_some_and(|it| self.operators.contains(&it))
            || row.owner.is_some_and(|it| owners.contains(&it))
    }

    pub(super) fn restrict_metadata(&self, sql: &mut Sql) {
        let exists = " AND EXISTS (SELECT 1 FROM metadata m WHERE m.deployment = a.deployment \
                      AND m.agent = a.agent AND m.id = ?";
        if let Some(key) = &self.metadata_key {
            sql.bind(exists, [keccak256(key.as_bytes()).to_value()])
                .push(")");
        }
        if let Some((key, value)) = &self.metadata {
            sql.bind(exists, [keccak256(key.as_bytes()).to_value()])
                .bind(" AND m.value = ?)", [value.to_value()]);
        }
    }
}

impl AgentOrder {
    pub(super) const fn column(self) -> &'static str {
        match self {
            Self::Created => "a.created_at",
            Self::Updated => "a.updated_at",
            Self::FeedbackCount => "a.feedback_count",
            Self::Average => "k.average",
            Self::Count => "k.count",
        }
    }

    /// Whether it is by what reviewers say.
    #[must_use]
    pub const fn is_of_reputation(self) -> bool {
        matches!(self, Self::Average | Self::Count)
    }
}
