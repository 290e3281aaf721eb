//! What the open summaries read, and what they refuse (R16).

use crate::calls_by_programs::relay;
use crate::localnet::{
    Localnet,
    instructions::{agent_identity, readonly},
    open_feedback::{
        GiveOpenFeedback, OPEN_SUMMARY, OPEN_SUMMARY_PART, open_client_index, open_feedback,
        open_summary, revoke_open_feedback,
    },
    open_summary::{Part, summary},
    refusal::*,
    stranger_id,
};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;

/// Three clients with 2, 1 and 3 entries, one of them revoked, and one without any.
fn four_clients() -> (Localnet, Address, Vec<(Keypair, u64)>) {
    let mut net = Localnet::new();
    let mint = net.agent().mint;
    let mut clients = vec![];
    for last in [2, 1, 3, 0] {
        let client = net.actor();
        for feedback_index in 1..=last {
            let feedback = GiveOpenFeedback {
                feedback_index,
                value: 1000 * i128::from(last) + i128::from(feedback_index),
                value_decimals: feedback_index as u8,
                ..GiveOpenFeedback::new(&mint, &client.pubkey())
            };
            net.give_open(&client, &feedback).unwrap();
        }
        clients.push((client, last));
    }
    let revoke = revoke_open_feedback(&clients[2].0.pubkey(), &mint, 2);
    net.send(&[&clients[2].0], &[revoke]).unwrap();
    (net, mint, clients)
}

fn listed(clients: &[(Keypair, u64)]) -> Vec<(Address, u64)> {
    let address = |(client, last): &(Keypair, u64)| (client.pubkey(), *last);
    clients.iter().map(address).collect()
}

#[test]
fn parts_of_different_transactions_add_up_to_the_whole() {
    let (mut net, mint, clients) = four_clients();
    let reader = net.actor();
    let clients = listed(&clients);
    let mut part = |clients: &[(Address, u64)]| {
        let instruction = open_summary(OPEN_SUMMARY_PART, &mint, clients, "", "");
        Part::of(&net.send(&[&reader], &[instruction]).unwrap())
    };
    let whole = part(&clients);
    assert_eq!(whole.count, 5);
    assert_eq!(whole.histogram[..4], [0, 3, 1, 1]);
    let mut merged = Part::NONE;
    for client in &clients {
        merged = merged.merged(&part(&[*client]));
    }
    assert_eq!(merged, whole);
}

#[test]
fn reads_nothing_where_nothing_is() {
    // SPEC 3a: no error, count 0
    let (mut net, mint, clients) = four_clients();
    let (reader, nobody) = (net.actor(), net.key().pubkey());
    let without = [(clients[3].0.pubkey(), 0)];
    for (mint, tag1) in [(mint, ""), (nobody, ""), (mint, "no such tag")] {
        let instruction = open_summary(OPEN_SUMMARY, &mint, &without, tag1, "");
        let sent = net.send(&[&reader], &[instruction]).unwrap();
        assert_eq!(summary(&sent), (0, 0, 0));
        let instruction = open_summary(OPEN_SUMMARY_PART, &mint, &without, tag1, "");
        let sent = net.send(&[&reader], &[instruction]).unwrap();
        assert_eq!(Part::of(&sent), Part::NONE);
    }
}

#[test]
fn changes_nothing_and_emits_nothing() {
    let (mut net, mint, clients) = four_clients();
    let reader = net.actor();
    let instruction = open_summary(OPEN_SUMMARY, &mint, &listed(&clients), "", "");
    let before: Vec<_> = instruction
        .accounts
        .iter()
        .map(|meta| net.svm.get_account(&meta.pubkey))
        .collect();
    assert!(instruction.accounts.iter().all(|meta| !meta.is_writable));
    let sent = net
        .send(&[&reader], std::slice::from_ref(&instruction))
        .unwrap();
    assert_eq!(sent.inner_instructions.iter().flatten().count(), 0);
    for (meta, before) in instruction.accounts.iter().zip(before) {
        assert_eq!(net.svm.get_account(&meta.pubkey), before);
    }
}

#[test]
fn refuses_an_empty_list_of_clients_before_all_else() {
    let (mut net, mint, clients) = four_clients();
    let reader = net.actor();
    for kind in [OPEN_SUMMARY, OPEN_SUMMARY_PART] {
        let mut instruction = open_summary(kind, &mint, &[], "", "");
        let sent = net.send(&[&reader], std::slice::from_ref(&instruction));
        assert_refused(&sent, 0, EMPTY_CLIENTS);
        let spare = open_client_index(&mint, &clients[0].0.pubkey());
        instruction.accounts.push(readonly(spare));
        let sent = net.send(&[&reader], &[instruction]);
        assert_refused(&sent, 0, EMPTY_CLIENTS);
    }
}

#[test]
fn refuses_an_entry_left_out_put_twice_or_moved() {
    // R16
    let (mut net, mint, clients) = four_clients();
    let reader = net.actor();
    for kind in [OPEN_SUMMARY, OPEN_SUMMARY_PART] {
        let whole = open_summary(kind, &mint, &listed(&clients), "", "");
        net.send(&[&reader], std::slice::from_ref(&whole)).unwrap();
        let last = whole.accounts.len();
        for place in 1..last {
            let mut without = whole.clone();
            without.accounts.remove(place);
            let sent = net.send(&[&reader], &[without]);
            assert_refused(&sent, 0, SUMMARY_GAP);
            let mut twice = whole.clone();
            twice.accounts.insert(place, whole.accounts[place].clone());
            assert_refused(&net.send(&[&reader], &[twice]), 0, SUMMARY_GAP);
            if place + 1 < last {
                let mut moved = whole.clone();
                moved.accounts.swap(place, place + 1);
                assert_refused(&net.send(&[&reader], &[moved]), 0, SUMMARY_GAP);
            }
        }
    }
}

#[test]
fn refuses_a_foreign_account_in_each_place() {
    let (mut net, mint, clients) = four_clients();
    let (other, reader) = (net.agent(), net.actor());
    let me = &clients[0].0;
    net.given_open(&other.mint, me, 1);
    net.given_open(&other.mint, me, 2);
    let last = clients[2].0.pubkey();
    let pool = [
        other.mint,
        agent_identity(&mint),
        open_client_index(&mint, &me.pubkey()),
        open_client_index(&mint, &last),
        open_client_index(&mint, &clients[3].0.pubkey()), // has no feedback
        open_client_index(&other.mint, &me.pubkey()),
        open_feedback(&mint, &me.pubkey(), 2),
        open_feedback(&mint, &last, 1),
        open_feedback(&other.mint, &me.pubkey(), 1),
        open_feedback(&other.mint, &me.pubkey(), 2),
        me.pubkey(),
    ];
    let whole = open_summary(OPEN_SUMMARY, &mint, &listed(&clients), "", "");
    for place in 0..whole.accounts.len() {
        for account in pool {
            let mut swapped = whole.clone();
            if swapped.accounts[place].pubkey != account {
                swapped.accounts[place].pubkey = account;
                assert_refused(&net.send(&[&reader], &[swapped]), 0, SUMMARY_GAP);
            }
        }
        // a copy that a stranger's program owns
        let Some(mut forged) = net.svm.get_account(&whole.accounts[place].pubkey) else {
            continue;
        };
        forged.owner = stranger_id();
        let at = Address::from([230; 32]);
        net.svm.set_account(at, forged).unwrap();
        let mut swapped = whole.clone();
        swapped.accounts[place].pubkey = at;
        assert_refused(&net.send(&[&reader], &[swapped]), 0, SUMMARY_GAP);
    }
}

#[test]
fn another_program_can_give_feedback_and_read_the_summary() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let (mint, me) = (agent.mint, client.pubkey());
    let nth = |feedback_index| GiveOpenFeedback {
        feedback_index,
        value: 40 * i128::from(feedback_index),
        value_decimals: 0,
        ..GiveOpenFeedback::new(&mint, &me)
    };
    let calls = [
        nth(1).instruction(),
        nth(2).instruction(),
        open_summary(OPEN_SUMMARY, &mint, &[(me, 2)], "uptime", "week"),
    ];
    let sent = net.send(&[&client], &[relay(&calls)]).unwrap();
    assert_eq!(summary(&sent), (2, 60, 0));
}

#[test]
fn refuses_a_shorter_index_that_would_hide_the_last_entries() {
    // R16: another client's, another agent's, and that of somebody without feedback
    let (mut net, mint, clients) = four_clients();
    let (other, reader) = (net.agent(), net.actor());
    let (two, one, none) = (&clients[0].0, &clients[1].0, &clients[3].0);
    net.given_open(&other.mint, two, 1);
    for (index, entries) in [
        (open_client_index(&mint, &one.pubkey()), 1),
        (open_client_index(&other.mint, &two.pubkey()), 1),
        (open_client_index(&mint, &none.pubkey()), 0),
    ] {
        let listed = [(two.pubkey(), entries)];
        let mut instruction = open_summary(OPEN_SUMMARY, &mint, &listed, "", "");
        instruction.accounts[1].pubkey = index;
        let sent = net.send(&[&reader], &[instruction]);
        assert_refused(&sent, 0, SUMMARY_GAP);
    }
}
