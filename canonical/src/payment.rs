//! The facilitator's statement that a payment for an agent's service settled (R13).

use crate::auth::prefixed;
use crate::{Word, hash, word};

/// First 24 bytes of the message that a facilitator signs (R13).
pub const PREFIX: &[u8; 24] = b"ERC8004/PAYMENT-PROOF/v2";

/// The eleven fields of a payment proof, in the order of the preimage (R13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaymentProof {
    /// The agent's mint.
    pub agent_mint: Word,
    /// Who paid: the reviewer.
    pub payer: Word,
    /// Who was paid: by the facilitator's word, the agent's wallet at the time of the payment.
    pub payee: Word,
    /// Mint of the token paid.
    pub token: Word,
    /// Amount in the token's smallest unit.
    pub amount: u64,
    /// keccak256 of the task reference's dedupe key.
    pub task_ref_hash: Word,
    /// When the payment settled: unix seconds, at most the chain's time.
    pub paid_at: u64,
    /// Unix seconds; the chain's time must be below this.
    pub expiry: u64,
    /// keccak256 of the chain's CAIP-2 text.
    pub chain: Word,
    /// The program that is the registry.
    pub program_id: Word,
    /// Who signs.
    pub facilitator: Word,
}

impl PaymentProof {
    /// The eleven 32-byte words.
    ///
    /// | offset | field |
    /// |---|---|
    /// | 0 | agent mint |
    /// | 32 | payer |
    /// | 64 | payee |
    /// | 96 | token mint |
    /// | 128 | amount, uint256 big-endian |
    /// | 160 | keccak256 of the dedupe key |
    /// | 192 | payment time, uint256 big-endian |
    /// | 224 | expiry, uint256 big-endian |
    /// | 256 | keccak256 of the CAIP-2 text |
    /// | 288 | program id |
    /// | 320 | facilitator |
    pub fn words(&self) -> [Word; 11] {
        [
            self.agent_mint,
            self.payer,
            self.payee,
            self.token,
            word::from_u64(self.amount),
            self.task_ref_hash,
            word::from_u64(self.paid_at),
            word::from_u64(self.expiry),
            self.chain,
            self.program_id,
            self.facilitator,
        ]
    }

    /// The 56 bytes that the facilitator signs with Ed25519.
    ///
    /// | offset | width | field |
    /// |---|---|---|
    /// | 0 | 24 | `"ERC8004/PAYMENT-PROOF/v2"`, ASCII |
    /// | 24 | 32 | keccak256 of the eleven words, 352 bytes |
    pub fn message(&self) -> [u8; 56] {
        prefixed(PREFIX, &hash::keccak256(self.words().as_flattened()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bytes, word};
    use std::vec::Vec;

    fn example() -> PaymentProof {
        PaymentProof {
            agent_mint: [1; 32],
            payer: [5; 32],
            payee: [6; 32],
            token: [7; 32],
            amount: 1_000_000,
            task_ref_hash: word("7c9fd599342b43bb684dc25ea11789b2a0b079a8f80ca75755d327552c93705f"),
            paid_at: 1_760_000_000,
            expiry: 1_900_000_000,
            chain: word("d29e4f51ca30c90e3b0bd295891ad4815ec081e851f67643faf3f32b4e67f68b"),
            program_id: [3; 32],
            facilitator: [8; 32],
        }
    }

    #[test]
    fn r13_message_equals_one_hashed_by_cast() {
        let message = bytes(
            "455243383030342f5041594d454e542d50524f4f462f7632\
             7e676d5b14463fb41fdcba1985ac5bf16c82d5caf22e580977c0eb5b07aa6a24",
        );
        assert_eq!(example().message().as_slice(), message);
    }

    #[test]
    fn r13_every_field_changes_the_message() {
        let (proof, other) = (example(), [9; 32]);
        let mut messages: Vec<_> = [
            proof,
            PaymentProof {
                agent_mint: other,
                ..proof
            },
            PaymentProof {
                payer: other,
                ..proof
            },
            PaymentProof {
                payee: other,
                ..proof
            },
            PaymentProof {
                token: other,
                ..proof
            },
            PaymentProof { amount: 9, ..proof },
            PaymentProof {
                task_ref_hash: other,
                ..proof
            },
            PaymentProof {
                paid_at: 9,
                ..proof
            },
            PaymentProof { expiry: 9, ..proof },
            PaymentProof {
                chain: other,
                ..proof
            },
            PaymentProof {
                program_id: other,
                ..proof
            },
            PaymentProof {
                facilitator: other,
                ..proof
            },
        ]
        .iter()
        .map(PaymentProof::message)
        .collect();
        messages.sort_unstable();
        messages.dedup();
        assert_eq!(messages.len(), 12);
    }
}
