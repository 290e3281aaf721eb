//! What views answer and the canonical state leaves out.
use super::{
    Actor, Agent, Bytes32, DEPLOYER, Event, Feedback, Form, Operation, Outcome, Profile, Verdict,
};
use std::collections::{BTreeMap, BTreeSet};

/// What accepted operations left behind beside the canonical state, folded from their outcomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Records {
    /// EVM: ERC-721's one approved operator of an agent.
    pub approved: BTreeMap<Agent, Actor>,
    /// EVM: ERC-721's operators, as owner and operator.
    pub operators: BTreeSet<(Actor, Actor)>,
    /// Solana: the key that signs authorizations in the owner's place (R7).
    pub authorities: BTreeMap<Agent, Actor>,
    /// Solana: the schemes that count, if they were set (R10).
    pub schemes: BTreeMap<Agent, u8>,
    /// Solana: how often the agent has changed its owner.
    pub transfers: BTreeMap<Agent, u64>,
    /// Solana: the scheme of each authorized entry, index 1 first (R10).
    pub entry_schemes: BTreeMap<(Agent, Actor), Vec<u8>>,
    /// The agent's wallet, if it has one, and when it was last written, in seconds after the start (R3, R13).
    pub wallets: BTreeMap<Agent, (Option<Actor>, u64)>,
    /// Solana: of each authorized entry, index 1 first, whether its reviewer was neither owner, authority nor wallet when
    /// it was given (R13).
    pub by_strangers: BTreeMap<(Agent, Actor), Vec<bool>>,
    /// Solana: when each open entry was given, in seconds after the start, index 1 first.
    pub open_times: BTreeMap<(Agent, Actor), Vec<u64>>,
    /// Every response to feedback, in order (R19).
    pub responses: Vec<AppendedTo>,
    /// Every validation request, in order (R20).
    pub requests: Vec<Requested>,
    /// Payments that were proven, in order (R13).
    pub payments: Vec<Proven>,
    /// Solana: the registry account's lists and keys (R9, R13).
    pub tokens: BTreeSet<Actor>,
    pub facilitators: BTreeSet<Actor>,
    pub authority: Actor,
    pub proposed: Option<Actor>,
}

/// A response to feedback (R19).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendedTo {
    pub profile: Profile,
    pub agent: Agent,
    pub client: Actor,
    pub index: u64,
    pub responder: Actor,
}

/// A request for validation, with what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requested {
    pub agent: Agent,
    pub validator: Actor,
    pub request: Bytes32,
    /// Seconds after the start.
    pub time: u64,
    /// When each response was given, in seconds after the start.
    pub answers: Vec<u64>,
}

/// A payment that counted for a feedback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proven {
    pub task: String,
    pub payer: Actor,
    pub agent: Agent,
    pub client: Actor,
    pub index: u64,
}

impl Default for Records {
    fn default() -> Self {
        Self {
            approved: BTreeMap::new(),
            operators: BTreeSet::new(),
            authorities: BTreeMap::new(),
            schemes: BTreeMap::new(),
            transfers: BTreeMap::new(),
            entry_schemes: BTreeMap::new(),
            wallets: BTreeMap::new(),
            by_strangers: BTreeMap::new(),
            open_times: BTreeMap::new(),
            responses: Vec::new(),
            requests: Vec::new(),
            payments: Vec::new(),
            tokens: BTreeSet::new(),
            facilitators: BTreeSet::new(),
            authority: Actor::from(DEPLOYER),
            proposed: None,
        }
    }
}

impl Records {
    /// Takes in one operation, which came to `outcome` at `time`, in seconds after the start.
    pub fn note(&mut self, operation: &Operation, outcome: &Outcome, time: u64) {
        if outcome.verdict != Verdict::Ok {
            return;
        }
        self.note_rights(operation, outcome);
        self.note_registry(operation);
        if let Operation::GiveFeedback(feedback) = operation {
            self.note_scheme(feedback);
        }
        if let Operation::AttachPaymentProof(it) = operation {
            self.payments.push(Proven {
                task: it.payment.task.clone(),
                payer: it.payment.payer.clone(),
                agent: it.agent.clone(),
                client: it.client.clone(),
                index: it.index,
            });
        }
        for event in &outcome.events {
            self.note_event(event, time);
        }
    }

    fn note_rights(&mut self, operation: &Operation, outcome: &Outcome) {
        match operation {
            Operation::Approve(it) => set(&mut self.approved, &it.agent, it.operator.as_ref()),
            Operation::SetOperator(it) => {
                let pair = (it.by.clone(), it.operator.clone());
                if it.approved {
                    self.operators.insert(pair);
                } else {
                    self.operators.remove(&pair);
                }
            }
            Operation::SetFeedbackAuthority(it) => {
                set(&mut self.authorities, &it.agent, it.authority.as_ref());
            }
            Operation::SetAuthSchemes(it) => {
                self.schemes.insert(it.agent.clone(), it.schemes);
            }
            Operation::Transfer(it) => {
                self.approved.remove(&it.agent);
                // R4: a transfer to oneself has no event, and changes nothing else.
                if !outcome.events.is_empty() {
                    self.authorities.remove(&it.agent);
                    self.schemes.remove(&it.agent);
                    *self.transfers.entry(it.agent.clone()).or_default() += 1;
                }
            }
            _ => (),
        }
    }

    fn note_registry(&mut self, operation: &Operation) {
        match operation {
            Operation::ListPaymentToken(it) => list(&mut self.tokens, &it.token, it.listed),
            Operation::ListFacilitator(it) => {
                list(&mut self.facilitators, &it.facilitator, it.listed);
            }
            Operation::ProposeRegistryAuthority(it) => self.proposed = Some(it.successor.clone()),
            Operation::AcceptRegistryAuthority(it) => {
                self.authority = it.by.clone();
                self.proposed = None;
            }
            _ => (),
        }
    }

    /// R10: 1 for X84's message, 2 for the bounded one.
    fn note_scheme(&mut self, feedback: &Feedback) {
        let form = feedback.authorization.as_ref().map(|sent| sent.form);
        let scheme = if form == Some(Form::X84) { 1 } else { 2 };
        let of_client = (feedback.agent.clone(), feedback.by.clone());
        self.entry_schemes
            .entry(of_client)
            .or_default()
            .push(scheme);
    }

    fn note_event(&mut self, event: &Event, time: u64) {
        match event {
            Event::ResponseAppended {
                profile,
                agent,
                client,
                index,
                responder,
                ..
            } => self.responses.push(AppendedTo {
                profile: *profile,
                agent: agent.clone(),
                client: client.clone(),
                index: *index,
                responder: responder.clone(),
            }),
            Event::AgentRegistered { agent, owner, .. } => {
                let wallet = (Some(owner.clone()), time); // R3
                self.wallets.insert(agent.clone(), wallet);
            }
            Event::AgentWalletSet { agent, wallet } => {
                self.wallets.insert(agent.clone(), (wallet.clone(), time));
            }
            // R13, R18: an owner or an authority cannot have given it.
            Event::AuthorizedFeedback { agent, client, .. } => {
                let wallet = self.wallets.get(agent).and_then(|it| it.0.as_ref());
                let by_stranger = wallet != Some(client);
                let of_client = (agent.clone(), client.clone());
                let entries = self.by_strangers.entry(of_client).or_default();
                entries.push(by_stranger);
            }
            Event::OpenFeedback { agent, client, .. } => {
                let of_client = (agent.clone(), client.clone());
                self.open_times.entry(of_client).or_default().push(time);
            }
            Event::ValidationRequested {
                agent,
                validator,
                request,
                ..
            } => self.requests.push(Requested {
                agent: agent.clone(),
                validator: validator.clone(),
                request: *request,
                time,
                answers: Vec::new(),
            }),
            Event::ValidationResponded {
                agent,
                validator,
                request,
                ..
            } => {
                let mut requests = self.requests.iter_mut();
                let asked = requests.find(|it| {
                    it.agent == *agent && it.validator == *validator && it.request == *request
                });
                if let Some(asked) = asked {
                    asked.answers.push(time);
                }
            }
            _ => (),
        }
    }

    /// How many responses there are to feedback on the agent in this profile: to one entry, with
    /// index `None` to all of a client's, with client `None` to everybody's. A listed responder
    /// counts as often as they are listed; an empty list means everybody (declared variance 5).
    pub fn response_count(
        &self,
        profile: Profile,
        agent: &Agent,
        client: Option<&Actor>,
        index: Option<u64>,
        responders: &[Actor],
    ) -> u64 {
        let meant = self.responses.iter().filter(|it| {
            it.profile == profile
                && it.agent == *agent
                && client.is_none_or(|client| it.client == *client)
                && index.is_none_or(|index| it.index == index)
        });
        meant
            .map(|it| match responders {
                [] => 1,
                listed => listed.iter().filter(|by| **by == it.responder).count() as u64,
            })
            .sum()
    }
}

fn set(of: &mut BTreeMap<Agent, Actor>, agent: &Agent, actor: Option<&Actor>) {
    match actor {
        Some(actor) => of.insert(agent.clone(), actor.clone()),
        None => of.remove(agent),
    };
}

fn list(of: &mut BTreeSet<Actor>, item: &Actor, listed: bool) {
    if listed {
        of.insert(item.clone());
    } else {
        of.remove(item);
    }
}
