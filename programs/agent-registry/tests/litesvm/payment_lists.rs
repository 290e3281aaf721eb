//! R13: the tokens and facilitators that the registry's authority lists.

use crate::localnet::{Localnet, NOW, accounts::Fields, events, refusal::*, registry::*};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_signer::Signer;

struct List {
    set: fn(&Address, &Address, bool) -> Instruction,
    limit: u8,
    event: [u8; 8],
    listed: fn(Registry) -> Vec<Address>,
}

const TOKENS: List = List {
    set: set_payment_token,
    limit: 8,
    event: [153, 110, 172, 47, 103, 1, 94, 45],
    listed: |registry| registry.payment_tokens,
};

const FACILITATORS: List = List {
    set: set_facilitator,
    limit: 16,
    event: [180, 98, 237, 93, 131, 140, 186, 3],
    listed: |registry| registry.facilitators,
};

fn key(number: u8) -> Address {
    [number; 32].into()
}

#[test]
fn entries_come_and_go_and_each_change_is_one_event() {
    for list in [TOKENS, FACILITATORS] {
        let mut net = Localnet::new();
        let authority = net.upgrade_authority.insecure_clone();
        let me = authority.pubkey();
        for (number, is_listed, expected) in [
            (1, true, vec![1]),
            (2, true, vec![1, 2]),
            (3, true, vec![1, 2, 3]),
            (1, false, vec![2, 3]),
            (3, false, vec![2]),
            (2, false, vec![]),
        ] {
            let set = (list.set)(&me, &key(number), is_listed);
            let sent = net.send(&[&authority], &[set]).unwrap();
            let expected: Vec<Address> = expected.into_iter().map(key).collect();
            assert_eq!((list.listed)(net.registry()), expected);
            let [event] = &events(&sent)[..] else {
                panic!("one event")
            };
            let mut fields = Fields::of(event, list.event);
            assert_eq!((fields.key(), fields.flag()), (key(number), is_listed));
            assert_eq!(fields.i64(), NOW);
            fields.end();
        }
    }
}

#[test]
fn neither_list_touches_the_other_or_anything_else() {
    let mut net = Localnet::new();
    let authority = net.upgrade_authority.insecure_clone();
    let me = authority.pubkey();
    let mut expected = net.registry();
    let calls = [
        set_payment_token(&me, &key(1), true),
        set_facilitator(&me, &key(2), true),
    ];
    net.send(&[&authority], &calls).unwrap();
    expected.payment_tokens = vec![key(1)];
    expected.facilitators = vec![key(2)];
    assert_eq!(net.registry(), expected);
    let calls = [
        set_payment_token(&me, &key(2), false),
        set_facilitator(&me, &key(1), false),
    ];
    net.send(&[&authority], &calls).unwrap();
    assert_eq!(net.registry(), expected);
}

#[test]
fn refuses_one_more_than_the_limit() {
    for list in [TOKENS, FACILITATORS] {
        let mut net = Localnet::new();
        let authority = net.upgrade_authority.insecure_clone();
        let me = authority.pubkey();
        for number in 1..=list.limit {
            net.send(&[&authority], &[(list.set)(&me, &key(number), true)])
                .unwrap();
        }
        let full: Vec<Address> = (1..=list.limit).map(key).collect();
        let one_more = (list.set)(&me, &key(100), true);
        let sent = net.send(&[&authority], std::slice::from_ref(&one_more));
        assert_refused(&sent, 0, LIST_TOO_LONG);
        assert_eq!((list.listed)(net.registry()), full);
        // a place that becomes free can be taken
        net.send(&[&authority], &[(list.set)(&me, &key(4), false), one_more])
            .unwrap();
        assert_eq!((list.listed)(net.registry()).len(), usize::from(list.limit));
    }
}

#[test]
fn both_lists_full_fit_their_account() {
    let mut net = Localnet::new();
    let authority = net.upgrade_authority.insecure_clone();
    let me = authority.pubkey();
    for list in [TOKENS, FACILITATORS] {
        for number in 1..=list.limit {
            net.send(&[&authority], &[(list.set)(&me, &key(number), true)])
                .unwrap();
        }
    }
    let registry = net.registry();
    assert_eq!(
        (registry.payment_tokens.len(), registry.facilitators.len()),
        (8, 16)
    );
}

#[test]
fn listing_twice_and_removing_the_absent_change_nothing() {
    for list in [TOKENS, FACILITATORS] {
        let mut net = Localnet::new();
        let authority = net.upgrade_authority.insecure_clone();
        let me = authority.pubkey();
        for number in 1..=list.limit {
            net.send(&[&authority], &[(list.set)(&me, &key(number), true)])
                .unwrap();
        }
        let before = net.registry();
        // not even where the list is full
        for call in [
            (list.set)(&me, &key(1), true),
            (list.set)(&me, &key(99), false),
        ] {
            let sent = net.send(&[&authority], &[call]).unwrap();
            assert!(events(&sent).is_empty());
            assert_eq!(net.registry(), before);
        }
    }
}

#[test]
fn refuses_everyone_but_the_authority_even_where_the_list_is_full() {
    for list in [TOKENS, FACILITATORS] {
        let mut net = Localnet::new();
        let (authority, stranger) = (net.upgrade_authority.insecure_clone(), net.actor());
        for number in 1..=list.limit {
            let call = (list.set)(&authority.pubkey(), &key(number), true);
            net.send(&[&authority], &[call]).unwrap();
        }
        let before = net.registry();
        for listed in [true, false] {
            for number in [1, 99] {
                let call = (list.set)(&stranger.pubkey(), &key(number), listed);
                assert_refused(&net.send(&[&stranger], &[call]), 0, NOT_AUTHORIZED);
            }
        }
        assert_eq!(net.registry(), before);
    }
}
