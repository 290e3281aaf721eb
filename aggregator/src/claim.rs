use concord_canonical::{
    Error, Word,
    caip::{AccountId, EIP155, TaskRef, parse_evm_address, parse_solana_key},
    sign::{ed25519_verify, secp256k1_verify},
};
use concord_files::{Algorithm, Found, InteractionData};

/// What a submission claims: who served whom, for which payment, signed by both. It has no value, no tag
/// and no comment, so no decision that is made with it can depend on them (R53).
#[derive(Clone, Debug)]
pub struct Claim {
    /// What the agent signed.
    pub(crate) interaction: Found<InteractionData>,
    /// CAIP-10.
    pub(crate) reviewer: String,
    pub(crate) algorithm: Algorithm,
    /// The reviewer's, over `message`.
    pub(crate) signature: Vec<u8>,
    pub(crate) message: Word,
    pub(crate) key: String,
    pub(crate) digest: Word,
}

impl Claim {
    /// The submission's key: its payment (R51, R57).
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// keccak256 of the submission's RFC 8785 bytes (R57).
    #[must_use]
    pub fn digest(&self) -> &Word {
        &self.digest
    }

    /// The reviewer's account, CAIP-10.
    #[must_use]
    pub fn reviewer(&self) -> &str {
        &self.reviewer
    }

    /// The agent's id at its registry.
    pub(crate) fn agent_id(&self) -> &str {
        self.interaction.view.agent.agent_id.as_str()
    }

    /// The reviewer's account as the key has it: lower case for eip155 (R57).
    pub(crate) fn payer_account(&self) -> String {
        payer_account(&self.reviewer)
    }

    /// The reviewer's address on the payment chain.
    pub(crate) fn payer(&self) -> &str {
        self.reviewer.rsplit(':').next().unwrap_or_default()
    }

    /// Verifies the reviewer's signature.
    ///
    /// # Errors
    /// The canonical crate's, if it does not hold.
    pub fn verify_reviewer(&self) -> Result<(), Error> {
        verify_account(
            &self.reviewer,
            self.algorithm,
            &self.message,
            &self.signature,
        )
    }
}

/// Verifies a reviewer's signature over a message. `reviewer`: CAIP-10.
pub(crate) fn verify_account(
    reviewer: &str,
    algorithm: Algorithm,
    message: &Word,
    signature: &[u8],
) -> Result<(), Error> {
    let account = AccountId::parse(reviewer)?;
    let field = "reviewerAddress";
    match algorithm {
        Algorithm::Secp256k1 => {
            let address = parse_evm_address(field, account.address())?;
            secp256k1_verify(&address, message, signature)
        }
        Algorithm::Ed25519 => {
            let key = parse_solana_key(field, account.address())?;
            ed25519_verify(&key, message, signature)
        }
    }
}

/// A submission's key: its payment, and who paid (R51, R57).
pub(crate) fn payment_key(task_ref: &TaskRef, reviewer: &str) -> String {
    format!("{}:{}", task_ref.dedupe_key(), payer_account(reviewer))
}

/// R57: lower case for eip155.
pub(crate) fn payer_account(reviewer: &str) -> String {
    match reviewer.split_once(':') {
        Some((EIP155, _)) => reviewer.to_ascii_lowercase(),
        _ => reviewer.to_owned(),
    }
}
