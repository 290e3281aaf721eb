use crate::localnet::{
    CHAIN, Localnet, NOW,
    accounts::{Fields, discriminator},
    authorization::keccak,
    events,
    instructions::{initialize, readonly, registry},
    program_data, program_id,
    refusal::*,
};
use solana_signer::Signer;

#[test]
fn stores_the_chain_as_text_and_hash_for_the_upgrade_authority() {
    let net = Localnet::new();
    let account = net.account(&registry());
    assert_eq!(account.owner, program_id());
    assert_eq!(
        account.lamports,
        net.svm
            .minimum_balance_for_rent_exemption(account.data.len())
    );
    let registry = net.registry();
    assert_eq!(registry.chain, CHAIN);
    assert_eq!(registry.chain_hash, keccak(CHAIN.as_bytes())); // R9
    // 8 + 32 + 1 + 1 + 2 * 32 + (4 + 41) + (4 + 8 * 32) + (4 + 16 * 32): room for the longest
    // CAIP-2 id and for full lists
    assert_eq!(account.data.len(), 927);
}

#[test]
fn the_upgrade_authority_becomes_the_registrys_and_the_lists_are_empty() {
    // R13
    let net = Localnet::new();
    let registry = net.registry();
    assert_eq!(registry.authority, net.upgrade_authority.pubkey());
    assert_eq!(registry.proposed_authority, Default::default());
    assert!(registry.payment_tokens.is_empty() && registry.facilitators.is_empty());
}

#[test]
fn one_event_reports_it() {
    let mut net = Localnet::uninitialized();
    let authority = net.upgrade_authority.insecure_clone();
    let sent = net
        .send(&[&authority], &[initialize(&authority.pubkey(), CHAIN)])
        .unwrap();
    let [event] = &events(&sent)[..] else {
        panic!("one event")
    };
    let mut fields = Fields::of(event, discriminator("event:RegistryInitialized"));
    assert_eq!(fields.key(), authority.pubkey());
    assert_eq!((fields.text().as_str(), fields.i64()), (CHAIN, NOW));
    fields.end();
}

#[test]
fn accepts_the_longest_solana_chain_id() {
    let mut net = Localnet::uninitialized();
    let authority = net.upgrade_authority.insecure_clone();
    let chain = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"; // devnet's
    net.send(&[&authority], &[initialize(&authority.pubkey(), chain)])
        .unwrap();
    let data = net.account(&registry()).data;
    assert_eq!(data[8..40], keccak(chain.as_bytes()));
}

#[test]
fn refuses_a_stranger() {
    // R9
    let mut net = Localnet::uninitialized();
    let stranger = net.actor();
    let sent = net.send(&[&stranger], &[initialize(&stranger.pubkey(), CHAIN)]);
    assert_refused(&sent, 0, NOT_UPGRADE_AUTHORITY);
}

#[test]
fn refuses_everyone_when_the_program_is_final() {
    let mut net = Localnet::uninitialized();
    let authority = net.upgrade_authority.insecure_clone();
    net.set_upgrade_authority(None);
    let sent = net.send(&[&authority], &[initialize(&authority.pubkey(), CHAIN)]);
    assert_refused(&sent, 0, NOT_UPGRADE_AUTHORITY);
}

#[test]
fn refuses_a_second_time() {
    let mut net = Localnet::new();
    let authority = net.upgrade_authority.insecure_clone();
    for chain in [CHAIN, "solana:other", "malformed"] {
        let sent = net.send(&[&authority], &[initialize(&authority.pubkey(), chain)]);
        assert_refused(&sent, 0, ALREADY_INITIALIZED);
    }
}

#[test]
fn refuses_what_is_not_a_caip_2_id_of_solana() {
    let mut net = Localnet::uninitialized();
    let authority = net.upgrade_authority.insecure_clone();
    for chain in [
        "",
        "solana",
        "solana:",
        ":localnet",
        "Solana:localnet",
        "eip155:1",
        "solana:devnet", // not a genesis hash
        "solana:a b",
        "solana:a\0",
        "solana:a:b",
        "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1x", // 33 characters
    ] {
        let sent = net.send(&[&authority], &[initialize(&authority.pubkey(), chain)]);
        assert_refused(&sent, 0, MALFORMED_CHAIN_ID);
        assert!(!net.exists(&registry()));
    }
}

#[test]
fn refuses_another_account_in_each_place() {
    let mut net = Localnet::uninitialized();
    let authority = net.upgrade_authority.insecure_clone();
    // A program data account that names the stranger, at another program's address.
    let other = net.actor();
    let mut forged = net.account(&program_data());
    forged.data[13..45].copy_from_slice(other.pubkey().as_ref());
    let at = solana_address::Address::from([9; 32]);
    net.svm.set_account(at, forged).unwrap();
    let mut attack = initialize(&other.pubkey(), CHAIN);
    attack.accounts[3] = readonly(at);
    assert_refused(&net.send(&[&other], &[attack]), 0, ACCOUNT_MISMATCH);
    for place in 2..7 {
        let mut instruction = initialize(&authority.pubkey(), CHAIN);
        let genuine = instruction.accounts[place].pubkey;
        instruction.accounts[place].pubkey = other.pubkey();
        let sent = net.send(&[&authority], &[instruction]);
        assert_refused(&sent, 0, mismatch_of(&genuine));
    }
}
