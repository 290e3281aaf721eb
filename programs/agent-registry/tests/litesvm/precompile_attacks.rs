//! R11: the attacks on the precompile's template. The identifiers A1… are those of the list of
//! known attacks on Ed25519 introspection. A refusal of instruction 1 or later says that the
//! precompile itself, instruction 0, has passed.

use crate::localnet::{
    Agent, Localnet, Sent,
    authorization::{Authorization, call, layout, precompile},
    instructions::{GiveFeedback, instructions_sysvar, readonly},
    refusal::*,
    stranger_id,
};
use solana_instruction::{Instruction, error::InstructionError};
use solana_keypair::Keypair;
use solana_signer::Signer;

const SELF: u16 = 0xFFFF;
const MESSAGE_LEN: u16 = 56;

struct Attack {
    net: Localnet,
    agent: Agent,
    client: Keypair,
    feedback: GiveFeedback,
    /// What the owner would have to sign.
    message: Vec<u8>,
}

impl Attack {
    fn new() -> Self {
        let mut net = Localnet::new();
        let (agent, client) = (net.agent(), net.actor());
        let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
        let message = Authorization::of(&feedback, &agent.owner.pubkey()).message();
        Self {
            net,
            agent,
            client,
            feedback,
            message,
        }
    }

    /// Sends `data` to the precompile and the feedback directly after it.
    fn with_precompile(&mut self, data: Vec<u8>) -> Sent {
        self.send(&[precompile(data), self.feedback.instruction()])
    }

    fn send(&mut self, instructions: &[Instruction]) -> Sent {
        self.net.send(&[&self.client], instructions)
    }

    fn genuine(&self) -> Vec<u8> {
        call(&self.agent.owner, &self.message)
    }

    /// The owner's key and the right message, with 64 bytes that are not a signature.
    fn forged(&self) -> Vec<u8> {
        layout(
            &self.agent.owner.pubkey().to_bytes(),
            &[7; 64],
            &self.message,
        )
    }
}

/// An instruction whose data the precompile can be pointed at.
fn memo(data: Vec<u8>) -> Instruction {
    Instruction {
        program_id: stranger_id(),
        accounts: vec![],
        data,
    }
}

/// `[signature offset, its instruction, key offset, its instruction, message offset, length, its
/// instruction]` over the header of `data`.
fn set_offsets(data: &mut [u8], offsets: [u16; 7]) {
    for (bytes, offset) in data[2..16].chunks_exact_mut(2).zip(offsets) {
        bytes.copy_from_slice(&offset.to_le_bytes());
    }
}

#[test]
fn the_genuine_call_is_accepted() {
    let mut attack = Attack::new();
    let data = attack.genuine();
    attack.with_precompile(data).unwrap();
}

#[test]
fn a1_to_a4_refuses_signature_key_or_message_in_another_instruction() {
    let mut attack = Attack::new();
    let attacker = Keypair::new();
    // The attacker's own valid triple, in an instruction after ours.
    let triple = call(&attacker, &attack.message);
    // A1: all three there, ours untouched and showing the owner.
    let mut all = attack.forged();
    set_offsets(&mut all, [48, 2, 16, 2, 112, MESSAGE_LEN, 2]);
    // A2 to A4: one there, the other two in place and genuine.
    let genuine = attack.genuine();
    let redirected = [
        [48, SELF, 16, SELF, 112, MESSAGE_LEN, 2],
        [48, SELF, 16, 2, 112, MESSAGE_LEN, SELF],
        [48, 2, 16, SELF, 112, MESSAGE_LEN, SELF],
    ];
    let mut calls = vec![(all, triple)];
    for offsets in redirected {
        let mut data = genuine.clone();
        set_offsets(&mut data, offsets);
        calls.push((data, genuine.clone()));
    }
    for (data, elsewhere) in calls {
        let instructions = [
            precompile(data),
            attack.feedback.instruction(),
            memo(elsewhere),
        ];
        assert_refused(&attack.send(&instructions), 1, AUTH_MALFORMED);
    }
}

#[test]
fn a2_a3_refuses_what_only_the_redirection_makes_valid() {
    let mut attack = Attack::new();
    let attacker = Keypair::new();
    // A2: the owner did sign something; that something lies elsewhere.
    let signed = b"any other 56 bytes that the owner once signed, say login".to_vec();
    assert_eq!(signed.len(), usize::from(MESSAGE_LEN));
    let signature = attack.agent.owner.sign_message(&signed);
    let owner = attack.agent.owner.pubkey().to_bytes();
    let mut data = layout(&owner, signature.as_ref(), &attack.message);
    set_offsets(&mut data, [48, SELF, 16, SELF, 112, MESSAGE_LEN, 2]);
    let elsewhere = layout(&owner, signature.as_ref(), &signed);
    let instructions = [
        precompile(data),
        attack.feedback.instruction(),
        memo(elsewhere),
    ];
    assert_refused(&attack.send(&instructions), 1, AUTH_MALFORMED);
    // A3: the attacker signed the right message, and the key lies elsewhere.
    let signature = attacker.sign_message(&attack.message);
    let mut data = layout(&owner, signature.as_ref(), &attack.message);
    set_offsets(&mut data, [48, SELF, 16, 2, 112, MESSAGE_LEN, SELF]);
    let elsewhere = call(&attacker, &attack.message);
    let instructions = [
        precompile(data),
        attack.feedback.instruction(),
        memo(elsewhere),
    ];
    assert_refused(&attack.send(&instructions), 1, AUTH_MALFORMED);
}

#[test]
fn a5_refuses_the_own_index_in_place_of_0xffff() {
    let mut attack = Attack::new();
    for own in [[0, SELF, SELF], [SELF, 0, SELF], [SELF, SELF, 0], [0, 0, 0]] {
        let mut data = attack.genuine();
        let [signature, key, message] = own;
        set_offsets(
            &mut data,
            [48, signature, 16, key, 112, MESSAGE_LEN, message],
        );
        assert_refused(&attack.with_precompile(data), 1, AUTH_MALFORMED);
    }
}

#[test]
fn a6_refuses_offsets_moved_within_the_instruction() {
    let mut attack = Attack::new();
    let attacker = Keypair::new();
    // The owner's key is left where it is looked for, the attacker's is appended and verified.
    let signature = attacker.sign_message(&attack.message);
    let owner = attack.agent.owner.pubkey().to_bytes();
    let mut data = layout(&owner, signature.as_ref(), &attack.message);
    let appended = data.len() as u16;
    data.extend_from_slice(attacker.pubkey().as_ref());
    set_offsets(
        &mut data,
        [48, SELF, appended, SELF, 112, MESSAGE_LEN, SELF],
    );
    assert_refused(&attack.with_precompile(data), 1, AUTH_MALFORMED);
    // Of the right length: the attacker's key and message overlap what is looked at.
    let mut data = attack.genuine();
    set_offsets(&mut data, [48, SELF, 16, SELF, 112, MESSAGE_LEN - 1, SELF]);
    let short = attack.agent.owner.sign_message(&attack.message[..55]);
    data[48..112].copy_from_slice(short.as_ref());
    assert_refused(&attack.with_precompile(data), 1, AUTH_MALFORMED);
}

#[test]
fn a7_refuses_two_signatures() {
    let mut attack = Attack::new();
    // Two entries of 14 bytes; both name the one genuine triple behind them.
    let triple = attack.genuine().split_off(16);
    let entry = |shift: u16| {
        [
            48 + shift,
            SELF,
            16 + shift,
            SELF,
            112 + shift,
            MESSAGE_LEN,
            SELF,
        ]
        .map(u16::to_le_bytes)
        .concat()
    };
    let data = [&[2, 0][..], &entry(14), &entry(14), &triple].concat();
    assert_refused(&attack.with_precompile(data), 1, AUTH_MALFORMED);
}

#[test]
fn a8_refuses_no_signatures() {
    let mut attack = Attack::new();
    assert_refused(&attack.with_precompile(vec![0, 0]), 1, AUTH_MALFORMED);
}

#[test]
fn a9_refuses_a_trailing_byte_and_a_padding_byte() {
    let mut attack = Attack::new();
    let mut trailing = attack.genuine();
    trailing.push(0);
    assert_refused(&attack.with_precompile(trailing), 1, AUTH_MALFORMED);
    let mut padding = attack.genuine();
    padding[1] = 1;
    assert_refused(&attack.with_precompile(padding), 1, AUTH_MALFORMED);
}

#[test]
fn a9_refuses_accounts_on_the_precompile_instruction() {
    let mut attack = Attack::new();
    let mut call = precompile(attack.genuine());
    call.accounts = vec![readonly(stranger_id())];
    let sent = attack.send(&[call, attack.feedback.instruction()]);
    assert_refused(&sent, 1, AUTH_MALFORMED);
}

#[test]
fn a10_a11_refuses_unless_the_precompile_is_directly_before() {
    let mut attack = Attack::new();
    let call = precompile(attack.genuine());
    let give = attack.feedback.instruction();
    // alone, at index 0
    let sent = attack.send(std::slice::from_ref(&give));
    assert_refused(&sent, 0, AUTH_MISSING);
    // after
    let sent = attack.send(&[give.clone(), call.clone()]);
    assert_refused(&sent, 0, AUTH_MISSING);
    // with another instruction between
    let sent = attack.send(&[call.clone(), memo(vec![]), give.clone()]);
    assert_refused(&sent, 2, AUTH_MISSING);
    // and what stands before it does not matter
    attack.send(&[memo(vec![]), call, give]).unwrap();
}

#[test]
fn a12_refuses_a_look_alike_of_the_precompile() {
    let mut attack = Attack::new();
    let look_alike = memo(attack.forged());
    let sent = attack.send(&[look_alike, attack.feedback.instruction()]);
    assert_refused(&sent, 1, AUTH_MISSING);
}

#[test]
fn a13_refuses_another_account_as_the_instructions_sysvar() {
    let mut attack = Attack::new();
    // What the sysvar would hold: [ed25519 call, this instruction], with index 1 current.
    let call = attack.forged();
    let mut contents = 2u16.to_le_bytes().to_vec();
    let entry = [
        &0u16.to_le_bytes()[..],
        precompile(vec![]).program_id.as_ref(),
        &(call.len() as u16).to_le_bytes(),
        &call,
    ]
    .concat();
    contents.extend_from_slice(&6u16.to_le_bytes());
    contents.extend_from_slice(&((6 + entry.len()) as u16).to_le_bytes());
    contents.extend_from_slice(&entry);
    contents.extend_from_slice(&1u16.to_le_bytes());
    let fake = Keypair::new().pubkey();
    let account = solana_account::Account {
        lamports: 10_000_000,
        data: contents,
        owner: stranger_id(),
        ..Default::default()
    };
    attack.net.svm.set_account(fake, account).unwrap();
    let mut give = attack.feedback.instruction();
    let place = give
        .accounts
        .iter()
        .position(|meta| meta.pubkey == instructions_sysvar())
        .unwrap();
    give.accounts[place] = readonly(fake);
    assert_refused(&attack.send(&[give]), 0, ACCOUNT_MISMATCH);
}

#[test]
fn a16_bad_signatures_fail_in_the_precompile() {
    // Declared variance 1.
    let mut attack = Attack::new();
    let mut flipped = attack.genuine();
    flipped[48] ^= 1;
    let mut malleated = attack.genuine();
    add_group_order(&mut malleated[80..112]);
    // The neutral element signs everything for the key of order 1, unless verification is strict.
    let mut neutral = [0; 32];
    neutral[0] = 1;
    let small_order = layout(
        &neutral,
        &[&neutral[..], &[0; 32]].concat(),
        &attack.message,
    );
    for data in [flipped, malleated, small_order] {
        let (index, error) = refusal(&attack.with_precompile(data));
        assert_eq!(index, 0);
        assert!(matches!(error, InstructionError::Custom(_)), "{error:?}");
    }
}

/// S + L: the same signature to a verifier that does not check S < L.
fn add_group_order(s: &mut [u8]) {
    const L: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut carry = 0;
    for (byte, order) in s.iter_mut().zip(L) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        *byte = sum as u8;
        carry = sum >> 8;
    }
    assert_eq!(carry, 0);
}

#[test]
fn a18_refuses_a_second_feedback_behind_one_precompile() {
    let mut attack = Attack::new();
    let first = GiveFeedback {
        index_limit: 2,
        ..attack.feedback.clone()
    };
    let second = GiveFeedback {
        feedback_index: 2,
        ..first.clone()
    };
    let authorization = Authorization::of(&first, &attack.agent.owner.pubkey());
    let call = authorization.signed_by(&attack.agent.owner);
    let sent = attack.send(&[call.clone(), first.instruction(), second.instruction()]);
    assert_refused(&sent, 2, AUTH_MISSING);
    // each with its own
    let sent = attack.send(&[
        call.clone(),
        first.instruction(),
        call,
        second.instruction(),
    ]);
    sent.unwrap();
}

#[test]
fn a19_refuses_x84s_message_in_a_bounded_call() {
    // R10; in a call of its own scheme: x84_feedback
    let mut attack = Attack::new();
    let message = [attack.client.pubkey().as_ref(), attack.agent.mint.as_ref()].concat();
    let data = call(&attack.agent.owner, &message);
    assert_refused(&attack.with_precompile(data), 1, AUTH_MALFORMED);
}

#[test]
fn a21_truncated_calls_fail_in_the_precompile() {
    let mut attack = Attack::new();
    let genuine = attack.genuine();
    for length in [0, 1, 2, 15, 16, 111, 112, 112 + 55] {
        let (index, _) = refusal(&attack.with_precompile(genuine[..length].to_vec()));
        assert_eq!(index, 0, "{length} bytes");
    }
}

#[test]
fn refuses_every_flipped_bit_of_the_header() {
    let mut attack = Attack::new();
    let mut reached = vec![];
    for byte in 0..16 {
        for bit in 0..8 {
            let mut data = attack.genuine();
            data[byte] ^= 1 << bit;
            match refusal(&attack.with_precompile(data)) {
                (0, _) => (),
                (1, error) => {
                    assert_eq!(error, InstructionError::Custom(AUTH_MALFORMED));
                    reached.push(byte);
                }
                other => panic!("{other:?}"),
            }
        }
    }
    // Only the padding byte has no meaning to the precompile.
    assert_eq!(reached, [1; 8]);
}

#[test]
fn refuses_every_flipped_byte_of_key_signature_and_message() {
    let mut attack = Attack::new();
    for byte in 16..168 {
        let mut data = attack.genuine();
        data[byte] ^= 1;
        let (index, _) = refusal(&attack.with_precompile(data));
        assert_eq!(index, 0, "byte {byte}");
    }
}

#[test]
fn refuses_every_flipped_bit_of_the_message_when_signed_as_such() {
    let mut attack = Attack::new();
    for byte in 0..56 {
        let mut message = attack.message.clone();
        message[byte] ^= 1 << (byte % 8);
        let data = call(&attack.agent.owner, &message);
        assert_refused(&attack.with_precompile(data), 1, AUTH_WRONG_MESSAGE);
    }
}
