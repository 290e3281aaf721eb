//! Payment proofs and the registry's lists (R9, R13). Solana only (declared variance 4).
use super::{
    Actor, Agent, Event, Integer, Model, Payment, PaymentState, ProofVersion, Tamper, authorized,
    registry::{Done, Refusal},
};
use concord_canonical::ErrorClass;
use std::collections::BTreeSet;

const TOKENS_MAX: usize = 8;
const FACILITATORS_MAX: usize = 16;

/// The registry account's lists, and the payments that counted. None of it is canonical state.
#[derive(Clone, Debug)]
pub(super) struct Payments {
    authority: Actor,
    proposed: Option<Actor>,
    tokens: BTreeSet<Actor>,
    facilitators: BTreeSet<Actor>,
    /// Payments that counted: the task reference and the payer (R32).
    spent: BTreeSet<(String, Actor)>,
    /// Entries whose reviewer was neither owner, authority nor wallet of the agent when it was given: agent, client, index.
    by_strangers: BTreeSet<(Agent, Actor, u64)>,
}

/// R9: whoever initialized the registry. The label is the same in every scenario.
pub const DEPLOYER: &str = "deployer";

impl Default for Payments {
    fn default() -> Self {
        Self {
            authority: Actor::from(DEPLOYER),
            proposed: None,
            tokens: BTreeSet::new(),
            facilitators: BTreeSet::new(),
            spent: BTreeSet::new(),
            by_strangers: BTreeSet::new(),
        }
    }
}

impl Payments {
    pub fn list_token(&mut self, by: &Actor, token: &Actor, listed: bool) -> Done {
        self.check_authority(by)?;
        list(&mut self.tokens, token, listed, TOKENS_MAX)
    }

    pub fn list_facilitator(&mut self, by: &Actor, facilitator: &Actor, listed: bool) -> Done {
        self.check_authority(by)?;
        list(
            &mut self.facilitators,
            facilitator,
            listed,
            FACILITATORS_MAX,
        )
    }

    pub fn propose_authority(&mut self, by: &Actor, successor: &Actor) -> Done {
        self.check_authority(by)?;
        self.proposed = Some(successor.clone());
        Ok(Vec::new())
    }

    pub fn accept_authority(&mut self, by: &Actor) -> Done {
        if self.proposed.as_ref() != Some(by) {
            return Err(ErrorClass::NotAuthorized);
        }
        self.authority = by.clone();
        self.proposed = None;
        Ok(Vec::new())
    }

    fn check_authority(&self, by: &Actor) -> Result<(), Refusal> {
        (self.authority == *by)
            .then_some(())
            .ok_or(ErrorClass::NotAuthorized)
    }
}

/// To list what is listed, or to strike what is not, changes nothing.
fn list(of: &mut BTreeSet<Actor>, item: &Actor, listed: bool, limit: usize) -> Done {
    if !listed {
        of.remove(item);
    } else if !of.contains(item) {
        if of.len() == limit {
            return Err(ErrorClass::ListTooLong); // R13
        }
        of.insert(item.clone());
    }
    Ok(Vec::new())
}

impl Model {
    /// The checks of §3a, in its order.
    pub(super) fn attach_payment_proof(
        &mut self,
        agent: &Agent,
        by: &Actor,
        client: &Actor,
        index: u64,
        payment: &Payment,
    ) -> Done {
        let tamper = payment.tamper.as_ref();
        self.check_precompile(&payment.facilitator, tamper)?; // variance 1
        self.check_entry_takes_proof(agent, by, client, index)?;
        let spent = (payment.task.clone(), payment.payer.clone());
        if self.payments.spent.contains(&spent) {
            return Err(ErrorClass::PaymentSpent); // R13, R32
        }
        self.check_form(&payment.facilitator, tamper)?; // R11
        if self.state.time >= payment.expiry {
            return Err(ErrorClass::AuthExpired);
        }
        self.check_payment_counts(agent, client, index, payment)?;
        let is_elsewhere = matches!(tamper, Some(Tamper::WrongChain | Tamper::WrongRegistry));
        let is_outdated = payment.version == ProofVersion::V1; // R13
        if payment.agent != *agent || is_elsewhere || is_outdated {
            return Err(ErrorClass::AuthNotGranted);
        }
        self.record_payment(agent, client, index, payment)
    }

    /// The client's next entry is one of a stranger's.
    pub(super) fn note_stranger(&mut self, agent: &Agent, client: &Actor) -> Result<(), Refusal> {
        let index = self.agent(agent)?.authorized.last_index(client) + 1;
        let entry = (agent.clone(), client.clone(), index);
        self.payments.by_strangers.insert(entry);
        Ok(())
    }

    fn check_entry_takes_proof(
        &self,
        agent: &Agent,
        by: &Actor,
        client: &Actor,
        index: u64,
    ) -> Result<(), Refusal> {
        let place = index
            .checked_sub(1)
            .and_then(|place| usize::try_from(place).ok());
        let record = self.state.agents.get(agent);
        let entry = record
            .and_then(|record| record.authorized.entries.get(client)?.get(place?))
            .ok_or(ErrorClass::FeedbackNotFound)?;
        if by != client {
            return Err(ErrorClass::NotAuthorized);
        }
        if entry.revoked {
            return Err(ErrorClass::AlreadyRevoked);
        }
        if entry.payment.is_some() {
            return Err(ErrorClass::PaymentAlreadyProven);
        }
        Ok(())
    }

    /// R13: payer, token, amount, payment time and facilitator. The payee is the facilitator's word. What the reviewer was
    /// to the agent counts as of the entry: an owner could void an honest proof with what they set later.
    fn check_payment_counts(
        &self,
        agent: &Agent,
        client: &Actor,
        index: u64,
        payment: &Payment,
    ) -> Result<(), Refusal> {
        let entry = (agent.clone(), client.clone(), index);
        let counts = payment.payer == *client
            && self.payments.by_strangers.contains(&entry)
            && self.payments.tokens.contains(&payment.token)
            && payment.amount > 0
            && payment.paid_at <= self.state.time
            && self.payments.facilitators.contains(&payment.facilitator);
        counts.then_some(()).ok_or(ErrorClass::PaymentNotAccepted)
    }

    fn record_payment(
        &mut self,
        agent: &Agent,
        client: &Actor,
        index: u64,
        payment: &Payment,
    ) -> Done {
        let place = usize::try_from(index - 1).map_err(|_| ErrorClass::FeedbackNotFound)?;
        let authorized = &mut self.agent_mut(agent)?.authorized;
        let entry = authorized
            .entries
            .get_mut(client)
            .and_then(|entries| entries.get_mut(place))
            .ok_or(ErrorClass::FeedbackNotFound)?;
        entry.payment = Some(PaymentState {
            token: payment.token.clone(),
            amount: Integer(payment.amount.into()),
        });
        authorized::recount(authorized);
        let spent = (payment.task.clone(), payment.payer.clone());
        self.payments.spent.insert(spent); // R13: counts once
        Ok(vec![Event::PaymentProven {
            agent: agent.clone(),
            client: client.clone(),
            index,
            payee: payment.payee.clone(),
            token: payment.token.clone(),
            amount: payment.amount,
            paid_at: payment.paid_at,
        }])
    }
}

/// What a generator of operations has to know.
impl Model {
    /// Who lists tokens and facilitators (R9, R13).
    pub fn registry_authority(&self) -> &Actor {
        &self.payments.authority
    }

    /// Do payments in this token count?
    pub fn lists_token(&self, token: &Actor) -> bool {
        self.payments.tokens.contains(token)
    }

    /// Do statements of this facilitator count?
    pub fn lists_facilitator(&self, facilitator: &Actor) -> bool {
        self.payments.facilitators.contains(facilitator)
    }

    /// Was the reviewer neither owner, authority nor wallet when the entry was given (R13)?
    pub fn is_by_stranger(&self, agent: &Agent, client: &Actor, index: u64) -> bool {
        let entry = (agent.clone(), client.clone(), index);
        self.payments.by_strangers.contains(&entry)
    }

    /// Whom the authority named as its successor.
    pub fn proposed_authority(&self) -> Option<&Actor> {
        self.payments.proposed.as_ref()
    }
}
