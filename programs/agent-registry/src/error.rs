//! Every refusal of the program. Codes count from 6000 in this order and are append-only:
//! clients and the error classes of `concord-canonical` rely on them.
use anchor_lang::{error::Source, prelude::*};
use std::panic::Location;

/// A broken rule as Anchor's error, with the place of the check. Out of line: what it takes to
/// name and describe an error would otherwise be compiled anew at each check.
#[cold]
#[inline(never)]
#[track_caller]
pub fn refusal(broken: ConcordError) -> Error {
    let place = Location::caller();
    Error::from(broken).with_source(Source {
        filename: place.file(),
        line: place.line(),
    })
}

/// The refusal of an account in place of the one that the instruction derives.
#[cold]
#[inline(never)]
pub fn account_mismatch() -> Error {
    ConcordError::AccountMismatch.into()
}

/// Anchor's `require!` for a variant of [`ConcordError`], but out of line: see [`refusal`].
macro_rules! require {
    ($rule:expr, $broken:ident $(,)?) => {
        if !$rule {
            return Err($crate::error::refusal($crate::ConcordError::$broken));
        }
    };
}

pub(crate) use require;

#[error_code]
#[derive(PartialEq, Eq)]
pub enum ConcordError {
    #[msg("score is above 100")]
    ScoreOutOfRange,
    #[msg("no agent is registered under this mint")]
    AgentNotFound,
    #[msg("the agent's owner and its feedback authority cannot review it")]
    SelfFeedback,
    #[msg("text is over its portable limit of bytes, or contains NUL")]
    LengthLimit,
    #[msg("feedback_index is not the reviewer's last index plus one")]
    FeedbackIndexStale,
    #[msg("no Ed25519 precompile instruction stands directly before this one")]
    AuthMissing,
    #[msg("the Ed25519 instruction does not have the one accepted layout")]
    AuthMalformed,
    #[msg("the clock has reached the authorization's expiry")]
    AuthExpired,
    #[msg("the reviewer's last index has reached the authorization's index limit")]
    AuthIndexLimit,
    #[msg("the signer is not the agent's current authority")]
    AuthWrongSigner,
    #[msg("the signed message is not the authorization of this feedback")]
    AuthWrongMessage,
    #[msg("the reviewer has no feedback with this index for this agent")]
    FeedbackNotFound,
    #[msg("the feedback is revoked already")]
    AlreadyRevoked,
    #[msg("a counter is at its maximum")]
    CounterExhausted,
    #[msg("the caller may not do this")]
    NotAuthorized,
    #[msg("the transfer hook was called outside a transfer by Token-2022")]
    NotInTransfer,
    #[msg(
        "the receiving token account has no ImmutableOwner, or an extension besides MemoTransfer, CpiGuard and TransferHookAccount"
    )]
    TransferRefused,
    #[msg("only the program's upgrade authority can initialize the registry")]
    NotUpgradeAuthority,
    #[msg("the account to be created exists already")]
    AlreadyInitialized,
    #[msg("the chain id is not a CAIP-2 id of the solana namespace")]
    MalformedChainId,
    #[msg("an account is not the one that the instruction derives")]
    AccountMismatch,
    #[msg("the metadata key `agentWallet` is reserved")]
    ReservedKey,
    #[msg("the new wallet is the default key")]
    WalletZero,
    #[msg("the new wallet did not sign, or is writable without being the owner")]
    WalletConsentMissing,
    #[msg("auth_schemes names a scheme that does not exist, or none")]
    AuthSchemeUnknown,
    #[msg("the feedback has a payment proof already")]
    PaymentAlreadyProven,
    #[msg("the payment counted for another feedback")]
    PaymentSpent,
    #[msg(
        "the payer is not the reviewer, or the reviewer was the agent's owner, wallet or authority"
    )]
    PaymentWrongPayer,
    #[msg("the payment's time is later than the clock")]
    PaymentInFuture,
    #[msg("the token is not on the registry's list")]
    PaymentWrongToken,
    #[msg("the payment's amount is 0")]
    PaymentZeroAmount,
    #[msg("the facilitator is not on the registry's list")]
    PaymentWrongFacilitator,
    #[msg("a list of the registry would pass its limit")]
    ListTooLong,
    #[msg("value_decimals is above 18")]
    DecimalsOutOfRange,
    #[msg("the value's magnitude is above 1e38")]
    ValueOutOfRange,
    #[msg("the response URI is empty")]
    EmptyUri,
    #[msg("no clients are given")]
    EmptyClients,
    #[msg("an entry of a listed client is missing, or not in its place")]
    SummaryGap,
    #[msg("the validator is the default key")]
    ValidatorZero,
    #[msg("a validation request with this hash exists")]
    RequestExists,
    #[msg("another request shares the first 8 bytes of this hash")]
    RequestPrefixCollision,
    #[msg("no validation request has this hash")]
    RequestNotFound,
    #[msg("the caller is not the validator that the request names")]
    NotValidator,
    #[msg("the transaction's instructions are more than 65,535 bytes in their sysvar")]
    InstructionsTooLong,
    #[msg("a range names one client, and entries from 1 to that client's last")]
    SummaryRange,
    #[msg("the new feedback authority did not sign, or is writable without being the owner")]
    AuthorityConsentMissing,
}
