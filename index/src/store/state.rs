//! R45, R46: what registries' state was read to say, of which it differs from the events. What the state says wins: it
//! is in the rows, and a rebuild puts it there again.
use super::{Cell, Cells, DeploymentId, Engine, EventsOf, Insert, Sql, Store, Value};
use crate::{
    StoreError,
    binding::KEY,
    fold::{Fold, Nothing},
    state::{Difference, Fact, Field, StateRead, Subject},
    table::*,
};
use concord_registry::event::AgentId;
use std::collections::{BTreeMap, BTreeSet};

/// In place of a profile, for the agent itself.
const AGENT: i64 = -1;

impl<E: Engine> Store<E> {
    /// Returns agents and clients whose events changed since their state was read, or of which it never was.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn unread(
        &mut self,
        deployment: DeploymentId,
        limit: usize,
    ) -> Result<Vec<Subject>, StoreError> {
        let sql = format!(
            "SELECT agent, profile, client FROM unread WHERE deployment = $1 \
             ORDER BY agent, profile, client LIMIT {limit}"
        );
        let mut found = Vec::new();
        self.each(&sql, &[deployment.0.to_value()], "unread", &mut |cells| {
            let agent = cells.take("agent")?;
            found.push(match cells.next() {
                Value::Int(AGENT) => Subject::Agent(agent),
                profile => Subject::Client(ClientKey {
                    profile: Cell::from_value(&profile).ok_or(StoreError::Malformed {
                        table: "unread",
                        column: "profile",
                    })?,
                    agent,
                    client: cells.take("client")?,
                }),
            });
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns how many agents and clients wait for their state to be read.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn unread_count(&mut self, deployment: DeploymentId) -> Result<u64, StoreError> {
        self.count(deployment, "unread")
    }

    /// R45: returns where the state differs from the events, at most `limit`, by agent.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn differences(
        &mut self,
        deployment: DeploymentId,
        limit: usize,
    ) -> Result<Vec<Difference>, StoreError> {
        self.differences_where(deployment, None, &format!(" LIMIT {limit}"))
    }

    /// R45: returns where the state of one agent differs from its events, at most `limit`.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn differences_of(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
        limit: usize,
    ) -> Result<Vec<Difference>, StoreError> {
        self.differences_where(deployment, Some(agent), &format!(" LIMIT {limit}"))
    }

    pub(crate) fn all_differences_of(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
    ) -> Result<Vec<Difference>, StoreError> {
        self.differences_where(deployment, Some(agent), "")
    }

    /// R45: returns how often the state differs from the events, by the name of the field.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn difference_counts(
        &mut self,
        deployment: DeploymentId,
    ) -> Result<Vec<(String, u64)>, StoreError> {
        let sql = "SELECT field, COUNT(*) FROM difference WHERE deployment = $1 \
                   GROUP BY field ORDER BY field";
        let mut counts = Vec::new();
        self.each(sql, &[deployment.0.to_value()], "difference", &mut |it| {
            counts.push((it.take("field")?, it.take("count")?));
            Ok(())
        })?;
        Ok(counts)
    }

    /// Agents whose state was read to differ after a later block, or whose binding contract was asked then: both may have said
    /// so on another fork.
    pub(super) fn read_after(
        &mut self,
        deployment: DeploymentId,
        block: u64,
    ) -> Result<Vec<AgentId>, StoreError> {
        let values = [deployment.0.to_value(), block.to_value()];
        let mut found = Vec::new();
        for table in ["difference", "binding"] {
            let sql = format!("SELECT agent FROM {table} WHERE deployment = $1 AND block > $2");
            self.each(&sql, &values, table, &mut |cells| {
                found.push(cells.take("agent")?);
                Ok(())
            })?;
        }
        Ok(found)
    }

    fn differences_where(
        &mut self,
        deployment: DeploymentId,
        agent: Option<AgentId>,
        end: &str,
    ) -> Result<Vec<Difference>, StoreError> {
        let mut sql = Sql::new("SELECT agent, field, client, events, state, block FROM difference");
        sql.bind(" WHERE deployment = ?", [deployment.0.to_value()]);
        if let Some(agent) = agent {
            sql.bind(" AND agent = ?", [agent.to_value()]);
        }
        sql.push(" ORDER BY agent, field, client").push(end);
        let mut found = Vec::new();
        self.select(&sql, "difference", &mut |cells| {
            found.push(read(cells)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// R45, R46: compares what the state says with what the events fold to, notes where they differ, and lets the
    /// state win. Agents with events after the block that was read wait for another reading.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub fn compare(
        &mut self,
        deployment: DeploymentId,
        subjects: &[Subject],
        read: &StateRead,
    ) -> Result<(), StoreError> {
        let mut facts: BTreeMap<AgentId, Vec<&Fact>> = BTreeMap::new();
        for fact in &read.facts {
            facts.entry(fact.agent).or_default().push(fact);
        }
        self.transaction(deployment, |store| {
            for (agent, facts) in &facts {
                store.compare_agent(deployment, *agent, facts, read.block)?;
            }
            for subject in subjects {
                let row = store.agent(deployment, subject.agent())?;
                if row.is_none_or(|it| it.updated.block() <= read.block) {
                    store.note_read(deployment, subject)?;
                }
            }
            Ok(())
        })
    }

    fn compare_agent(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
        facts: &[&Fact],
        block: u64,
    ) -> Result<(), StoreError> {
        let found = self.agent(deployment, agent)?;
        let Some(stored) = found.filter(|it| it.updated.block() <= block) else {
            return Ok(());
        };
        let known = self.all_differences_of(deployment, agent)?;
        let by_events = if known.is_empty() {
            stored.clone()
        } else {
            self.agent_by_events(deployment, agent)?
                .unwrap_or(stored.clone())
        };
        let mut differences: BTreeMap<Field, Difference> =
            known.iter().map(|it| (it.field, it.clone())).collect();
        for fact in facts {
            let events = self.said_by_events(deployment, fact, &by_events)?;
            differences.remove(&fact.field);
            if events != fact.value {
                let state = fact.value.clone();
                let (agent, field) = (fact.agent, fact.field);
                let difference = Difference {
                    agent,
                    field,
                    events,
                    state,
                    block,
                };
                differences.insert(field, difference);
            }
        }
        self.forget_differences(deployment, agent)?;
        let mut row = by_events;
        for difference in differences.values() {
            self.note_difference(deployment, difference)?;
            difference.apply(&mut row);
        }
        if row == stored {
            Ok(())
        } else {
            let mut tables = Tables::default();
            tables.agents.put(AgentKey { agent }, row);
            self.write(deployment, &tables)
        }
    }

    fn said_by_events(
        &mut self,
        deployment: DeploymentId,
        fact: &Fact,
        agent: &Agent,
    ) -> Result<String, StoreError> {
        let client = match fact.field {
            Field::LastIndex(profile, client) => {
                let key = ClientKey {
                    profile,
                    agent: fact.agent,
                    client,
                };
                self.row::<Clients>(deployment, &key)?
            }
            _ => None,
        };
        Ok(fact.field.by_events(agent, client.as_ref()))
    }

    /// The row that the events alone make.
    fn agent_by_events(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
    ) -> Result<Option<Agent>, StoreError> {
        let mut nothing = Nothing;
        let mut fold = Fold::new(&mut nothing);
        let of = EventsOf::Agent(agent);
        self.events(deployment, of, &mut |event| fold.apply(&event))?;
        let found = fold.tables.agents.known(&AgentKey { agent });
        Ok(found.flatten().cloned())
    }

    fn note_difference(
        &mut self,
        deployment: DeploymentId,
        it: &Difference,
    ) -> Result<(), StoreError> {
        let values = [
            deployment.0.to_value(),
            it.agent.to_value(),
            it.field.name().to_owned().to_value(),
            client_value(it.field),
            it.events.to_value(),
            it.state.to_value(),
            it.block.to_value(),
        ];
        let sql = "INSERT INTO difference (deployment, agent, field, client, events, state, block) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        self.engine.execute(sql, &values)
    }

    fn note_read(&mut self, deployment: DeploymentId, of: &Subject) -> Result<(), StoreError> {
        let sql = "DELETE FROM unread WHERE deployment = $1 AND agent = $2 AND profile = $3 \
                   AND client = $4";
        self.engine.execute(sql, &subject_values(deployment, of))
    }

    /// R4, R45: the state of these agents is to be read, although no event of theirs was seen.
    pub(super) fn note_suspects(
        &mut self,
        deployment: DeploymentId,
        agents: &[AgentId],
    ) -> Result<(), StoreError> {
        let agents: BTreeSet<AgentId> = agents.iter().copied().collect();
        self.queue(deployment, agents.into_iter().map(Subject::Agent))
    }

    /// What was folded is to be compared with the state.
    pub(super) fn note_unread(
        &mut self,
        deployment: DeploymentId,
        tables: &Tables,
    ) -> Result<(), StoreError> {
        let agents = tables
            .agents
            .changes()
            .map(|(key, _)| Subject::Agent(key.agent));
        let clients = tables
            .clients
            .changes()
            .map(|(key, _)| Subject::Client(*key));
        self.queue(deployment, agents.chain(clients))
    }

    fn queue(
        &mut self,
        deployment: DeploymentId,
        subjects: impl Iterator<Item = Subject>,
    ) -> Result<(), StoreError> {
        let columns = ["deployment", "agent", "profile", "client"];
        let on_conflict = "ON CONFLICT (deployment, agent, profile, client) DO NOTHING";
        let insert = Insert::new("unread", &columns, on_conflict);
        let rows = subjects.map(|it| Ok(subject_values(deployment, &it).to_vec()));
        self.insert(&insert, rows)
    }

    /// All of the state is to be read: the store's version before did not.
    pub(super) fn queue_all(&mut self) -> Result<(), StoreError> {
        let of =
            "INSERT INTO unread (deployment, agent, profile, client) SELECT deployment, agent,";
        let values = [AGENT.to_value(), Value::Blob(Vec::new())];
        self.engine
            .execute(&format!("{of} $1, $2 FROM agent"), &values)?;
        self.engine
            .execute(&format!("{of} profile, client FROM client"), &[])
    }

    /// The state of agents that declare a binding is to be read: the store's version before did not ask their contracts.
    pub(super) fn queue_bound(&mut self) -> Result<(), StoreError> {
        let sql = "INSERT INTO unread (deployment, agent, profile, client) \
                   SELECT deployment, agent, $1, $2 FROM metadata WHERE key = $3 \
                   ON CONFLICT (deployment, agent, profile, client) DO NOTHING";
        let nothing = Value::Blob(Vec::new());
        let values = [AGENT.to_value(), nothing, KEY.to_owned().to_value()];
        self.engine.execute(sql, &values)
    }

    /// An agent's events are others now: what the state said beside them is of no use.
    pub(super) fn forget_differences(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
    ) -> Result<(), StoreError> {
        let sql = "DELETE FROM difference WHERE deployment = $1 AND agent = $2";
        let values = [deployment.0.to_value(), agent.to_value()];
        self.engine.execute(sql, &values)
    }

    /// Rows to which later events gave something else than the state had no longer differ by it.
    pub(super) fn keep_differences(
        &mut self,
        deployment: DeploymentId,
        tables: &Tables,
    ) -> Result<(), StoreError> {
        let changes: Vec<_> = tables.agents.changes().collect();
        let of = |key: &AgentKey| vec![deployment.0.to_value(), key.agent.to_value()];
        let agents: Vec<_> = changes.iter().map(|(key, _)| of(key)).collect();
        let sql = "SELECT agent, field, client, events, state, block FROM difference \
                   WHERE deployment = $1 AND agent = $2";
        let mut outdated = Vec::new();
        self.engine.query_each(sql, &agents, &mut |at, row| {
            let difference = read(&mut Cells::new("difference", row))?;
            let (_, row) = changes[at];
            if row.is_none_or(|row| !difference.is_in(row)) {
                outdated.push(difference);
            }
            Ok(())
        })?;
        let mut outdated = outdated.iter();
        outdated.try_for_each(|it| self.forget_difference(deployment, it))
    }

    fn forget_difference(
        &mut self,
        deployment: DeploymentId,
        it: &Difference,
    ) -> Result<(), StoreError> {
        let values = [
            deployment.0.to_value(),
            it.agent.to_value(),
            it.field.name().to_owned().to_value(),
            client_value(it.field),
        ];
        let sql = "DELETE FROM difference WHERE deployment = $1 AND agent = $2 AND field = $3 \
                   AND client = $4";
        self.engine.execute(sql, &values)
    }

    /// R45: lets the state win in what all events were folded to.
    pub(crate) fn apply_differences(
        &mut self,
        deployment: DeploymentId,
        tables: &mut Tables,
    ) -> Result<(), StoreError> {
        for difference in self.differences_where(deployment, None, "")? {
            let key = AgentKey {
                agent: difference.agent,
            };
            if let Some(row) = tables.agents.known(&key).flatten() {
                let mut row = row.clone();
                difference.apply(&mut row);
                tables.agents.put(key, row);
            }
        }
        Ok(())
    }
}

fn subject_values(deployment: DeploymentId, subject: &Subject) -> [Value; 4] {
    let (profile, client) = match subject {
        Subject::Agent(_) => (Value::Int(AGENT), Value::Blob(Vec::new())),
        Subject::Client(key) => (key.profile.to_value(), key.client.to_value()),
    };
    let agent = subject.agent().to_value();
    [deployment.0.to_value(), agent, profile, client]
}

/// Empty for what is of no client: it is in a key.
fn client_value(field: Field) -> Value {
    field
        .client()
        .map_or(Value::Blob(Vec::new()), |it| it.to_value())
}

fn read(cells: &mut Cells<'_>) -> Result<Difference, StoreError> {
    let agent = cells.take("agent")?;
    let name: String = cells.take("field")?;
    let client = Cell::from_value(&cells.next());
    let field = Field::of(&name, client).ok_or(StoreError::Malformed {
        table: "difference",
        column: "field",
    })?;
    Ok(Difference {
        agent,
        field,
        events: cells.take("events")?,
        state: cells.take("state")?,
        block: cells.take("block")?,
    })
}
