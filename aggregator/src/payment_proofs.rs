//! The facilitator's half: it states that a payment settled (R13), for reviewers who want their authorized feedback
//! to count as verified. Everything it states was read from the chain first.

use std::sync::Arc;

use axum::{
    Router, body::Body, extract::State, http::StatusCode, response::Response, routing::post,
};
use concord_canonical::{
    Word,
    caip::{TaskRef, parse_solana_key},
    json::{Value, parse},
    word,
};
use concord_chain::{
    ChainError, Signer, Svm,
    svm::{Cluster, Commitment, ExecutedTx},
};
use concord_registry::svm::{
    Address, Program,
    accounts::{AccountType, AgentIdentity, Registry},
    instructions::Payment,
};
use concord_x402::{
    feedback::{PaidAgent, PaymentAttestation},
    verify::{Payments, Unavailable},
};
use serde_json::json;

use crate::{
    Code, Refusal,
    form::{malformed, member, text_of},
    http::{read, refused, respond},
    lane::now,
};

/// A facilitator for the agents of one program.
pub struct Facilitator {
    /// CAIP-2.
    pub network: String,
    /// A node of that cluster.
    pub cluster: Cluster,
    /// The program whose registry lists the key.
    pub program: Program,
    /// Reads transfers.
    pub payments: Arc<dyn Payments>,
    /// Signs the statements.
    pub key: Box<dyn Signer<Svm>>,
    /// The accounts that pay the fees of what this facilitator settles. It states nothing else.
    pub settlers: Vec<Address>,
    /// Seconds that a statement counts.
    pub validity: u64,
}

/// What a reviewer asks to be stated.
pub(crate) struct Request {
    pub registry: String,
    pub mint: Address,
    task_ref: String,
    /// Of the transaction, in base58.
    transaction: String,
    network: String,
    /// Of the task's reference.
    pub dedupe_key: String,
    task_ref_hash: Word,
    pub payer: Address,
    pub token: Address,
}

/// The route `POST /payment-proofs`, for the programs of these facilitators.
pub fn payment_proof_router(facilitators: impl Into<Arc<[Facilitator]>>) -> Router {
    let facilitators: Arc<[Facilitator]> = facilitators.into();
    Router::new()
        .route("/payment-proofs", post(prove))
        .with_state(facilitators)
}

async fn prove(State(facilitators): State<Arc<[Facilitator]>>, body: Body) -> Response {
    let proven = async {
        let request = Request::read(&read(body).await?)?;
        let mut all = facilitators.iter();
        let own = all.find(|it| it.registry() == request.registry);
        let own = own.ok_or_else(|| {
            let message = format!("no payment is proven for agents of {}", request.registry);
            Refusal::new(Code::UnknownAgent, "RegistryNotServed", message).of("agentRegistry")
        })?;
        own.prove(&request, now()).await
    };
    match proven.await {
        Ok(attestation) => respond(StatusCode::OK, &json!(attestation)),
        Err(refusal) => refused(&refusal),
    }
}

impl Request {
    pub fn read(body: &[u8]) -> Result<Self, Refusal> {
        let payload = parse(text_of(body)?)
            .map_err(|error| malformed("MalformedJson", format!("is not strict JSON: {error}")))?;
        let task_ref_text = member(&payload, "taskRef")?;
        let task_ref = TaskRef::parse(&task_ref_text)
            .map_err(|error| malformed(error.class().name(), error.to_string()).of("taskRef"))?;
        Ok(Self {
            registry: member(&payload, "agentRegistry")?,
            mint: key(&payload, "agentId")?,
            transaction: task_ref.transaction().to_owned(),
            network: task_ref.chain_id().to_string(),
            dedupe_key: task_ref.dedupe_key().to_string(),
            task_ref_hash: task_ref.dedupe_key().hash(),
            payer: key(&payload, "payer")?,
            token: key(&payload, "token")?,
            task_ref: task_ref_text.clone(),
        })
    }
}

fn key(payload: &Value<'_>, field: &'static str) -> Result<Address, Refusal> {
    let key = parse_solana_key(field, &member(payload, field)?);
    let key = key.map_err(|error| malformed(error.class().name(), error.to_string()).of(field))?;
    Ok(key.into())
}

impl Facilitator {
    /// The identity registry, CAIP-10.
    pub(crate) fn registry(&self) -> String {
        format!("{}:{}", self.network, self.program.id())
    }

    fn require_network(&self, request: &Request) -> Result<(), Refusal> {
        match request.network == self.network {
            true => Ok(()),
            false => {
                let message = format!("{} is not on {}", request.task_ref, self.network);
                Err(malformed("PaymentChainNotServed", message).of("taskRef"))
            }
        }
    }

    /// The agent of a payment that was settled here.
    pub(crate) async fn settled(&self, request: &Request) -> Result<AgentIdentity, Refusal> {
        self.require_network(request)?;
        let agent = self.agent(&request.mint).await?;
        self.require_settled_here(&request.transaction).await?;
        Ok(agent)
    }

    /// How many digits of a token's amounts follow the point.
    pub(crate) async fn decimals(&self, token: &Address) -> Result<u8, Refusal> {
        /// In a mint, after its authority and its supply: of SPL Token and of Token-2022.
        const DECIMALS: usize = 44;
        let mint = self.cluster.account(token).await.map_err(unavailable)?;
        let decimals = mint.and_then(|it| it.data.get(DECIMALS).copied());
        Ok(decimals.ok_or_else(|| Unavailable(format!("the mint {token} cannot be read")))?)
    }

    async fn prove(&self, request: &Request, now: u64) -> Result<PaymentAttestation, Refusal> {
        self.require_network(request)?;
        self.require_listed(&request.token).await?;
        let agent = self.agent(&request.mint).await?;
        self.require_settled_here(&request.transaction).await?;
        let (amount, paid_at) = self.paid(request, &agent).await?;
        require_payer(request, &agent)?;
        let payment = Payment {
            payer: request.payer,
            payee: agent.agent_wallet,
            token: request.token,
            amount,
            task_ref_hash: request.task_ref_hash,
            paid_at,
            expiry: now.saturating_add(self.validity),
            facilitator: self.key.address(),
        };
        let agent = PaidAgent {
            network: &self.network,
            program: self.program.id(),
            mint: request.mint,
        };
        let signed = PaymentAttestation::sign(&request.task_ref, payment, agent, &*self.key);
        let signed = signed.await;
        signed.map_err(|error| Refusal::new(Code::Unavailable, "NotSigned", error.to_string()))
    }

    async fn read<T: AccountType>(&self, address: &Address) -> Result<Option<T>, Refusal> {
        let account = self.cluster.account(address).await.map_err(unavailable)?;
        let Some(account) = account else {
            return Ok(None);
        };
        let found = self.program.find(&account.owner, &account.data);
        Ok(found.map_err(|error| Unavailable(error.to_string()))?)
    }

    /// Without both on its lists the program takes no proof.
    async fn require_listed(&self, token: &Address) -> Result<(), Refusal> {
        let registry: Option<Registry> = self.read(&self.program.registry()).await?;
        let (tokens, facilitators) =
            registry.map_or_else(Default::default, |it| (it.payment_tokens, it.facilitators));
        if !facilitators.contains(&self.key.address()) {
            let message = format!(
                "{} lists no facilitator {}",
                self.registry(),
                self.key.address()
            );
            return Err(Refusal::new(
                Code::Unavailable,
                "FacilitatorNotListed",
                message,
            ));
        }
        match tokens.contains(token) {
            true => Ok(()),
            false => {
                let message = format!("{} does not list the token {token}", self.registry());
                Err(malformed("TokenNotListed", message).of("token"))
            }
        }
    }

    async fn agent(&self, mint: &Address) -> Result<AgentIdentity, Refusal> {
        let agent = self.read(&self.program.agent(mint)).await?;
        agent.ok_or_else(|| {
            let message = format!("{} has no agent {mint}", self.registry());
            Refusal::new(Code::UnknownAgent, "AgentNotFound", message).of("agentId")
        })
    }

    /// It succeeded, it stays, and one of our accounts paid its fee.
    async fn require_settled_here(&self, transaction: &str) -> Result<(), Refusal> {
        let statuses = self.cluster.statuses(&[transaction]).await;
        let status = statuses.map_err(unavailable)?.into_iter().flatten().next();
        let status = status.filter(|it| it.err.is_null()).ok_or_else(|| {
            let message = format!("{transaction} is not on {}, or failed", self.network);
            malformed("PaymentNotFound", message).of("taskRef")
        })?;
        if status.confirmation_status != Some(Commitment::Finalized) {
            let message = format!("{transaction} is not final yet");
            return Err(Refusal::new(Code::Unavailable, "NotFinal", message));
        }
        let executed = self.cluster.transaction(transaction).await;
        let payer = executed.map_err(unavailable)?.as_ref().and_then(fee_payer);
        let payer = payer.ok_or_else(|| Unavailable(format!("{transaction} cannot be read")))?;
        match self.settlers.contains(&payer) {
            true => Ok(()),
            false => {
                let message = format!("{transaction} was settled by {payer}, not here");
                Err(malformed("NotSettledHere", message).of("taskRef"))
            }
        }
    }

    /// What the payer paid to the agent's wallet, and when. R32: other payments of the transaction do not count.
    pub(crate) async fn paid(
        &self,
        request: &Request,
        agent: &AgentIdentity,
    ) -> Result<(u64, u64), Refusal> {
        let payment = self.payments.payment(&request.task_ref).await?;
        let payment = payment.ok_or_else(|| Unavailable("the transaction is gone".to_owned()))?;
        let [payer, token, wallet] =
            [request.payer, request.token, agent.agent_wallet].map(|it| it.to_string());
        let own = payment
            .transfers
            .iter()
            .filter(|it| (&it.from, &it.asset, &it.to) == (&payer, &token, &wallet));
        // amounts of SPL tokens have 64 bits
        let amounts = own.map(|it| word::to_u64(&it.amount).map(u128::from));
        let amount = amounts.sum::<Option<u128>>();
        let amount = amount.and_then(|it| u64::try_from(it).ok());
        let amount = amount.filter(|it| *it > 0);
        let amount = amount.ok_or_else(|| {
            let message = format!("{payer} paid the agent's wallet {wallet} no {token}");
            malformed("PaymentMismatch", message).of("taskRef")
        })?;
        // R13: whose wallet it was then. A cluster keeps no earlier state, so nothing may have changed since.
        match u64::try_from(agent.updated_at).unwrap_or(0) < payment.time {
            true => Ok((amount, payment.time)),
            false => {
                let message = "the agent changed after the payment: its wallet then is not known";
                Err(malformed("AgentChanged", message).of("taskRef"))
            }
        }
    }
}

/// R13: the program refuses these.
pub(crate) fn require_payer(request: &Request, agent: &AgentIdentity) -> Result<(), Refusal> {
    let own = [agent.owner, agent.agent_wallet, agent.feedback_authority];
    match own.contains(&request.payer) {
        false => Ok(()),
        true => {
            let message = format!("{} acts for the agent (R13)", request.payer);
            Err(malformed("SelfFeedback", message).of("payer"))
        }
    }
}

fn fee_payer(executed: &ExecutedTx) -> Option<Address> {
    let transaction = executed.decode()?;
    transaction.message.static_account_keys().first().copied()
}

fn unavailable(error: ChainError) -> Refusal {
    Unavailable::from(error).into()
}
