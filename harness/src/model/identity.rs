//! Agents: registration, settings, wallet, transfer (R2 to R4, R7, R10).
use super::{
    Actor, Agent, AgentState, Bytes, Chain, Consent, Event, Metadata, Model,
    registry::{Done, Refusal},
};
use concord_canonical::{ErrorClass, limits};
use std::collections::{BTreeMap, BTreeSet};

/// Who may do what besides the owner, and what was used up. None of it is canonical state.
#[derive(Clone, Debug, Default)]
pub(super) struct Approvals {
    /// ERC-721's one approved operator of a token.
    approved: BTreeMap<Agent, Actor>,
    /// ERC-721's operators: owner, operator.
    operators: BTreeSet<(Actor, Actor)>,
    /// R7, on Solana; the owner's key counts if there is none.
    authorities: BTreeMap<Agent, Actor>,
    /// R10, on Solana; only `BOUNDED` if there is none.
    schemes: BTreeMap<Agent, u8>,
    /// Consents whose digest worked once (R3), on EVM.
    consents: BTreeSet<(Agent, Actor, Actor, u64)>,
    /// Burned tokens.
    burned: BTreeSet<Agent>,
}

/// X84's message counts for the agent (R10).
pub(super) const X84: u8 = 1;
/// R9's message counts for the agent. The default, alone.
pub(super) const BOUNDED: u8 = 2;

impl Model {
    pub(super) fn register(
        &mut self,
        agent: &Agent,
        by: &Actor,
        uri: &str,
        metadata: &[Metadata],
    ) -> Done {
        self.check_portable(uri, limits::URI_MAX)?; // R17
        for entry in metadata {
            self.check_metadata(&entry.key, &entry.value)?;
        }
        if self.chain == Chain::Evm && by.refuses_tokens() {
            return Err(ErrorClass::ReceiverRefused); // R2; contracts exist there alone (variance 6)
        }
        let registered = AgentState::registered(by.clone(), uri.to_owned()); // R3
        self.state.agents.insert(agent.clone(), registered);
        let mut events = vec![Event::AgentRegistered {
            agent: agent.clone(),
            owner: by.clone(),
            uri: uri.to_owned(),
        }];
        for entry in metadata {
            events.push(self.store_metadata(agent, &entry.key, &entry.value)?);
        }
        Ok(events)
    }

    pub(super) fn set_agent_uri(&mut self, agent: &Agent, by: &Actor, uri: &str) -> Done {
        self.check_may_manage(agent, by)?;
        self.check_portable(uri, limits::URI_MAX)?; // R17
        self.agent_mut(agent)?.uri = uri.to_owned();
        Ok(vec![Event::AgentUriSet {
            agent: agent.clone(),
            by: by.clone(),
            uri: uri.to_owned(),
        }])
    }

    pub(super) fn set_metadata(
        &mut self,
        agent: &Agent,
        by: &Actor,
        key: &str,
        value: &Bytes,
    ) -> Done {
        self.check_may_manage(agent, by)?;
        self.check_metadata(key, value)?;
        Ok(vec![self.store_metadata(agent, key, value)?])
    }

    fn check_metadata(&self, key: &str, value: &Bytes) -> Result<(), Refusal> {
        if key == limits::RESERVED_METADATA_KEY {
            return Err(ErrorClass::ReservedKey); // R2
        }
        self.check_portable(key, limits::METADATA_KEY_MAX)?; // R17
        if self.chain == Chain::Svm && value.0.len() > limits::METADATA_VALUE_MAX {
            return Err(ErrorClass::LengthLimit); // R17
        }
        Ok(())
    }

    fn store_metadata(
        &mut self,
        agent: &Agent,
        key: &str,
        value: &Bytes,
    ) -> Result<Event, Refusal> {
        let metadata = &mut self.agent_mut(agent)?.metadata;
        metadata.insert(key.to_owned(), value.clone());
        Ok(Event::MetadataSet {
            agent: agent.clone(),
            key: key.to_owned(),
            value: value.clone(),
        })
    }

    /// R3: only the new wallet's own consent makes it the agent's, and only once on EVM.
    pub(super) fn set_agent_wallet(
        &mut self,
        agent: &Agent,
        by: &Actor,
        wallet: Option<&Actor>,
        consent: Option<&Consent>,
    ) -> Done {
        self.check_may_manage(agent, by)?;
        let wallet = wallet.ok_or(ErrorClass::WalletZero)?;
        let owner = self.agent(agent)?.owner.clone();
        if let (Chain::Evm, Some(consent)) = (self.chain, consent) {
            self.check_deadline(consent.deadline)?;
            let digest = (
                agent.clone(),
                wallet.clone(),
                owner.clone(),
                consent.deadline,
            );
            if self.approvals.consents.contains(&digest) {
                return Err(ErrorClass::WalletConsentUsed);
            }
        }
        // On Solana the owner, who signs the transaction, consents by that.
        let is_signed = self.chain == Chain::Svm && *wallet == owner;
        let fitting = consent
            .filter(|consent| consent.agent == *agent && consent.owner == owner)
            .filter(|consent| consent.wallet == *wallet && consent.signer == *wallet);
        if fitting.is_none() && !is_signed {
            return Err(ErrorClass::WalletConsentMissing);
        }
        if let Some(consent) = fitting {
            let digest = (agent.clone(), wallet.clone(), owner, consent.deadline);
            self.approvals.consents.insert(digest);
        }
        self.store_wallet(agent, Some(wallet))
    }

    fn check_deadline(&self, deadline: u64) -> Result<(), Refusal> {
        if deadline < self.state.time {
            return Err(ErrorClass::DeadlinePassed);
        }
        if deadline > self.state.time.saturating_add(limits::WALLET_DEADLINE_MAX) {
            return Err(ErrorClass::DeadlineTooFar);
        }
        Ok(())
    }

    pub(super) fn unset_agent_wallet(&mut self, agent: &Agent, by: &Actor) -> Done {
        self.check_may_manage(agent, by)?;
        self.store_wallet(agent, None)
    }

    fn store_wallet(&mut self, agent: &Agent, wallet: Option<&Actor>) -> Done {
        self.agent_mut(agent)?.wallet = wallet.cloned();
        Ok(vec![Event::AgentWalletSet {
            agent: agent.clone(),
            wallet: wallet.cloned(),
        }])
    }

    /// R4: a change of owner takes wallet, authority and schemes away. A transfer to oneself
    /// changes nothing, but ends an ERC-721 approval as every transfer does.
    pub(super) fn transfer(
        &mut self,
        agent: &Agent,
        by: &Actor,
        to: &Actor,
        into_mutable_account: bool,
    ) -> Done {
        let owner = self.agent(agent)?.owner.clone();
        if self.approvals.burned.contains(agent) || !self.may_transfer(agent, by, &owner) {
            return Err(ErrorClass::TransferNotAllowed);
        }
        if self.chain == Chain::Svm && into_mutable_account {
            return Err(ErrorClass::TransferRefused); // R4
        }
        self.approvals.approved.remove(agent);
        if owner == *to {
            return Ok(Vec::new());
        }
        self.approvals.authorities.remove(agent);
        self.approvals.schemes.remove(agent);
        self.agent_mut(agent)?.owner = to.clone();
        self.store_wallet(agent, None) // R3
    }

    /// Declared variance 7: the last owner stays on record.
    pub(super) fn burn(&mut self, agent: &Agent, by: &Actor) -> Done {
        if self.agent(agent)?.owner != *by || !self.approvals.burned.insert(agent.clone()) {
            return Err(ErrorClass::TransferNotAllowed);
        }
        Ok(Vec::new())
    }

    pub(super) fn approve(&mut self, agent: &Agent, by: &Actor, operator: Option<&Actor>) -> Done {
        let owner = self.agent(agent)?.owner.clone();
        if *by != owner && !self.is_operator(&owner, by) {
            return Err(ErrorClass::TransferNotAllowed);
        }
        match operator {
            Some(operator) => {
                let approved = &mut self.approvals.approved;
                approved.insert(agent.clone(), operator.clone());
            }
            None => {
                self.approvals.approved.remove(agent);
            }
        }
        Ok(Vec::new())
    }

    pub(super) fn set_operator(&mut self, by: &Actor, operator: &Actor, approved: bool) -> Done {
        let pair = (by.clone(), operator.clone());
        if approved {
            self.approvals.operators.insert(pair);
        } else {
            self.approvals.operators.remove(&pair);
        }
        Ok(Vec::new())
    }

    /// R7: whoever is named agrees. The owner, who asks, needs no other signature, and nobody is asked if nobody is named.
    pub(super) fn set_feedback_authority(
        &mut self,
        agent: &Agent,
        by: &Actor,
        authority: Option<&Actor>,
        consents: bool,
    ) -> Done {
        self.check_may_manage(agent, by)?;
        let owner = &self.agent(agent)?.owner;
        if authority.is_some_and(|named| named != owner) && !consents {
            return Err(ErrorClass::AuthorityConsentMissing);
        }
        match authority {
            Some(authority) => {
                let authorities = &mut self.approvals.authorities;
                authorities.insert(agent.clone(), authority.clone());
            }
            None => {
                self.approvals.authorities.remove(agent);
            }
        }
        Ok(Vec::new())
    }

    /// R10.
    pub(super) fn set_auth_schemes(&mut self, agent: &Agent, by: &Actor, schemes: u8) -> Done {
        self.check_may_manage(agent, by)?;
        if schemes == 0 || schemes > (X84 | BOUNDED) {
            return Err(ErrorClass::AuthSchemeUnknown);
        }
        self.approvals.schemes.insert(agent.clone(), schemes);
        Ok(Vec::new())
    }

    /// The owner. On EVM also an approved account (R2), on Solana no other (R4).
    pub(super) fn check_may_manage(&self, agent: &Agent, by: &Actor) -> Result<(), Refusal> {
        let owner = &self.agent(agent)?.owner;
        self.may_transfer(agent, by, owner)
            .then_some(())
            .ok_or(ErrorClass::NotAuthorized)
    }

    /// R18: who cannot review the agent.
    pub(super) fn check_is_no_insider(&self, agent: &Agent, by: &Actor) -> Result<(), Refusal> {
        let owner = &self.agent(agent)?.owner;
        let is_insider = self.may_transfer(agent, by, owner)
            || (self.chain == Chain::Svm && self.approvals.authorities.get(agent) == Some(by));
        (!is_insider).then_some(()).ok_or(ErrorClass::SelfFeedback)
    }

    /// R13: who is neither owner, authority nor wallet, so that what they pay can prove something.
    pub(super) fn is_stranger(&self, agent: &Agent, actor: &Actor) -> Result<bool, Refusal> {
        let wallet = self.agent(agent)?.wallet.as_ref();
        Ok(wallet != Some(actor) && self.check_is_no_insider(agent, actor).is_ok())
    }

    /// R7: the one key whose authorizations count. A feedback authority exists on Solana only.
    pub(super) fn authorization_signer<'a>(&'a self, agent: &Agent, owner: &'a Actor) -> &'a Actor {
        self.approvals.authorities.get(agent).unwrap_or(owner)
    }

    /// R10.
    pub(super) fn accepts_scheme(&self, agent: &Agent, scheme: u8) -> bool {
        self.approvals.schemes.get(agent).unwrap_or(&BOUNDED) & scheme != 0
    }

    /// Declared variance 6: approvals exist on EVM only, where alone they can be given.
    fn may_transfer(&self, agent: &Agent, by: &Actor, owner: &Actor) -> bool {
        by == owner || self.approvals.approved.get(agent) == Some(by) || self.is_operator(owner, by)
    }

    fn is_operator(&self, owner: &Actor, by: &Actor) -> bool {
        let pair = (owner.clone(), by.clone());
        self.approvals.operators.contains(&pair)
    }
}

/// What a generator of operations has to know.
impl Model {
    /// The key whose authorizations count (R7), where the agent is registered.
    pub fn signer_of<'a>(&'a self, agent: &Agent) -> Option<&'a Actor> {
        let owner = &self.state.agents.get(agent)?.owner;
        Some(self.authorization_signer(agent, owner))
    }

    /// May this actor not review the agent (R18)?
    pub fn is_insider(&self, agent: &Agent, actor: &Actor) -> bool {
        self.check_is_no_insider(agent, actor) == Err(ErrorClass::SelfFeedback)
    }

    /// Did this consent work before (R3)?
    pub fn has_used_consent(&self, consent: &Consent) -> bool {
        self.approvals.consents.contains(&(
            consent.agent.clone(),
            consent.wallet.clone(),
            consent.owner.clone(),
            consent.deadline,
        ))
    }
}
