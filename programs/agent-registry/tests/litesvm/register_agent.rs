use crate::localnet::{
    Localnet, NOW, URI,
    accounts::{AgentIdentity, Fields},
    events,
    instructions::{
        agent_identity, event_authority, extra_account_metas, register_agent, register_agent_bytes,
    },
    program_id,
    refusal::*,
    token_2022::{self, balance, token_account},
};
use solana_address::Address;
use solana_instruction::error::InstructionError;
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
    let group = [identity.as_ref(), &[0; 32]].concat(); // a member of nothing yet
    let expected = [(18u16, pointer), (14, hook), (22, group), (19, metadata)];
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
    let (owner, mint) = (net.actor(), net.key());
    let instruction = register_agent(&owner.pubkey(), &mint.pubkey(), URI);
    let sent = net.send(&[&owner, &mint], &[instruction]).unwrap();
    let [event] = &events(&sent)[..] else {
        panic!("one event")
    };
    let mut fields = Fields::of(event, [191, 78, 217, 54, 232, 100, 189, 85]);
    assert_eq!(
        (fields.key(), fields.key()),
        (mint.pubkey(), owner.pubkey())
    );
    assert_eq!((fields.text().as_str(), fields.i64()), (URI, NOW));
    fields.end();
}

#[test]
fn accepts_uris_up_to_200_bytes() {
    let mut net = Localnet::new();
    for uri in ["", &"a".repeat(200), &"é".repeat(100)] {
        let (owner, mint) = (net.actor(), net.key());
        let instruction = register_agent(&owner.pubkey(), &mint.pubkey(), uri);
        net.send(&[&owner, &mint], &[instruction]).unwrap();
        let data = net.account(&mint.pubkey()).data;
        assert!(data.ends_with(&[uri.as_bytes(), &[0; 4]].concat()));
    }
}

#[test]
fn refuses_uris_over_200_bytes_or_with_nul() {
    // R17
    let mut net = Localnet::new();
    for uri in ["a".repeat(201), "é".repeat(101), "a\0b".into(), "\0".into()] {
        let (owner, mint) = (net.actor(), net.key());
        let instruction = register_agent(&owner.pubkey(), &mint.pubkey(), &uri);
        let sent = net.send(&[&owner, &mint], &[instruction]);
        assert_refused(&sent, 0, LENGTH_LIMIT);
    }
}

#[test]
fn a_uri_that_is_not_utf_8_is_no_instruction() {
    // Anchor's InstructionDidNotDeserialize, before the program's own checks
    let mut net = Localnet::new();
    let (owner, mint) = (net.actor(), net.key());
    let instruction = register_agent_bytes(&owner.pubkey(), &mint.pubkey(), &[0xFF]);
    assert_refused(&net.send(&[&owner, &mint], &[instruction]), 0, 102);
}

#[test]
fn refuses_a_mint_that_exists() {
    let mut net = Localnet::new();
    let (first, second, mint) = (net.actor(), net.actor(), net.key());
    let instruction = register_agent(&first.pubkey(), &mint.pubkey(), URI);
    net.send(&[&first, &mint], &[instruction]).unwrap();
    for owner in [&first, &second] {
        let again = register_agent(&owner.pubkey(), &mint.pubkey(), URI);
        let sent = net.send(&[owner, &mint], &[again]);
        assert_refused(&sent, 0, ALREADY_INITIALIZED);
    }
}

#[test]
fn refuses_another_account_in_each_place() {
    let mut net = Localnet::new();
    let other = net.agent();
    let spare = [
        agent_identity(&other.mint),
        token_account(&other.owner.pubkey(), &other.mint),
        extra_account_metas(&other.mint),
    ];
    for place in 3..11 {
        let (owner, mint) = (net.actor(), net.key());
        let mut instruction = register_agent(&owner.pubkey(), &mint.pubkey(), URI);
        // an address nobody uses, and a valid one of another agent
        let strange = [
            Address::from([9; 32]),
            *spare.get(place - 3).unwrap_or(&other.mint),
        ];
        for address in strange {
            instruction.accounts[place].pubkey = address;
            let sent = net.send(&[&owner, &mint], &[instruction.clone()]);
            let (_, error) = refusal(&sent);
            let expected = match (place, address == spare[0]) {
                (3, true) => InstructionError::Custom(ALREADY_INITIALIZED),
                (4, _) => InstructionError::InvalidSeeds, // the associated token program's
                _ => InstructionError::Custom(ACCOUNT_MISMATCH),
            };
            assert_eq!(error, expected, "place {place}");
            assert!(!net.exists(&mint.pubkey()));
        }
    }
}

#[test]
fn refuses_without_the_mints_signature() {
    let mut net = Localnet::new();
    let (owner, mint) = (net.actor(), net.key());
    let mut instruction = register_agent(&owner.pubkey(), &mint.pubkey(), URI);
    instruction.accounts[2].is_signer = false;
    // Anchor's AccountNotSigner
    assert_refused(&net.send(&[&owner], &[instruction]), 0, 3010);
}
