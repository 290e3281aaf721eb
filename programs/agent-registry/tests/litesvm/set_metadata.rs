use crate::localnet::{
    Agent, Localnet, NOW, Sent,
    accounts::Fields,
    events, program_id,
    refusal::*,
    settings::{counted, metadata_entry, set_metadata},
};
use solana_address::Address;
use solana_signer::Signer;

fn set(net: &mut Localnet, agent: &Agent, key: &[u8], value: &[u8]) -> Sent {
    let instruction = set_metadata(&agent.owner.pubkey(), &agent.mint, key, value);
    net.send(&[&agent.owner], &[instruction])
}

#[track_caller]
fn assert_entry(net: &Localnet, mint: &Address, key: &str, value: &[u8]) {
    let at = metadata_entry(mint, key.as_bytes());
    let account = net.account(&at);
    assert_eq!(account.owner, program_id());
    let hash = <sha2::Sha256 as sha2::Digest>::digest(key);
    let seeds: &[&[u8]] = &[b"metadata", mint.as_ref(), &hash];
    let (_, bump) = Address::find_program_address(seeds, &program_id());
    let expected = [
        &[96, 126, 172, 22, 37, 180, 115, 47][..],
        mint.as_ref(),
        &[bump, 1], // and the version
        &counted(key.as_bytes()),
        &counted(value),
    ]
    .concat();
    assert_eq!(account.data, expected);
    let rent = net.svm.minimum_balance_for_rent_exemption(expected.len());
    assert!(account.lamports >= rent);
}

#[test]
fn creates_the_entry_and_reports_it() {
    let mut net = Localnet::new();
    let agent = net.agent();
    let identity = net.identity(&agent.mint);
    net.set_clock(NOW + 60);
    let sent = set(&mut net, &agent, b"version", &[0, 255, 7]).unwrap();
    assert_entry(&net, &agent.mint, "version", &[0, 255, 7]);
    let account = net.account(&metadata_entry(&agent.mint, b"version"));
    let rent = net
        .svm
        .minimum_balance_for_rent_exemption(account.data.len());
    assert_eq!(account.lamports, rent);
    let mut expected = identity;
    expected.updated_at = NOW + 60;
    assert_eq!(net.identity(&agent.mint), expected);

    let [event] = &events(&sent)[..] else {
        panic!("one event")
    };
    let mut fields = Fields::of(event, [190, 125, 71, 119, 14, 31, 26, 197]);
    assert_eq!(
        (fields.key(), fields.key()),
        (agent.mint, agent.owner.pubkey())
    );
    assert_eq!(fields.text(), "version");
    assert_eq!(
        (fields.counted(), fields.i64()),
        (vec![0, 255, 7], NOW + 60)
    );
    fields.end();
}

#[test]
fn rewrites_longer_and_shorter_values() {
    let mut net = Localnet::new();
    let agent = net.agent();
    for value in [&b"v1"[..], &[7; 256], b"short", b"", &[8; 200]] {
        set(&mut net, &agent, b"version", value).unwrap();
        assert_entry(&net, &agent.mint, "version", value);
    }
}

#[test]
fn accepts_keys_from_0_to_32_bytes_apart_from_each_other() {
    // R17
    let mut net = Localnet::new();
    let agent = net.agent();
    let keys = [
        "",
        "a",
        "é".repeat(16).as_str(),
        "AgentWallet",
        "agentWallet ",
    ]
    .map(str::to_owned);
    for (value, key) in (1..).zip(&keys) {
        set(&mut net, &agent, key.as_bytes(), &[value; 256]).unwrap();
    }
    for (value, key) in (1..).zip(&keys) {
        assert_entry(&net, &agent.mint, key, &[value; 256]);
    }
}

#[test]
fn agents_have_their_own_values() {
    let mut net = Localnet::new();
    let (one, two) = (net.agent(), net.agent());
    set(&mut net, &one, b"k", b"one").unwrap();
    set(&mut net, &two, b"k", b"two").unwrap();
    assert_entry(&net, &one.mint, "k", b"one");
    assert_entry(&net, &two.mint, "k", b"two");
}

#[test]
fn refuses_the_reserved_key() {
    // R2, R3
    let mut net = Localnet::new();
    let agent = net.agent();
    for value in [&b""[..], &[1; 257]] {
        let sent = set(&mut net, &agent, b"agentWallet", value);
        assert_refused(&sent, 0, RESERVED_KEY);
    }
}

#[test]
fn refuses_keys_over_32_bytes_or_with_nul_and_values_over_256() {
    // R17
    let mut net = Localnet::new();
    let agent = net.agent();
    for (key, value) in [
        (&[b'k'; 33][..], &b""[..]),
        (b"a\0", b""),
        (b"agentWallet\0", b""),
        (b"k", &[0; 257]),
    ] {
        let sent = set(&mut net, &agent, key, value);
        assert_refused(&sent, 0, LENGTH_LIMIT);
        assert!(!net.exists(&metadata_entry(&agent.mint, key)));
    }
    // not UTF-8: Anchor's InstructionDidNotDeserialize
    assert_refused(&set(&mut net, &agent, &[0xC0, 0x80], b""), 0, 102);
}

#[test]
fn refuses_the_entry_of_another_key_or_agent() {
    let mut net = Localnet::new();
    let (agent, other) = (net.agent(), net.agent());
    for (agent, key) in [(&agent, b"a"), (&agent, b"b"), (&other, b"a")] {
        set(&mut net, agent, key, b"value").unwrap();
    }
    let others = [
        metadata_entry(&agent.mint, b"b"),
        metadata_entry(&other.mint, b"a"),
        metadata_entry(&agent.mint, b"vacant"),
    ];
    // in place of an entry, and of one that is to be created
    for key in [b"a", b"c"] {
        for account in others {
            let mut instruction = set_metadata(&agent.owner.pubkey(), &agent.mint, key, b"new");
            instruction.accounts[4].pubkey = account;
            let sent = net.send(&[&agent.owner], &[instruction]);
            assert_refused(&sent, 0, ACCOUNT_MISMATCH);
        }
    }
}

#[test]
fn lamports_sent_to_an_entry_beforehand_do_not_block_it() {
    let mut net = Localnet::new();
    let (agent, value) = (net.agent(), [9; 256]);
    for (key, gift) in [(b"a", 1_000_000), (b"b", 1_000_000_000)] {
        let at = metadata_entry(&agent.mint, key);
        net.svm.airdrop(&at, gift).unwrap();
        set(&mut net, &agent, key, &value).unwrap();
        assert_entry(&net, &agent.mint, std::str::from_utf8(key).unwrap(), &value);
    }
}

#[test]
fn values_stay_with_the_agent_when_it_is_sold() {
    let mut net = Localnet::new();
    let (agent, buyer) = (net.agent(), net.actor());
    set(&mut net, &agent, b"k", b"seller's").unwrap();
    net.transfer(&agent.mint, &agent.owner, &buyer.pubkey())
        .unwrap();
    assert_entry(&net, &agent.mint, "k", b"seller's");
    assert_refused(&set(&mut net, &agent, b"k", b"again"), 0, NOT_AUTHORIZED);
    let sold = Agent {
        owner: buyer,
        mint: agent.mint,
    };
    set(&mut net, &sold, b"k", b"buyer's").unwrap();
    assert_entry(&net, &agent.mint, "k", b"buyer's");
}

#[test]
fn reports_the_first_of_two_broken_rules() {
    let mut net = Localnet::new();
    let (agent, stranger, nobody) = (net.agent(), net.actor(), net.key().pubkey());
    let long = [0; 257];
    for (mint, key, code) in [
        (nobody, "agentWallet", AGENT_NOT_FOUND),
        (agent.mint, "agentWallet", NOT_AUTHORIZED),
        (agent.mint, "k", NOT_AUTHORIZED),
    ] {
        let instruction = set_metadata(&stranger.pubkey(), &mint, key.as_bytes(), &long);
        assert_refused(&net.send(&[&stranger], &[instruction]), 0, code);
    }
}
