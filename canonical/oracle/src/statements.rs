//! Payment proofs, validation requests and wallet consents.
use super::{
    Answer,
    reply::{hex_json, hex_text},
    types::{EvmAddress, SolanaChain, SolanaKey, Uint256, Word},
};
use concord_canonical::{
    caip::{ChainId, TaskRef},
    payment, validation, wallet,
};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
pub(super) struct PaymentProof<'a> {
    agent_id: SolanaKey,
    payer: SolanaKey,
    payee: SolanaKey,
    token: SolanaKey,
    amount: u64,
    task_ref: &'a str,
    paid_at: u64,
    expiry: u64,
    chain_id: SolanaChain,
    program_id: SolanaKey,
    facilitator: SolanaKey,
}

impl PaymentProof<'_> {
    pub fn answer(&self) -> Answer {
        let proof = payment::PaymentProof {
            agent_mint: self.agent_id.0,
            payer: self.payer.0,
            payee: self.payee.0,
            token: self.token.0,
            amount: self.amount,
            task_ref_hash: TaskRef::parse(self.task_ref)?.dedupe_key().hash(),
            paid_at: self.paid_at,
            expiry: self.expiry,
            chain: self.chain_id.0,
            program_id: self.program_id.0,
            facilitator: self.facilitator.0,
        };
        Ok(json!({"message": hex_text(&proof.message())}))
    }
}

/// The namespace of the chain decides what ids and addresses are.
#[derive(Deserialize)]
#[serde(rename = "chain_id", rename_all = "lowercase")]
pub(super) enum ValidationRequestHash<'a> {
    Eip155 {
        chain_id: &'a str,
        registry: EvmAddress,
        agent_id: Uint256,
        validator: EvmAddress,
        payload_hash: Word,
        nonce: Uint256,
    },
    Solana {
        chain_id: &'a str,
        registry: SolanaKey,
        agent_id: SolanaKey,
        validator: SolanaKey,
        payload_hash: Word,
        nonce: Uint256,
    },
}

impl ValidationRequestHash<'_> {
    pub fn answer(&self) -> Answer {
        let request = match self {
            Self::Eip155 {
                chain_id,
                registry,
                agent_id,
                validator,
                payload_hash,
                nonce,
            } => validation::ValidationRequest::evm(
                ChainId::parse(chain_id)?.hash(),
                &registry.0,
                agent_id.0,
                &validator.0,
                payload_hash.0,
                nonce.0,
            ),
            Self::Solana {
                chain_id,
                registry,
                agent_id,
                validator,
                payload_hash,
                nonce,
            } => validation::ValidationRequest {
                chain: ChainId::parse(chain_id)?.hash(),
                registry: registry.0,
                agent: agent_id.0,
                validator: validator.0,
                payload_hash: payload_hash.0,
                nonce: nonce.0,
            },
        };
        Ok(hex_json(&request.hash()))
    }
}

#[derive(Deserialize)]
pub(super) struct AgentWalletSet {
    agent_id: Uint256,
    new_wallet: EvmAddress,
    owner: EvmAddress,
    deadline: Uint256,
    chain_id: Uint256,
    verifying_contract: EvmAddress,
}

impl AgentWalletSet {
    pub fn answer(&self) -> Answer {
        let consent = wallet::AgentWalletSet {
            agent_id: self.agent_id.0,
            new_wallet: self.new_wallet.0,
            owner: self.owner.0,
            deadline: self.deadline.0,
        };
        let digest = consent.digest(&self.chain_id.0, &self.verifying_contract.0);
        Ok(json!({"digest": hex_text(&digest)}))
    }
}
