//! Lamports sent to an address before its account exists must not block the account.

use crate::localnet::{
    CHAIN, Localnet, URI,
    instructions::{
        GiveFeedback, agent_identity, agent_mint, client_index, extra_account_metas,
        feedback_entry, initialize, register_agent, registry,
    },
    token_2022::token_account,
};
use solana_account::Account;
use solana_address::Address;
use solana_signer::Signer;

/// Less than rent exemption, exactly one lamport, and more than any account here needs.
const GIFTS: [u64; 3] = [1, 900_000, 50_000_000];

fn send_lamports(net: &mut Localnet, to: &Address, lamports: u64) {
    let account = Account {
        lamports,
        ..Account::default()
    };
    net.svm.set_account(*to, account).unwrap();
}

fn assert_rent_exempt(net: &Localnet, at: &Address, gift: u64) {
    let account = net.account(at);
    let needed = net
        .svm
        .minimum_balance_for_rent_exemption(account.data.len());
    assert_eq!(account.lamports, needed.max(gift));
}

#[test]
fn initialize_takes_over_lamports() {
    for gift in GIFTS {
        let mut net = Localnet::uninitialized();
        send_lamports(&mut net, &registry(), gift);
        let authority = net.upgrade_authority.insecure_clone();
        net.send(&[&authority], &[initialize(&authority.pubkey(), CHAIN)])
            .unwrap();
        assert_rent_exempt(&net, &registry(), gift);
    }
}

#[test]
fn register_agent_takes_over_lamports() {
    let mut net = Localnet::new();
    for gift in GIFTS {
        let owner = net.actor();
        let mint = agent_mint(&owner.pubkey(), 0);
        let accounts = [
            mint,
            agent_identity(&mint),
            extra_account_metas(&mint),
            token_account(&owner.pubkey(), &mint),
        ];
        for account in &accounts {
            send_lamports(&mut net, account, gift);
        }
        let instruction = register_agent(&owner.pubkey(), 0, URI);
        net.send(&[&owner], &[instruction]).unwrap();
        for account in &accounts {
            assert_rent_exempt(&net, account, gift);
        }
        assert_eq!(net.identity(&mint).owner, owner.pubkey());
    }
}

#[test]
fn give_feedback_takes_over_lamports() {
    let mut net = Localnet::new();
    let agent = net.agent();
    for gift in GIFTS {
        let client = net.actor();
        let accounts = [
            client_index(&agent.mint, &client.pubkey()),
            feedback_entry(&agent.mint, &client.pubkey(), 1),
        ];
        for account in &accounts {
            send_lamports(&mut net, account, gift);
        }
        let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
        net.give(&client, &agent.owner, &feedback).unwrap();
        for account in &accounts {
            assert_rent_exempt(&net, account, gift);
        }
    }
}
