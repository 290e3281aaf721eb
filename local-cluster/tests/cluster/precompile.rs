//! The real Ed25519 precompile.
use crate::client::{Client, still};
use serde_json::json;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_signer::Signer;

const ED25519: Address = Address::from_str_const("Ed25519SigVerify111111111111111111111111111");
/// One signature; then u16 LE each: where signature, key and message are, how long the message is,
/// and 0xffff for "in this instruction".
const HEAD: [u16; 8] = [1, 48, 0xffff, 16, 0xffff, 112, 3, 0xffff];

fn verifying(client: &Client, signed: &[u8; 3], claimed: &[u8; 3]) -> Instruction {
    let head = HEAD.map(u16::to_le_bytes).concat();
    let key = client.payer.pubkey().to_bytes();
    let signature: [u8; 64] = client.payer.sign_message(signed).into();
    Instruction {
        program_id: ED25519,
        accounts: Vec::new(),
        data: [&head[..], &key, &signature, claimed].concat(),
    }
}

#[test]
fn takes_a_signature_of_the_message() {
    let mut client = Client::new(still());
    let call = verifying(&client, b"yes", b"yes");
    client.carry_out(&[], &[call]);
}

#[test]
fn refuses_a_signature_of_another_message() {
    let mut client = Client::new(still());
    let call = verifying(&client, b"yes", b"no!");
    let refused = client.refused(&[], &[call]);
    assert_eq!(
        refused["err"],
        json!({"InstructionError": [0, {"Custom": 2}]})
    );
}
