use crate::localnet::{
    Localnet, NOW,
    accounts::Fields,
    events,
    instructions::{agent_identity, client_index, feedback_entry},
    open_feedback::{
        GiveOpenFeedback, OpenClientIndex, OpenFeedback, open_client_index, open_feedback,
    },
    refusal::*,
};
use solana_address::Address;
use solana_signer::Signer;

/// R16's bound.
const E38: i128 = 100_000_000_000_000_000_000_000_000_000_000_000_000;

#[test]
fn stores_the_entry_and_the_clients_index() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let before = net.identity(&agent.mint);
    let feedback = GiveOpenFeedback::new(&agent.mint, &client.pubkey());
    net.give_open(&client, &feedback).unwrap();

    assert_eq!(
        net.open_entry(&agent.mint, &client.pubkey(), 1),
        OpenFeedback {
            nft_mint: agent.mint,
            client: client.pubkey(),
            feedback_index: 1,
            value: 9977,
            value_decimals: 2,
            revoked: false,
            created_at: NOW,
            response_count: 0,
            tags: ["uptime".into(), "week".into()],
        }
    );
    assert_eq!(
        net.open_client_index(&agent.mint, &client.pubkey()),
        OpenClientIndex {
            agent: agent.mint,
            client: client.pubkey(),
            last_index: 1,
            ordinal: 1,
        }
    );
    let after = net.identity(&agent.mint);
    assert_eq!(after.open_client_count, 1);
    // the authorized profile's counters know nothing of it
    assert_eq!((before.client_count, before.open_client_count), (0, 0));
    let mut expected = before;
    expected.open_client_count = 1;
    assert_eq!(after, expected);
    assert!(!net.exists(&client_index(&agent.mint, &client.pubkey())));
    assert!(!net.exists(&feedback_entry(&agent.mint, &client.pubkey(), 1)));
}

#[test]
fn an_entry_is_as_long_as_its_tags_and_rent_exempt() {
    let mut net = Localnet::new();
    let agent = net.agent();
    for (tag1, tag2) in [("", ""), ("a", "bc"), ("ü", "")] {
        let client = net.actor();
        let feedback = GiveOpenFeedback {
            tag1: tag1.into(),
            tag2: tag2.into(),
            ..GiveOpenFeedback::new(&agent.mint, &client.pubkey())
        };
        net.give_open(&client, &feedback).unwrap();
        let at = open_feedback(&agent.mint, &client.pubkey(), 1);
        let account = net.account(&at);
        assert_eq!(account.data.len(), 124 + tag1.len() + tag2.len());
        let needed = net
            .svm
            .minimum_balance_for_rent_exemption(account.data.len());
        assert_eq!(account.lamports, needed);
        let tags = net.open_entry(&agent.mint, &client.pubkey(), 1).tags;
        assert_eq!(tags, [tag1, tag2]);
    }
}

#[test]
fn one_event_reports_all_that_the_evm_event_carries() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    net.given_open(&agent.mint, &client, 1);
    net.set_clock(NOW + 9);
    let feedback = GiveOpenFeedback {
        feedback_index: 2,
        value: -5,
        ..GiveOpenFeedback::longest(&agent.mint, &client.pubkey())
    };
    let sent = net.give_open(&client, &feedback).unwrap();
    let [event] = &events(&sent)[..] else {
        panic!("one event")
    };
    let mut fields = Fields::of(event, [246, 133, 124, 59, 130, 248, 16, 234]);
    assert_eq!((fields.key(), fields.key()), (agent.mint, client.pubkey()));
    assert_eq!((fields.u64(), fields.i128(), fields.u8()), (2, -5, 2));
    let texts = [fields.text(), fields.text(), fields.text(), fields.text()];
    assert_eq!(
        texts,
        [
            "a".repeat(32),
            "b".repeat(32),
            "c".repeat(200),
            "d".repeat(200)
        ]
    );
    assert_eq!((fields.bytes32(), fields.i64()), ([0x44; 32], NOW + 9));
    fields.end();
}

#[test]
fn a_second_feedback_is_the_same_clients() {
    let mut net = Localnet::new();
    let (agent, client, other) = (net.agent(), net.actor(), net.actor());
    net.given_open(&agent.mint, &client, 1);
    net.given_open(&agent.mint, &other, 1);
    net.set_clock(NOW + 1);
    net.given_open(&agent.mint, &client, 2);
    let index = net.open_client_index(&agent.mint, &client.pubkey());
    assert_eq!((index.last_index, index.ordinal), (2, 1));
    let index = net.open_client_index(&agent.mint, &other.pubkey());
    assert_eq!((index.last_index, index.ordinal), (1, 2));
    assert_eq!(net.identity(&agent.mint).open_client_count, 2);
    let first = net.open_entry(&agent.mint, &client.pubkey(), 1);
    let second = net.open_entry(&agent.mint, &client.pubkey(), 2);
    assert_eq!((first.created_at, second.created_at), (NOW, NOW + 1));
}

#[test]
fn an_agents_authorized_and_open_indices_are_separate() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    net.given(&agent, &client, 1, 50);
    net.given_open(&agent.mint, &client, 1);
    net.given(&agent, &client, 2, 50);
    let identity = net.identity(&agent.mint);
    assert_eq!((identity.client_count, identity.open_client_count), (1, 1));
    assert_eq!(identity.unverified, (2, 100));
}

#[test]
fn accepts_the_bounds_themselves() {
    // R16, R17
    let mut net = Localnet::new();
    let agent = net.agent();
    for (value, value_decimals) in [(E38, 0), (-E38, 18), (0, 18)] {
        let client = net.actor();
        let feedback = GiveOpenFeedback {
            value,
            value_decimals,
            ..GiveOpenFeedback::longest(&agent.mint, &client.pubkey())
        };
        net.give_open(&client, &feedback).unwrap();
        let entry = net.open_entry(&agent.mint, &client.pubkey(), 1);
        assert_eq!((entry.value, entry.value_decimals), (value, value_decimals));
    }
}

#[test]
fn refuses_values_and_decimals_beyond_their_bounds() {
    // R16
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let new = GiveOpenFeedback::new(&agent.mint, &client.pubkey());
    for value_decimals in [19, 255] {
        let feedback = GiveOpenFeedback {
            value_decimals,
            ..new.clone()
        };
        assert_refused(&net.give_open(&client, &feedback), 0, DECIMALS_OUT_OF_RANGE);
    }
    for value in [E38 + 1, -E38 - 1, i128::MAX, i128::MIN] {
        let feedback = GiveOpenFeedback {
            value,
            ..new.clone()
        };
        assert_refused(&net.give_open(&client, &feedback), 0, VALUE_OUT_OF_RANGE);
    }
}

#[test]
fn refuses_texts_beyond_their_limits_and_nul() {
    // R17
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    type Text = fn(&mut GiveOpenFeedback) -> &mut Vec<u8>;
    let texts: [(Text, usize); 4] = [
        (|f| &mut f.tag1, 32),
        (|f| &mut f.tag2, 32),
        (|f| &mut f.endpoint, 200),
        (|f| &mut f.feedback_uri, 200),
    ];
    for (text, limit) in texts {
        for content in [vec![b'a'; limit + 1], b"\0".to_vec(), b"a\0b".to_vec()] {
            let mut feedback = GiveOpenFeedback::new(&agent.mint, &client.pubkey());
            *text(&mut feedback) = content;
            assert_refused(&net.give_open(&client, &feedback), 0, LENGTH_LIMIT);
        }
    }
}

#[test]
fn refuses_text_that_is_not_utf_8() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let feedback = GiveOpenFeedback {
        tag1: vec![0xC3],
        ..GiveOpenFeedback::new(&agent.mint, &client.pubkey())
    };
    // Anchor's InstructionDidNotDeserialize
    assert_refused(&net.give_open(&client, &feedback), 0, 102);
}

#[test]
fn refuses_the_owner_and_the_feedback_authority() {
    // R18
    let mut net = Localnet::new();
    let (agent, authority) = (net.agent(), net.actor());
    let feedback = GiveOpenFeedback::new(&agent.mint, &authority.pubkey());
    let owners = GiveOpenFeedback::new(&agent.mint, &agent.owner.pubkey());
    net.set_feedback_authority(&agent.mint, &authority.pubkey());
    assert_refused(&net.give_open(&authority, &feedback), 0, SELF_FEEDBACK);
    assert_refused(&net.give_open(&agent.owner, &owners), 0, SELF_FEEDBACK);
    net.set_feedback_authority(&agent.mint, &Address::default());
    net.give_open(&authority, &feedback).unwrap();
    assert_refused(&net.give_open(&agent.owner, &owners), 0, SELF_FEEDBACK);
}

#[test]
fn a_former_owner_may_review_and_the_new_one_may_not() {
    // R18
    let mut net = Localnet::new();
    let (agent, buyer) = (net.agent(), net.actor());
    net.transfer(&agent.mint, &agent.owner, &buyer.pubkey())
        .unwrap();
    let feedback = GiveOpenFeedback::new(&agent.mint, &buyer.pubkey());
    assert_refused(&net.give_open(&buyer, &feedback), 0, SELF_FEEDBACK);
    net.given_open(&agent.mint, &agent.owner, 1);
}

#[test]
fn refuses_every_index_but_the_next() {
    // R12
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let mut feedback = GiveOpenFeedback::new(&agent.mint, &client.pubkey());
    for last in 0..3 {
        for index in [0, 1, 2, 3, 4, u64::MAX] {
            feedback.feedback_index = index;
            if index != last + 1 {
                assert_refused(&net.give_open(&client, &feedback), 0, FEEDBACK_INDEX_STALE);
            }
        }
        feedback.feedback_index = last + 1;
        net.give_open(&client, &feedback).unwrap();
    }
}

#[test]
fn refuses_an_agent_that_does_not_exist() {
    let mut net = Localnet::new();
    let (client, nobody) = (net.actor(), net.key().pubkey());
    let feedback = GiveOpenFeedback::new(&nobody, &client.pubkey());
    assert_refused(&net.give_open(&client, &feedback), 0, AGENT_NOT_FOUND);
}

#[test]
fn refuses_counters_at_their_maximum() {
    // R8
    const OPEN_CLIENT_COUNT: usize = 8 + 32 + 32 + 8 + 32 + 32 + 1 + 8 + 8 + 4 * 8 + 8 + 8;
    const LAST_INDEX: usize = 8 + 32 + 32;
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let feedback = GiveOpenFeedback::new(&agent.mint, &client.pubkey());
    let patch = |net: &mut Localnet, at: Address, offset: usize, value: u64| {
        let mut account = net.account(&at);
        account.data[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
        net.svm.set_account(at, account).unwrap();
    };
    let identity = agent_identity(&agent.mint);
    patch(&mut net, identity, OPEN_CLIENT_COUNT, u64::MAX);
    assert_eq!(net.identity(&agent.mint).open_client_count, u64::MAX);
    assert_refused(&net.give_open(&client, &feedback), 0, COUNTER_EXHAUSTED);
    patch(&mut net, identity, OPEN_CLIENT_COUNT, u64::MAX - 1);
    net.give_open(&client, &feedback).unwrap();
    let index = open_client_index(&agent.mint, &client.pubkey());
    patch(&mut net, index, LAST_INDEX, u64::MAX);
    let feedback = GiveOpenFeedback {
        feedback_index: 0,
        ..feedback
    };
    assert_refused(&net.give_open(&client, &feedback), 0, COUNTER_EXHAUSTED);
}

#[test]
fn reports_the_first_of_any_two_broken_rules() {
    type Break = (u32, fn(&mut GiveOpenFeedback));
    const BREAKS: [Break; 6] = [
        (DECIMALS_OUT_OF_RANGE, |f| f.value_decimals = 19),
        (VALUE_OUT_OF_RANGE, |f| f.value = E38 + 1),
        (AGENT_NOT_FOUND, |f| f.mint = [5; 32].into()),
        (SELF_FEEDBACK, |f| f.client = [0; 32].into()), // stands for the owner
        (LENGTH_LIMIT, |f| f.endpoint = vec![b'a'; 201]),
        (FEEDBACK_INDEX_STALE, |f| f.feedback_index = 7),
    ];
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    for (first, (code, break_first)) in BREAKS.iter().enumerate() {
        for (_, break_second) in &BREAKS[first..] {
            let mut feedback = GiveOpenFeedback::new(&agent.mint, &client.pubkey());
            break_second(&mut feedback);
            break_first(&mut feedback);
            let sender = if feedback.client == client.pubkey() {
                &client
            } else {
                feedback.client = agent.owner.pubkey();
                &agent.owner
            };
            assert_refused(&net.give_open(sender, &feedback), 0, *code);
        }
    }
}
