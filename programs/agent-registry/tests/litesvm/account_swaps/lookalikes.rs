//! Accounts that are not what they seem, in every place. Those at other addresses are what users can make, or other
//! programs; those at the right address are what only our program or Token-2022 could have written, and did not.

use super::{Change::*, Used, Variation, at, each, run};
use crate::localnet::{
    Localnet,
    calls::Call,
    instructions::system_program,
    program_id,
    stage::Stage,
    stranger_id,
    token_2022::{self, in_transfer},
};
use solana_account::Account;
use solana_address::Address;
use solana_signer::Signer;
use std::collections::BTreeSet;

const MULTISIG: usize = 355;

fn classic_token() -> Address {
    Address::from_str_const("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
}

fn of(owner: Address, data: Vec<u8>) -> Account {
    Account {
        lamports: 100_000_000,
        data,
        owner,
        ..Account::default()
    }
}

/// 11 of 11 signers, which are chosen freely; the three bytes before them are not.
fn multisignature(spelled: &[u8]) -> Account {
    let mut data = vec![11, 11, 1];
    data.extend(spelled.iter().skip(3).take(MULTISIG - 3));
    data.resize(MULTISIG, 0);
    of(token_2022::program(), data)
}

/// The account in a place of a call, if it is ours or Token-2022's.
fn expected(net: &Localnet, at: &Address) -> Option<Account> {
    let account = net.svm.get_account(at)?;
    let owners = [program_id(), token_2022::program()];
    (owners.contains(&account.owner) && !account.executable).then_some(account)
}

/// Puts `lookalike` at an address of its own into each place of `call` that `fits` and that needs no signature.
fn offer(
    stage: &mut Stage,
    call: &Call,
    change: super::Change,
    used: &mut Used,
    lookalikes: impl Fn(&Stage, Option<Account>) -> Vec<Account>,
) {
    for place in 0..call.instruction.accounts.len() {
        let meta = &call.instruction.accounts[place];
        if meta.is_signer {
            continue;
        }
        for (number, account) in
            (lookalikes(stage, expected(&stage.net, &meta.pubkey)).into_iter()).enumerate()
        {
            let address = Address::from([0xB0 + number as u8; 32]);
            stage.net.svm.set_account(address, account).unwrap();
            let mut variation = at(call, place, change);
            variation.instruction.accounts[place].pubkey = address;
            run(stage, call, vec![variation], used);
        }
    }
}

#[test]
fn refuses_multisignatures_of_token_2022_that_spell_the_account() {
    let mut used = Used::default();
    each(|stage, call| {
        offer(stage, call, Spelled, &mut used, |_, expected| {
            let bytes = expected.map(|account| account.data).unwrap_or_default();
            vec![multisignature(&bytes)]
        });
    });
    used.assert_complete(&[Spelled]);
}

#[test]
fn refuses_accounts_of_other_programs_with_the_same_bytes() {
    let mut used = Used::default();
    each(|stage, call| {
        offer(stage, call, Foreign, &mut used, |_, expected| {
            let Some(account) = expected else {
                return vec![];
            };
            let owners = [
                stranger_id(),
                token_2022::program(),
                classic_token(),
                system_program(),
                program_id(),
            ];
            let others = owners.into_iter().filter(|owner| *owner != account.owner);
            others
                .map(|owner| of(owner, account.data.clone()))
                .collect()
        });
    });
    used.assert_complete(&[Foreign]);
}

#[test]
fn refuses_accounts_that_anyone_can_assign_to_us() {
    let mut used = Used::default();
    each(|stage, call| {
        offer(stage, call, Blank, &mut used, |_, expected| {
            let length = expected.map_or(300, |account| account.data.len());
            let lengths = [0, length];
            let blank = |owner| lengths.map(|length| of(owner, vec![0; length]));
            [program_id(), token_2022::program()]
                .into_iter()
                .flat_map(blank)
                .collect()
        });
    });
    used.assert_complete(&[Blank]);
}

#[test]
fn refuses_foreign_mints_and_token_accounts_of_other_mints() {
    let mut used = Used::default();
    each(|stage, call| {
        offer(stage, call, Token, &mut used, |stage, _| {
            let who = stage.friend.pubkey();
            let program = token_2022::program();
            let mint = Address::from([0xC0; 32]);
            let mut foreign = vec![0; 82];
            foreign[45] = 1; // initialized
            vec![
                of(program, foreign.clone()),
                of(classic_token(), foreign),
                in_transfer(&mint, &who, program),
                in_transfer(&stage.other.mint, &who, program),
                in_transfer(&stage.new_mint(), &who, program),
                in_transfer(&stage.agent.mint, &who, classic_token()),
            ]
        });
    });
    used.assert_complete(&[Token]);
}

#[test]
fn refuses_one_account_in_two_places() {
    let mut used = Used::default();
    each(|stage, call| {
        let metas = &call.instruction.accounts;
        let signers: BTreeSet<Address> = stage.keys().iter().map(|key| key.pubkey()).collect();
        let mut variations: Vec<Variation> = vec![];
        for (place, meta) in metas.iter().enumerate() {
            let others: BTreeSet<Address> = metas.iter().map(|it| it.pubkey).collect();
            let fits = |other: &&Address| {
                **other != meta.pubkey && (!meta.is_signer || signers.contains(other))
            };
            for other in others.iter().filter(fits) {
                let mut aliased = at(call, place, Aliased);
                aliased.instruction.accounts[place].pubkey = *other;
                variations.push(aliased);
            }
        }
        run(stage, call, variations, &mut used);
    });
    used.assert_complete(&[Aliased]);
}

#[test]
fn refuses_accounts_of_another_length() {
    let mut used = Used::default();
    each(|stage, call| {
        let mut seen = BTreeSet::new();
        for (place, meta) in call.instruction.accounts.iter().enumerate() {
            let Some(genuine) = expected(&stage.net, &meta.pubkey) else {
                continue;
            };
            if !seen.insert(meta.pubkey) {
                continue;
            }
            let length = genuine.data.len();
            let mut lengths = vec![(Shorter, length - 1), (Cut, 8), (Emptied, 0)];
            if genuine.owner != program_id() {
                // longer ones of ours are those of a later layout: `layout_upgrade`
                lengths.push((Longer, length + 1));
            }
            for (change, length) in lengths {
                let mut account = genuine.clone();
                account.data.resize(length, 0);
                account.lamports += 10_000_000;
                stage.net.svm.set_account(meta.pubkey, account).unwrap();
                run(stage, call, vec![at(call, place, change)], &mut used);
            }
            stage.net.svm.set_account(meta.pubkey, genuine).unwrap();
        }
    });
    used.assert_complete(&[Longer, Shorter, Cut, Emptied]);
}
