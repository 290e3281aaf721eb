//! Open feedback, responses and validation at full length beside two compute-budget
//! instructions. litesvm does not enforce the limit, so these tests do.

use crate::{
    localnet::{
        open_feedback::{GiveOpenFeedback, OPEN_SUMMARY_PART, open_summary, revoke_open_feedback},
        responses::Respond,
        validation::{Answer, Request},
    },
    transaction_size::{LIMIT, size},
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;

#[track_caller]
fn assert_fits(name: &str, payer: &Keypair, instruction: Instruction) {
    let bytes = size(payer, 1, &[instruction]);
    println!("{name}: {bytes} bytes");
    assert!(bytes <= LIMIT);
}

#[test]
fn every_flow_fits_with_every_text_at_its_limit() {
    let (payer, mint) = (Keypair::new(), Address::from([7; 32]));
    let (me, client) = (payer.pubkey(), Address::from([8; 32]));
    let longest = GiveOpenFeedback::longest(&mint, &me);
    assert_fits("give_open_feedback", &payer, longest.instruction());
    let revoke = revoke_open_feedback(&me, &mint, 1);
    assert_fits("revoke_open_feedback", &payer, revoke);
    let respond = Respond {
        response_uri: vec![b'a'; 200],
        ..Respond::new(&me, &mint, &client)
    };
    assert_fits("append_response", &payer, respond.to_authorized());
    assert_fits("append_open_response", &payer, respond.to_open());
    let request = Request {
        uri: vec![b'a'; 200],
        ..Request::new(&me, &mint, &client)
    };
    assert_fits("validation_request", &payer, request.instruction());
    let answer = Answer {
        uri: vec![b'a'; 200],
        ..Answer::new(&me, &mint)
    };
    assert_fits("validation_response", &payer, answer.instruction());
}

#[test]
fn a_summary_fits_as_many_accounts_as_stated() {
    // What does not fit goes into further transactions, whose parts add up; a client with more
    // entries than these needs a v0 transaction with a lookup table.
    let (payer, mint) = (Keypair::new(), Address::from([7; 32]));
    let tag = "t".repeat(32);
    let bytes = |clients: &[(Address, u64)]| {
        let instruction = open_summary(OPEN_SUMMARY_PART, &mint, clients, &tag, &tag);
        size(&payer, 1, &[instruction])
    };
    let many = |count: u8| {
        let client = |i| (Address::from([i + 20; 32]), 1);
        (0..count).map(client).collect::<Vec<_>>()
    };
    println!("open_summary, 9 clients: {} bytes", bytes(&many(9)));
    assert!(bytes(&many(9)) <= LIMIT && bytes(&many(10)) > LIMIT);
    let one = |entries| [(Address::from([20; 32]), entries)];
    println!("open_summary, 25 entries: {} bytes", bytes(&one(25)));
    assert!(bytes(&one(25)) <= LIMIT && bytes(&one(26)) > LIMIT);
}
