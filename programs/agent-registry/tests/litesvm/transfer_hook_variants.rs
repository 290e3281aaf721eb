//! R4: the ways in which Token-2022 can be asked for a transfer, and the accounts it may lack.

use crate::{
    calls_by_programs::relay,
    localnet::{
        events,
        instructions::{
            agent_identity, event_authority, extra_account_metas, readonly, signer, writable,
        },
        program_id,
        refusal::*,
        sale::Sale,
        settings::set_auth_schemes,
        token_2022,
        token_2022::{balance, bare_transfer, create_account, spare_account, transfer},
    },
};
use solana_instruction::{AccountMeta, Instruction, error::InstructionError};
use solana_keypair::Keypair;
use solana_signer::Signer;

/// spl-tlv-account-resolution's IncorrectAccount: the first bytes of a hash of its name.
const INCORRECT_ACCOUNT: u32 = 0xa261_c2c0;
/// Anchor's AccountNotEnoughKeys.
const NOT_ENOUGH_KEYS: u32 = 3005;

impl Sale {
    /// The sale with these accounts after the transfer's own four.
    fn sale_with(&self, extra: &[AccountMeta]) -> Instruction {
        let mut instruction = self.sale(1);
        instruction.accounts.truncate(4);
        instruction.accounts.extend_from_slice(extra);
        instruction
    }

    /// Identity, event authority, program, list.
    fn extra(&self) -> [AccountMeta; 4] {
        let mint = &self.agent.mint;
        [
            writable(agent_identity(mint)),
            readonly(event_authority()),
            readonly(program_id()),
            readonly(extra_account_metas(mint)),
        ]
    }
}

#[test]
fn there_and_back_in_two_transactions_leaves_the_settings_cleared() {
    let mut sale = Sale::new();
    let there = sale.sale(1);
    sale.send_as_owner(&[there]).unwrap();
    sale.assert_sold();
    let back = transfer(
        &sale.held_by(&sale.buyer),
        &sale.agent.mint,
        &sale.held_by(&sale.agent.owner),
        &sale.buyer.pubkey(),
        1,
    );
    sale.net.send(&[&sale.buyer], &[back]).unwrap();
    let identity = sale.net.identity(&sale.agent.mint);
    assert_eq!(identity.owner, sale.agent.owner.pubkey());
    assert_eq!(identity.owner_version, 3);
    assert_eq!(identity.feedback_authority, Default::default());
    assert_eq!(identity.agent_wallet, Default::default());
}

#[test]
fn a_strangers_or_a_delegates_amount_of_zero_changes_nothing() {
    let mut sale = Sale::new();
    let (owner, stranger) = (
        sale.agent.owner.insecure_clone(),
        sale.stranger.insecure_clone(),
    );
    let (mint, who) = (sale.agent.mint, stranger.pubkey());
    sale.create_account(&who);
    let own = sale.held_by(&stranger);
    let second = spare_account(&mut sale.net, &stranger, &who, &mint, true);
    let approve = token_2022::approve(&sale.held_by(&owner), &mint, &who, &owner.pubkey());
    sale.send_as_owner(&[approve]).unwrap();
    let to_buyer = sale.held_by(&sale.buyer);
    for (source, destination) in [(own, second), (sale.held_by(&owner), to_buyer)] {
        let instruction = transfer(&source, &mint, &destination, &who, 0);
        let sent = sale.net.send(&[&stranger], &[instruction]).unwrap();
        assert!(events(&sent).is_empty());
        sale.assert_nothing_changed();
    }
}

#[test]
fn to_the_same_account_the_hook_is_not_called_and_needs_no_accounts() {
    let mut sale = Sale::new();
    let (held, who) = (sale.held_by(&sale.agent.owner), sale.agent.owner.pubkey());
    let bare = bare_transfer(&held, &sale.agent.mint, &held, &who, 1);
    let complete = transfer(&held, &sale.agent.mint, &held, &who, 1);
    for instruction in [bare, complete] {
        let sent = sale.send_as_owner(&[instruction]).unwrap();
        let ours = format!("Program {} invoke", program_id());
        assert!(!sent.logs.iter().any(|line| line.starts_with(&ours)));
        sale.assert_nothing_changed();
    }
}

#[test]
fn the_hooks_accounts_may_stand_in_any_order() {
    for order in [[3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
        let mut sale = Sale::new();
        let extra = sale.extra();
        let shuffled = sale.sale_with(&order.map(|place| extra[place].clone()));
        sale.send_as_owner(&[shuffled]).unwrap();
        sale.assert_sold();
    }
}

#[test]
fn refuses_what_lacks_the_hooks_accounts_each_with_its_own_error() {
    let mut sale = Sale::new();
    let [identity, events, program, list] = sale.extra();
    let other = sale.net.agent();
    let another = writable(agent_identity(&other.mint));
    let mut frozen = identity.clone();
    frozen.is_writable = false;
    let cases: [(&[AccountMeta], InstructionError); 6] = [
        (&[], InstructionError::MissingAccount),
        (
            std::slice::from_ref(&program),
            InstructionError::Custom(NOT_ENOUGH_KEYS),
        ),
        (
            &[program.clone(), list.clone()],
            InstructionError::Custom(INCORRECT_ACCOUNT),
        ),
        (
            &[identity.clone(), events.clone(), program.clone()],
            InstructionError::Custom(NOT_ENOUGH_KEYS),
        ),
        (
            &[another, events.clone(), program.clone(), list.clone()],
            InstructionError::Custom(INCORRECT_ACCOUNT),
        ),
        (
            &[frozen, events.clone(), program.clone(), list.clone()],
            InstructionError::PrivilegeEscalation,
        ),
    ];
    for (extra, error) in cases {
        let instruction = sale.sale_with(extra);
        let sent = sale.send_as_owner(&[instruction]);
        assert_eq!(refusal(&sent), (0, error));
        sale.assert_nothing_changed();
    }
}

#[test]
fn refuses_a_transfer_that_does_not_name_the_mint() {
    let mut sale = Sale::new();
    let accounts = vec![
        writable(sale.held_by(&sale.agent.owner)),
        writable(sale.held_by(&sale.buyer)),
        signer(sale.agent.owner.pubkey()),
    ];
    let data = [&[3][..], &1u64.to_le_bytes()].concat(); // Transfer
    let unchecked = token_2022::instruction(data, accounts);
    // Token-2022's MintRequiredForTransfer
    assert_refused(&sale.send_as_owner(&[unchecked]), 0, 31);
    sale.assert_nothing_changed();
}

#[test]
fn a_transfer_with_a_fee_of_zero_counts() {
    let mut sale = Sale::new();
    let mut instruction = sale.sale(1);
    // TransferFeeExtension: TransferCheckedWithFee
    instruction.data = [&[26, 1][..], &1u64.to_le_bytes(), &[0], &0u64.to_le_bytes()].concat();
    sale.send_as_owner(&[instruction]).unwrap();
    sale.assert_sold();
}

#[test]
fn a_destination_with_further_extensions_receives_the_agent() {
    // ImmutableOwner, MemoTransfer and CpiGuard: 4, 5 and 5 bytes, and 5 of the hook
    let mut sale = Sale::new();
    let (account, mint) = (Keypair::new(), sale.agent.mint);
    let (at, buyer) = (account.pubkey(), sale.buyer.insecure_clone());
    let initialize = [&[18], buyer.pubkey().as_ref()].concat();
    let guarded = || vec![writable(at), signer(buyer.pubkey())];
    let instructions = [
        create_account(&sale.net, &buyer.pubkey(), &at, 185),
        token_2022::instruction(vec![22], vec![writable(at)]),
        token_2022::instruction(initialize, vec![writable(at), readonly(mint)]),
        token_2022::instruction(vec![30, 0], guarded()),
        token_2022::instruction(vec![30, 1], guarded()), // no memo needed after all
        token_2022::instruction(vec![34, 0], guarded()),
    ];
    sale.net.send(&[&buyer, &account], &instructions).unwrap();
    let (from, who) = (sale.held_by(&sale.agent.owner), sale.agent.owner.pubkey());
    let instruction = transfer(&from, &mint, &at, &who, 1);
    sale.send_as_owner(&[instruction]).unwrap();
    assert_eq!(balance(&sale.net, &at), 1);
    assert_eq!(sale.net.identity(&mint).owner, buyer.pubkey());
}

#[test]
fn refuses_a_transfer_one_level_too_deep_for_the_hook() {
    // Token-2022 at height 5 of 5: the hook itself does not fit
    let mut sale = Sale::new();
    let deep = relay(&[relay(&[relay(&[relay(&[sale.sale(1)])])])]);
    let (_, error) = refusal(&sale.send_as_owner(&[deep]));
    assert_eq!(error, InstructionError::CallDepth);
    sale.assert_nothing_changed();
}

#[test]
fn a_burned_agents_last_owner_keeps_his_rights_and_may_close_his_token_account() {
    // Declared variance 7
    let mut sale = Sale::new();
    let (owner, mint) = (sale.agent.owner.pubkey(), sale.agent.mint);
    let held = sale.held_by(&sale.agent.owner);
    let burn = [&[8][..], &1u64.to_le_bytes()].concat();
    let burn = token_2022::instruction(burn, vec![writable(held), writable(mint), signer(owner)]);
    let close = vec![writable(held), writable(owner), signer(owner)];
    let close = token_2022::instruction(vec![9], close);
    let set = set_auth_schemes(&owner, &mint, 3);
    sale.send_as_owner(&[burn, close, set]).unwrap();
    assert!(!sale.net.exists(&held));
    let identity = sale.net.identity(&mint);
    assert_eq!((identity.owner, identity.auth_schemes), (owner, 3));
}
