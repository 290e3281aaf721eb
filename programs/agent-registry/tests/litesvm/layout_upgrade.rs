//! R12: identities of older and of later layouts. The transfer hook has no payer, so a program with
//! another layout must read what is there.

use crate::localnet::{
    Agent, Localnet,
    instructions::agent_identity,
    refusal::*,
    settings::{set_agent_wallet, set_feedback_authority},
    stage::Stage,
};
use solana_address::Address;
use solana_signer::Signer;

/// Bytes of the layout before the version byte and the reserve: it ends with the bump.
const WITHOUT_VERSION: usize = 218;
const VERSION: usize = 218;
const RESERVED: usize = 219;
const SPACE: usize = 283;

/// Gives the identity of `mint` another length, as if a program of another layout had created it.
fn resize(net: &mut Localnet, mint: &Address, length: usize) {
    let at = agent_identity(mint);
    let mut account = net.account(&at);
    account.data.resize(length, 0);
    account.lamports = net.svm.minimum_balance_for_rent_exemption(length);
    net.svm.set_account(at, account).unwrap();
}

fn data(net: &Localnet, mint: &Address) -> Vec<u8> {
    net.account(&agent_identity(mint)).data
}

#[test]
fn a_new_identity_has_version_1_and_an_empty_reserve() {
    let mut net = Localnet::new();
    let mint = net.agent().mint;
    let data = data(&net, &mint);
    assert_eq!(data.len(), SPACE);
    assert_eq!(data[VERSION], 1);
    assert_eq!(data[RESERVED..], [0; 64]);
}

#[test]
fn every_instruction_accepts_an_identity_of_the_previous_layout() {
    let mut stage = Stage::new();
    let calls = stage.calls();
    let ready = stage.net.svm.clone();
    for length in [WITHOUT_VERSION, WITHOUT_VERSION + 1, SPACE - 1] {
        for call in &calls {
            stage.net.svm = ready.clone();
            if call.name == "initialize" {
                stage.forget_registry();
            }
            let mint = stage.agent.mint;
            // of version 0, whose account has no byte for it
            let at = agent_identity(&mint);
            let mut account = stage.net.account(&at);
            account.data[VERSION] = 0;
            stage.net.svm.set_account(at, account).unwrap();
            resize(&mut stage.net, &mint, length);
            if let Err(failed) = stage.send(&call.transaction()) {
                panic!("{} with {length} bytes: {:?}", call.name, failed.err);
            }
            assert_eq!(data(&stage.net, &mint).len(), length, "{}", call.name);
        }
    }
}

#[test]
fn an_agent_of_the_previous_layout_is_sold_and_bought_back() {
    let mut net = Localnet::new();
    let Agent { owner, mint } = net.agent();
    let buyer = net.actor();
    let at = agent_identity(&mint);
    let mut account = net.account(&at);
    account.data[VERSION] = 0;
    net.svm.set_account(at, account).unwrap();
    resize(&mut net, &mint, WITHOUT_VERSION);
    let name = set_feedback_authority(&owner.pubkey(), &mint, &[7; 32].into());
    net.send(&[&owner], &[name]).unwrap();
    net.transfer(&mint, &owner, &buyer.pubkey()).unwrap();
    let sold = data(&net, &mint);
    assert_eq!(sold.len(), WITHOUT_VERSION);
    assert_eq!(sold[40..72], buyer.pubkey().to_bytes());
    assert_eq!(sold[72..80], 2u64.to_le_bytes()); // owner_version
    assert_eq!(sold[80..144], [0; 64]); // neither authority nor wallet
    net.transfer(&mint, &buyer, &owner.pubkey()).unwrap();
    assert_eq!(data(&net, &mint)[40..72], owner.pubkey().to_bytes());
}

#[test]
fn what_a_later_layout_wrote_survives_every_change() {
    // after a roll-back: fields in the reserve, a higher version, and fields behind the reserve
    let mut net = Localnet::new();
    let Agent { owner, mint } = net.agent();
    let (buyer, wallet) = (net.actor(), net.key());
    resize(&mut net, &mint, SPACE + 40);
    let at = agent_identity(&mint);
    let mut account = net.account(&at);
    account.data[VERSION] = 9;
    account.data[RESERVED..].fill(0xAB);
    net.svm.set_account(at, account).unwrap();
    let set = set_agent_wallet(&owner.pubkey(), &mint, &wallet.pubkey());
    let payer = net.actor();
    net.send(&[&payer, &owner, &wallet], &[set]).unwrap();
    net.transfer(&mint, &owner, &buyer.pubkey()).unwrap();
    let after = data(&net, &mint);
    assert_eq!(after[40..72], buyer.pubkey().to_bytes());
    assert_eq!(after[VERSION], 9);
    assert_eq!(after[RESERVED..], [0xAB; 64 + 40]);
}

#[test]
fn an_identity_cut_within_its_first_fields_is_refused() {
    // no program wrote such an account
    let mut net = Localnet::new();
    let Agent { owner, mint } = net.agent();
    resize(&mut net, &mint, WITHOUT_VERSION - 1);
    let name = set_feedback_authority(&owner.pubkey(), &mint, &[7; 32].into());
    let sent = net.send(&[&owner], &[name]);
    assert_refused(&sent, 0, ACCOUNT_MISMATCH);
}
