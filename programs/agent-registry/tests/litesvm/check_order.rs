//! SPEC 3a: where a call breaks two rules, the first in this order is reported.

use crate::localnet::{
    Agent, Localnet,
    authorization::{Authorization, call, precompile},
    instructions::{GiveFeedback, revoke_feedback},
    refusal::*,
};
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;

/// One call of `give_feedback`, to be broken in as many ways as wanted.
struct Call {
    feedback: GiveFeedback,
    signer: Keypair,
    sender: Keypair,
    has_precompile: bool,
    trailing_byte: bool,
    sign_another_message: bool,
}

type Break = (u32, fn(&mut Call, &Agent));

/// Every rule a client can break, in the order of SPEC 3a.
const BREAKS: [Break; 11] = [
    (SCORE_OUT_OF_RANGE, |call, _| call.feedback.score = 101),
    (AGENT_NOT_FOUND, |call, _| {
        call.feedback.mint = [5; 32].into()
    }),
    (SELF_FEEDBACK, |call, agent| {
        call.sender = agent.owner.insecure_clone();
        call.feedback.client = agent.owner.pubkey();
    }),
    (LENGTH_LIMIT, |call, _| {
        call.feedback.detail_uri = vec![b'a'; 201]
    }),
    (FEEDBACK_INDEX_STALE, |call, _| {
        call.feedback.feedback_index = 7
    }),
    (AUTH_MISSING, |call, _| call.has_precompile = false),
    (AUTH_MALFORMED, |call, _| call.trailing_byte = true),
    (AUTH_EXPIRED, |call, _| call.feedback.expiry = 0),
    (AUTH_INDEX_LIMIT, |call, _| call.feedback.index_limit = 0),
    (AUTH_WRONG_SIGNER, |call, _| {
        call.signer = Keypair::new_from_array([3; 32])
    }),
    (AUTH_WRONG_MESSAGE, |call, _| {
        call.sign_another_message = true
    }),
];

impl Call {
    fn instructions(&self) -> Vec<Instruction> {
        let mut message = Authorization::of(&self.feedback, &self.signer.pubkey()).message();
        if self.sign_another_message {
            message[30] ^= 1;
        }
        let mut data = call(&self.signer, &message);
        if self.trailing_byte {
            data.push(0);
        }
        let give = self.feedback.instruction();
        if self.has_precompile {
            vec![precompile(data), give]
        } else {
            vec![give]
        }
    }
}

#[test]
fn give_feedback_reports_the_first_of_any_two_broken_rules() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    for (first, (code, break_first)) in BREAKS.iter().enumerate() {
        for (_, break_second) in &BREAKS[first..] {
            let mut call = Call {
                feedback: GiveFeedback::new(&agent.mint, &client.pubkey()),
                signer: agent.owner.insecure_clone(),
                sender: client.insecure_clone(),
                has_precompile: true,
                trailing_byte: false,
                sign_another_message: false,
            };
            break_second(&mut call, &agent);
            break_first(&mut call, &agent);
            let instructions = call.instructions();
            let sent = net.send(&[&call.sender], &instructions);
            assert_refused(&sent, instructions.len() as u8 - 1, *code);
        }
    }
}

#[test]
fn revoke_reports_not_found_before_already_revoked() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    net.given(&agent, &client, 1, 1);
    let revoke = |index| revoke_feedback(&client.pubkey(), &agent.mint, index);
    net.send(&[&client], &[revoke(1)]).unwrap();
    let sent = net.send(&[&client], &[revoke(2)]);
    assert_refused(&sent, 0, FEEDBACK_NOT_FOUND);
    let sent = net.send(&[&client], &[revoke(1)]);
    assert_refused(&sent, 0, ALREADY_REVOKED);
}
