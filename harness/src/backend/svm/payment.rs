//! A facilitator's statement of a payment (R13).
use super::{
    World,
    precompile::{self, Domain},
};
use crate::model::{Payment, ProofVersion};
use concord_canonical::{Word, caip::TaskRef, hash, payment::PaymentProof};
use concord_registry::svm::instructions;
use solana_instruction::Instruction;

/// The precompile instruction that goes before the proof; none where nothing is sent.
pub fn precompile(payment: &Payment, world: &World) -> Option<Instruction> {
    let tamper = payment.tamper.as_ref();
    let domain = Domain::named(tamper, world);
    let proof = PaymentProof {
        agent_mint: world.mint(&payment.agent).to_bytes(),
        payer: world.keys.actor(&payment.payer).to_bytes(),
        payee: world.keys.actor(&payment.payee).to_bytes(),
        token: world.keys.actor(&payment.token).to_bytes(),
        amount: payment.amount,
        task_ref_hash: task_ref_hash(&payment.task, world),
        paid_at: world.start.saturating_add(payment.paid_at),
        expiry: world.start.saturating_add(payment.expiry),
        chain: domain.chain,
        program_id: domain.program_id,
        facilitator: world.keys.actor(&payment.facilitator).to_bytes(),
    };
    let message = match payment.version {
        ProofVersion::V1 => first_version(&proof),
        ProofVersion::V2 => proof.message(),
    };
    precompile::instruction(&payment.facilitator, tamper, &message, world)
}

/// The message before the facilitator attested the payment's time: ten words, under another prefix.
fn first_version(proof: &PaymentProof) -> [u8; 56] {
    const PAID_AT: usize = 6;
    let mut words = proof.words().to_vec();
    words.remove(PAID_AT);
    let mut message = [0; 56];
    let (prefix, digest) = message.split_at_mut(24);
    prefix.copy_from_slice(b"ERC8004/PAYMENT-PROOF/v1");
    digest.copy_from_slice(&hash::keccak256(words.as_flattened()));
    message
}

/// Returns the instruction's argument for the payment.
pub fn claim(payment: &Payment, world: &World) -> instructions::Payment {
    instructions::Payment {
        payer: world.keys.actor(&payment.payer),
        payee: world.keys.actor(&payment.payee),
        token: world.keys.actor(&payment.token),
        amount: payment.amount,
        task_ref_hash: task_ref_hash(&payment.task, world),
        paid_at: world.start.saturating_add(payment.paid_at),
        expiry: world.start.saturating_add(payment.expiry),
        facilitator: world.keys.actor(&payment.facilitator),
    }
}

/// keccak256 of the dedupe key of the payment that `task` names: a Solana transaction, which
/// is named by its signature of 64 bytes.
pub(super) fn task_ref_hash(task: &str, world: &World) -> Word {
    let half = |kind| world.keys.bytes_of_scenario(kind, task);
    let signature = [half("payment r"), half("payment s")];
    let chain = &world.chain;
    let transaction = bs58::encode(signature.as_flattened()).into_string();
    TaskRef::parse(&format!("{chain}:{transaction}"))
        .expect("a chain id, and 64 bytes in base58")
        .dedupe_key()
        .hash()
}
