//! Rows as they are, for queries.
use super::{Cell, DeploymentId, Engine, Sql, Store, Value, columns::Stored};
use crate::{StoreError, query::Tags, table::*};
use concord_registry::event::{AccountId, AgentId, Profile};

/// A key with its row.
type Row<T> = (<T as Table>::Key, <T as Table>::Row);

/// In one profile, of one agent.
const OF_AGENT: &str = " AND profile = $2 AND agent = $3";

impl<E: Engine> Store<E> {
    /// Returns an agent.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn agent(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
    ) -> Result<Option<Agent>, StoreError> {
        self.row::<Agents>(deployment, &AgentKey { agent })
    }

    /// Returns every agent, in the order of their ids.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn agents(
        &mut self,
        deployment: DeploymentId,
    ) -> Result<Vec<(AgentKey, Agent)>, StoreError> {
        self.all::<Agents>(deployment, "", &[], "agent")
    }

    /// R46: returns the agents of which events are known to be missing.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn incomplete_agents(
        &mut self,
        deployment: DeploymentId,
    ) -> Result<Vec<(AgentKey, Agent)>, StoreError> {
        let incomplete = " AND (owner IS NULL OR missing > 0 OR unexplained > 0)";
        self.all::<Agents>(deployment, incomplete, &[], "agent")
    }

    /// E: returns whether the identity registry reported that it is upgradeable, as the canonical one does when it is deployed and
    /// Concord's never does (R2).
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn is_upgradeable(&mut self, deployment: DeploymentId) -> Result<bool, StoreError> {
        let mut deployments = self.deployments()?.into_iter();
        let registry = deployments.find(|it| it.id == deployment);
        let registry = registry.map_or_else(String::new, |it| it.registry);
        let address = hex::decode(registry.trim_start_matches("0x"));
        let Ok(address) = address else {
            return Ok(false); // a program's name
        };
        let sql = "SELECT COUNT(*) FROM setting WHERE deployment = $1 \
                   AND name IN ('implementation', 'owner', 'version') AND subject = $2";
        let reported = self.number(sql, &[deployment.0.to_value(), address.to_value()])?;
        Ok(reported > 0)
    }

    /// Returns an agent's metadata, by key.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn metadata(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
    ) -> Result<Vec<(MetadataKey, Metadata)>, StoreError> {
        self.all::<AllMetadata>(deployment, " AND agent = $2", &[agent.to_value()], "key")
    }

    /// Returns some of an agent's metadata, in the order of the keys' hashes.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn metadata_after(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
        after: Option<MetadataKey>,
        limit: usize,
    ) -> Result<Vec<(MetadataKey, Metadata)>, StoreError> {
        let mut values = vec![agent.to_value()];
        let mut condition = " AND agent = $2";
        if let Some(after) = after {
            values.push(after.id.to_value());
            condition = " AND agent = $2 AND id > $3";
        }
        let order = format!("id LIMIT {limit}");
        self.all::<AllMetadata>(deployment, condition, &values, &order)
    }

    /// Returns an agent's clients in one profile, in the order of their first feedback.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn clients(
        &mut self,
        deployment: DeploymentId,
        profile: Profile,
        agent: AgentId,
    ) -> Result<Vec<(ClientKey, Client)>, StoreError> {
        let values = [profile.to_value(), agent.to_value()];
        self.all::<Clients>(deployment, OF_AGENT, &values, "ordinal")
    }

    /// Returns a feedback.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn feedback(
        &mut self,
        deployment: DeploymentId,
        key: &FeedbackKey,
    ) -> Result<Option<Feedback>, StoreError> {
        self.row::<Feedbacks>(deployment, key)
    }

    /// Returns a client's feedback about an agent in one profile, index 1 first (R44).
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn feedback_by(
        &mut self,
        deployment: DeploymentId,
        key: &ClientKey,
    ) -> Result<Vec<(FeedbackKey, Feedback)>, StoreError> {
        let values = Clients::key_values(key);
        let condition = super::conditions(Clients::KEY);
        self.all::<Feedbacks>(deployment, &condition, &values, "idx")
    }

    /// Returns the responses to a feedback, the first one first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn responses(
        &mut self,
        deployment: DeploymentId,
        key: &FeedbackKey,
    ) -> Result<Vec<(ResponseKey, Response)>, StoreError> {
        let values = Feedbacks::key_values(key);
        let condition = super::conditions(Feedbacks::KEY);
        self.all::<Responses>(deployment, &condition, &values, "number")
    }

    /// Returns some responses to a feedback, the first one first: those after a number.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn responses_after(
        &mut self,
        deployment: DeploymentId,
        key: &FeedbackKey,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(ResponseKey, Response)>, StoreError> {
        let mut values = Feedbacks::key_values(key);
        let mut condition = super::conditions(Feedbacks::KEY);
        if let Some(after) = after {
            values.push(after.to_value());
            condition.push_str(&format!(" AND number > ${}", values.len() + 1));
        }
        let order = format!("number LIMIT {limit}");
        self.all::<Responses>(deployment, &condition, &values, &order)
    }

    /// Returns the payment that was proven for a feedback (R13).
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn payment(
        &mut self,
        deployment: DeploymentId,
        key: &FeedbackKey,
    ) -> Result<Option<Payment>, StoreError> {
        self.row::<Payments>(deployment, key)
    }

    /// Returns an agent's validations, in the order of their requests' hashes.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn validations(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
    ) -> Result<Vec<(ValidationKey, Validation)>, StoreError> {
        let order = "request, validator";
        self.all::<Validations>(deployment, " AND agent = $2", &[agent.to_value()], order)
    }

    /// Returns what is set for a whole registry.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn settings(
        &mut self,
        deployment: DeploymentId,
    ) -> Result<Vec<(SettingKey, Setting)>, StoreError> {
        self.all::<Settings>(deployment, "", &[], "name, subject")
    }

    /// Passes on the parts of clients in an agent's summaries.
    pub(crate) fn parts(
        &mut self,
        deployment: DeploymentId,
        (profile, agent): (Profile, AgentId),
        clients: &[AccountId],
        tags: &Tags<'_>,
        each: &mut dyn FnMut(PartKey, Part) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let of = |client: &AccountId| {
            let mut sql = Sql::new(format!(
                "SELECT {}, {} FROM part p",
                Parts::KEY.join(", "),
                Parts::COLUMNS.join(", ")
            ));
            let values = [
                deployment.0.to_value(),
                profile.to_value(),
                agent.to_value(),
                client.to_value(),
            ];
            let key = " WHERE deployment = ? AND profile = ? AND agent = ? AND client = ?";
            tags.restrict_parts(sql.bind(key, values), "p");
            sql
        };
        let statements = clients.iter().map(of).collect();
        self.select_each(statements, Parts::NAME, &mut |_, cells| {
            each(Parts::read_key(cells)?, Parts::read_row(cells)?)
        })
    }

    /// Returns the parts of a summary over everyone.
    pub(crate) fn total(
        &mut self,
        deployment: DeploymentId,
        key: &TotalKey,
    ) -> Result<Option<Total>, StoreError> {
        self.row::<Totals>(deployment, key)
    }

    fn all<T: Stored>(
        &mut self,
        deployment: DeploymentId,
        condition: &str,
        values: &[Value],
        order: &str,
    ) -> Result<Vec<Row<T>>, StoreError> {
        let mut rows = Vec::new();
        self.rows::<T>(deployment, condition, values, order, &mut |key, row| {
            rows.push((key, row));
            Ok(())
        })?;
        Ok(rows)
    }
}
