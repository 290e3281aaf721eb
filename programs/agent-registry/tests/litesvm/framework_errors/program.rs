//! Calls of the program: Anchor's own errors, and those of the programs that it calls.

use super::{Case, Framework::*, Named, Numbered, Stage, case, check};
use crate::localnet::{
    CHAIN, Sent, URI,
    instructions::{
        GiveFeedback, event_authority, initialize, readonly, register_agent, signer, sponsored,
        writable,
    },
    open_feedback::GiveOpenFeedback,
    program_id, stranger_id,
};
use solana_instruction::{AccountMeta, Instruction};
use solana_signer::Signer;

/// Of an agent that is not registered.
const NEW_NONCE: u64 = 1 << 40;
const EVENT_TAG: [u8; 8] = 0x1d9a_cb51_2ea5_45e4_u64.to_le_bytes();

/// The stranger's first feedback, with `change` made to it.
fn give(stage: &mut Stage, change: impl FnOnce(&mut Instruction)) -> Sent {
    let feedback = GiveFeedback::new(&stage.agent.mint, &stage.stranger.pubkey());
    let mut instruction = feedback.instruction();
    change(&mut instruction);
    stage.by_stranger(instruction)
}

/// A new agent of the first one's owner, with `change` made to its registration. Somebody else
/// pays the fee, so that the owner need not be writable.
fn register(stage: &mut Stage, change: impl FnOnce(&mut Instruction)) -> Sent {
    let mut instruction = register_agent(&stage.owner(), NEW_NONCE, URI);
    change(&mut instruction);
    let signers = [&stage.stranger, &stage.agent.owner];
    stage.net.send(&signers, &[instruction])
}

/// An event of the program's, sent by a user.
fn pretended_event(stage: &mut Stage, accounts: Vec<AccountMeta>) -> Sent {
    stage.by_stranger(Instruction {
        program_id: program_id(),
        accounts,
        data: EVENT_TAG.to_vec(),
    })
}

/// The payer is a keypair's account that another program owns.
fn paid_by_anothers_account(stage: &mut Stage) -> Sent {
    let payer = stage.net.actor();
    let mut account = stage.net.account(&payer.pubkey());
    account.owner = stranger_id();
    stage.net.svm.set_account(payer.pubkey(), account).unwrap();
    let give = GiveOpenFeedback::new(&stage.agent.mint, &payer.pubkey());
    let signers = [&stage.stranger, &payer];
    stage.net.send(&signers, &[give.instruction()])
}

/// The default build under another address.
fn under_another_id(stage: &mut Stage) -> Sent {
    let id = stage.net.key().pubkey();
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../target/deploy/agent_registry.so"
    );
    stage.net.svm.add_program_from_file(id, file).unwrap();
    let mut instruction = initialize(&stage.stranger.pubkey(), CHAIN);
    instruction.program_id = id;
    stage.by_stranger(instruction)
}

pub const CASES: &[Case] = &[
    case(
        |stage| give(stage, |give| give.data = vec![9; 8]),
        Numbered(Anchor, 101), // InstructionFallbackNotFound
        "BadRequest",
    ),
    case(
        |stage| give(stage, |give| give.data.truncate(20)),
        Numbered(Anchor, 102), // InstructionDidNotDeserialize
        "BadRequest",
    ),
    case(
        |stage| register(stage, |register| register.accounts[1].is_writable = false),
        Numbered(Anchor, 2000), // ConstraintMut
        "AccountMismatch",
    ),
    case(
        |stage| pretended_event(stage, vec![readonly(event_authority())]),
        Numbered(Anchor, 2002), // ConstraintSigner
        "SignatureMissing",
    ),
    case(
        |stage| {
            let stranger = stage.stranger.pubkey();
            pretended_event(stage, vec![signer(stranger)])
        },
        Numbered(Anchor, 2006), // ConstraintSeeds
        "AccountMismatch",
    ),
    case(
        |stage| pretended_event(stage, vec![]),
        Named("NotEnoughAccountKeys"),
        "AccountMismatch",
    ),
    case(
        |stage| give(stage, |give| give.accounts.truncate(10)),
        Numbered(Anchor, 3005), // AccountNotEnoughKeys
        "AccountMismatch",
    ),
    case(
        |stage| {
            let anothers = readonly(stage.empty());
            register(stage, |register| register.accounts[8] = anothers)
        },
        Numbered(Anchor, 3008), // InvalidProgramId
        "AccountMismatch",
    ),
    case(
        |stage| {
            let feedback = GiveFeedback::new(&stage.agent.mint, &stage.owner());
            let mut give = sponsored(feedback.instruction(), &stage.stranger.pubkey());
            give.accounts[0].is_signer = false;
            stage.by_stranger(give)
        },
        Numbered(Anchor, 3010), // AccountNotSigner
        "SignatureMissing",
    ),
    case(
        under_another_id,
        Numbered(Anchor, 4100), // DeclaredProgramIdMismatch
        "ProgramIdMismatch",
    ),
    case(
        |stage| {
            let owner = stage.poor(2_000_000);
            let register = register_agent(&owner.pubkey(), NEW_NONCE, URI);
            stage.net.send(&[&owner], &[register])
        },
        Numbered(System, 1), // ResultWithNegativeLamports
        "InsufficientLamports",
    ),
    case(
        paid_by_anothers_account,
        Named("ExternalAccountLamportSpend"), // of the system program
        "AccountMismatch",
    ),
    case(
        |stage| {
            // who holds data cannot pay
            let payer = stage.net.actor();
            let mut account = stage.net.account(&payer.pubkey());
            account.data = vec![0];
            stage.net.svm.set_account(payer.pubkey(), account).unwrap();
            let feedback = GiveOpenFeedback::new(&stage.agent.mint, &stage.stranger.pubkey());
            let give = sponsored(feedback.instruction(), &payer.pubkey());
            stage.net.send(&[&stage.stranger, &payer], &[give])
        },
        Named("InvalidArgument"), // of the system program
        "AccountMismatch",
    ),
    case(
        |stage| {
            let anothers = stage.empty();
            register(stage, |register| register.accounts[4] = writable(anothers))
        },
        Named("InvalidSeeds"), // of the associated token program
        "AccountMismatch",
    ),
];

#[test]
fn calls_of_the_program_fail_with_mapped_errors() {
    check(CASES);
}
