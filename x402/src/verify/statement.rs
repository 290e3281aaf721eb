//! S9 and S10 for what an agent signs beside its paid responses.

use concord_canonical::{Word, sign::PublicKey};
use concord_files::{Algorithm, RegistrationId};

use super::{
    reads::{Payment, Reads},
    report::StepResult,
    signer::{Signed, check_signed},
};

/// A message that a key signed for an agent.
#[derive(Clone, Copy, Debug)]
pub struct AgentStatement<'a> {
    /// The agent.
    pub agent: &'a RegistrationId,
    /// The key, as stated.
    pub public_key: &'a PublicKey,
    /// The signature's algorithm, as stated.
    pub algorithm: Algorithm,
    /// 65 bytes for secp256k1, 64 for Ed25519; for a wallet that is a contract, what it takes (ERC-1271).
    pub signature: &'a [u8],
    /// What was signed.
    pub message: Word,
}

/// Checks that the key may sign for the agent at a time (R29, R30), and its signature. The agent and its file are read
/// as they are now, and once more before anything is refuted. `now`: unix seconds.
pub async fn verify_statement(
    statement: AgentStatement<'_>,
    now: u64,
    reads: Reads<'_>,
) -> [StepResult; 2] {
    let signed = Signed {
        agent: statement.agent,
        public_key: statement.public_key,
        algorithm: statement.algorithm,
        signature: statement.signature,
        message: Ok(statement.message),
    };
    // neither the time of signing nor a block is known without a payment
    let moment = Payment {
        succeeded: true,
        block: None,
        time: now,
        transfers: Vec::new(),
    };
    check_signed("", signed, &Some(Ok(Some(moment))), reads, None).await
}
