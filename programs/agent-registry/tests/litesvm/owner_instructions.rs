//! What all instructions of an agent's owner have in common: whose they are, and which accounts
//! they take.

use crate::localnet::{
    Localnet,
    instructions::{agent_identity, client_index, feedback_entry, readonly, registry},
    refusal::*,
    settings::*,
    stranger_id, token_2022,
    token_2022::token_account,
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_signer::Signer;

/// Every one of them, called by `caller` for the agent of `mint`.
fn all(caller: &Address, mint: &Address) -> [Instruction; 6] {
    [
        set_agent_uri(caller, mint, b"https://agents.example/2.json"),
        set_metadata(caller, mint, b"key", b"value"),
        set_agent_wallet(caller, mint, caller),
        unset_agent_wallet(caller, mint),
        set_feedback_authority(caller, mint, caller),
        set_auth_schemes(caller, mint, 3),
    ]
}

#[test]
fn refuses_an_unknown_agent() {
    let mut net = Localnet::new();
    let (caller, nobody) = (net.actor(), net.key().pubkey());
    for instruction in all(&caller.pubkey(), &nobody) {
        assert_refused(&net.send(&[&caller], &[instruction]), 0, AGENT_NOT_FOUND);
    }
}

#[test]
fn refuses_everyone_but_the_owner() {
    // R4: neither the token's delegate nor the feedback authority, wallet or another owner
    let mut net = Localnet::new();
    let (agent, other) = (net.agent(), net.agent());
    let (delegate, authority, wallet) = (net.actor(), net.actor(), net.actor());
    let (owner, mint) = (agent.owner.pubkey(), agent.mint);
    let set_up = [
        token_2022::approve(
            &token_account(&owner, &mint),
            &mint,
            &delegate.pubkey(),
            &owner,
        ),
        set_feedback_authority(&owner, &mint, &authority.pubkey()),
        set_agent_wallet(&owner, &mint, &wallet.pubkey()),
    ];
    net.send(&[&agent.owner, &authority, &wallet], &set_up)
        .unwrap();
    let before = net.identity(&mint);
    for caller in [&delegate, &authority, &wallet, &other.owner] {
        for instruction in all(&caller.pubkey(), &mint) {
            assert_refused(&net.send(&[caller], &[instruction]), 0, NOT_AUTHORIZED);
        }
    }
    assert_eq!(net.identity(&mint), before);
}

#[test]
fn a_sale_moves_the_right_to_the_buyer() {
    let mut net = Localnet::new();
    let (agent, buyer) = (net.agent(), net.actor());
    net.transfer(&agent.mint, &agent.owner, &buyer.pubkey())
        .unwrap();
    for instruction in all(&agent.owner.pubkey(), &agent.mint) {
        let sent = net.send(&[&agent.owner], &[instruction]);
        assert_refused(&sent, 0, NOT_AUTHORIZED);
    }
    for instruction in all(&buyer.pubkey(), &agent.mint) {
        net.send(&[&buyer], &[instruction]).unwrap();
    }
}

#[test]
fn a_sale_in_mid_life_resets_what_the_seller_set() {
    // R4
    let mut net = Localnet::new();
    let (agent, buyer) = (net.agent(), net.actor());
    for instruction in all(&agent.owner.pubkey(), &agent.mint) {
        net.send(&[&agent.owner], &[instruction]).unwrap();
    }
    let mut expected = net.identity(&agent.mint);
    assert_eq!(expected.auth_schemes, 3);
    net.transfer(&agent.mint, &agent.owner, &buyer.pubkey())
        .unwrap();
    expected.owner = buyer.pubkey();
    expected.owner_version = 2;
    expected.feedback_authority = Address::default();
    expected.agent_wallet = Address::default();
    expected.auth_schemes = 2;
    assert_eq!(net.identity(&agent.mint), expected);
}

#[test]
fn refuses_when_the_owner_has_not_signed() {
    let mut net = Localnet::new();
    let (agent, payer) = (net.agent(), net.actor());
    for mut instruction in all(&agent.owner.pubkey(), &agent.mint) {
        for account in &mut instruction.accounts {
            account.is_signer = false;
        }
        // Anchor's AccountNotSigner
        assert_refused(&net.send(&[&payer], &[instruction]), 0, 3010);
    }
}

#[test]
fn refuses_accounts_that_are_not_writable() {
    let mut net = Localnet::new();
    let agent = net.agent();
    for original in all(&agent.owner.pubkey(), &agent.mint) {
        for place in 1..original.accounts.len() {
            let meta = &original.accounts[place];
            if meta.is_writable && !meta.is_signer {
                let mut instruction = original.clone();
                instruction.accounts[place] = readonly(instruction.accounts[place].pubkey);
                let sent = net.send(&[&agent.owner], &[instruction]);
                assert_refused(&sent, 0, ACCOUNT_MISMATCH);
            }
        }
    }
}

#[test]
fn refuses_another_account_in_each_place() {
    let mut net = Localnet::new();
    let (agent, other, client) = (net.agent(), net.agent(), net.actor());
    net.given(&agent, &client, 1, 50);
    for agent in [&agent, &other] {
        let instruction = set_metadata(&agent.owner.pubkey(), &agent.mint, b"other", b"");
        net.send(&[&agent.owner], &[instruction]).unwrap();
    }
    let mint = agent.mint;
    let mut forged = net.account(&agent_identity(&mint));
    forged.owner = stranger_id();
    let forgery = Address::from([9; 32]);
    net.svm.set_account(forgery, forged).unwrap();
    let others = [
        agent_identity(&other.mint),
        other.mint,
        metadata_entry(&mint, b"other"),
        metadata_entry(&other.mint, b"other"),
        feedback_entry(&mint, &client.pubkey(), 1),
        client_index(&mint, &client.pubkey()),
        token_account(&agent.owner.pubkey(), &mint),
        registry(),
        forgery,
        stranger_id(),
    ];
    let before = net.identity(&mint);
    for original in all(&agent.owner.pubkey(), &mint) {
        for place in 1..original.accounts.len() {
            let meta = &original.accounts[place];
            if meta.is_signer && meta.is_writable {
                continue; // the payer: anyone
            }
            let is_named = meta.is_signer;
            for account in others {
                let mut instruction = original.clone();
                let genuine = instruction.accounts[place].pubkey;
                instruction.accounts[place].pubkey = account;
                instruction.accounts[place].is_signer = false;
                let sent = net.send(&[&agent.owner], &[instruction]);
                let code = match (is_named, original.data[0]) {
                    (false, _) => mismatch_of(&genuine),
                    (true, 154) => WALLET_CONSENT_MISSING,
                    (true, _) => AUTHORITY_CONSENT_MISSING,
                };
                assert_refused(&sent, 0, code);
            }
        }
    }
    assert_eq!(net.identity(&mint), before);
}
