//! One search in one deployment, as SQL and row by row.
use super::{AgentFilter, AgentOrder, AgentPosition, FoundAgent, ReputationFilter, Sums, number};
use crate::{
    StoreError,
    fold::tag_key,
    store::{Cell, Cells, DeploymentId, Sql, Stored, Value, columns_of},
    table::{Agents, Total, Totals},
};
use concord_registry::event::AgentId;

/// A search in one deployment.
pub(super) struct Search<'a> {
    pub deployment: DeploymentId,
    pub filter: &'a AgentFilter,
    pub order: AgentOrder,
    pub is_descending: bool,
    pub wanted: usize,
}

impl Search<'_> {
    /// Rows without totals, of any operators. Those of an order by reputation have 0 in its place.
    pub fn plain(&self) -> Sql {
        let mut sql = self.of_deployment();
        self.filter.restrict(&mut sql);
        sql
    }

    /// Those of [`Self::plain`] among agents of which it is known that the filter names them.
    pub fn among(&self, agents: &[AgentId]) -> Sql {
        let mut sql = self.of_deployment();
        sql.list("a.agent", agents.iter().map(Cell::to_value));
        self.filter.restrict_rest(&mut sql);
        sql
    }

    fn of_deployment(&self) -> Sql {
        let order = if self.order.is_of_reputation() {
            "0"
        } else {
            self.order.column()
        };
        let mut sql = Sql::new(format!(
            "SELECT a.agent, {order}, {} FROM agent a",
            columns_of::<Agents>("a")
        ));
        sql.bind(" WHERE a.deployment = ?", [self.deployment.0.to_value()]);
        sql
    }

    /// In an order by reputation, `k` ranks the totals: its index has everything that is asked of them, so that only
    /// the rows of the page are looked up. Agents that are named come before it: they may be few, and anywhere in the ranking.
    /// SQLite takes tables of a CROSS JOIN in their order.
    pub fn with_totals(&self, reputation: &ReputationFilter) -> Sql {
        let is_of_named = self.filter.is_of_named();
        let ranked = |first: &str, second: &str| {
            format!(
                "{first} CROSS JOIN {second} CROSS JOIN total t \
                 WHERE a.deployment = k.deployment AND a.agent = k.agent \
                 AND t.deployment = k.deployment AND t.profile = k.profile \
                 AND t.agent = k.agent AND t.tag1 = k.tag1 AND t.tag2 = k.tag2"
            )
        };
        let (key, from) = match (self.order.is_of_reputation(), is_of_named) {
            (true, false) => ("k", ranked("total k", "agent a")),
            (true, true) => ("k", ranked("agent a", "total k")),
            (false, _) => (
                "t",
                "total t JOIN agent a ON a.deployment = t.deployment AND a.agent = t.agent \
                 WHERE 1 = 1"
                    .to_owned(),
            ),
        };
        let mut sql = Sql::new(format!(
            "SELECT a.agent, {}, {}, {} FROM {from}",
            self.order.column(),
            columns_of::<Agents>("a"),
            columns_of::<Totals>("t"),
        ));
        let values = [
            self.deployment.0.to_value(),
            reputation.profile.to_value(),
            tag_key(&reputation.tag1).to_value(),
            tag_key(&reputation.tag2).to_value(),
        ];
        let of = "AND #.deployment = ? AND #.profile = ? AND #.tag1 = ? AND #.tag2 = ?";
        sql.bind(&format!(" {}", of.replace('#', key)), values);
        if is_of_named {
            sql.bind(" AND a.deployment = ?", [self.deployment.0.to_value()]);
        }
        if let Some(min) = reputation.min_count {
            sql.bind(&format!(" AND {key}.count >= ?"), [bounded(min)]);
        }
        if let Some(max) = reputation.max_count {
            sql.bind(&format!(" AND {key}.count <= ?"), [bounded(max)]);
        }
        let average = format!("{key}.average");
        reputation.average.restrict(&mut sql, &average);
        self.filter.restrict(&mut sql);
        sql
    }

    /// So many rows at most.
    pub fn sql(&self, after: Option<&AgentPosition>, limit: usize) -> Sql {
        let mut sql = match self.filter.totals() {
            Some(reputation) => self.with_totals(reputation),
            None => self.plain(),
        };
        self.filter.restrict_operators(&mut sql, self.deployment);
        let table = if self.order.is_of_reputation() {
            "k"
        } else {
            "a"
        };
        let order = self.order.column();
        let (sign, direction) = if self.is_descending {
            ("<", "DESC")
        } else {
            (">", "ASC")
        };
        if let Some(after) = after {
            let values = [after.order.clone(), after.agent.to_value()];
            sql.bind(
                &format!(" AND ({order}, {table}.agent) {sign} (?, ?)"),
                values,
            );
        }
        sql.push(&format!(
            " ORDER BY {order} {direction}, {table}.agent {direction} LIMIT {limit}"
        ));
        sql
    }

    pub fn read_plain(&self, cells: &mut Cells<'_>) -> Result<FoundAgent, StoreError> {
        let agent = cells.take("agent")?;
        let order = cells.next();
        Ok(FoundAgent {
            deployment: self.deployment,
            agent,
            row: Agents::read_row(cells)?,
            sums: None,
            order,
        })
    }

    pub fn read(&self, cells: &mut Cells<'_>) -> Result<FoundAgent, StoreError> {
        let mut found = self.read_plain(cells)?;
        if self.filter.totals().is_some() {
            let total: Total = Totals::read_row(cells)?;
            let mut sums = Sums::default();
            sums.add_total(&total)?;
            found.sums = Some(sums);
        }
        Ok(found)
    }

    /// What SQL compares approximately is compared exactly here (R47).
    pub fn admits(&self, found: &FoundAgent) -> bool {
        match (self.filter.totals(), &found.sums) {
            (Some(reputation), Some(sums)) => reputation.admits(sums),
            _ => true,
        }
    }

    /// An agent's place in an order by reputation.
    pub fn order_of(&self, sums: &Sums) -> Value {
        match self.order {
            AgentOrder::Count => sums.all.count().to_value(),
            _ => sums.average().to_value(),
        }
    }

    pub fn compare(&self, a: (f64, AgentId), b: (f64, AgentId)) -> std::cmp::Ordering {
        let order = a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if self.is_descending {
            order.reverse()
        } else {
            order
        }
    }

    /// Returns whether an agent with this order comes after the last one of the page before.
    pub fn is_after(&self, last: Option<&AgentPosition>, it: (f64, AgentId)) -> bool {
        last.is_none_or(|last| self.compare((number(&last.order), last.agent), it).is_lt())
    }
}

/// SQL's integers have 63 bits.
fn bounded(count: u64) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}
