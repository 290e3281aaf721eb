//! The facilitator's half: it states that a payment settled (R13), for reviewers who want their authorized feedback
//! to count as verified. Everything it states was read from the chain first.

use std::sync::Arc;

use async_trait::async_trait;
use axum::{
    Router, body::Body, extract::State, http::StatusCode, response::Response, routing::post,
};
use concord_canonical::{caip::parse_solana_key, word};
use concord_chain::{
    ChainError, Signer, Svm,
    svm::{Cluster, Commitment, ExecutedTx},
};
use concord_registry::svm::{
    Address, Program,
    accounts::{AccountType, AgentIdentity, Registry},
    instructions::Payment,
    token::PaymentMint,
};
use concord_x402::{
    feedback::{PaidAgent, PaymentAttestation},
    verify::{Payments, Unavailable},
};
use serde_json::json;

use crate::{
    Code, Refusal,
    form::malformed,
    http::{read, refused, respond},
    lane::now,
    settler::{PaymentReport, Settler, failed, not_final},
    store::Settled,
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

/// What a reviewer asks to be stated, in the cluster's own types.
pub(crate) struct Request<'t> {
    report: &'t PaymentReport,
    mint: Address,
    payer: Address,
    token: Address,
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
        let report = PaymentReport::read(&read(body).await?)?;
        let registry = &report.agent.agent_registry;
        let mut all = facilitators.iter();
        let own = all.find(|it| it.registry() == *registry);
        let own = own.ok_or_else(|| {
            let message = format!("no payment is proven for agents of {registry}");
            Refusal::new(Code::UnknownAgent, "RegistryNotServed", message).of("agentRegistry")
        })?;
        own.prove(&Request::of(&report)?, now()).await
    };
    match proven.await {
        Ok(attestation) => respond(StatusCode::OK, &json!(attestation)),
        Err(refusal) => refused(&refusal),
    }
}

impl<'t> Request<'t> {
    fn of(report: &'t PaymentReport) -> Result<Self, Refusal> {
        Ok(Self {
            mint: key("agentId", report.agent.agent_id.as_str())?,
            payer: key("payer", &report.payer)?,
            token: key("token", &report.token)?,
            report,
        })
    }
}

fn key(field: &'static str, text: &str) -> Result<Address, Refusal> {
    let key = parse_solana_key(field, text);
    let key = key.map_err(|error| malformed(error.class().name(), error.to_string()).of(field))?;
    Ok(key.into())
}

#[async_trait]
impl Settler for Facilitator {
    fn registry(&self) -> String {
        format!("{}:{}", self.network, self.program.id())
    }

    async fn settled(&self, report: &PaymentReport) -> Result<Settled, Refusal> {
        report.require_network(&self.network)?;
        let request = Request::of(report)?;
        let agent = self.agent(&request.mint).await?;
        self.require_settled_here(&report.transaction).await?;
        let (amount, paid_at) = self.paid(&request, &agent).await?;
        require_payer(&request, &agent)?;
        let payer = format!("{}:{}", self.network, request.payer);
        Ok(Settled {
            key: format!("{}:{payer}", report.dedupe_key), // R32, R57
            agent: format!("{} {}", self.registry(), request.mint),
            payer,
            asset: format!("{}:{}", self.network, request.token),
            amount: amount.into(),
            decimals: self.decimals(&request.token).await?,
            paid_at,
        })
    }
}

impl Facilitator {
    /// How many digits of a token's amounts follow the point.
    async fn decimals(&self, token: &Address) -> Result<u8, Refusal> {
        let account = self.cluster.account(token).await.map_err(unavailable)?;
        let mint = account.and_then(|it| PaymentMint::read(&it.owner, &it.data));
        let mint = mint.ok_or_else(|| Unavailable(format!("the mint {token} cannot be read")))?;
        Ok(mint.decimals)
    }

    async fn prove(&self, request: &Request<'_>, now: u64) -> Result<PaymentAttestation, Refusal> {
        request.report.require_network(&self.network)?;
        self.require_listed(&request.token).await?;
        let agent = self.agent(&request.mint).await?;
        self.require_settled_here(&request.report.transaction)
            .await?;
        let (amount, paid_at) = self.paid(request, &agent).await?;
        require_payer(request, &agent)?;
        let payment = Payment {
            payer: request.payer,
            payee: agent.agent_wallet,
            token: request.token,
            amount,
            task_ref_hash: request.report.task_ref_hash,
            paid_at,
            expiry: now.saturating_add(self.validity),
            facilitator: self.key.address(),
        };
        let agent = PaidAgent {
            network: &self.network,
            program: self.program.id(),
            mint: request.mint,
        };
        let signed = PaymentAttestation::sign(&request.report.task_ref, payment, agent, &*self.key);
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
        let status = status.ok_or_else(|| {
            // R36: it may be on its way, or the node behind
            not_final(format!("{transaction} is not on {} yet", self.network))
        })?;
        if status.confirmation_status != Some(Commitment::Finalized) {
            return Err(not_final(format!("{transaction} is not final yet")));
        }
        if !status.err.is_null() {
            return Err(failed(format!("{transaction} failed on {}", self.network)));
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
    async fn paid(
        &self,
        request: &Request<'_>,
        agent: &AgentIdentity,
    ) -> Result<(u64, u64), Refusal> {
        let payment = self.payments.payment(&request.report.task_ref).await?;
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
fn require_payer(request: &Request<'_>, agent: &AgentIdentity) -> Result<(), Refusal> {
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
