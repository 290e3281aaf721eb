use std::sync::Arc;

use alloy::{
    primitives::{Address, B256, Bytes, U256},
    sol_types::SolCall,
};
use async_trait::async_trait;
use concord_canonical::caip::parse_evm_address;
use concord_chain::{
    ChainError,
    evm::{Confirmations, Node, view_request},
};
use concord_registry::evm::abi::IdentityRegistry as Identity;
use concord_x402::verify::{Payments, Unavailable};

use crate::{
    Code, Refusal,
    claim::payer_account,
    form::malformed,
    settler::{PaymentReport, Settler, failed, not_final},
    store::Settled,
};

mod erc20 {
    alloy::sol! {
        function decimals() external view returns (uint8);
    }
}

/// What an operator settles on an EVM chain. In x402's `exact` scheme the facilitator sends the transaction, so the chain says
/// who settled.
pub struct EvmSettler {
    /// CAIP-2.
    pub network: String,
    /// A node of that chain, with the states of past blocks.
    pub node: Node,
    /// The identity registry.
    pub identity: Address,
    /// Reads transfers.
    pub payments: Arc<dyn Payments>,
    /// The accounts that send what this operator settles.
    pub settlers: Vec<Address>,
    /// When a payment counts as final.
    pub confirmations: Confirmations,
}

/// What was reported, in the chain's own types.
struct Request<'t> {
    report: &'t PaymentReport,
    agent_id: U256,
    transaction: B256,
    payer: Address,
    token: Address,
}

/// What the chain said in the block of the payment.
struct AtPayment {
    wallet: Address,
    is_insider: bool,
    decimals: u8,
}

#[async_trait]
impl Settler for EvmSettler {
    fn registry(&self) -> String {
        format!("{}:{}", self.network, self.identity)
    }

    async fn settled(&self, report: &PaymentReport) -> Result<Settled, Refusal> {
        report.require_network(&self.network)?;
        let request = Request::of(report)?;
        let block = self.settled_in(&request).await?;
        let then = self.at_payment(&request, block).await?;
        if then.is_insider || then.wallet == request.payer {
            let message = format!("{} acts for the agent (R18)", request.payer);
            return Err(malformed("SelfFeedback", message).of("payer"));
        }
        let (amount, paid_at) = self.paid(&request, then.wallet).await?;
        let payer = payer_account(&format!("{}:{}", self.network, request.payer));
        Ok(Settled {
            key: format!("{}:{payer}", report.dedupe_key), // R32, R57
            agent: format!("{} {}", self.registry(), request.agent_id),
            payer,
            asset: format!("{}:{}", self.network, request.token),
            amount,
            decimals: then.decimals,
            paid_at,
        })
    }
}

impl<'t> Request<'t> {
    fn of(report: &'t PaymentReport) -> Result<Self, Refusal> {
        let address = |field: &'static str, text: &str| {
            let parsed = parse_evm_address(field, text).map(Address::from);
            parsed.map_err(|error| malformed(error.class().name(), error.to_string()).of(field))
        };
        let number = |field: &str| malformed("MalformedNumber", "is malformed").of(field);
        Ok(Self {
            agent_id: (report.agent.agent_id.as_str().parse()).map_err(|_| number("agentId"))?,
            transaction: report.transaction.parse().map_err(|_| number("taskRef"))?,
            payer: address("payer", &report.payer)?,
            token: address("token", &report.token)?,
            report,
        })
    }
}

impl EvmSettler {
    /// The block of the transaction: it succeeded, it stays, and one of our accounts sent it.
    async fn settled_in(&self, request: &Request<'_>) -> Result<u64, Refusal> {
        let hash = request.transaction;
        let receipt = self.node.receipt(hash).await.map_err(unavailable)?;
        let receipt = receipt.and_then(|it| Some((it.status(), it.from, it.block_number?)));
        let (succeeded, sender, block) = receipt.ok_or_else(|| {
            // R36: it may be on its way, or the node behind
            not_final(format!("{hash} is not on {} yet", self.network))
        })?;
        if !self.settlers.contains(&sender) {
            let message = format!("{hash} was settled by {sender}, not here");
            return Err(malformed("NotSettledHere", message).of("taskRef"));
        }
        let is_final = self.node.is_final(block, self.confirmations).await;
        if !is_final.map_err(unavailable)? {
            return Err(not_final(format!("{hash} is not final yet")));
        }
        match succeeded {
            true => Ok(block),
            // R36: until then it can still succeed in another block
            false => Err(failed(format!("{hash} failed on {}", self.network))),
        }
    }

    /// Reads the agent and the token as they were when it was paid (R27): an agent can change its wallet afterwards.
    async fn at_payment(&self, request: &Request<'_>, block: u64) -> Result<AtPayment, Refusal> {
        let (agent_id, spender) = (request.agent_id, request.payer);
        let calls = [
            view_request(self.identity, &Identity::ownerOfCall { tokenId: agent_id }),
            view_request(
                self.identity,
                &Identity::getAgentWalletCall { agentId: agent_id },
            ),
            view_request(
                self.identity,
                &Identity::isAuthorizedOrOwnerCall {
                    spender,
                    agentId: agent_id,
                },
            ),
            view_request(request.token, &erc20::decimalsCall {}),
        ];
        let answers = self.node.calls(&calls, block).await.map_err(unavailable)?;
        let [owner, wallet, insider, decimals] = &answers[..] else {
            return Err(Unavailable("the node gave too few answers".to_owned()).into());
        };
        if owner.is_err() {
            let message = format!("{} had no agent {agent_id} then", self.registry());
            let refusal = Refusal::new(Code::UnknownAgent, "AgentNotFound", message);
            return Err(refusal.of("agentId"));
        }
        let wallet = read::<Identity::getAgentWalletCall>("getAgentWallet", wallet)?;
        if wallet.is_zero() {
            let message = format!("agent {agent_id} had no wallet then (R27)");
            return Err(malformed("WalletUndeclared", message).of("agentId"));
        }
        Ok(AtPayment {
            wallet,
            is_insider: read::<Identity::isAuthorizedOrOwnerCall>("isAuthorizedOrOwner", insider)?,
            decimals: read::<erc20::decimalsCall>("decimals", decimals)?,
        })
    }

    /// What the payer paid to the wallet, and when. R32: other payments of the transaction do not count.
    async fn paid(&self, request: &Request<'_>, wallet: Address) -> Result<(u128, u64), Refusal> {
        let payment = self.payments.payment(&request.report.task_ref).await?;
        let payment = payment.ok_or_else(|| Unavailable("the transaction is gone".to_owned()))?;
        let is = |text: &str, address: Address| text.parse() == Ok(address);
        let own = payment.transfers.iter().filter(|it| {
            is(&it.from, request.payer) && is(&it.asset, request.token) && is(&it.to, wallet)
        });
        let mut amounts = own.map(|it| U256::from_be_bytes(it.amount));
        let amount = amounts.try_fold(U256::ZERO, U256::checked_add);
        let amount = amount.and_then(|it| u128::try_from(it).ok());
        let amount = amount.filter(|it| *it > 0).ok_or_else(|| {
            let Request { payer, token, .. } = request;
            let message = format!("{payer} paid the agent's wallet {wallet} no {token}");
            malformed("PaymentMismatch", message).of("taskRef")
        })?;
        Ok((amount, payment.time))
    }
}

fn read<C: SolCall>(name: &str, answer: &Result<Bytes, Bytes>) -> Result<C::Return, Refusal> {
    let decoded = answer.as_ref().ok();
    let decoded = decoded.and_then(|it| C::abi_decode_returns_validate(it).ok());
    Ok(decoded.ok_or_else(|| Unavailable(format!("{name} cannot be read")))?)
}

fn unavailable(error: ChainError) -> Refusal {
    Unavailable::from(error).into()
}
