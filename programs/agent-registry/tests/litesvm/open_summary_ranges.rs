//! R16: a part over a range of one client's entries, so that no number of entries keeps a client out.

use crate::localnet::{
    Localnet,
    instructions::readonly,
    open_feedback::{
        GiveOpenFeedback, OPEN_SUMMARY_PART, open_client_index, open_feedback, open_summary,
        open_summary_range, revoke_open_feedback,
    },
    open_summary::{Part, scaled},
    refusal::*,
};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use solana_transaction::TransactionError;

/// More than one transaction can lock beside the index, payer, mint and program.
const MANY: u64 = 70;

/// A client with [`MANY`] entries, number 5 of them revoked.
fn busy_client() -> (Localnet, Address, Keypair) {
    let mut net = Localnet::new();
    let (mint, client) = (net.agent().mint, net.actor());
    for feedback_index in 1..=MANY {
        let feedback = GiveOpenFeedback {
            feedback_index,
            value: i128::from(feedback_index),
            value_decimals: (feedback_index % 3) as u8,
            ..GiveOpenFeedback::new(&mint, &client.pubkey())
        };
        net.give_open(&client, &feedback).unwrap();
    }
    let revoke = revoke_open_feedback(&client.pubkey(), &mint, 5);
    net.send(&[&client], &[revoke]).unwrap();
    (net, mint, client)
}

#[test]
fn ranges_add_up_to_the_whole_however_they_are_cut() {
    let (mut net, mint, client) = busy_client();
    let me = client.pubkey();
    // one transaction cannot lock that many accounts
    let whole = open_summary(OPEN_SUMMARY_PART, &mint, &[(me, MANY)], "", "");
    let failed = net.send(&[&client], &[whole]).unwrap_err();
    assert_eq!(failed.err, TransactionError::TooManyAccountLocks);
    let standing = (1..=MANY).filter(|index| *index != 5);
    let whole = standing.fold(Part::NONE, |whole, index| {
        let decimals = index % 3;
        let mut histogram = [0; 19];
        histogram[decimals as usize] = 1;
        whole.merged(&Part {
            sum: scaled(index.into(), decimals as u8),
            count: 1,
            histogram,
        })
    });
    for cuts in [&[25, 50, MANY][..], &[1, 2, 5, 6, 59, MANY], &[35, MANY]] {
        let (mut merged, mut first) = (Part::NONE, 1);
        for last in cuts {
            let range = open_summary_range(&mint, &me, (first, *last));
            merged = merged.merged(&Part::of(&net.send(&[&client], &[range]).unwrap()));
            first = last + 1;
        }
        assert_eq!(merged, whole);
    }
}

#[test]
fn refuses_a_range_that_the_clients_entries_do_not_fill() {
    let (mut net, mint, client) = busy_client();
    let me = client.pubkey();
    let backwards = {
        let mut range = open_summary_range(&mint, &me, (3, 3));
        let at = range.data.len() - 8;
        range.data[at..].copy_from_slice(&2u64.to_le_bytes());
        range
    };
    for range in [
        open_summary_range(&mint, &me, (0, 1)),
        open_summary_range(&mint, &me, (MANY, MANY + 1)),
        backwards,
    ] {
        assert_refused(&net.send(&[&client], &[range]), 0, SUMMARY_RANGE);
    }
    // a client without feedback has no entries to name
    let nobody = net.key().pubkey();
    let range = open_summary_range(&mint, &nobody, (1, 1));
    assert_refused(&net.send(&[&client], &[range]), 0, SUMMARY_RANGE);
}

#[test]
fn refuses_a_range_with_more_than_one_client() {
    let (mut net, mint, client) = busy_client();
    let (me, other) = (client.pubkey(), net.actor());
    net.given_open(&mint, &other, 1);
    let mut range = open_summary_range(&mint, &me, (1, 1));
    range.data[8..12].copy_from_slice(&2u32.to_le_bytes());
    let keys = [me.to_bytes(), other.pubkey().to_bytes()].concat();
    range.data.splice(12..44, keys);
    range.accounts.extend(
        [
            open_client_index(&mint, &other.pubkey()),
            open_feedback(&mint, &other.pubkey(), 1),
        ]
        .map(readonly),
    );
    assert_refused(&net.send(&[&client], &[range]), 0, SUMMARY_RANGE);
}

#[test]
fn refuses_a_gap_in_a_range_and_an_entry_of_another_place() {
    let (mut net, mint, client) = busy_client();
    let me = client.pubkey();
    let whole = open_summary_range(&mint, &me, (10, 14));
    net.send(&[&client], std::slice::from_ref(&whole)).unwrap();
    for place in 1..whole.accounts.len() {
        let mut without = whole.clone();
        without.accounts.remove(place);
        assert_refused(&net.send(&[&client], &[without]), 0, SUMMARY_GAP);
        let mut moved = whole.clone();
        moved.accounts[place].pubkey = open_feedback(&mint, &me, 20);
        assert_refused(&net.send(&[&client], &[moved]), 0, SUMMARY_GAP);
    }
    let mut spare = whole;
    spare.accounts.push(readonly(open_feedback(&mint, &me, 15)));
    assert_refused(&net.send(&[&client], &[spare]), 0, SUMMARY_GAP);
}
