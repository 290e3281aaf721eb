//! R46: what is known to be missing.
use crate::{
    StoreError,
    state::{Difference, Field},
    store::{Cell, DeploymentId, Engine, EventsOf, Store},
    table::{Agent, ClientKey},
};
use concord_registry::event::{AgentId, Profile};

/// R46: whether every event of a deployment was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completeness {
    /// Agents of which events are missing.
    pub agents: Vec<IncompleteAgent>,
    /// E: ids between the first and the last agent that no event names.
    pub missing_ids: u64,
    /// Events whose bytes this version cannot decode.
    pub undecoded: u64,
    /// Events that this version does not know. They are of a later version of a registry, and none is missing for it: what
    /// they would change of agents and clients shows in the state (R45).
    pub unknown: u64,
}

/// An agent of which events are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncompleteAgent {
    /// The agent.
    pub agent: AgentId,
    /// Its registration was not seen.
    pub is_unregistered: bool,
    /// Events about feedback or requests that were not seen.
    pub unexplained: u64,
    /// Feedback that was not seen.
    pub gaps: Vec<Gap>,
}

/// Feedback of one client that was not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Whose.
    pub client: ClientKey,
    /// The first index that is missing.
    pub first: u64,
    /// The last one.
    pub last: u64,
}

impl Completeness {
    /// Returns whether nothing is known to be missing.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.agents.is_empty() && self.missing_ids == 0 && self.undecoded == 0
    }
}

/// R46: what the state counts of a client after the last feedback that was seen.
fn after_last(it: &Difference) -> Option<Gap> {
    let Field::LastIndex(profile, client) = it.field else {
        return None;
    };
    let (seen, last) = (it.events.parse::<u64>().ok()?, it.state.parse().ok()?);
    let client = ClientKey {
        profile,
        agent: it.agent,
        client,
    };
    (seen < last).then(|| Gap {
        client,
        first: seen.saturating_add(1),
        last,
    })
}

impl<E: Engine> Store<E> {
    /// R46: returns what is known to be missing.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn completeness(&mut self, deployment: DeploymentId) -> Result<Completeness, StoreError> {
        let mut agents = Vec::new();
        for (key, agent) in self.incomplete_agents(deployment)? {
            agents.push(IncompleteAgent {
                agent: key.agent,
                is_unregistered: agent.owner.is_none(),
                unexplained: agent.unexplained,
                gaps: match agent.missing {
                    0 => Vec::new(),
                    _ => self.first_gaps(deployment, (key.agent, &agent), usize::MAX)?,
                },
            });
        }
        Ok(Completeness {
            agents,
            missing_ids: self.missing_ids(deployment)?,
            undecoded: self.undecoded_count(deployment)?,
            unknown: self.unknown_count(deployment)?,
        })
    }

    /// R46: returns an agent's feedback that was not seen.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn gaps(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
    ) -> Result<Vec<Gap>, StoreError> {
        match self.agent(deployment, agent)? {
            Some(row) => self.first_gaps(deployment, (agent, &row), usize::MAX),
            None => Ok(Vec::new()),
        }
    }

    /// R46: returns the first of an agent's feedback that was not seen, at most so many gaps: those before what was seen of each
    /// client, then those after it. How many clients an agent has does not change the number of statements.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn first_gaps(
        &mut self,
        deployment: DeploymentId,
        (agent, row): (AgentId, &Agent),
        limit: usize,
    ) -> Result<Vec<Gap>, StoreError> {
        let differences = self.all_differences_of(deployment, agent)?;
        let by_state: u64 = differences.iter().map(Difference::unseen).sum();
        let mut gaps = Vec::new();
        // Feedback that only the state shows to be missing comes after all that was seen.
        if row.missing > by_state {
            for profile in [Profile::Authorized, Profile::Open] {
                if gaps.len() == limit {
                    break;
                }
                let limit = limit - gaps.len();
                gaps.extend(self.gaps_before(deployment, (profile, agent), limit)?);
            }
        }
        gaps.extend(differences.iter().filter_map(after_last));
        gaps.truncate(limit);
        Ok(gaps)
    }

    /// Before what was seen of each client. R44: indices count from 1.
    fn gaps_before(
        &mut self,
        deployment: DeploymentId,
        (profile, agent): (Profile, AgentId),
        limit: usize,
    ) -> Result<Vec<Gap>, StoreError> {
        let sql = format!(
            "SELECT client, previous, idx FROM (SELECT client, idx, \
             COALESCE(LAG(idx) OVER (PARTITION BY client ORDER BY idx), 0) AS previous \
             FROM feedback WHERE deployment = $1 AND profile = $2 AND agent = $3) AS steps \
             WHERE idx > previous + 1 ORDER BY client, idx LIMIT {}",
            i64::try_from(limit).unwrap_or(i64::MAX)
        );
        let values = [
            deployment.0.to_value(),
            profile.to_value(),
            agent.to_value(),
        ];
        let mut gaps = Vec::new();
        self.each(&sql, &values, "feedback", &mut |cells| {
            let client = cells.take("client")?;
            let (previous, index): (u64, u64) = (cells.take("previous")?, cells.take("idx")?);
            gaps.push(Gap {
                client: ClientKey {
                    profile,
                    agent,
                    client,
                },
                first: previous.saturating_add(1),
                last: index.saturating_sub(1),
            });
            Ok(())
        })?;
        Ok(gaps)
    }

    /// R46: returns how many events of a deployment have bytes that this version cannot decode.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn undecoded_count(&mut self, deployment: DeploymentId) -> Result<u64, StoreError> {
        self.raw_count(deployment, false)
    }

    /// R46: returns how many events of a deployment this version does not know.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn unknown_count(&mut self, deployment: DeploymentId) -> Result<u64, StoreError> {
        self.raw_count(deployment, true)
    }

    fn raw_count(&mut self, of: DeploymentId, is_unknown: bool) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM undecoded WHERE deployment = $1 AND is_unknown = $2";
        self.number(sql, &[of.0.to_value(), is_unknown.to_value()])
    }

    /// R46: returns how many ids between the first and the last agent no event names. On EVM ids count up by one,
    /// from 1 in Concord's registries and from 0 in the canonical ones; on Solana they have no order.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn missing_ids(&mut self, deployment: DeploymentId) -> Result<u64, StoreError> {
        let first = self.registered_end(deployment, "ASC")?;
        let last = self.registered_end(deployment, "DESC")?;
        let (Some(AgentId::Evm(first)), Some(AgentId::Evm(last))) = (first, last) else {
            return Ok(0); // mints are in no order
        };
        let low = |id: [u8; 32]| {
            let mut low = [0; 8];
            low.copy_from_slice(&id[24..]);
            u64::from_be_bytes(low)
        };
        let first = match self.is_upgradeable(deployment)? {
            true => 0,                  // only the canonical ones are (R2)
            false => low(first).min(1), // what comes before the first one seen is missing too
        };
        let span = low(last).saturating_sub(first).saturating_add(1);
        Ok(span.saturating_sub(self.registered(deployment)?))
    }

    /// The first or the last registered agent.
    fn registered_end(
        &mut self,
        deployment: DeploymentId,
        order: &str,
    ) -> Result<Option<AgentId>, StoreError> {
        let mut end = None;
        let sql = format!(
            "SELECT agent FROM agent WHERE deployment = $1 AND owner IS NOT NULL \
             ORDER BY agent {order} LIMIT 1"
        );
        self.each(&sql, &[deployment.0.to_value()], "agent", &mut |cells| {
            end = Some(cells.take("agent")?);
            Ok(())
        })?;
        Ok(end)
    }

    fn registered(&mut self, deployment: DeploymentId) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM agent WHERE deployment = $1 AND owner IS NOT NULL";
        self.number(sql, &[deployment.0.to_value()])
    }

    /// Returns how many agents a deployment has.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn agent_count(&mut self, deployment: DeploymentId) -> Result<u64, StoreError> {
        self.count(deployment, "agent")
    }

    /// R46: returns of how many agents events are known to be missing.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn incomplete_count(&mut self, deployment: DeploymentId) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM agent WHERE deployment = $1 \
                   AND (owner IS NULL OR missing > 0 OR unexplained > 0)";
        self.number(sql, &[deployment.0.to_value()])
    }

    /// Returns how many rows of a deployment a table has.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn count(
        &mut self,
        deployment: DeploymentId,
        table: &'static str,
    ) -> Result<u64, StoreError> {
        let sql = format!("SELECT COUNT(*) FROM {table} WHERE deployment = $1");
        self.number(&sql, &[deployment.0.to_value()])
    }

    /// Returns how many events the log has.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn event_count(&mut self, deployment: DeploymentId) -> Result<u64, StoreError> {
        self.count(deployment, "event")
    }

    /// R45: returns the digest that a rebuild would have, without changing anything: of the events, and of what
    /// the state was read to say.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn rebuild_digest(&mut self, deployment: DeploymentId) -> Result<[u8; 32], StoreError> {
        let mut nothing = crate::fold::Nothing;
        let mut fold = crate::fold::Fold::new(&mut nothing);
        self.events(deployment, EventsOf::All, &mut |event| fold.apply(&event))?;
        let mut tables = fold.tables;
        self.apply_differences(deployment, &mut tables)?;
        Ok(tables.digest())
    }
}
