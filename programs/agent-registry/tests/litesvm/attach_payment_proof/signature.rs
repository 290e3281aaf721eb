//! R11, R13: what the facilitator must have signed, and where it must stand.

use crate::localnet::{
    authorization::{Authorization, call, keccak, precompile, word},
    instructions::{GiveFeedback, readonly},
    payment::{Purchase, message},
    refusal::*,
    registry::set_facilitator,
    stranger_id,
};
use solana_signer::Signer;

#[test]
fn refuses_a_signature_by_another_key_than_the_facilitator_named() {
    // R11
    let mut it = Purchase::new();
    let other = it.net.key();
    it.administer(set_facilitator, &other.pubkey(), true);
    let proof = it.proof(1);
    for key in [&other, &it.client, &it.agent.owner] {
        let instructions = [proof.signed_by(key), proof.instruction()];
        let sent = it.net.send(&[&it.client], &instructions);
        assert_refused(&sent, 1, AUTH_WRONG_SIGNER);
    }
}

#[test]
fn refuses_a_message_in_which_any_word_differs() {
    let mut it = Purchase::new();
    let proof = it.proof(1);
    for place in 0..11 {
        for byte in [0, 31] {
            let mut words = proof.words();
            words[place][byte] ^= 1;
            let signed = precompile(call(&it.facilitator, &message(words)));
            let sent = it.net.send(&[&it.client], &[signed, proof.instruction()]);
            assert_refused(&sent, 1, AUTH_WRONG_MESSAGE);
        }
    }
    // a proof for another chain or program among them; and two words that changed places
    let mut words = proof.words();
    words.swap(1, 2);
    let signed = precompile(call(&it.facilitator, &message(words)));
    let sent = it.net.send(&[&it.client], &[signed, proof.instruction()]);
    assert_refused(&sent, 1, AUTH_WRONG_MESSAGE);
}

#[test]
fn refuses_messages_of_the_first_version() {
    // ten words, without the payment's time; and the eleven words under the old prefix
    let mut it = Purchase::new();
    let proof = it.proof(1);
    let (words, old) = (proof.words(), b"ERC8004/PAYMENT-PROOF/v1");
    let ten = [&words[..6], &words[7..]].concat();
    for hashed in [ten.concat(), words.concat()] {
        let message = [&old[..], &keccak(&hashed)].concat();
        let signed = precompile(call(&it.facilitator, &message));
        let sent = it.net.send(&[&it.client], &[signed, proof.instruction()]);
        assert_refused(&sent, 1, AUTH_WRONG_MESSAGE);
    }
    it.accepts(&proof);
}

#[test]
fn refuses_a_feedback_authorization_by_the_facilitator() {
    // equally long, with another prefix
    let mut it = Purchase::new();
    let proof = it.proof(1);
    let feedback = GiveFeedback::new(&it.agent.mint, &it.client.pubkey());
    let authorization = Authorization::of(&feedback, &it.facilitator.pubkey());
    let instructions = [
        authorization.signed_by(&it.facilitator),
        proof.instruction(),
    ];
    let sent = it.net.send(&[&it.client], &instructions);
    assert_refused(&sent, 1, AUTH_WRONG_MESSAGE);
    // nor the same hash under the other prefix
    let hash = keccak(&proof.words().concat());
    let signed = [&b"ERC8004/FEEDBACK-AUTH/v1"[..], &hash].concat();
    let signed = precompile(call(&it.facilitator, &signed));
    let sent = it.net.send(&[&it.client], &[signed, proof.instruction()]);
    assert_refused(&sent, 1, AUTH_WRONG_MESSAGE);
}

#[test]
fn refuses_without_a_precompile_directly_before_and_off_its_template() {
    // R11
    let mut it = Purchase::new();
    let proof = it.proof(1);
    let (signed, attach) = (proof.signed_by(&it.facilitator), proof.instruction());
    let sent = it.net.send(&[&it.client], std::slice::from_ref(&attach));
    assert_refused(&sent, 0, AUTH_MISSING);
    let sent = it
        .net
        .send(&[&it.client], &[attach.clone(), signed.clone()]);
    assert_refused(&sent, 0, AUTH_MISSING);
    let mut longer = signed.clone();
    longer.data.push(0);
    let sent = it.net.send(&[&it.client], &[longer, attach.clone()]);
    assert_refused(&sent, 1, AUTH_MALFORMED);
    let mut with_account = signed;
    with_account.accounts = vec![readonly(stranger_id())];
    let sent = it.net.send(&[&it.client], &[with_account, attach]);
    assert_refused(&sent, 1, AUTH_MALFORMED);
}

#[test]
fn the_message_is_the_published_one() {
    // the eleven words of the canonical crate's vector, whose hash another program computed
    let words = [
        [1; 32],
        [5; 32],
        [6; 32],
        [7; 32],
        word(1_000_000),
        hex("7c9fd599342b43bb684dc25ea11789b2a0b079a8f80ca75755d327552c93705f"),
        word(1_760_000_000),
        word(1_900_000_000),
        hex("d29e4f51ca30c90e3b0bd295891ad4815ec081e851f67643faf3f32b4e67f68b"),
        [3; 32],
        [8; 32],
    ];
    let hash = hex("7e676d5b14463fb41fdcba1985ac5bf16c82d5caf22e580977c0eb5b07aa6a24");
    assert_eq!(message(words)[24..], hash);
}

fn hex(digits: &str) -> [u8; 32] {
    std::array::from_fn(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap())
}
