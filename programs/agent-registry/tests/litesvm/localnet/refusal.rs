//! Who refused a transaction, and how.

use super::{
    Sent,
    instructions::system_program,
    token_2022::{self, associated_token_program},
};
use solana_address::Address;
use solana_instruction::error::InstructionError;
use solana_transaction::TransactionError;

pub const SCORE_OUT_OF_RANGE: u32 = 6000;
pub const AGENT_NOT_FOUND: u32 = 6001;
pub const SELF_FEEDBACK: u32 = 6002;
pub const LENGTH_LIMIT: u32 = 6003;
pub const FEEDBACK_INDEX_STALE: u32 = 6004;
pub const AUTH_MISSING: u32 = 6005;
pub const AUTH_MALFORMED: u32 = 6006;
pub const AUTH_EXPIRED: u32 = 6007;
pub const AUTH_INDEX_LIMIT: u32 = 6008;
pub const AUTH_WRONG_SIGNER: u32 = 6009;
pub const AUTH_WRONG_MESSAGE: u32 = 6010;
pub const FEEDBACK_NOT_FOUND: u32 = 6011;
pub const ALREADY_REVOKED: u32 = 6012;
pub const COUNTER_EXHAUSTED: u32 = 6013;
pub const NOT_AUTHORIZED: u32 = 6014;
pub const NOT_IN_TRANSFER: u32 = 6015;
pub const TRANSFER_REFUSED: u32 = 6016;
pub const NOT_UPGRADE_AUTHORITY: u32 = 6017;
pub const ALREADY_INITIALIZED: u32 = 6018;
pub const MALFORMED_CHAIN_ID: u32 = 6019;
pub const ACCOUNT_MISMATCH: u32 = 6020;
pub const RESERVED_KEY: u32 = 6021;
pub const WALLET_ZERO: u32 = 6022;
pub const WALLET_CONSENT_MISSING: u32 = 6023;
pub const AUTH_SCHEME_UNKNOWN: u32 = 6024;
pub const PAYMENT_ALREADY_PROVEN: u32 = 6025;
pub const PAYMENT_SPENT: u32 = 6026;
pub const PAYMENT_WRONG_PAYER: u32 = 6027;
pub const PAYMENT_IN_FUTURE: u32 = 6028;
pub const PAYMENT_WRONG_TOKEN: u32 = 6029;
pub const PAYMENT_ZERO_AMOUNT: u32 = 6030;
pub const PAYMENT_WRONG_FACILITATOR: u32 = 6031;
pub const LIST_TOO_LONG: u32 = 6032;
pub const DECIMALS_OUT_OF_RANGE: u32 = 6033;
pub const VALUE_OUT_OF_RANGE: u32 = 6034;
pub const EMPTY_URI: u32 = 6035;
pub const EMPTY_CLIENTS: u32 = 6036;
pub const SUMMARY_GAP: u32 = 6037;
pub const VALIDATOR_ZERO: u32 = 6038;
pub const REQUEST_EXISTS: u32 = 6039;
pub const REQUEST_PREFIX_COLLISION: u32 = 6040;
pub const REQUEST_NOT_FOUND: u32 = 6041;
pub const NOT_VALIDATOR: u32 = 6042;
pub const SUMMARY_RANGE: u32 = 6044;
pub const AUTHORITY_CONSENT_MISSING: u32 = 6045;

/// Anchor's, of an account that is not the program called for.
pub const INVALID_PROGRAM_ID: u32 = 3008;

/// What refuses another account in the place of `genuine`: Anchor, where a program is called for.
pub fn mismatch_of(genuine: &Address) -> u32 {
    let programs = [
        system_program(),
        token_2022::program(),
        associated_token_program(),
    ];
    if programs.contains(genuine) {
        INVALID_PROGRAM_ID
    } else {
        ACCOUNT_MISMATCH
    }
}

/// The failed instruction's place in the transaction, and its error.
pub fn refusal(sent: &Sent) -> (u8, InstructionError) {
    match sent {
        Ok(_) => panic!("the transaction was accepted"),
        Err(failed) => match &failed.err {
            TransactionError::InstructionError(index, error) => (*index, error.clone()),
            other => panic!("the transaction failed before any instruction: {other:?}"),
        },
    }
}

/// The instruction at `index` failed with the program's (or a callee's) error `code`; the ones
/// before it, such as the precompile, passed.
#[track_caller]
pub fn assert_refused(sent: &Sent, index: u8, code: u32) {
    assert_eq!(refusal(sent), (index, InstructionError::Custom(code)));
}
