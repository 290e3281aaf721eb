use crate::localnet::{
    Localnet, NOW, URI, accounts::Fields, events, refusal::*, settings::set_agent_uri, token_2022,
};
use solana_address::Address;
use solana_signer::Signer;

/// Where the metadata's URI starts in a mint: 165 + 1 + 2 * 68 of mint and extensions, 4 of the
/// metadata's header, 64 of its keys, then name and symbol with their lengths.
const METADATA: usize = 302;
const LENGTH_OF_METADATA: usize = METADATA + 2;
const NAME: usize = METADATA + 4 + 64;
const URI_LENGTH: usize = NAME + 4 + "AgentIdentity".len() + 4 + "AGENT".len();

fn assert_uri(net: &Localnet, mint: &Address, uri: &str) {
    let account = net.account(mint);
    assert_eq!(account.owner, token_2022::program());
    let data = &account.data;
    let text = [&(uri.len() as u32).to_le_bytes()[..], uri.as_bytes()].concat();
    // the rest: no further fields, and nothing after
    assert_eq!(data[URI_LENGTH..], [&text[..], &[0; 4]].concat());
    let length = u16::from_le_bytes(data[LENGTH_OF_METADATA..][..2].try_into().unwrap());
    assert_eq!(METADATA + 4 + usize::from(length), data.len());
    assert!(account.lamports >= net.svm.minimum_balance_for_rent_exemption(data.len()));
}

#[test]
fn rewrites_the_tokens_uri_and_nothing_else() {
    // R4: the URI lives in the token metadata
    let mut net = Localnet::new();
    let agent = net.agent();
    let (before, identity) = (net.account(&agent.mint), net.identity(&agent.mint));
    net.set_clock(NOW + 60);
    let uri = "ipfs://registration";
    let instruction = set_agent_uri(&agent.owner.pubkey(), &agent.mint, uri.as_bytes());
    let sent = net.send(&[&agent.owner], &[instruction]).unwrap();
    assert_uri(&net, &agent.mint, uri);
    let after = net.account(&agent.mint);
    assert_eq!(
        before.data[..LENGTH_OF_METADATA],
        after.data[..LENGTH_OF_METADATA]
    );
    assert_eq!(
        before.data[NAME - 64..URI_LENGTH],
        after.data[NAME - 64..URI_LENGTH]
    );
    let mut expected = identity;
    expected.updated_at = NOW + 60;
    assert_eq!(net.identity(&agent.mint), expected);

    let [event] = &events(&sent)[..] else {
        panic!("one event")
    };
    let mut fields = Fields::of(event, [74, 57, 184, 251, 96, 41, 40, 249]);
    assert_eq!(
        (fields.key(), fields.key()),
        (agent.mint, agent.owner.pubkey())
    );
    assert_eq!((fields.text(), fields.i64()), (uri.to_owned(), NOW + 60));
    fields.end();
}

#[test]
fn a_longer_uri_pays_its_rent_and_a_shorter_one_leaves_it_there() {
    let mut net = Localnet::new();
    let agent = net.agent();
    let set = |net: &mut Localnet, uri: &str| {
        let instruction = set_agent_uri(&agent.owner.pubkey(), &agent.mint, uri.as_bytes());
        net.send(&[&agent.owner], &[instruction]).unwrap();
        assert_uri(net, &agent.mint, uri);
    };
    let longest = "é".repeat(100);
    set(&mut net, &longest);
    let account = net.account(&agent.mint);
    let rent = net
        .svm
        .minimum_balance_for_rent_exemption(account.data.len());
    assert_eq!(account.lamports, rent);
    set(&mut net, "");
    assert_eq!(net.account(&agent.mint).lamports, rent);
    set(&mut net, &longest);
    assert_eq!(net.account(&agent.mint).lamports, rent);
    set(&mut net, URI);
}

#[test]
fn refuses_uris_over_200_bytes_or_with_nul() {
    // R17
    let mut net = Localnet::new();
    let agent = net.agent();
    for uri in [vec![b'a'; 201], b"a\0".to_vec()] {
        let instruction = set_agent_uri(&agent.owner.pubkey(), &agent.mint, &uri);
        assert_refused(&net.send(&[&agent.owner], &[instruction]), 0, LENGTH_LIMIT);
    }
    let instruction = set_agent_uri(&agent.owner.pubkey(), &agent.mint, &[0xFF]);
    // not UTF-8: Anchor's InstructionDidNotDeserialize
    assert_refused(&net.send(&[&agent.owner], &[instruction]), 0, 102);
    assert_uri(&net, &agent.mint, URI);
}

#[test]
fn reports_the_first_of_two_broken_rules() {
    let mut net = Localnet::new();
    let (agent, stranger, nobody) = (net.agent(), net.actor(), net.key().pubkey());
    for (mint, code) in [(nobody, AGENT_NOT_FOUND), (agent.mint, NOT_AUTHORIZED)] {
        let instruction = set_agent_uri(&stranger.pubkey(), &mint, &[b'a'; 201]);
        assert_refused(&net.send(&[&stranger], &[instruction]), 0, code);
    }
}
