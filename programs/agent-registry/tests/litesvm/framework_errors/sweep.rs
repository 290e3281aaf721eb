//! Every instruction of Token-2022 about an agent's mint and token accounts, by number: whatever it answers has a class.

use super::{Stage, classified, token::enable_guards};
use crate::{
    calls_by_programs::relay,
    localnet::{
        Sent,
        instructions::{instructions_sysvar, readonly, signer_and_payer, system_program, writable},
        token_2022::{self, create_account, transfer},
    },
};
use litesvm::LiteSVM;
use solana_instruction::{AccountMeta, Instruction};
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::collections::BTreeMap;

/// One more than Token-2022 has.
const INSTRUCTIONS: u8 = 50;
/// Whose first byte of data says which instruction of an extension, or which kind of authority.
const WITH_KINDS: [u8; 17] = [
    6, 26, 27, 28, 29, 30, 33, 34, 36, 37, 39, 40, 41, 42, 43, 44, 48,
];
const KINDS: u8 = 20;

/// What follows: an amount of 1 and zeros, the same with a fee, and ones.
fn arguments() -> [Vec<u8>; 3] {
    let amount = 1u64.to_le_bytes();
    let fee = [&amount[..], &[0], &amount, &[0; 103]].concat();
    [[&amount[..], &[0; 112]].concat(), fee, vec![1; 120]]
}

struct Sweep {
    stage: Stage,
    ready: LiteSVM,
    /// An account of Token-2022 that is not initialized.
    blank: AccountMeta,
    without_class: BTreeMap<String, Instruction>,
}

impl Sweep {
    /// Both token accounts have memos, the guard, and room for every extension.
    fn new() -> Self {
        let mut stage = Stage::new();
        let (owner, stranger) = (
            stage.agent.owner.insecure_clone(),
            stage.stranger.insecure_clone(),
        );
        let (full, empty) = (stage.full(), stage.empty());
        enable_guards(&mut stage.net, &owner, &full);
        enable_guards(&mut stage.net, &stranger, &empty);
        let blank = stage.net.key();
        let create = create_account(&stage.net, &stranger.pubkey(), &blank.pubkey(), 175);
        stage.net.send(&[&stranger, &blank], &[create]).unwrap();
        Self {
            ready: stage.net.svm.clone(),
            stage,
            blank: writable(blank.pubkey()),
            without_class: BTreeMap::new(),
        }
    }

    /// Lists of accounts that instructions of Token-2022 take, for an agent's token.
    fn lists(&self, sender: &AccountMeta) -> Vec<Vec<AccountMeta>> {
        let stage = &self.stage;
        let [full, empty, mint] = [stage.full(), stage.empty(), stage.agent.mint].map(writable);
        let who = &sender.pubkey;
        let mut lists = vec![transfer(&full.pubkey, &mint.pubkey, &empty.pubkey, who, 1).accounts];
        let (sender, sysvar) = (sender.clone(), readonly(instructions_sysvar()));
        for behind in [
            vec![],
            vec![sender.clone()],
            vec![sender.clone(), sender.clone()],
            vec![mint.clone(), sender.clone()],
            vec![empty.clone(), sender.clone()],
            vec![mint.clone(), sysvar, sender.clone()],
            vec![sender.clone(), readonly(system_program()), sender],
        ] {
            for first in [&full, &mint, &self.blank] {
                lists.push([std::slice::from_ref(first), &behind[..]].concat());
            }
        }
        lists
    }

    fn send(&mut self, sender: &Keypair, call: Instruction) {
        let sent: Sent = self.stage.net.send(&[sender], std::slice::from_ref(&call));
        if sent.is_ok() {
            self.stage.net.svm = self.ready.clone();
        } else if let Err(error) = classified(&sent) {
            self.without_class.entry(error).or_insert(call);
        }
    }
}

#[test]
fn whatever_token_2022_answers_about_an_agents_token_has_a_class() {
    let mut sweep = Sweep::new();
    let senders = [&sweep.stage.agent.owner, &sweep.stage.stranger].map(Keypair::insecure_clone);
    for sender in senders {
        for accounts in sweep.lists(&signer_and_payer(sender.pubkey())) {
            for number in 0..INSTRUCTIONS {
                let kinds = if WITH_KINDS.contains(&number) {
                    KINDS
                } else {
                    1
                };
                for kind in 0..kinds {
                    let prefix = [number, kind];
                    let prefix = if kinds == 1 { &prefix[..1] } else { &prefix };
                    for argument in arguments() {
                        let data = [prefix, &argument].concat();
                        let call = token_2022::instruction(data, accounts.clone());
                        sweep.send(&sender, call);
                    }
                    let data = [prefix, &arguments()[0]].concat();
                    let call = token_2022::instruction(data, accounts.clone());
                    sweep.send(&sender, relay(&[call]));
                }
            }
        }
    }
    assert!(sweep.without_class.is_empty(), "{:#?}", sweep.without_class);
}
