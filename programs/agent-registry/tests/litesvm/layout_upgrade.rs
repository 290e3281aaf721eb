//! R12: accounts of later layouts. The transfer hook has no payer, and revocations, responses and changes of the registry
//! have none: a later layout takes an agent's fields from its reserve, and what it adds to any account stays.

use crate::localnet::{
    Agent, Localnet,
    accounts::discriminator,
    instructions::agent_identity,
    program_id,
    refusal::*,
    settings::{set_agent_wallet, set_feedback_authority},
    stage::{ANSWERED, Stage},
    validation::Answer,
};
use solana_account::Account;
use solana_address::Address;
use solana_instruction::error::InstructionError;
use solana_signer::Signer;
use std::collections::{BTreeMap, BTreeSet};

const VERSION: usize = 218;
/// Where the reserve begins.
const RESERVED: usize = 227;
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
    assert_eq!(data[RESERVED..], [0; 56]);
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
    assert_eq!(after[RESERVED..], [0xAB; 56 + 40]);
}

#[test]
fn an_identity_shorter_than_its_reserve_is_refused() {
    // no program wrote such an account
    let mut net = Localnet::new();
    let Agent { owner, mint } = net.agent();
    let buyer = net.actor();
    for length in [SPACE - 1, RESERVED, RESERVED - 1, 8] {
        resize(&mut net, &mint, length);
        let name = set_feedback_authority(&owner.pubkey(), &mint, &Address::default());
        let sent = net.send(&[&owner], &[name]);
        assert_refused(&sent, 0, ACCOUNT_MISMATCH);
        let sold = net.transfer(&mint, &owner, &buyer.pubkey());
        let (_, error) = refusal(&sold);
        assert_eq!(error, InstructionError::Custom(ACCOUNT_MISMATCH));
    }
}

/// Bytes that a later layout adds to an account.
const ADDED: [u8; 40] = [0xAB; 40];

/// SVM-29: the types of which an account is written again. A metadata entry is written whole, by an instruction with a
/// payer.
const WRITTEN_AGAIN: [&str; 8] = [
    "AgentIdentity",
    "ClientIndex",
    "FeedbackEntry",
    "OpenClientIndex",
    "OpenFeedback",
    "Registry",
    "ValidationRequest",
    "ValidationResponse",
];

/// Lengthens every account of these types, as a later program would have; with the type and the bytes of each.
fn lengthened(
    net: &mut Localnet,
    state: BTreeMap<Address, Account>,
) -> BTreeMap<Address, (&'static str, Vec<u8>)> {
    let mut accounts = BTreeMap::new();
    for (at, mut account) in state {
        let is_of = |name: &&&str| {
            let first = discriminator(&format!("account:{name}"));
            account.owner == program_id() && account.data.starts_with(&first)
        };
        let Some(name) = WRITTEN_AGAIN.iter().find(is_of) else {
            continue;
        };
        account.data.extend(ADDED);
        account.lamports = net
            .svm
            .minimum_balance_for_rent_exemption(account.data.len());
        accounts.insert(at, (*name, account.data.clone()));
        net.svm.set_account(at, account).unwrap();
    }
    accounts
}

#[test]
fn every_instruction_leaves_what_a_later_layout_added_to_any_account() {
    let mut stage = Stage::new();
    let again = Answer {
        hash: ANSWERED,
        ..Answer::new(&stage.validator.pubkey(), &stage.agent.mint)
    };
    let calls = stage.calls();
    let mut transactions: Vec<_> = (calls.iter().filter(|call| call.name != "initialize"))
        .map(|call| (call.name, call.transaction()))
        .collect();
    transactions.push(("validation_response, again", vec![again.instruction()]));
    let ready = stage.net.svm.clone();
    let mut written = BTreeSet::new();
    for (call, transaction) in &transactions {
        stage.net.svm = ready.clone();
        let state = stage.state();
        let before = lengthened(&mut stage.net, state);
        if let Err(failed) = stage.send(transaction) {
            panic!("{call}: {:?}", failed.err);
        }
        for (at, (name, before)) in before {
            let after = stage.net.account(&at).data;
            assert_eq!(after.len(), before.len(), "{call}: {name}");
            assert!(after.ends_with(&ADDED), "{call}: {name}");
            written.extend((after != before).then_some(name));
        }
    }
    assert_eq!(written, WRITTEN_AGAIN.into());
}
