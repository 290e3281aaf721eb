//! Validations of an agent, or by a validator.
use super::page::Page;
use crate::{
    StoreError,
    store::{Cell, DeploymentId, Engine, Sql, Store, Stored, columns_of},
    table::{Validation, ValidationKey, Validations},
};
use concord_registry::event::{AccountId, AgentId};

/// Which validations of one deployment, in the order of their keys.
#[derive(Debug, Clone)]
pub struct ValidationQuery {
    /// Where.
    pub deployment: DeploymentId,
    /// Of this agent; of all if it is `None`.
    pub agent: Option<AgentId>,
    /// By this validator; by all if it is `None`.
    pub validator: Option<AccountId>,
    /// Whether the validator has responded.
    pub is_answered: Option<bool>,
    /// The key that the page before ended with.
    pub after: Option<ValidationKey>,
    /// Rows of a page.
    pub limit: usize,
}

impl<E: Engine> Store<E> {
    /// Searches validations.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn search_validations(
        &mut self,
        query: &ValidationQuery,
    ) -> Result<Page<(ValidationKey, Validation), ValidationKey>, StoreError> {
        let mut rows = Vec::new();
        self.select(&query.sql(), "validation", &mut |cells| {
            let key = Validations::read_key(cells)?;
            rows.push((key, Validations::read_row(cells)?));
            Ok(())
        })?;
        let is_last = rows.len() <= query.limit;
        rows.truncate(query.limit);
        let end = rows.last().map(|(key, _)| *key).filter(|_| !is_last);
        Ok(Page {
            rows,
            next: end.into_iter().collect(),
        })
    }
}

impl ValidationQuery {
    fn sql(&self) -> Sql {
        let mut sql = Sql::new(format!(
            "SELECT v.agent, v.request, v.validator, {} FROM validation v",
            columns_of::<Validations>("v")
        ));
        sql.bind(" WHERE v.deployment = ?", [self.deployment.0.to_value()]);
        if let Some(agent) = self.agent {
            sql.bind(" AND v.agent = ?", [agent.to_value()]);
        }
        if let Some(validator) = self.validator {
            sql.bind(" AND v.validator = ?", [validator.to_value()]);
        }
        match self.is_answered {
            Some(true) => sql.push(" AND v.score IS NOT NULL"),
            Some(false) => sql.push(" AND v.score IS NULL"),
            None => &mut sql,
        };
        if let Some(after) = &self.after {
            let values = [
                after.agent.to_value(),
                after.request.to_value(),
                after.validator.to_value(),
            ];
            sql.bind(" AND (v.agent, v.request, v.validator) > (?, ?, ?)", values);
        }
        let limit = self.limit.saturating_add(1);
        sql.push(&format!(
            " ORDER BY v.agent, v.request, v.validator LIMIT {limit}"
        ));
        sql
    }
}
