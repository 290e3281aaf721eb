//! Every instruction of the program, for addresses and plain arguments.
//!
//! The second account of every instruction that creates accounts is the payer, who signs and is
//! writable. It is the acting account, unless [`sponsored`] names another. The instructions that change something
//! end with the event authority and the program itself, for the event's self-CPI.
mod authorized;
mod discriminators;
mod identity;
mod open;
mod registry;
mod validation;

pub use authorized::{AttachPaymentProof, FeedbackAuthorization, GiveFeedback, Payment};
pub use identity::Consent;
pub use open::{ClientEntries, GiveOpenFeedback, SUMMARY_ACCOUNTS_MAX, accounts_of_summary};
pub use validation::{RequestValidation, RespondToValidation};

use super::Program;
use alloc::vec::Vec;
use borsh::BorshSerialize;
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};

/// A response to a feedback, of either profile (R19).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppendResponse<'a> {
    /// Whose feedback it is.
    pub client: Address,
    /// The 1-based index of the feedback.
    pub index: u64,
    /// At most 200 bytes (R17), not empty.
    pub uri: &'a str,
    /// Hash of the response file; opaque (R21).
    pub hash: [u8; 32],
}

pub(super) const fn signer(address: Address) -> AccountMeta {
    AccountMeta {
        pubkey: address,
        is_signer: true,
        is_writable: false,
    }
}

pub(super) const fn signer_writable(address: Address) -> AccountMeta {
    AccountMeta {
        pubkey: address,
        is_signer: true,
        is_writable: true,
    }
}

pub(super) const fn writable(address: Address) -> AccountMeta {
    AccountMeta {
        pubkey: address,
        is_signer: false,
        is_writable: true,
    }
}

pub(super) const fn readonly(address: Address) -> AccountMeta {
    AccountMeta {
        pubkey: address,
        is_signer: false,
        is_writable: false,
    }
}

/// `instruction` with its rent paid by `payer`, who signs too (R12). `None` if it creates no accounts,
/// and so has no payer. Not for a registration, whose payer is part of the agent's id (R4).
pub fn sponsored(mut instruction: Instruction, payer: Address) -> Option<Instruction> {
    let place = instruction.accounts.get_mut(1)?;
    if !(place.is_signer && place.is_writable) {
        return None;
    }
    place.pubkey = payer;
    Some(instruction)
}

impl Program {
    fn instruction(
        &self,
        discriminator: [u8; 8],
        accounts: Vec<AccountMeta>,
        arguments: &impl BorshSerialize,
    ) -> Instruction {
        let mut data = discriminator.to_vec();
        arguments
            .serialize(&mut data)
            .expect("a Vec takes every byte");
        Instruction {
            program_id: self.id(),
            accounts,
            data,
        }
    }

    /// An instruction that emits events needs two more accounts.
    fn emitting(
        &self,
        discriminator: [u8; 8],
        accounts: &[AccountMeta],
        arguments: &impl BorshSerialize,
    ) -> Instruction {
        let of_events = [readonly(self.event_authority()), readonly(self.id())];
        self.instruction(discriminator, [accounts, &of_events].concat(), arguments)
    }
}
