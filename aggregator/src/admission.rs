//! The checks of R52 that ask chains and files. They see a [`Claim`], which has no value, tag or comment
//! (R53).

use std::{collections::BTreeSet, sync::Arc};

use concord_canonical::caip::{AccountId, EIP155, TaskRef};
use concord_files::RegistrationId;
use concord_x402::verify::{
    AgentStatement, Payment, Payments, Reads, RegistrationFiles, Registries, State, StepResult,
    Transfer, Unavailable, verify_statement, verify_submission,
};

use crate::{AllowedAgents, Claim, Code, Insiders, Refusal, response::ResponseForm};

/// What submissions are checked against.
pub struct Admission {
    /// Identity registries.
    pub registries: Arc<dyn Registries>,
    /// Registration files.
    pub files: Arc<dyn RegistrationFiles>,
    /// Payments.
    pub payments: Arc<dyn Payments>,
    /// Who acts for an agent (R18).
    pub insiders: Arc<dyn Insiders>,
    /// The chains whose payments can be verified, CAIP-2.
    pub payment_chains: BTreeSet<String>,
    /// Whether payments on other chains are taken as they are stated (R54).
    pub takes_unchecked: bool,
    /// The tokens in which a payment counts, CAIP-10. No other token counts: its author can record any payment, one that
    /// nobody made.
    pub assets: Vec<String>,
    /// The identity registries that are served, CAIP-10, in the order of their lanes.
    pub served: Vec<String>,
    /// The agents that are served, if not all.
    pub agents: AllowedAgents,
}

/// A claim that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// The lane that submits it.
    pub lane: usize,
    /// Whether the payment was verified on its chain (R54).
    pub is_payment_checked: bool,
}

impl Admission {
    /// Checks a claim whose key is not known, in R52's order. `now`: unix seconds.
    ///
    /// # Errors
    /// [`Refusal`]. What cannot be read now is [`Code::Unavailable`] (R36).
    pub async fn check(&self, claim: &Claim, now: u64) -> Result<Admitted, Refusal> {
        claim.verify_reviewer().map_err(|error| {
            let class = error.class().name();
            let refusal = Refusal::new(Code::InvalidReviewerSignature, class, error.to_string());
            refusal.of("reviewerSignature")
        })?;
        let agent = &claim.interaction.view.agent;
        let lane = self.lane(agent, "interactionData.")?;
        self.require_agent(agent, "interactionData.").await?;
        let is_payment_checked = self.check_signer_and_payment(claim, now).await?;
        self.require_outsider(claim).await?;
        Ok(Admitted {
            lane,
            is_payment_checked,
        })
    }

    /// Checks an agent's response in the same order: the agent, its file and signer now, the signature. What it says
    /// is not read (R53).
    ///
    /// # Errors
    /// As [`Self::check`].
    pub async fn check_response(&self, form: &ResponseForm, now: u64) -> Result<(), Refusal> {
        let agent = &form.agent;
        self.lane(agent, "")?;
        self.require_agent(agent, "").await?;
        let statement = AgentStatement {
            agent,
            public_key: &form.public_key,
            algorithm: form.algorithm,
            signature: &form.signature,
            message: form.message,
        };
        for step in verify_statement(statement, now, self.reads()).await {
            require(&step, Code::InvalidAgentSignature, "agentSignature", true)?;
        }
        Ok(())
    }

    fn reads(&self) -> Reads<'_> {
        Reads {
            registries: &*self.registries,
            files: &*self.files,
            payments: &*self.payments,
        }
    }

    /// R54: only the registry that was signed. `parent`: of the members that name the agent.
    fn lane(&self, agent: &RegistrationId, parent: &str) -> Result<usize, Refusal> {
        let signed = &agent.agent_registry;
        let mut served = self.served.iter().enumerate();
        let served = served.find(|(_, it)| is_same_account(it, signed));
        let (lane, registry) = served.ok_or_else(|| {
            let message = format!("{signed} is not one of: {}", self.served.join(", "));
            let refusal = Refusal::new(Code::UnknownAgent, "RegistryNotServed", message);
            refusal.of(format!("{parent}agentRegistry"))
        })?;
        match self.agents.get(registry) {
            Some(agents) if !agents.contains(agent.agent_id.as_str()) => {
                let message = format!("this aggregator does not serve agent {}", agent.agent_id);
                let refusal = Refusal::new(Code::UnknownAgent, "AgentNotServed", message);
                Err(refusal.of(format!("{parent}agentId")))
            }
            _ => Ok(lane),
        }
    }

    async fn require_agent(&self, agent: &RegistrationId, parent: &str) -> Result<(), Refusal> {
        match self.registries.agent(agent, None).await? {
            Some(_) => Ok(()),
            None => {
                let (id, registry) = (&agent.agent_id, &agent.agent_registry);
                let message = format!("{registry} has no agent {id}");
                let refusal = Refusal::new(Code::UnknownAgent, "AgentNotFound", message);
                Err(refusal.of(format!("{parent}agentId")))
            }
        }
    }

    /// Returns whether the payment was verified on its chain.
    async fn check_signer_and_payment(&self, claim: &Claim, now: u64) -> Result<bool, Refusal> {
        let task_ref = &claim.interaction.view.signed.task_ref;
        let is_checked = self.is_payment_chain(task_ref);
        let payment = match is_checked {
            true => self.payments.payment(task_ref).await,
            false if self.takes_unchecked => Ok(Some(stated(now))),
            false => Ok(None),
        };
        let unavailable = payment.as_ref().err().cloned();
        let in_assets = |it| self.in_assets(task_ref, it);
        let payment = payment.map(|found| found.map(in_assets));
        let is_found = matches!(payment, Ok(Some(_)));
        let steps = verify_submission(&claim.interaction, claim.payer(), payment, self.reads());
        let [known, signed, paid] = steps.await;
        // R52: without the payment the agent was read as it is now, which refutes nothing
        if let Some(error) = unavailable {
            return Err(error.into());
        }
        for step in [&known, &signed] {
            require(
                step,
                Code::InvalidAgentSignature,
                "interactionData.agentSignature",
                is_found,
            )?;
        }
        if !is_checked && !self.takes_unchecked {
            return Err(self.other_payment_chain(task_ref));
        }
        if is_checked {
            require(&paid, Code::InvalidPayload, "interactionData.taskRef", true)?;
        }
        Ok(is_checked)
    }

    fn other_payment_chain(&self, task_ref: &str) -> Refusal {
        let chains: Vec<&str> = self.payment_chains.iter().map(|it| &**it).collect();
        let message = format!("{task_ref} is on none of: {}", chains.join(", "));
        let refusal = Refusal::new(Code::InvalidPayload, "PaymentChainNotServed", message);
        refusal.of("interactionData.taskRef")
    }

    /// The payment with the transfers that count.
    fn in_assets(&self, task_ref: &str, mut payment: Payment) -> Payment {
        let chain = TaskRef::parse(task_ref).map(|it| it.chain_id().to_string());
        let chain = chain.unwrap_or_default();
        let counts = |it: &Transfer| {
            let asset = format!("{chain}:{}", it.asset);
            let mut listed = self.assets.iter();
            listed.any(|listed| is_same_account(listed, &asset))
        };
        payment.transfers.retain(counts);
        payment
    }

    fn is_payment_chain(&self, task_ref: &str) -> bool {
        let chain = TaskRef::parse(task_ref).map(|it| it.chain_id().to_string());
        chain.is_ok_and(|it| self.payment_chains.contains(&it))
    }

    /// R18, of the account that submits: the registry would refuse its feedback, whatever it says. Any agent can
    /// bring that about and end it, so it is not a refusal (R53).
    ///
    /// # Errors
    /// [`Refusal`], always [`Code::Unavailable`].
    pub async fn require_client(&self, claim: &Claim, client: &str) -> Result<(), Refusal> {
        let agent = &claim.interaction.view.agent;
        if self.insiders.is_insider(agent, client).await? {
            let id = &agent.agent_id;
            let message = format!(
                "agent {id} made {client}, which submits here, one of its operators; \
                     the registry refuses its feedback meanwhile (R18)"
            );
            Err(Refusal::new(Code::Unavailable, "ClientIsInsider", message))
        } else {
            Ok(())
        }
    }

    /// R18
    async fn require_outsider(&self, claim: &Claim) -> Result<(), Refusal> {
        let agent = &claim.interaction.view.agent;
        if self.insiders.is_insider(agent, &claim.reviewer).await? {
            let message = format!("{} acts for the agent (R18)", claim.reviewer);
            let refusal = Refusal::new(Code::InvalidPayload, "SelfFeedback", message);
            Err(refusal.of("reviewerAddress"))
        } else {
            Ok(())
        }
    }
}

/// A payment that is not looked up: agent and signers are checked as of now (R54).
fn stated(now: u64) -> Payment {
    Payment {
        succeeded: true,
        block: None,
        time: now,
        transfers: Vec::new(),
    }
}

/// R36: only what is refuted is refused. `can_know`: without the payment's time a signer cannot be checked,
/// and the missing payment is the reason to give.
fn require(step: &StepResult, code: Code, field: &str, can_know: bool) -> Result<(), Refusal> {
    match step.state {
        State::Verified | State::Claimed => Ok(()),
        State::Refuted => {
            let class = step.class.map(|it| format!("{it:?}")).unwrap_or_default();
            Err(Refusal::new(code, &class, step.detail.clone()).of(field))
        }
        State::CannotCheck if can_know => Err(Unavailable(step.detail.clone()).into()),
        State::CannotCheck => Ok(()),
    }
}

/// Whether two CAIP-10 ids are the same account.
pub(crate) fn is_same_account(a: &str, b: &str) -> bool {
    let [Ok(first), Ok(second)] = [a, b].map(AccountId::parse) else {
        return false;
    };
    let chain = first.chain_id();
    chain == second.chain_id()
        && if chain.namespace() == EIP155 {
            first.address().eq_ignore_ascii_case(second.address())
        } else {
            first.address() == second.address()
        }
}
