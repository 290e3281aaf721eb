use concord_canonical::{
    Word,
    caip::{ChainId, TaskRef},
    payment::PaymentProof,
};
use concord_chain::{Signer, Svm};
use concord_registry::svm::{Address, instructions::Payment};
use serde::{Deserialize, Serialize};

use super::FeedbackError;

/// A facilitator's signed statement that a payment settled (R13), as it gives it to the payer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PaymentAttestation {
    /// The payment's reference.
    pub task_ref: String,
    /// Who was paid: the agent's wallet at the payment's time.
    pub payee: String,
    /// The token's mint.
    pub token: String,
    /// In the token's smallest unit, in decimal.
    pub amount: String,
    /// Unix seconds.
    pub paid_at: u64,
    /// Unix seconds; the statement counts before it.
    pub expiry: u64,
    /// Who signed.
    pub facilitator: String,
    /// Ed25519 over the 56 bytes of R13, hex with `0x`.
    pub signature: String,
}

/// A payment attestation that cannot be used: which field, what was found, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the payment attestation's {field} is {found}, expected {expected}")]
pub struct PaymentAttestationMalformed {
    field: &'static str,
    found: String,
    expected: String,
}

/// What the precompile verifies, and what the program is told.
pub(super) struct Attested {
    pub payment: Payment,
    pub message: [u8; 56],
    pub signature: [u8; 64],
}

/// The agent of a program that was paid.
#[derive(Clone, Copy, Debug)]
pub struct PaidAgent<'a> {
    /// The cluster, CAIP-2.
    pub network: &'a str,
    /// The program's address.
    pub program: Address,
    /// The agent's mint.
    pub mint: Address,
}

impl PaymentAttestation {
    /// States a payment; `key` is the facilitator's, whom the statement names.
    ///
    /// # Errors
    /// [`FeedbackError`] if the network is malformed, or the key does not sign.
    pub async fn sign(
        task_ref: &str,
        payment: Payment,
        agent: PaidAgent<'_>,
        key: &dyn Signer<Svm>,
    ) -> Result<Self, FeedbackError> {
        let payment = Payment {
            facilitator: key.address(),
            ..payment
        };
        let chain = ChainId::parse(agent.network)?.hash();
        let mut message = message(&payment, chain, agent.program, agent.mint);
        let signature = key.sign(&mut message).await?;
        Ok(Self {
            task_ref: task_ref.to_owned(),
            payee: payment.payee.to_string(),
            token: payment.token.to_string(),
            amount: payment.amount.to_string(),
            paid_at: payment.paid_at,
            expiry: payment.expiry,
            facilitator: payment.facilitator.to_string(),
            signature: format!("0x{}", hex::encode(signature.as_ref())),
        })
    }

    /// Requires that it is about a payment.
    ///
    /// # Errors
    /// [`PaymentAttestationMalformed`].
    pub fn require_task_ref(&self, task_ref: &str) -> Result<(), PaymentAttestationMalformed> {
        let key = |text: &str| TaskRef::parse(text).ok().map(|it| it.dedupe_key().hash());
        if key(&self.task_ref).is_some() && key(&self.task_ref) == key(task_ref) {
            Ok(())
        } else {
            Err(malformed("taskRef", &self.task_ref, task_ref))
        }
    }

    /// The statement about an agent of a program, with its signature checked.
    pub(super) fn read(
        &self,
        network: &str,
        program: Address,
        mint: Address,
        payer: Address,
    ) -> Result<Attested, PaymentAttestationMalformed> {
        let key = |field, text: &str| -> Result<Address, _> {
            text.parse()
                .map_err(|_| malformed(field, text, "an address in base58"))
        };
        let task_ref = TaskRef::parse(&self.task_ref);
        let task_ref = task_ref.map_err(|_| malformed("taskRef", &self.task_ref, "CAIP-220"))?;
        let amount = self.amount.parse();
        let payment = Payment {
            payer,
            payee: key("payee", &self.payee)?,
            token: key("token", &self.token)?,
            amount: amount.map_err(|_| malformed("amount", &self.amount, "a decimal uint64"))?,
            task_ref_hash: task_ref.dedupe_key().hash(),
            paid_at: self.paid_at,
            expiry: self.expiry,
            facilitator: key("facilitator", &self.facilitator)?,
        };
        let chain = ChainId::parse(network).map(|it| it.hash());
        let chain = chain.map_err(|_| malformed("chain", network, "CAIP-2"))?;
        let message = message(&payment, chain, program, mint);
        let signature = self.signature.strip_prefix("0x").map(hex::decode);
        let signature = signature.and_then(|it| it.ok()?.try_into().ok());
        let signature: [u8; 64] = signature
            .ok_or_else(|| malformed("signature", &self.signature, "0x and 64 bytes in hex"))?;
        let facilitator = payment.facilitator.as_array();
        concord_canonical::sign::ed25519_verify(facilitator, &message, &signature)
            .map_err(|error| malformed("signature", "refused", error.to_string()))?;
        Ok(Attested {
            payment,
            message,
            signature,
        })
    }
}

fn message(payment: &Payment, chain: Word, program: Address, mint: Address) -> [u8; 56] {
    PaymentProof {
        agent_mint: mint.to_bytes(),
        payer: payment.payer.to_bytes(),
        payee: payment.payee.to_bytes(),
        token: payment.token.to_bytes(),
        amount: payment.amount,
        task_ref_hash: payment.task_ref_hash,
        paid_at: payment.paid_at,
        expiry: payment.expiry,
        chain,
        program_id: program.to_bytes(),
        facilitator: payment.facilitator.to_bytes(),
    }
    .message()
}

fn malformed(
    field: &'static str,
    found: &str,
    expected: impl Into<String>,
) -> PaymentAttestationMalformed {
    PaymentAttestationMalformed {
        field,
        found: found.chars().take(100).collect(),
        expected: expected.into(),
    }
}
