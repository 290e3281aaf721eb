//! Every instruction of Token-2022 about an agent's mint and token accounts, by number: whatever it answers has a class.

use super::{Stage, classified};
use crate::localnet::{
    instructions::{instructions_sysvar, readonly, signer_and_payer, system_program, writable},
    token_2022::{self, transfer},
};
use solana_instruction::AccountMeta;
use solana_signer::Signer;
use std::collections::BTreeMap;

/// Numbers of instructions, and of instructions within an extension's, beyond the last of each.
const INSTRUCTIONS: u8 = 52;
const WITHIN: u8 = 20;

impl Stage {
    /// Lists of accounts that instructions of Token-2022 take, for an agent's token; the one who sends signs.
    fn lists(&self, sender: AccountMeta) -> Vec<Vec<AccountMeta>> {
        let [full, empty, mint] = [self.full(), self.empty(), self.agent.mint].map(writable);
        let whole = transfer(&full.pubkey, &mint.pubkey, &empty.pubkey, &sender.pubkey, 1).accounts;
        let sysvar = readonly(instructions_sysvar());
        let mut lists = vec![whole];
        for account in [&full, &empty, &mint] {
            for behind in [
                vec![],
                vec![sender.clone()],
                vec![sender.clone(), sender.clone()],
                vec![mint.clone(), sender.clone()],
                vec![empty.clone(), sender.clone()],
                vec![mint.clone(), sysvar.clone(), sender.clone()],
                vec![sender.clone(), readonly(system_program()), sender.clone()],
                vec![mint.clone(), empty.clone(), sender.clone()],
            ] {
                lists.push([vec![account.clone()], behind].concat());
            }
        }
        lists
    }
}

#[test]
fn whatever_token_2022_answers_about_an_agents_token_has_a_class() {
    let mut stage = Stage::new();
    let ready = stage.net.svm.clone();
    let mut without_class = BTreeMap::new();
    for sender in [
        stage.agent.owner.insecure_clone(),
        stage.stranger.insecure_clone(),
    ] {
        for accounts in stage.lists(signer_and_payer(sender.pubkey())) {
            for number in 0..INSTRUCTIONS {
                for within in 0..WITHIN {
                    let argument = [&[within][..], &1u64.to_le_bytes(), &[0; 120]].concat();
                    let data = [&[number][..], &argument].concat();
                    let call = token_2022::instruction(data, accounts.clone());
                    let sent = stage.net.send(&[&sender], &[call]);
                    if sent.is_ok() {
                        stage.net.svm = ready.clone();
                    } else if let Err(error) = classified(&sent) {
                        without_class
                            .entry(error)
                            .or_insert((number, within, accounts.len()));
                    }
                }
            }
        }
    }
    assert!(without_class.is_empty(), "{without_class:#?}");
}
