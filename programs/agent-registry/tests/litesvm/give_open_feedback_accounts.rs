//! `give_open_feedback` with accounts that are not the ones its arguments derive.

use crate::localnet::{
    Localnet,
    instructions::{agent_identity, client_index, feedback_entry, readonly, sponsored},
    open_feedback::{GiveOpenFeedback, open_client_index, open_feedback},
    program_id,
    refusal::*,
    swaps::{assert_forgeries_refused, assert_swaps_refused},
};
use solana_account::Account;
use solana_signer::Signer;

#[test]
fn refuses_another_account_in_each_place() {
    let mut net = Localnet::new();
    let (agent, other, client, stranger) = (net.agent(), net.agent(), net.actor(), net.actor());
    for (mint, who) in [
        (agent.mint, &client),
        (agent.mint, &stranger),
        (other.mint, &client),
    ] {
        net.given_open(&mint, who, 1);
    }
    net.given(&agent, &client, 1, 50);
    let (mint, me, her) = (agent.mint, client.pubkey(), stranger.pubkey());
    let pool = [
        agent_identity(&mint),
        agent_identity(&other.mint),
        other.mint,
        mint,
        open_client_index(&mint, &me),
        open_client_index(&mint, &her),
        open_client_index(&other.mint, &me),
        client_index(&mint, &me),
        open_feedback(&mint, &me, 1),
        open_feedback(&mint, &me, 3),
        open_feedback(&mint, &her, 1),
        open_feedback(&mint, &her, 2),
        feedback_entry(&mint, &me, 1),
        feedback_entry(&mint, &me, 2),
        her,
    ];
    let feedback = GiveOpenFeedback {
        feedback_index: 2,
        ..GiveOpenFeedback::new(&mint, &me)
    };
    let instruction = feedback.instruction();
    assert_forgeries_refused(&mut net, &client, &instruction, &[2, 4], ACCOUNT_MISMATCH);
    assert_swaps_refused(&mut net, &client, &instruction, &pool);
}

#[test]
fn refuses_a_first_feedback_with_another_clients_addresses() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let nobody = net.key().pubkey();
    let pool = [
        open_client_index(&agent.mint, &nobody),
        open_feedback(&agent.mint, &nobody, 1),
        nobody,
    ];
    let instruction = GiveOpenFeedback::new(&agent.mint, &client.pubkey()).instruction();
    for place in [4, 5] {
        for account in pool {
            let mut swapped = instruction.clone();
            swapped.accounts[place].pubkey = account;
            let sent = net.send(&[&client], &[swapped]);
            assert_refused(&sent, 0, ACCOUNT_MISMATCH);
        }
    }
}

#[test]
fn refuses_accounts_that_are_not_writable_and_a_client_who_has_not_signed() {
    let mut net = Localnet::new();
    let (agent, client, payer) = (net.agent(), net.actor(), net.actor());
    let instruction = GiveOpenFeedback::new(&agent.mint, &client.pubkey()).instruction();
    for place in [2, 4, 5] {
        let mut changed = instruction.clone();
        changed.accounts[place] = readonly(changed.accounts[place].pubkey);
        assert_refused(&net.send(&[&client], &[changed]), 0, ACCOUNT_MISMATCH);
    }
    let mut unsigned = sponsored(instruction.clone(), &payer.pubkey());
    unsigned.accounts[0].is_signer = false;
    assert_refused(&net.send(&[&payer], &[unsigned]), 0, 3010); // Anchor's AccountNotSigner
    net.send(&[&payer, &client], &[instruction]).unwrap();
}

#[test]
fn takes_over_lamports_that_were_sent_to_its_addresses() {
    let mut net = Localnet::new();
    let agent = net.agent();
    for gift in [1, 900_000, 50_000_000] {
        let client = net.actor();
        let mut addresses = vec![open_client_index(&agent.mint, &client.pubkey())];
        addresses.push(open_feedback(&agent.mint, &client.pubkey(), 1));
        for at in &addresses {
            let account = Account {
                lamports: gift,
                ..Account::default()
            };
            net.svm.set_account(*at, account).unwrap();
        }
        net.given_open(&agent.mint, &client, 1);
        for at in &addresses {
            let account = net.account(at);
            let needed = net
                .svm
                .minimum_balance_for_rent_exemption(account.data.len());
            assert_eq!(
                (account.owner, account.lamports),
                (program_id(), needed.max(gift))
            );
        }
    }
}
