//! SPEC 3a: the order of the checks of `attach_payment_proof`.

use crate::localnet::{
    authorization::{call, precompile},
    instructions::revoke_feedback,
    payment::{AttachPayment, Purchase},
    refusal::*,
};
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;

/// One call, to be broken in as many ways as wanted.
struct Call {
    proof: AttachPayment,
    sender: Keypair,
    signer: Keypair,
    is_missing: bool,
    is_revoked: bool,
    is_proven: bool,
    has_precompile: bool,
    trailing_byte: bool,
    sign_another_message: bool,
}

type Break = (u32, fn(&mut Call));

/// Every rule a reviewer can break, in the order of SPEC 3a.
const BREAKS: [Break; 15] = [
    (FEEDBACK_NOT_FOUND, |call| call.is_missing = true),
    (NOT_AUTHORIZED, |call| {
        call.sender = Keypair::new_from_array([3; 32]);
        call.proof.caller = call.sender.pubkey();
    }),
    (ALREADY_REVOKED, |call| call.is_revoked = true),
    (PAYMENT_ALREADY_PROVEN, |call| call.is_proven = true),
    (PAYMENT_SPENT, |call| call.proof.task_ref_hash = SPENT),
    (AUTH_MISSING, |call| call.has_precompile = false),
    (AUTH_MALFORMED, |call| call.trailing_byte = true),
    (AUTH_EXPIRED, |call| call.proof.expiry = 0),
    (PAYMENT_WRONG_PAYER, |call| {
        call.proof.payer = another().pubkey()
    }),
    (PAYMENT_WRONG_TOKEN, |call| {
        call.proof.token = [4; 32].into()
    }),
    (PAYMENT_ZERO_AMOUNT, |call| call.proof.amount = 0),
    (PAYMENT_IN_FUTURE, |call| call.proof.paid_at = u64::MAX),
    (PAYMENT_WRONG_FACILITATOR, |call| {
        call.proof.facilitator = [4; 32].into()
    }),
    (AUTH_WRONG_SIGNER, |call| {
        call.signer = Keypair::new_from_array([5; 32])
    }),
    (AUTH_WRONG_MESSAGE, |call| call.sign_another_message = true),
];

/// A transaction that pays for the client and for [`another`]; both payments have counted.
const SPENT: [u8; 32] = [0x99; 32];

/// A client who has paid too.
fn another() -> Keypair {
    Keypair::new_from_array([4; 32])
}

impl Call {
    /// Entries 1 to 4: fresh, revoked, proven, both.
    fn instructions(&mut self) -> Vec<Instruction> {
        self.proof.feedback_index = match (self.is_missing, self.is_proven, self.is_revoked) {
            (true, ..) => 9,
            (_, proven, revoked) => 1 + u64::from(revoked) + 2 * u64::from(proven),
        };
        let mut signed = self.proof.message();
        signed[30] ^= u8::from(self.sign_another_message);
        let mut data = call(&self.signer, &signed);
        if self.trailing_byte {
            data.push(0);
        }
        let attach = self.proof.instruction();
        if self.has_precompile {
            vec![precompile(data), attach]
        } else {
            vec![attach]
        }
    }
}

/// A purchase with the four entries of [`Call::instructions`], and [`SPENT`] spent by both clients.
fn four_entries() -> Purchase {
    let mut it = Purchase::new();
    for index in 2..=4 {
        it.net.given(&it.agent, &it.client, index, 50);
    }
    for feedback_index in [3, 4] {
        it.accepts(&AttachPayment {
            feedback_index,
            ..it.proof(feedback_index as u8)
        });
    }
    for index in [2, 4] {
        let revoke = revoke_feedback(&it.client.pubkey(), &it.agent.mint, index);
        it.net.send(&[&it.client], &[revoke]).unwrap();
    }
    it.net.given(&it.agent, &it.client, 5, 50);
    it.accepts(&AttachPayment {
        feedback_index: 5,
        task_ref_hash: SPENT,
        ..it.proof(9)
    });
    for key in [[3; 32], [4; 32]] {
        let stranger = Keypair::new_from_array(key).pubkey();
        it.net.svm.airdrop(&stranger, 1_000_000_000).unwrap();
    }
    let client = std::mem::replace(&mut it.client, another());
    it.net.given(&it.agent, &it.client, 1, 50);
    it.accepts(&AttachPayment {
        task_ref_hash: SPENT,
        ..it.proof(9)
    });
    it.client = client;
    it
}

#[test]
fn reports_the_first_of_any_two_broken_rules() {
    let mut it = four_entries();
    for (first, (code, break_first)) in BREAKS.iter().enumerate() {
        for (_, break_second) in &BREAKS[first..] {
            let mut call = Call {
                proof: it.proof(1),
                sender: it.client.insecure_clone(),
                signer: it.facilitator.insecure_clone(),
                is_missing: false,
                is_revoked: false,
                is_proven: false,
                has_precompile: true,
                trailing_byte: false,
                sign_another_message: false,
            };
            break_second(&mut call);
            break_first(&mut call);
            let instructions = call.instructions();
            let sent = it.net.send(&[&call.sender], &instructions);
            assert_refused(&sent, instructions.len() as u8 - 1, *code);
        }
    }
    it.accepts(&it.proof(1));
}
