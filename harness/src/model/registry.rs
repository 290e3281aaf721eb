use super::{
    Actor, Agent, AgentState, Authorization, AuthorizedState, CanonicalState, Chain, Damage,
    Domain, Event, Feedback, FeedbackState, Operation, Outcome, Summary,
};
use concord_canonical::{ErrorClass, limits};

/// A registry by the book: identity and the authorized profile.
#[derive(Clone, Debug)]
pub struct Model {
    chain: Chain,
    state: CanonicalState,
}

type Refusal = ErrorClass;

impl Model {
    /// An empty registry of a chain of this kind.
    pub fn new(chain: Chain) -> Self {
        Self {
            chain,
            state: CanonicalState::default(),
        }
    }

    pub fn state(&self) -> &CanonicalState {
        &self.state
    }

    /// Runs one operation at `now`, in seconds after the scenario's start. A refused operation
    /// changes nothing but the time; a read does not even take time.
    pub fn apply(&mut self, operation: &Operation, now: u64) -> Outcome {
        if !operation.is_read() {
            self.state.time = now;
        }
        let done = match operation {
            Operation::Register { agent, by, uri } => self.register(agent, by, uri),
            Operation::Transfer { agent, by, to } => self.transfer(agent, by, to),
            Operation::GiveFeedback(feedback) => self.give_feedback(feedback),
            Operation::RevokeFeedback { agent, by, index } => {
                self.revoke_feedback(agent, by, *index)
            }
            Operation::Summary { agent } => return Outcome::answered(self.summary(agent)),
        };
        done.map_or_else(Outcome::refused, Outcome::accepted)
    }

    fn register(&mut self, agent: &Agent, by: &Actor, uri: &str) -> Result<Vec<Event>, Refusal> {
        self.check_portable_length(uri, limits::URI_MAX)?; // R17
        let registered = AgentState::registered(by.clone(), uri.to_owned()); // R3
        self.state.agents.insert(agent.clone(), registered);
        Ok(vec![Event::AgentRegistered {
            agent: agent.clone(),
            owner: by.clone(),
            uri: uri.to_owned(),
        }])
    }

    /// R4: a change of owner takes the wallet away. A transfer to oneself changes nothing.
    fn transfer(&mut self, agent: &Agent, by: &Actor, to: &Actor) -> Result<Vec<Event>, Refusal> {
        let record = self.agent_mut(agent)?;
        if record.owner != *by {
            return Err(ErrorClass::TransferNotAllowed);
        }
        if record.owner == *to {
            return Ok(Vec::new());
        }
        record.owner = to.clone();
        record.wallet = None; // R3
        Ok(vec![Event::AgentWalletSet {
            agent: agent.clone(),
            wallet: None,
        }])
    }

    /// The checks of §3a, in its order.
    fn give_feedback(&mut self, feedback: &Feedback) -> Result<Vec<Event>, Refusal> {
        self.check_precompile(feedback.authorization.as_ref())?; // variance 1
        if feedback.score > limits::SCORE_MAX {
            return Err(ErrorClass::ScoreOutOfRange);
        }
        let record = self.agent(&feedback.agent)?;
        if record.owner == feedback.by {
            return Err(ErrorClass::SelfFeedback); // R18
        }
        self.check_portable_length(&feedback.uri, limits::URI_MAX)?; // R17
        let last_index = record.authorized.last_index(&feedback.by);
        self.check_explicit_index(feedback.index, last_index)?; // R12
        self.check_authorization(feedback, &record.owner, last_index)?;
        Ok(vec![self.record_feedback(feedback)?])
    }

    /// Declared variance 1: on Solana a signature that does not verify, or precompile data that
    /// ends too early, fails before the program is asked.
    fn check_precompile(&self, authorization: Option<&Authorization>) -> Result<(), Refusal> {
        match (self.chain, authorization) {
            (Chain::Svm, Some(sent)) if sent.damage == Some(Damage::Truncated) => {
                Err(ErrorClass::AuthMalformed)
            }
            (Chain::Svm, Some(sent)) if !sent.is_signature_valid() => {
                Err(ErrorClass::AuthNotGranted)
            }
            _ => Ok(()),
        }
    }

    fn check_authorization(
        &self,
        feedback: &Feedback,
        owner: &Actor,
        last_index: u64,
    ) -> Result<(), Refusal> {
        let sent = feedback
            .authorization
            .as_ref()
            .filter(|sent| sent.damage != Some(Damage::Missing))
            .ok_or(ErrorClass::AuthMissing)?;
        if matches!(sent.damage, Some(Damage::Truncated | Damage::Extended)) {
            return Err(ErrorClass::AuthMalformed); // R6, R11
        }
        if self.state.time >= sent.expiry {
            return Err(ErrorClass::AuthExpired); // R8
        }
        if last_index >= sent.index_limit {
            return Err(ErrorClass::AuthIndexLimit); // R8
        }
        let granted = sent.agent == feedback.agent // R5
            && sent.client == feedback.by
            && sent.chain == Domain::Here
            && sent.registry == Domain::Here
            && sent.signer == *owner // R7
            && sent.is_signature_valid();
        granted.then_some(()).ok_or(ErrorClass::AuthNotGranted)
    }

    fn record_feedback(&mut self, feedback: &Feedback) -> Result<Event, Refusal> {
        let time = self.state.time;
        let authorized = &mut self.agent_mut(&feedback.agent)?.authorized;
        let index = authorized
            .last_index(&feedback.by)
            .checked_add(1)
            .ok_or(ErrorClass::CounterExhausted)?; // R8
        if index == 1 {
            authorized.clients.push(feedback.by.clone());
        }
        let entries = authorized.entries.entry(feedback.by.clone()).or_default();
        entries.push(FeedbackState {
            score: feedback.score,
            tag1: feedback.tag1,
            tag2: feedback.tag2,
            time,
            revoked: false,
            responses: 0,
        });
        recount(authorized);
        Ok(Event::AuthorizedFeedback {
            agent: feedback.agent.clone(),
            client: feedback.by.clone(),
            index,
            score: feedback.score,
            tag1: feedback.tag1,
            tag2: feedback.tag2,
            uri: feedback.uri.clone(),
            hash: feedback.hash,
            time,
        })
    }

    /// R8: the entry leaves the summary, never the client's index.
    fn revoke_feedback(
        &mut self,
        agent: &Agent,
        by: &Actor,
        index: u64,
    ) -> Result<Vec<Event>, Refusal> {
        let authorized = self
            .state
            .agents
            .get_mut(agent)
            .map(|record| &mut record.authorized)
            .ok_or(ErrorClass::FeedbackNotFound)?;
        let position = index.checked_sub(1).ok_or(ErrorClass::FeedbackNotFound)?;
        let entry = authorized
            .entries
            .get_mut(by)
            .and_then(|entries| entries.get_mut(usize::try_from(position).ok()?))
            .ok_or(ErrorClass::FeedbackNotFound)?;
        if entry.revoked {
            return Err(ErrorClass::AlreadyRevoked);
        }
        entry.revoked = true;
        recount(authorized);
        Ok(vec![Event::FeedbackRevoked {
            agent: agent.clone(),
            client: by.clone(),
            index,
        }])
    }

    /// R15; an unknown agent has no feedback.
    fn summary(&self, agent: &Agent) -> Summary {
        let authorized = self
            .state
            .agents
            .get(agent)
            .map(|record| &record.authorized);
        Summary {
            count: authorized.map_or(0, |authorized| authorized.count),
            average: authorized.map_or(0, |authorized| authorized.average),
        }
    }

    /// Declared variance 2: portable lengths (R17) bind on Solana only.
    fn check_portable_length(&self, text: &str, limit: usize) -> Result<(), Refusal> {
        let portable = text.len() <= limit && !text.contains('\0');
        if self.chain == Chain::Svm && !portable {
            return Err(ErrorClass::LengthLimit);
        }
        Ok(())
    }

    /// Declared variance 2: the explicit index (R12) exists on Solana only.
    fn check_explicit_index(&self, given: Option<u64>, last_index: u64) -> Result<(), Refusal> {
        let stale = given.is_some_and(|index| Some(index) != last_index.checked_add(1));
        if self.chain == Chain::Svm && stale {
            return Err(ErrorClass::FeedbackIndexStale);
        }
        Ok(())
    }

    fn agent(&self, agent: &Agent) -> Result<&AgentState, Refusal> {
        self.state
            .agents
            .get(agent)
            .ok_or(ErrorClass::AgentNotFound)
    }

    fn agent_mut(&mut self, agent: &Agent) -> Result<&mut AgentState, Refusal> {
        self.state
            .agents
            .get_mut(agent)
            .ok_or(ErrorClass::AgentNotFound)
    }
}

/// R15: count, sum and floor average over what is not revoked.
fn recount(authorized: &mut AuthorizedState) {
    let scores = || {
        authorized
            .entries
            .values()
            .flatten()
            .filter(|entry| !entry.revoked)
            .map(|entry| u64::from(entry.score))
    };
    let (count, sum) = (scores().count() as u64, scores().sum::<u64>());
    authorized.count = count;
    authorized.sum = sum;
    authorized.average = sum
        .checked_div(count)
        .map_or(0, |average| u8::try_from(average).unwrap_or(u8::MAX));
}
