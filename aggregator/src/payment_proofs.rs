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
    verify::{AgentPlace, Payments, Unavailable, WalletThen},
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
        self.require_agent(&request.mint).await?;
        self.require_settled_here(&report.transaction).await?;
        let Paid {
            agent,
            amount,
            paid_at,
            ..
        } = self.paid(&request).await?;
        let operators = [agent.owner, agent.agent_wallet, agent.feedback_authority];
        if operators.contains(&request.payer) {
            return Err(own_payment(&request)); // R57
        }
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
        self.require_agent(&request.mint).await?;
        self.require_settled_here(&request.report.transaction)
            .await?;
        let paid = self.paid(request).await?;
        // R13: whether the reviewer acted for the agent when they gave the feedback is in the entry, which the program reads.
        // What its owner sets today voids nothing.
        if paid.payee == request.payer {
            return Err(own_payment(request));
        }
        let payment = Payment {
            payer: request.payer,
            payee: paid.payee,
            token: request.token,
            amount: paid.amount,
            task_ref_hash: request.report.task_ref_hash,
            paid_at: paid.paid_at,
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
        if tokens.contains(token) {
            Ok(())
        } else {
            let message = format!("{} does not list the token {token}", self.registry());
            Err(malformed("TokenNotListed", message).of("token"))
        }
    }

    async fn require_agent(&self, mint: &Address) -> Result<(), Refusal> {
        let agent: Option<AgentIdentity> = self.read(&self.program.agent(mint)).await?;
        match agent {
            Some(_) => Ok(()),
            None => Err(self.no_agent(mint)),
        }
    }

    fn no_agent(&self, mint: &Address) -> Refusal {
        let message = format!("{} has no agent {mint}", self.registry());
        Refusal::new(Code::UnknownAgent, "AgentNotFound", message).of("agentId")
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
        if self.settlers.contains(&payer) {
            Ok(())
        } else {
            let message = format!("{transaction} was settled by {payer}, not here");
            Err(malformed("NotSettledHere", message).of("taskRef"))
        }
    }

    /// What the payer paid to the wallet that the agent had then (R13). R32: other payments of the transaction do not count.
    async fn paid(&self, request: &Request<'_>) -> Result<Paid, Refusal> {
        let payment = self.payments.payment(&request.report.task_ref).await?;
        let payment = payment.ok_or_else(|| Unavailable("the transaction is gone".to_owned()))?;
        let place = AgentPlace {
            cluster: &self.cluster,
            network: &self.network,
            program: self.program,
            mint: request.mint,
        };
        let found = place.wallet_at(&request.report.transaction, &payment);
        let (agent, wallet) = match found.await? {
            Some((agent, WalletThen::Was(wallet))) => (agent, wallet),
            Some((_, WalletThen::NotKnown(why))) => {
                let message = format!("the agent's wallet at the payment is not known: {why}");
                return Err(malformed("AgentChanged", message).of("taskRef"));
            }
            None => return Err(self.no_agent(&request.mint)),
        };
        let mismatch = |message| malformed("PaymentMismatch", message).of("taskRef");
        let payee = wallet.ok_or_else(|| mismatch("the agent had no wallet".to_owned()))?;
        let [payer, token, wallet] = [request.payer, request.token, payee].map(|it| it.to_string());
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
            mismatch(format!(
                "{payer} paid the agent's wallet {wallet} no {token}"
            ))
        })?;
        Ok(Paid {
            agent,
            payee,
            amount,
            paid_at: payment.time,
        })
    }
}

/// A payment to an agent.
struct Paid {
    /// As it is now.
    agent: AgentIdentity,
    /// Its wallet at the payment.
    payee: Address,
    amount: u64,
    paid_at: u64,
}

fn own_payment(request: &Request<'_>) -> Refusal {
    let message = format!("{} acts for the agent (R13)", request.payer);
    malformed("SelfFeedback", message).of("payer")
}

fn fee_payer(executed: &ExecutedTx) -> Option<Address> {
    let transaction = executed.decode()?;
    transaction.message.static_account_keys().first().copied()
}

fn unavailable(error: ChainError) -> Refusal {
    Unavailable::from(error).into()
}
