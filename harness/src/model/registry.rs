use super::{
    AcceptRegistryAuthority, Actor, Agent, AgentState, Approve, AttachPaymentProof, Burn, Bytes32,
    CanonicalState, Chain, Event, ListFacilitator, ListPaymentToken, OpenSummaryQuery, Operation,
    Outcome, Profile, ProposeRegistryAuthority, Register, Revocation, SetAgentUri, SetAgentWallet,
    SetAuthSchemes, SetFeedbackAuthority, SetMetadata, SetOperator, SummaryQuery, Tamper, Transfer,
    UnsetAgentWallet, ValidationRequest, identity::Approvals, payment::Payments,
};
use concord_canonical::ErrorClass;

/// A registry by the book.
///
/// This file routes operations to their rules, which stand in a file for each subject, in the
/// order of specification §3a.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) chain: Chain,
    pub(super) state: CanonicalState,
    pub(super) approvals: Approvals,
    pub(super) payments: Payments,
}

/// Whoever says what a registry must come to. The model, but in tests of those who ask it.
pub trait Referee: Send {
    /// As [`Model::apply`].
    fn apply(&mut self, operation: &Operation, now: u64) -> Outcome;

    /// As [`Model::state`].
    fn state(&self) -> &CanonicalState;

    /// What the state hashes to.
    fn digest(&self) -> Bytes32 {
        self.state().digest()
    }
}

impl Referee for Model {
    fn apply(&mut self, operation: &Operation, now: u64) -> Outcome {
        Self::apply(self, operation, now)
    }

    fn state(&self) -> &CanonicalState {
        Self::state(self)
    }
}

pub(super) type Refusal = ErrorClass;
pub(super) type Done = Result<Vec<Event>, Refusal>;

impl Model {
    /// An empty registry of a chain of this kind.
    pub fn new(chain: Chain) -> Self {
        Self {
            chain,
            state: CanonicalState::default(),
            approvals: Approvals::default(),
            payments: Payments::default(),
        }
    }

    pub fn state(&self) -> &CanonicalState {
        &self.state
    }

    /// Runs one operation at `now`, in seconds after the scenario's start. A refused operation
    /// changes nothing but the time; a read, or what the chain does not have, not even that.
    pub fn apply(&mut self, operation: &Operation, now: u64) -> Outcome {
        if operation.only_on().is_some_and(|only| only != self.chain) {
            return Outcome::unsupported();
        }
        if !operation.is_read() {
            self.state.time = now;
        }
        match operation {
            Operation::Summary(SummaryQuery { agent }) => Outcome::answered(self.summary(agent)),
            Operation::OpenSummary(OpenSummaryQuery {
                agent,
                clients,
                tag1,
                tag2,
            }) => self
                .open_summary(agent, clients, tag1, tag2)
                .map_or_else(Outcome::refused, Outcome::answered),
            operation => self
                .transact(operation)
                .map_or_else(Outcome::refused, Outcome::accepted),
        }
    }

    fn transact(&mut self, operation: &Operation) -> Done {
        match operation {
            Operation::Register(Register {
                agent,
                by,
                uri,
                metadata,
            }) => self.register(agent, by, uri, metadata),
            Operation::SetAgentUri(SetAgentUri { agent, by, uri }) => {
                self.set_agent_uri(agent, by, uri)
            }
            Operation::SetMetadata(SetMetadata {
                agent,
                by,
                key,
                value,
            }) => self.set_metadata(agent, by, key, value),
            Operation::SetAgentWallet(SetAgentWallet {
                agent,
                by,
                wallet,
                consent,
            }) => self.set_agent_wallet(agent, by, wallet.as_ref(), consent.as_ref()),
            Operation::UnsetAgentWallet(UnsetAgentWallet { agent, by }) => {
                self.unset_agent_wallet(agent, by)
            }
            Operation::Transfer(Transfer {
                agent,
                by,
                to,
                into_mutable_account,
            }) => self.transfer(agent, by, to, *into_mutable_account),
            Operation::Burn(Burn { agent, by }) => self.burn(agent, by),
            Operation::Approve(Approve {
                agent,
                by,
                operator,
            }) => self.approve(agent, by, operator.as_ref()),
            Operation::SetOperator(SetOperator {
                by,
                operator,
                approved,
            }) => self.set_operator(by, operator, *approved),
            Operation::SetFeedbackAuthority(SetFeedbackAuthority {
                agent,
                by,
                authority,
                consents,
            }) => self.set_feedback_authority(agent, by, authority.as_ref(), *consents),
            Operation::SetAuthSchemes(SetAuthSchemes { agent, by, schemes }) => {
                self.set_auth_schemes(agent, by, *schemes)
            }
            Operation::ListPaymentToken(ListPaymentToken { by, token, listed }) => {
                self.payments.list_token(by, token, *listed)
            }
            Operation::ListFacilitator(ListFacilitator {
                by,
                facilitator,
                listed,
            }) => self.payments.list_facilitator(by, facilitator, *listed),
            Operation::ProposeRegistryAuthority(ProposeRegistryAuthority { by, successor }) => {
                self.payments.propose_authority(by, successor)
            }
            Operation::AcceptRegistryAuthority(AcceptRegistryAuthority { by }) => {
                self.payments.accept_authority(by)
            }
            Operation::GiveFeedback(feedback) => self.give_feedback(feedback),
            Operation::RevokeFeedback(Revocation { agent, by, index }) => {
                self.revoke(Profile::Authorized, agent, by, *index)
            }
            Operation::AppendResponse(response) => {
                self.append_response(Profile::Authorized, response)
            }
            Operation::AttachPaymentProof(AttachPaymentProof {
                agent,
                by,
                client,
                index,
                payment,
            }) => self.attach_payment_proof(agent, by, client, *index, payment),
            Operation::GiveOpenFeedback(feedback) => self.give_open_feedback(feedback),
            Operation::RevokeOpenFeedback(Revocation { agent, by, index }) => {
                self.revoke(Profile::Open, agent, by, *index)
            }
            Operation::AppendOpenResponse(response) => {
                self.append_response(Profile::Open, response)
            }
            Operation::ValidationRequest(ValidationRequest {
                agent,
                by,
                validator,
                request,
                uri,
            }) => self.validation_request(agent, by, validator.as_ref(), request, uri),
            Operation::ValidationResponse(answer) => self.validation_response(answer),
            Operation::Summary(_) | Operation::OpenSummary(_) => Ok(Vec::new()),
        }
    }

    pub(super) fn agent(&self, agent: &Agent) -> Result<&AgentState, Refusal> {
        self.state
            .agents
            .get(agent)
            .ok_or(ErrorClass::AgentNotFound)
    }

    pub(super) fn agent_mut(&mut self, agent: &Agent) -> Result<&mut AgentState, Refusal> {
        self.state
            .agents
            .get_mut(agent)
            .ok_or(ErrorClass::AgentNotFound)
    }

    /// Declared variance 1: on Solana a signature that does not verify, or precompile data that
    /// ends too early, fails before the program is asked.
    pub(super) fn check_precompile(
        &self,
        signer: &Actor,
        tamper: Option<&Tamper>,
    ) -> Result<(), Refusal> {
        match (self.chain, tamper) {
            (Chain::Svm, Some(Tamper::Truncated)) => Err(ErrorClass::AuthMalformed),
            (Chain::Svm, Some(tamper)) if tamper.breaks_signature(signer) => {
                Err(ErrorClass::AuthNotGranted)
            }
            _ => Ok(()),
        }
    }

    /// R6, R11: was anything sent, and has it the one accepted form? On EVM a contract judges
    /// signatures of any length.
    pub(super) fn check_form(
        &self,
        signer: &Actor,
        tamper: Option<&Tamper>,
    ) -> Result<(), Refusal> {
        let takes_any_length = self.chain == Chain::Evm && signer.is_contract();
        match tamper {
            Some(Tamper::Empty) => Err(ErrorClass::AuthMissing),
            Some(Tamper::Truncated | Tamper::Extended) if takes_any_length => Ok(()),
            Some(Tamper::Truncated | Tamper::Extended | Tamper::Dirty) => {
                Err(ErrorClass::AuthMalformed)
            }
            _ => Ok(()),
        }
    }

    /// Declared variance 2: portable lengths (R17) bind on Solana only. In bytes of UTF-8.
    pub(super) fn check_portable(&self, text: &str, limit: usize) -> Result<(), Refusal> {
        let portable = text.len() <= limit && !text.contains('\0');
        if self.chain == Chain::Svm && !portable {
            return Err(ErrorClass::LengthLimit);
        }
        Ok(())
    }

    /// Declared variance 2: the explicit index (R12) exists on Solana only.
    pub(super) fn check_explicit_index(
        &self,
        given: Option<u64>,
        last_index: u64,
    ) -> Result<(), Refusal> {
        let stale = given.is_some_and(|index| Some(index) != last_index.checked_add(1));
        if self.chain == Chain::Svm && stale {
            return Err(ErrorClass::FeedbackIndexStale);
        }
        Ok(())
    }
}
