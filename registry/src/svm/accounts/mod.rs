//! The program's accounts, decoded from what a cluster returns. Owner and discriminator are
//! checked; the fields have the names of the program's interface description.
mod agent;
mod feedback;
mod registry;
mod validation;

pub use agent::{AUTH_SCHEME_BOUNDED, AUTH_SCHEME_X84, AgentIdentity, MetadataEntry};
pub use feedback::{ClientIndex, FeedbackEntry, OpenClientIndex, OpenFeedback, SpentPayment};
pub use registry::{FACILITATORS_MAX, PAYMENT_TOKENS_MAX, Registry};
pub use validation::{ValidationRequest, ValidationResponse};

use super::Program;
use alloc::borrow::Cow;
use borsh::BorshDeserialize;
use core::iter::repeat_n;
use solana_address::Address;

/// Bytes of the list of accounts that Token-2022 passes to the transfer hook.
pub const EXTRA_ACCOUNT_METAS_SPACE: usize = 16 + 3 * 35;
/// The first 8 bytes of that list, and of each call of a transfer hook: sha256("spl-transfer-hook-interface:execute")[..8].
pub(super) const EXECUTE: [u8; 8] = [105, 37, 101, 197, 75, 251, 102, 26];

/// A type of account that the program writes.
pub trait AccountType: BorshDeserialize {
    /// The type's name in the program's interface description.
    const NAME: &'static str;
    /// The account's first 8 bytes: sha256("account:" ‖ name)[..8] (Anchor).
    const DISCRIMINATOR: [u8; 8];
    /// Bytes of the account; of one with texts or lists, the most it can have.
    const SPACE: usize;
    /// R12: bytes of the first layout. An account that has fewer than [`Self::SPACE`], and not fewer than these, reads
    /// as if zeros followed.
    const FIRST_LAYOUT: usize = Self::SPACE;
}

/// Why an account is not the one that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// Another program owns it.
    #[error("the account belongs to {owner}; expected the program {program}")]
    OtherOwner {
        /// Its owner.
        owner: Address,
        /// The program that was asked.
        program: Address,
    },
    /// It does not begin with the type's discriminator.
    #[error("the account is not of type {expected}: its first 8 bytes are another type's")]
    OtherType {
        /// The type that was asked for.
        expected: &'static str,
    },
    /// It begins with the type's discriminator, and its fields do not decode.
    #[error("the account of type {expected} does not decode in {length} bytes")]
    Malformed {
        /// The type that was asked for.
        expected: &'static str,
        /// Bytes of the account.
        length: usize,
    },
    /// It begins with no discriminator of the program.
    #[error("the account begins with {discriminator:?}, which is not a type of the program")]
    UnknownType {
        /// Its first 8 bytes; zeros in place of those that it lacks.
        discriminator: [u8; 8],
    },
}

/// An account of the program, of any type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Account {
    /// The registry.
    Registry(Registry),
    /// An agent.
    AgentIdentity(AgentIdentity),
    /// A metadata value of an agent.
    MetadataEntry(MetadataEntry),
    /// An authorized feedback.
    FeedbackEntry(FeedbackEntry),
    /// A client's last index in the authorized profile.
    ClientIndex(ClientIndex),
    /// An open feedback.
    OpenFeedback(OpenFeedback),
    /// A client's last index in the open profile.
    OpenClientIndex(OpenClientIndex),
    /// A validation request.
    ValidationRequest(ValidationRequest),
    /// A validation response.
    ValidationResponse(ValidationResponse),
    /// The marker of a payment that counted.
    SpentPayment(SpentPayment),
    /// The accounts of a mint's transfer hook.
    ExtraAccountMetas,
}

impl Program {
    /// Decodes an account as a `T`. What follows the fields is ignored: an account may be longer
    /// than its content.
    ///
    /// # Errors
    /// [`AccountError`]: another owner, another type, or fields that do not decode.
    pub fn decode<T: AccountType>(&self, owner: &Address, data: &[u8]) -> Result<T, AccountError> {
        self.check_owner(owner)?;
        let fields = data
            .strip_prefix(&T::DISCRIMINATOR)
            .ok_or(AccountError::OtherType { expected: T::NAME })?;
        let mut fields = Cow::Borrowed(fields);
        if (T::FIRST_LAYOUT..T::SPACE).contains(&data.len()) {
            let missing = repeat_n(0, T::SPACE - data.len());
            fields.to_mut().extend(missing); // R12
        }
        T::deserialize(&mut &fields[..]).map_err(|_| AccountError::Malformed {
            expected: T::NAME,
            length: data.len(),
        })
    }

    /// As [`Self::decode`]; `None` if the account holds no `T` of this program: an address to which
    /// someone sent lamports, or another account in its place.
    ///
    /// # Errors
    /// [`AccountError::Malformed`].
    pub fn find<T: AccountType>(
        &self,
        owner: &Address,
        data: &[u8],
    ) -> Result<Option<T>, AccountError> {
        match self.decode(owner, data) {
            Ok(account) => Ok(Some(account)),
            Err(AccountError::OtherOwner { .. } | AccountError::OtherType { .. }) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Decodes an account of whatever type it is.
    ///
    /// # Errors
    /// [`AccountError`]: another owner, no type of the program, or fields that do not decode.
    pub fn decode_any(&self, owner: &Address, data: &[u8]) -> Result<Account, AccountError> {
        self.check_owner(owner)?;
        macro_rules! first_of {
            ($($type:ident),+) => {
                $(if data.starts_with(&$type::DISCRIMINATOR) {
                    return self.decode(owner, data).map(Account::$type);
                })+
            };
        }
        first_of!(
            FeedbackEntry,
            OpenFeedback,
            AgentIdentity,
            MetadataEntry,
            ClientIndex,
            OpenClientIndex,
            ValidationRequest,
            ValidationResponse,
            SpentPayment,
            Registry
        );
        if data.starts_with(&EXECUTE) {
            return Ok(Account::ExtraAccountMetas);
        }
        let mut discriminator = [0; 8];
        for (byte, found) in discriminator.iter_mut().zip(data) {
            *byte = *found;
        }
        Err(AccountError::UnknownType { discriminator })
    }

    fn check_owner(&self, owner: &Address) -> Result<(), AccountError> {
        if *owner == self.id() {
            return Ok(());
        }
        Err(AccountError::OtherOwner {
            owner: *owner,
            program: self.id(),
        })
    }
}
