//! A deployment from end to end by the loader's own instructions.
use crate::{
    client::{Client, sending, still},
    program::{BUFFER_HEAD, LOADER, elf, initialize, program, program_data, program_key, registry},
};
use concord_local_cluster::Options;
use serde_json::{Value, json};
use solana_keypair::Keypair;
use solana_loader_v3_interface::instruction as loader;
use solana_signer::Signer;

const CHAIN: &str = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";

fn called(client: &Client) -> solana_instruction::Instruction {
    initialize(client.payer.pubkey(), CHAIN)
}

#[test]
fn a_deployed_program_can_be_called_from_the_next_slot_on() {
    let mut client = Client::new(still());
    let (code, buffer) = (elf("agent_registry"), Keypair::new_from_array([9; 32]));
    client.write_buffer(&buffer, &code);
    let calls = client.deploying(&buffer.pubkey(), code.len());
    client.carry_out(&[&program_key()], &calls);
    let call = called(&client);
    let refused = client.refused(&[], std::slice::from_ref(&call));
    assert_eq!(
        refused["err"],
        json!({"InstructionError": [0, "UnsupportedProgramId"]})
    );
    client.advance(1);
    client.carry_out(&[], &[call]);
    assert_eq!(client.account(&registry())["owner"], program().to_string());
    assert_eq!(client.account(&program())["executable"], true);
    assert_eq!(client.account(&buffer.pubkey()), Value::Null);
    assert_eq!(client.data(&program_data())[45..], code);
}

#[test]
fn an_upgrade_runs_from_the_next_slot_on() {
    let mut client = Client::new(still());
    client.deploy();
    let call = called(&client);
    client.carry_out(&[], std::slice::from_ref(&call));
    client.advance(1); // else the same transaction again
    let old = client.refused(&[], std::slice::from_ref(&call))["err"].take();
    let upgrade = client.upgrading(10, &elf("canonical_probe"));
    client.carry_out(&[], &[upgrade]);
    let between = client.refused(&[], std::slice::from_ref(&call))["err"].take();
    assert_eq!(
        between,
        json!({"InstructionError": [0, "UnsupportedProgramId"]})
    );
    client.advance(1);
    let refused = client.refused(&[], std::slice::from_ref(&call));
    assert_ne!(refused["err"], old);
    assert_ne!(refused["err"], between);
    let upgrade = client.upgrading(11, &elf("agent_registry"));
    client.carry_out(&[], &[upgrade]);
    client.advance(1);
    assert_eq!(client.refused(&[], &[call])["err"], old);
}

#[test]
fn a_closed_program_is_gone() {
    let mut client = Client::new(still());
    client.deploy();
    let payer = client.payer.pubkey();
    let close = |program| loader::close_any(&program_data(), &payer, Some(&payer), program, true);
    client.carry_out(&[], &[close(Some(&program()))]);
    assert_eq!(client.account(&program_data()), Value::Null);
    for _ in 0..2 {
        let call = called(&client);
        let refused = client.refused(&[], &[call]);
        assert_eq!(
            refused["err"],
            json!({"InstructionError": [0, "UnsupportedProgramId"]})
        );
        client.advance(1);
    }
}

#[test]
fn a_second_upgrade_in_one_slot_is_refused() {
    let mut client = Client::new(still());
    client.deploy();
    let code = elf("canonical_probe");
    let (first, second) = (client.upgrading(10, &code), client.upgrading(11, &code));
    client.carry_out(&[], &[first]);
    let refused = client.refused(&[], &[second]);
    assert_eq!(
        refused["err"],
        json!({"InstructionError": [0, "InvalidArgument"]})
    );
}

#[test]
fn closing_a_buffer_returns_its_lamports() {
    let mut client = Client::new(still());
    let buffer = Keypair::new_from_array([9; 32]);
    let before = client.balance(&client.payer.pubkey());
    let rent = client.create_buffer(&buffer, 5000);
    let payer = client.payer.pubkey();
    assert_eq!(client.balance(&buffer.pubkey()), rent);
    assert_eq!(client.balance(&payer), before - rent - 2 * 5000);
    client.carry_out(
        &[],
        &[loader::close(&buffer.pubkey(), &payer, &payer, true)],
    );
    assert_eq!(client.balance(&payer), before - 3 * 5000);
    assert_eq!(client.account(&buffer.pubkey()), Value::Null);
}

#[test]
fn finds_the_buffers_of_an_authority() {
    let mut client = Client::new(still());
    let (ours, theirs) = (
        Keypair::new_from_array([9; 32]),
        Keypair::new_from_array([10; 32]),
    );
    client.create_buffer(&ours, 100);
    client.create_buffer(&theirs, 200);
    let (payer, other) = (
        client.payer.pubkey(),
        Keypair::new_from_array([11; 32]).pubkey(),
    );
    client.carry_out(
        &[],
        &[loader::set_buffer_authority(
            &theirs.pubkey(),
            &payer,
            &other,
        )],
    );
    let mut found = |filters: Value| {
        let config = json!({"encoding": "base64", "filters": filters, "dataSlice": {"offset": 4, "length": 33}});
        client.result("getProgramAccounts", json!([LOADER.to_string(), config]))
    };
    // u32 LE 1, then an optional key
    let kind = json!({"memcmp": {"offset": 0, "bytes": "AQAAAA==", "encoding": "base64"}});
    let of = |key: String| json!({"memcmp": {"offset": 5, "bytes": key}});
    let of_payer = found(json!([kind, of(payer.to_string())]));
    assert_eq!(of_payer.as_array().unwrap().len(), 1);
    assert_eq!(of_payer[0]["pubkey"], ours.pubkey().to_string());
    assert_eq!(of_payer[0]["account"]["space"], BUFFER_HEAD + 100);
    let of_other = found(json!([{"dataSize": BUFFER_HEAD + 200}, of(other.to_string())]));
    assert_eq!(of_other[0]["pubkey"], theirs.pubkey().to_string());
    assert_eq!(of_other.as_array().unwrap().len(), 1);
    assert_eq!(
        found(json!([{"dataSize": 1}, of(other.to_string())])),
        json!([])
    );
}

#[test]
fn a_program_runs_while_slots_pass_by_themselves() {
    let mut client = Client::new(Options {
        slot_duration: std::time::Duration::from_millis(5),
        ..Options::default()
    });
    client.deploy();
    let call = called(&client);
    client.carry_out(&[], &[call]);
    assert_eq!(client.account(&registry())["owner"], program().to_string());
}

#[test]
fn an_extended_program_has_more_room() {
    let mut client = Client::new(still());
    client.deploy();
    let before = client.data(&program_data()).len();
    let payer = client.payer.pubkey();
    client.carry_out(
        &[],
        &[loader::extend_program(&program(), Some(&payer), 10_240)],
    );
    assert_eq!(client.data(&program_data()).len(), before + 10_240);
    client.advance(1);
    let call = called(&client);
    client.carry_out(&[], &[call]);
}

#[test]
fn refuses_an_upgrade_by_anyone_but_the_authority() {
    let mut client = Client::new(still());
    client.deploy();
    let (payer, heir) = (client.payer.pubkey(), Keypair::new_from_array([12; 32]));
    let hand_over = loader::set_upgrade_authority_checked(&program(), &payer, &heir.pubkey());
    client.carry_out(&[&heir], &[hand_over]);
    let upgrade = client.upgrading(10, &elf("canonical_probe"));
    let transaction = client.signed(&[], &[upgrade]);
    let error = client.error("sendTransaction", sending(&transaction, false));
    assert_eq!(
        error["data"]["err"],
        json!({"InstructionError": [0, "IncorrectAuthority"]})
    );
}
