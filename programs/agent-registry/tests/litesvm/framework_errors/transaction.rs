//! The precompile beside the program, and the cluster before any instruction.

use super::{Case, Framework::*, Named, Numbered, Stage, case, check};
use crate::localnet::{
    Sent,
    authorization::Authorization,
    instructions::GiveFeedback,
    open_feedback::{OPEN_SUMMARY, open_summary},
    token_2022::create_associated,
};
use solana_keypair::Keypair;
use solana_message::Message;
use solana_signer::Signer;
use solana_transaction::Transaction;

/// The stranger's authorized feedback, with `change` made to the precompile's data.
fn give(stage: &mut Stage, change: impl FnOnce(&mut Vec<u8>)) -> Sent {
    let feedback = GiveFeedback::new(&stage.agent.mint, &stage.stranger.pubkey());
    let authorization = Authorization::of(&feedback, &stage.owner());
    let mut call = authorization.signed_by(&stage.agent.owner);
    change(&mut call.data);
    stage
        .net
        .send(&[&stage.stranger], &[call, feedback.instruction()])
}

pub const PRECOMPILE: &[Case] = &[
    case(
        |stage| give(stage, |data| data[16..48].fill(2)), // on no point of the curve
        Numbered(Ed25519, 0),                             // InvalidPublicKey
        "AuthNotGranted",
    ),
    case(
        |stage| give(stage, |data| data[48] ^= 1),
        Numbered(Ed25519, 2), // InvalidSignature
        "AuthNotGranted",
    ),
    case(
        |stage| give(stage, |data| data[6] = 0xF0), // the key beyond the end
        Numbered(Ed25519, 3),                       // InvalidDataOffsets
        "AuthMalformed",
    ),
    case(
        |stage| give(stage, |data| data.truncate(15)),
        Numbered(Ed25519, 4), // InvalidInstructionDataSize
        "AuthMalformed",
    ),
];

/// An own token account, paid by `payer`: a transaction that anybody may send.
fn open(stage: &Stage, payer: &Keypair) -> Transaction {
    let key = payer.pubkey();
    let create = create_associated(&key, &key, &stage.agent.mint);
    let message = Message::new(&[create], Some(&key));
    Transaction::new(&[payer], message, stage.net.svm.latest_blockhash())
}

fn send(stage: &mut Stage, transaction: Transaction) -> Sent {
    let sent = stage.net.svm.send_transaction(transaction);
    sent.map_err(Box::new)
}

/// What a new token account costs, and `rest`.
fn with_rest(stage: &mut Stage, rest: u64) -> Keypair {
    const FEE: u64 = 5000;
    let space = stage.net.account(&stage.full()).data.len();
    let rent = stage.net.svm.minimum_balance_for_rent_exemption(space);
    stage.poor(FEE + rent + rest)
}

pub const CLUSTER: &[Case] = &[
    case(
        |stage| {
            let nobody = stage.net.key();
            let transaction = open(stage, &nobody);
            send(stage, transaction)
        },
        Named("AccountNotFound"),
        "InsufficientLamports",
    ),
    case(
        |stage| {
            let payer = stage.poor(4999);
            let transaction = open(stage, &payer);
            send(stage, transaction)
        },
        Named("InsufficientFundsForFee"),
        "InsufficientLamports",
    ),
    case(
        |stage| {
            let payer = with_rest(stage, 1); // neither nothing nor its own rent
            let transaction = open(stage, &payer);
            send(stage, transaction)
        },
        Named("InsufficientFundsForRent"),
        "InsufficientLamports",
    ),
    case(
        |stage| {
            let mut transaction = open(stage, &stage.stranger);
            transaction.signatures[0] = Default::default();
            send(stage, transaction)
        },
        Named("SignatureFailure"),
        "TransactionNotAccepted",
    ),
    case(
        |stage| {
            let transaction = open(stage, &stage.stranger);
            stage.net.svm.expire_blockhash();
            send(stage, transaction)
        },
        Named("BlockhashNotFound"),
        "TransactionNotAccepted",
    ),
    case(
        |stage| {
            stage.net.svm.expire_blockhash();
            let transaction = open(stage, &stage.stranger);
            send(stage, transaction.clone()).unwrap();
            send(stage, transaction)
        },
        Named("AlreadyProcessed"),
        "TransactionNotAccepted",
    ),
    case(
        |stage| {
            // 70 entries beside their index, the payer, the mint and the program: 64 accounts fit
            let client = stage.stranger.pubkey();
            let summary = open_summary(OPEN_SUMMARY, &stage.agent.mint, &[(client, 70)], "", "");
            stage.by_stranger(summary)
        },
        Named("TooManyAccountLocks"),
        "TransactionNotAccepted",
    ),
];

#[test]
fn calls_of_the_precompile_fail_with_mapped_errors() {
    check(PRECOMPILE);
}

#[test]
fn transactions_that_never_run_fail_with_mapped_errors() {
    check(CLUSTER);
}
