//! What the subgraph says of a whole registry, and of an agent in numbers.
use super::{
    document::Selected,
    error::QueryError,
    schema::AGENT,
    select::{Execution, size},
};
use crate::{
    StoreError,
    store::{Cell as _, Engine, Sql, Value as Stored},
    table::Lines,
};
use concord_registry::event::AgentId;
use serde_json::{Map, Value, json};

/// Entries of a list that has no pages.
const LIST: usize = 1_000;

/// An object that is not a row of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Computed {
    Meta,
    Block,
    Protocol,
    GlobalStats,
    AgentStats,
}

impl Computed {
    /// What a field of a query answers, and whether that is a list.
    pub fn named(name: &str) -> Option<(Self, bool)> {
        Some(match name {
            "_meta" => (Self::Meta, false),
            "protocol" => (Self::Protocol, false),
            "protocols" => (Self::Protocol, true),
            "globalStats" => (Self::GlobalStats, false),
            "agentStats" => (Self::AgentStats, false),
            _ => return None,
        })
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Meta => "_Meta_",
            Self::Block => "_Block_",
            Self::Protocol => "Protocol",
            Self::GlobalStats => "GlobalStats",
            Self::AgentStats => "AgentStats",
        }
    }

    const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Meta => &["block", "deployment", "hasIndexingErrors"],
            Self::Block => &["number", "hash", "parentHash", "timestamp"],
            Self::Protocol => &[
                "id",
                "chainId",
                "name",
                "identityRegistry",
                "reputationRegistry",
                "validationRegistry",
                "totalAgents",
                "totalFeedback",
                "totalValidations",
                "agents",
                "tags",
                "trustModels",
                "createdAt",
                "updatedAt",
            ],
            Self::GlobalStats => &[
                "id",
                "totalAgents",
                "totalFeedback",
                "totalValidations",
                "totalProtocols",
                "agents",
                "tags",
                "createdAt",
                "updatedAt",
            ],
            Self::AgentStats => &[
                "id",
                "agent",
                "totalFeedback",
                "averageFeedbackValue",
                "totalValidations",
                "completedValidations",
                "averageValidationScore",
                "lastActivity",
                "updatedAt",
            ],
        }
    }

    /// Refuses fields that the object does not have, and arguments, of which they have none.
    pub fn check(self, selected: &Selected) -> Result<(), QueryError> {
        if selected.children.is_empty() {
            return Err(no_selection(self.name(), selected));
        }
        for child in &selected.children {
            let name = child.name.as_str();
            if name != "__typename" && !self.fields().contains(&name) {
                return Err(QueryError::no_field(self.name(), name).or_at(child.at));
            }
            super::check::arguments(child, &[])?;
            match (self, name) {
                (Self::Meta, "block") => Self::Block.check(child)?,
                (Self::AgentStats, "agent") => super::check::entity(&AGENT, child)?,
                _ if !child.children.is_empty() => {
                    let message = format!("`{name}` of `{}` has no fields", self.name());
                    return Err(QueryError::at(message, child.at));
                }
                _ => (),
            }
        }
        Ok(())
    }
}

/// An object of which nothing is selected.
pub fn no_selection(of: &str, selected: &Selected) -> QueryError {
    let message = format!(
        "`{}` of type `{of}` needs a selection of its fields",
        selected.name
    );
    QueryError::at(message, selected.at)
}

impl<E: Engine> Execution<'_, E> {
    /// Such an object, or null.
    pub fn computed(&mut self, of: Computed, selected: &Selected) -> Result<Value, QueryError> {
        let id = selected.arguments.get("id").and_then(Value::as_str);
        let agent = match (of, id) {
            (Computed::Protocol, Some(id)) if id != self.scope.chain => return Ok(Value::Null),
            (Computed::GlobalStats, Some(id)) if id != "stats" => return Ok(Value::Null),
            (Computed::AgentStats, id) => {
                let cells = AGENT.id.cells(id.unwrap_or_default(), self.scope);
                let agent = cells.and_then(|it| AgentId::from_value(it.first()?));
                match agent {
                    Some(agent) if self.store.agent(self.scope.deployment, agent)?.is_some() => {
                        Some(agent)
                    }
                    _ => return Ok(Value::Null),
                }
            }
            _ => None,
        };
        let mut answer = Map::new();
        for child in &selected.children {
            let value = match (of, child.name.as_str(), agent) {
                (_, "__typename", _) => json!(of.name()),
                (Computed::Meta, "block", _) => self.computed(Computed::Block, child)?,
                (Computed::Meta | Computed::Block, name, _) => self.meta(name)?,
                (Computed::AgentStats, "agent", _) => {
                    let mut child = child.clone();
                    child.arguments.insert("id".to_owned(), json!(id));
                    self.one(&AGENT, &child)?
                }
                (Computed::AgentStats, "id", _) => json!(id),
                (Computed::AgentStats, name, Some(agent)) => self.agent_stat(name, agent)?,
                (_, name, _) => self.protocol(of, name)?,
            };
            answer.insert(child.key.clone(), value);
        }
        Ok(Value::Object(answer))
    }

    fn meta(&mut self, name: &str) -> Result<Value, QueryError> {
        let deployment = self.scope.deployment;
        let head = self.store.cursor(deployment)?.map(|it| it.head);
        Ok(match name {
            "number" => json!(head.map(|it| it.number)),
            "timestamp" => json!(head.map(|it| it.time)),
            "hash" => json!(head.map(|it| hex_of(&it.hash))),
            "parentHash" => json!(head.map(|it| hex_of(&it.parent))),
            // R46: agents of which events are missing, or all of them, and events whose bytes cannot be read.
            "hasIndexingErrors" => {
                let store = &mut self.store;
                json!(
                    store.incomplete_count(deployment)? > 0
                        || store.missing_ids(deployment)? > 0
                        || store.undecoded_count(deployment)? > 0
                )
            }
            _ => {
                let deployed = self.store.deployments()?;
                let found = deployed.into_iter().find(|it| it.id == deployment);
                json!(found.map(|it| format!("{}:{}", it.chain, it.registry)))
            }
        })
    }

    fn protocol(&mut self, of: Computed, name: &str) -> Result<Value, QueryError> {
        let chain = self.scope.chain.clone();
        let count = |it: u64| json!(it.to_string());
        let deployment = self.scope.deployment;
        Ok(match name {
            "id" if of == Computed::GlobalStats => json!("stats"),
            "id" | "chainId" => json!(chain),
            "name" => json!(format!("ERC-8004 on eip155:{chain}")),
            "identityRegistry" => {
                let deployed = self.store.deployments()?;
                let found = deployed.into_iter().find(|it| it.id == deployment);
                json!(found.map(|it| it.registry))
            }
            "reputationRegistry" => self.registry_of("feedback", " AND t.profile = 1")?,
            "validationRegistry" => self.registry_of("validation", "")?,
            "totalAgents" => count(self.store.agent_count(deployment)?),
            "totalFeedback" => count(self.number("feedback t", " AND t.profile = 1")?),
            "totalValidations" => count(self.number("validation t", "")?),
            "totalProtocols" => json!("1"),
            "agents" => {
                let scope = self.scope;
                let ids = self.list("SELECT t.agent FROM agent t", "", name)?;
                let ids = ids
                    .iter()
                    .map(|it| AGENT.id.answer(std::slice::from_ref(it), scope));
                json!(ids.collect::<Vec<_>>())
            }
            "tags" => {
                let deployment = [deployment.0.to_value()];
                let mut sql = Sql::new("SELECT t.tag1 FROM feedback t");
                let of = " WHERE t.deployment = ? AND t.profile = 1 AND";
                sql.bind(&format!("{of} t.tag1 <> ''"), deployment.clone());
                sql.push(" UNION SELECT t.tag2 FROM feedback t");
                sql.bind(&format!("{of} t.tag2 <> '' ORDER BY 1"), deployment);
                texts(self.all(&sql, name)?)
            }
            "trustModels" => {
                let lists = "SELECT DISTINCT t.supported_trusts FROM registration t";
                let lists = self.list(lists, " AND t.supported_trusts <> ''", name)?;
                let mut models: Vec<String> = Vec::new();
                for list in lists {
                    let list = Lines::from_value(&list);
                    models.extend(list.unwrap_or_default().entries());
                }
                models.sort();
                models.dedup();
                json!(models)
            }
            "createdAt" => self.time("MIN(t.created_at)")?,
            _ => self.time("MAX(t.updated_at)")?,
        })
    }

    fn agent_stat(&mut self, name: &str, agent: AgentId) -> Result<Value, QueryError> {
        let deployment = self.scope.deployment;
        let validations = self.store.validations(deployment, agent)?;
        let scores: Vec<u64> = (validations.iter())
            .filter_map(|(_, row)| Some(u64::from(row.answer.as_ref()?.score)))
            .collect();
        Ok(match name {
            "totalFeedback" => {
                let mut sql = Sql::new("SELECT COUNT(*) FROM feedback t");
                let key = [deployment.0.to_value(), agent.to_value()];
                sql.bind(
                    " WHERE t.deployment = ? AND t.agent = ? AND t.profile = 1",
                    key,
                );
                json!(self.store.number(sql.text(), sql.values())?.to_string())
            }
            // R47: what getSummary answers.
            "averageFeedbackValue" => {
                let summary = self.store.open_summary(deployment, agent, None, ("", ""))?;
                let summary = summary.summary;
                let value = concord_canonical::value::Value::new(summary.value, summary.decimals);
                json!(value.ok().map(|it| it.to_string()))
            }
            "totalValidations" => json!(validations.len().to_string()),
            "completedValidations" => json!(scores.len().to_string()),
            // As the registry's getSummary: rounded down.
            "averageValidationScore" => {
                let count = u64::try_from(scores.len()).unwrap_or(u64::MAX);
                let average = scores.iter().sum::<u64>().checked_div(count);
                json!(average.unwrap_or(0).to_string())
            }
            _ => {
                let row = self.store.agent(deployment, agent)?;
                json!(row.map(|it| it.updated_at.to_string()))
            }
        })
    }

    /// The contract that emitted the first of these; null before there is one.
    fn registry_of(&mut self, table: &'static str, condition: &str) -> Result<Value, QueryError> {
        let from = format!(
            "SELECT e.registry FROM {table} t JOIN event e \
             ON e.deployment = t.deployment AND e.place = t.place"
        );
        let mut sql = Sql::new(from);
        sql.bind(
            &format!(" WHERE t.deployment = ?{condition} LIMIT 1"),
            [self.scope.deployment.0.to_value()],
        );
        let mut found = Value::Null;
        self.store.select(&sql, table, &mut |cells| {
            if let Stored::Blob(address) = cells.next() {
                found = json!(hex_of(&address));
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn number(&mut self, table: &str, condition: &str) -> Result<u64, StoreError> {
        let sql = format!("SELECT COUNT(*) FROM {table} WHERE t.deployment = $1{condition}");
        self.store
            .number(&sql, &[self.scope.deployment.0.to_value()])
    }

    fn time(&mut self, which: &str) -> Result<Value, QueryError> {
        let mut found = Value::Null;
        let sql = format!("SELECT {which} FROM agent t WHERE t.deployment = $1");
        let values = [self.scope.deployment.0.to_value()];
        self.store.each(&sql, &values, "agent", &mut |cells| {
            if let Stored::Int(time) = cells.next() {
                found = json!(time.to_string());
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn list(&mut self, from: &str, condition: &str, name: &str) -> Result<Vec<Stored>, QueryError> {
        let mut sql = Sql::new(from);
        let condition = format!(" WHERE t.deployment = ?{condition} ORDER BY 1");
        sql.bind(&condition, [self.scope.deployment.0.to_value()]);
        self.all(&sql, name)
    }

    /// All of a list, or an error: a part of it would be taken for the whole.
    fn all(&mut self, sql: &Sql, name: &str) -> Result<Vec<Stored>, QueryError> {
        let mut sql = sql.clone();
        sql.push(&format!(" LIMIT {}", LIST + 1));
        let mut found = Vec::new();
        let bytes = self.limited(&sql, "protocol", |cells| {
            let cell = cells.next();
            let bytes = size(&cell);
            found.push(cell);
            Ok(bytes)
        })?;
        self.count(bytes)?;
        match found.len() {
            0..=LIST => Ok(found),
            _ => {
                let message = format!(
                    "{name} has more than {LIST} entries; ask for pages of agents or feedbacks"
                );
                Err(QueryError::new(message))
            }
        }
    }
}

fn texts(cells: Vec<Stored>) -> Value {
    let texts = cells.into_iter().filter_map(|it| match it {
        Stored::Text(text) => Some(json!(text)),
        _ => None,
    });
    texts.collect()
}

fn hex_of(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}
