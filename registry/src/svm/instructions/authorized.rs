use super::{AppendResponse, discriminators as d, readonly, signer, signer_writable, writable};
use crate::svm::{
    Program,
    programs::{INSTRUCTIONS_SYSVAR, SYSTEM},
};
use borsh::BorshSerialize;
use solana_address::Address;
use solana_instruction::Instruction;

/// The arguments of `give_feedback` about the authorization that the precompile verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, BorshSerialize)]
pub enum FeedbackAuthorization {
    /// The 56-byte message of R9.
    Bounded {
        /// Accepted while the client's last index is below it (R8).
        index_limit: u64,
        /// Accepted while the cluster's clock, in Unix seconds, is below it (R8).
        expiry: u64,
    },
    /// X84's 64-byte message, for an agent whose owner opted in (R10).
    X84,
}

/// An authorized feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GiveFeedback<'a> {
    /// The client's last index for this agent plus 1 (R12).
    pub index: u64,
    /// 0 to 100.
    pub score: u8,
    /// Opaque; by convention the padded or hashed form of a tag (R14).
    pub tag1: [u8; 32],
    /// As `tag1`.
    pub tag2: [u8; 32],
    /// At most 200 bytes (R17); in the event only.
    pub uri: &'a str,
    /// Hash of the feedback file; opaque (R21), in the event only.
    pub hash: [u8; 32],
    /// Which message the precompile verified.
    pub authorization: FeedbackAuthorization,
}

/// A payment as its facilitator states it (R13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, BorshSerialize)]
pub struct Payment {
    /// Who paid: the reviewer.
    pub payer: Address,
    /// Who was paid; by the facilitator's word, the agent's wallet at `paid_at`.
    pub payee: Address,
    /// The token's mint.
    pub token: Address,
    /// In the token's smallest unit.
    pub amount: u64,
    /// keccak256 of the task reference's dedupe key.
    pub task_ref_hash: [u8; 32],
    /// When the payment settled: Unix seconds, at most the cluster's clock.
    pub paid_at: u64,
    /// Unix seconds; the proof counts while the cluster's clock is below it.
    pub expiry: u64,
    /// Who signed the statement.
    pub facilitator: Address,
}

/// A payment proof for one feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttachPaymentProof {
    /// The client whose feedback it is. The program accepts the proof from no other account.
    pub reviewer: Address,
    /// The 1-based index of the feedback.
    pub index: u64,
    /// What the facilitator stated.
    pub payment: Payment,
}

impl Program {
    /// Gives authorized feedback about the agent (R5, R8 to R12). `reviewer` signs and pays. The
    /// precompile's instruction with the authorization goes directly before (R11).
    pub fn give_feedback(
        &self,
        reviewer: Address,
        mint: Address,
        feedback: &GiveFeedback<'_>,
    ) -> Instruction {
        let accounts = [
            signer(reviewer),
            signer_writable(reviewer),
            readonly(self.registry()),
            writable(self.agent(&mint)),
            readonly(mint),
            writable(self.client_index(&mint, &reviewer)),
            writable(self.feedback_entry(&mint, &reviewer, feedback.index)),
            readonly(INSTRUCTIONS_SYSVAR),
            readonly(SYSTEM),
        ];
        let arguments = (
            feedback.index,
            feedback.score,
            feedback.tag1,
            feedback.tag2,
            feedback.uri,
            feedback.hash,
            feedback.authorization,
        );
        self.emitting(d::GIVE_FEEDBACK, &accounts, &arguments)
    }

    /// Revokes the reviewer's own feedback. `reviewer` signs.
    pub fn revoke_feedback(&self, reviewer: Address, mint: Address, index: u64) -> Instruction {
        let accounts = [
            signer(reviewer),
            writable(self.agent(&mint)),
            readonly(mint),
            writable(self.feedback_entry(&mint, &reviewer, index)),
        ];
        self.emitting(d::REVOKE_FEEDBACK, &accounts, &index)
    }

    /// Responds to an authorized feedback (R19). `responder`, who may be anyone, signs.
    pub fn append_response(
        &self,
        responder: Address,
        mint: Address,
        response: &AppendResponse<'_>,
    ) -> Instruction {
        let entry = self.feedback_entry(&mint, &response.client, response.index);
        let accounts = [signer(responder), readonly(mint), writable(entry)];
        let arguments = (response.client, response.index, response.uri, response.hash);
        self.emitting(d::APPEND_RESPONSE, &accounts, &arguments)
    }

    /// Gives a feedback its payment proof (R13). `caller` signs and pays. The precompile's
    /// instruction with the facilitator's signature goes directly before (R11).
    pub fn attach_payment_proof(
        &self,
        caller: Address,
        mint: Address,
        proof: &AttachPaymentProof,
    ) -> Instruction {
        let accounts = [
            signer(caller),
            signer_writable(caller),
            readonly(proof.reviewer),
            readonly(self.registry()),
            writable(self.agent(&mint)),
            readonly(mint),
            writable(self.feedback_entry(&mint, &proof.reviewer, proof.index)),
            writable(self.spent_payment(&proof.payment.task_ref_hash, &proof.payment.payer)),
            readonly(INSTRUCTIONS_SYSVAR),
            readonly(SYSTEM),
        ];
        let arguments = (proof.index, proof.payment);
        self.emitting(d::ATTACH_PAYMENT_PROOF, &accounts, &arguments)
    }
}
