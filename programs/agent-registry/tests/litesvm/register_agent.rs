use crate::calls_by_programs::relay;
use crate::localnet::{
    Localnet, NOW, URI,
    accounts::{AgentIdentity, Fields},
    events,
    instructions::{
        agent_identity, agent_mint, event_authority, extra_account_metas, register_agent,
        register_agent_bytes,
    },
    program_id,
    refusal::*,
    token_2022::{self, balance, token_account},
};
use solana_address::Address;
use solana_instruction::{Instruction, error::InstructionError};
use solana_keypair::Keypair;
use solana_signer::Signer;

#[test]
fn the_caller_becomes_owner_and_wallet() {
    let mut net = Localnet::new();
    let agent = net.agent();
    let owner = agent.owner.pubkey();
    let identity = net.account(&agent_identity(&agent.mint));
    assert_eq!((identity.owner, identity.data.len()), (program_id(), 283));
    assert_eq!(
        net.identity(&agent.mint),
        AgentIdentity {
            nft_mint: agent.mint,
            owner,
            owner_version: 1,
            feedback_authority: Address::default(),
            agent_wallet: owner, // R3
            auth_schemes: 2,     // bounded only (R10)
            created_at: NOW,
            updated_at: NOW,
            verified: (0, 0),
            unverified: (0, 0),
            validation_count: 0,
            client_count: 0,
            open_client_count: 0,
            wallet_set_at: NOW,
        }
    );
}

#[test]
fn the_token_is_r4s() {
    let mut net = Localnet::new();
    let agent = net.agent();
    let mint = net.account(&agent.mint);
    assert_eq!(mint.owner, token_2022::program());
    assert_eq!(
        mint.lamports,
        net.svm.minimum_balance_for_rent_exemption(mint.data.len())
    );
    let data = mint.data;
    assert_eq!(data[..4], [0; 4]); // no mint authority
    assert_eq!(data[36..44], 1u64.to_le_bytes()); // supply
    assert_eq!((data[44], data[45]), (0, 1)); // decimals, initialized
    assert_eq!(data[46..50], [0; 4]); // no freeze authority
    assert_eq!(data[165], 1); // a mint

    let identity = agent_identity(&agent.mint);
    let pointer = [identity.as_ref(), agent.mint.as_ref()].concat();
    let hook = [&[0; 32], program_id().as_ref()].concat(); // hook authority none
    let metadata = [
        identity.as_ref(),
        agent.mint.as_ref(),
        &13u32.to_le_bytes(),
        b"AgentIdentity",
        &5u32.to_le_bytes(),
        b"AGENT",
        &(URI.len() as u32).to_le_bytes(),
        URI.as_bytes(),
        &[0; 4], // no further fields
    ]
    .concat();
    // Nothing else: no close authority, no permanent delegate.
    let expected = [(18u16, pointer), (14, hook), (19, metadata)];
    let mut rest = &data[166..];
    for (kind, value) in expected {
        assert_eq!(rest[..2], kind.to_le_bytes());
        assert_eq!(rest[2..4], (value.len() as u16).to_le_bytes());
        assert_eq!(rest[4..4 + value.len()], value);
        rest = &rest[4 + value.len()..];
    }
    assert_eq!(rest, [0u8; 0]);
    let held = token_account(&agent.owner.pubkey(), &agent.mint);
    assert_eq!(balance(&net, &held), 1);
}

#[test]
fn the_hooks_account_list_is_the_interfaces() {
    let mut net = Localnet::new();
    let agent = net.agent();
    let identity = agent_identity(&agent.mint);
    let expected = [
        &[105, 37, 101, 197, 75, 251, 102, 26][..],
        &(4u32 + 3 * 35).to_le_bytes(),
        &3u32.to_le_bytes(),
        &[0],
        identity.as_ref(),
        &[0, 1], // writable
        &[0],
        event_authority().as_ref(),
        &[0, 0],
        &[0],
        program_id().as_ref(),
        &[0, 0],
    ]
    .concat();
    assert_eq!(
        net.account(&extra_account_metas(&agent.mint)).data,
        expected
    );
}

#[test]
fn one_event_reports_it() {
    let mut net = Localnet::new();
    let owner = net.actor();
    let (me, mint) = (owner.pubkey(), agent_mint(&owner.pubkey(), 7));
    let sent = net.send(&[&owner], &[register_agent(&me, 7, URI)]).unwrap();
    let [event] = &events(&sent)[..] else {
        panic!("one event")
    };
    let mut fields = Fields::of(event, [191, 78, 217, 54, 232, 100, 189, 85]);
    assert_eq!((fields.key(), fields.key()), (mint, me));
    assert_eq!((fields.text().as_str(), fields.i64()), (URI, NOW));
    fields.end();
}

#[test]
fn accepts_uris_up_to_200_bytes() {
    let mut net = Localnet::new();
    for uri in ["", &"a".repeat(200), &"é".repeat(100)] {
        let owner = net.actor();
        let instruction = register_agent(&owner.pubkey(), 0, uri);
        net.send(&[&owner], &[instruction]).unwrap();
        let data = net.account(&agent_mint(&owner.pubkey(), 0)).data;
        assert!(data.ends_with(&[uri.as_bytes(), &[0; 4]].concat()));
    }
}

#[test]
fn refuses_uris_over_200_bytes_or_with_nul() {
    // R17
    let mut net = Localnet::new();
    for uri in ["a".repeat(201), "é".repeat(101), "a\0b".into(), "\0".into()] {
        let owner = net.actor();
        let instruction = register_agent(&owner.pubkey(), 0, &uri);
        let sent = net.send(&[&owner], &[instruction]);
        assert_refused(&sent, 0, LENGTH_LIMIT);
    }
}

#[test]
fn a_uri_that_is_not_utf_8_is_no_instruction() {
    // Anchor's InstructionDidNotDeserialize, before the program's own checks
    let mut net = Localnet::new();
    let owner = net.actor();
    let instruction = register_agent_bytes(&owner.pubkey(), &owner.pubkey(), 0, &[0xFF]);
    assert_refused(&net.send(&[&owner], &[instruction]), 0, 102);
}

/// The agent of `payer` and `nonce`, for an owner of their choice.
fn register_for(owner: &Keypair, payer: &Keypair, nonce: u64) -> Instruction {
    register_agent_bytes(&owner.pubkey(), &payer.pubkey(), nonce, URI.as_bytes())
}

#[test]
fn refuses_a_nonce_that_the_payer_has_used() {
    let mut net = Localnet::new();
    let (payer, first, second) = (net.actor(), net.actor(), net.actor());
    let mint = agent_mint(&payer.pubkey(), 3);
    let register = register_for(&first, &payer, 3);
    net.send(&[&payer, &first], &[register]).unwrap();
    let before = net.identity(&mint);
    for owner in [&first, &second, &payer] {
        let again = register_for(owner, &payer, 3);
        let sent = net.send(&[&payer, owner], &[again]);
        assert_refused(&sent, 0, ALREADY_INITIALIZED);
    }
    assert_eq!(net.identity(&mint), before);
    // nor twice in one transaction, whoever calls
    let twice = [4, 4].map(|nonce| register_for(&first, &payer, nonce));
    let sent = net.send(&[&payer, &first], &twice);
    assert_refused(&sent, 1, ALREADY_INITIALIZED);
    let sent = net.send(&[&payer, &first], &[relay(&twice)]);
    assert_refused(&sent, 0, ALREADY_INITIALIZED);
    // another payer's agent of the same nonce is another one
    let own = register_for(&second, &second, 3);
    net.send(&[&second], &[own]).unwrap();
}

#[test]
fn refuses_to_take_another_payers_nonce() {
    let mut net = Localnet::new();
    let (payer, thief) = (net.actor(), net.actor());
    let mint = agent_mint(&payer.pubkey(), 3);
    // the payer named, but not asked
    let mut unsigned = register_for(&thief, &payer, 3);
    unsigned.accounts[1].is_signer = false;
    assert_refused(&net.send(&[&thief], &[unsigned]), 0, 3010); // Anchor's AccountNotSigner
    // the payer's address, paid for by the thief
    let mut own = register_for(&thief, &payer, 3);
    own.accounts[1].pubkey = thief.pubkey();
    assert_refused(&net.send(&[&thief], &[own]), 0, ACCOUNT_MISMATCH);
    // another nonce than the one that the address was derived from
    let mut other = register_for(&payer, &payer, 3);
    other.data[8] = 4;
    assert_refused(&net.send(&[&payer], &[other]), 0, ACCOUNT_MISMATCH);
    assert!(!net.exists(&mint));
    let register = register_for(&payer, &payer, 3);
    net.send(&[&payer], &[register]).unwrap();
}

#[test]
fn takes_every_nonce() {
    let mut net = Localnet::new();
    let owner = net.actor();
    for nonce in [0, 1, u64::MAX, 1 << 63] {
        let register = register_for(&owner, &owner, nonce);
        net.send(&[&owner], &[register]).unwrap();
        let mint = agent_mint(&owner.pubkey(), nonce);
        assert_eq!(net.identity(&mint).owner, owner.pubkey());
    }
}

#[test]
fn refuses_another_account_in_each_place() {
    let mut net = Localnet::new();
    let other = net.agent();
    let spare = [
        other.mint,
        agent_identity(&other.mint),
        token_account(&other.owner.pubkey(), &other.mint),
        extra_account_metas(&other.mint),
    ];
    for place in 2..11 {
        let owner = net.actor();
        let mut instruction = register_agent(&owner.pubkey(), 0, URI);
        // an address nobody uses, and a valid one of another agent
        let strange = [
            Address::from([9; 32]),
            *spare.get(place - 2).unwrap_or(&other.mint),
        ];
        let genuine = instruction.accounts[place].pubkey;
        for address in strange {
            instruction.accounts[place].pubkey = address;
            let sent = net.send(&[&owner], &[instruction.clone()]);
            let (_, error) = refusal(&sent);
            let expected = match (place, address == agent_identity(&other.mint)) {
                (3, true) => InstructionError::Custom(ALREADY_INITIALIZED),
                (4, _) => InstructionError::InvalidSeeds, // the associated token program's
                _ => InstructionError::Custom(mismatch_of(&genuine)),
            };
            assert_eq!(error, expected, "place {place}");
            assert!(!net.exists(&agent_mint(&owner.pubkey(), 0)));
        }
    }
}
