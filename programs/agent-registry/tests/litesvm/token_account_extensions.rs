//! R4: agents are in clean accounts only. Which extensions a token account of an agent's mint can get from Token-2022,
//! and which of them an account may have that receives the agent.

use crate::{
    calls_by_programs::relay,
    framework_errors::class_of,
    localnet::{
        instructions::{
            instructions_sysvar, readonly, signer, signer_and_payer, system_program, writable,
        },
        refusal::*,
        sale::Sale,
        token_2022::{self, balance, in_transfer, spare_account, transfer},
    },
    transfer_hook_attacks::direct_call,
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_signer::Signer;
use std::collections::BTreeSet;

// Types of extensions.
const IMMUTABLE_OWNER: u16 = 7;
const MEMO_TRANSFER: u16 = 8;
const CPI_GUARD: u16 = 11;
const TRANSFER_HOOK_ACCOUNT: u16 = 15;
const HARMLESS: [u16; 4] = [
    IMMUTABLE_OWNER,
    MEMO_TRANSFER,
    CPI_GUARD,
    TRANSFER_HOOK_ACCOUNT,
];
/// Token-2022's other extensions of token accounts, and the bytes of each.
const TRANSFER_FEE_AMOUNT: (u16, usize) = (2, 8);
const CONFIDENTIAL_TRANSFER_ACCOUNT: (u16, usize) = (5, 295);
const NON_TRANSFERABLE_ACCOUNT: (u16, usize) = (13, 0);
const CONFIDENTIAL_TRANSFER_FEE_AMOUNT: (u16, usize) = (17, 64);
const PAUSABLE_ACCOUNT: (u16, usize) = (27, 0);
const HARMFUL: [(u16, usize); 5] = [
    TRANSFER_FEE_AMOUNT,
    CONFIDENTIAL_TRANSFER_ACCOUNT,
    NON_TRANSFERABLE_ACCOUNT,
    CONFIDENTIAL_TRANSFER_FEE_AMOUNT,
    PAUSABLE_ACCOUNT,
];

impl Sale {
    /// Another account of the buyer's for the agent's token.
    fn spare(&mut self) -> Address {
        let buyer = self.buyer.insecure_clone();
        spare_account(
            &mut self.net,
            &buyer,
            &buyer.pubkey(),
            &self.agent.mint,
            true,
        )
    }

    fn sale_to(&self, to: &Address) -> Instruction {
        let owner = &self.agent.owner;
        transfer(
            &self.held_by(owner),
            &self.agent.mint,
            to,
            &owner.pubkey(),
            1,
        )
    }

    /// Room for extensions of these types.
    fn reallocate(&self, account: &Address, types: &[u16]) -> Instruction {
        let types = types.iter().flat_map(|kind| kind.to_le_bytes());
        let data = [29].into_iter().chain(types).collect();
        let buyer = self.buyer.pubkey();
        let accounts = vec![
            writable(*account),
            signer_and_payer(buyer),
            readonly(system_program()),
            signer(buyer),
        ];
        token_2022::instruction(data, accounts)
    }

    /// One of the buyer's own instructions about an account of theirs.
    fn set(&self, account: &Address, data: &[u8]) -> Instruction {
        let accounts = vec![writable(*account), signer(self.buyer.pubkey())];
        token_2022::instruction(data.to_vec(), accounts)
    }

    /// The types of the extensions of an account.
    fn extensions(&self, account: &Address) -> Vec<u16> {
        let data = self.net.account(account).data;
        let mut rest = &data[166..];
        let mut types = vec![];
        while let [k0, k1, l0, l1, behind @ ..] = rest {
            let kind = u16::from_le_bytes([*k0, *k1]);
            if kind == 0 {
                break;
            }
            types.push(kind);
            rest = &behind[usize::from(u16::from_le_bytes([*l0, *l1]))..];
        }
        types
    }
}

#[test]
fn an_owner_makes_room_for_every_extension_and_gets_none_by_it() {
    let mut sale = Sale::new();
    let buyer = sale.buyer.insecure_clone();
    let mut made = BTreeSet::new();
    for kind in 0..64 {
        let account = sale.spare();
        let reallocate = sale.reallocate(&account, &[kind]);
        if sale.net.send(&[&buyer], &[reallocate]).is_ok() {
            made.insert(kind);
        }
        assert_eq!(
            sale.extensions(&account),
            [IMMUTABLE_OWNER, TRANSFER_HOOK_ACCOUNT]
        );
    }
    let known = HARMLESS.into_iter().chain(HARMFUL.map(|(kind, _)| kind));
    assert_eq!(made, known.collect());
    // an account that is longer than its extensions need receives the agent
    let account = sale.spare();
    let types: Vec<u16> = made.into_iter().collect();
    let reallocate = sale.reallocate(&account, &types);
    sale.net.send(&[&buyer], &[reallocate]).unwrap();
    assert!(sale.net.account(&account).data.len() > 175 + 295 + 64);
    let instruction = sale.sale_to(&account);
    sale.send_as_owner(&[instruction]).unwrap();
    assert_eq!(balance(&sale.net, &account), 1);
    assert_eq!(sale.net.identity(&sale.agent.mint).owner, buyer.pubkey());
}

#[test]
fn an_owner_gets_memos_and_the_cpi_guard_and_neither_hides_the_agent() {
    let mut sale = Sale::new();
    let (account, buyer) = (sale.spare(), sale.buyer.insecure_clone());
    let enable = [
        sale.reallocate(&account, &[MEMO_TRANSFER, CPI_GUARD]),
        sale.set(&account, &[30, 0]),
        sale.set(&account, &[34, 0]),
    ];
    sale.net.send(&[&buyer], &enable).unwrap();
    assert_eq!(
        BTreeSet::from_iter(sale.extensions(&account)),
        HARMLESS.into()
    );
    let instruction = sale.sale_to(&account);
    // Token-2022's NoMemo
    assert_refused(
        &sale.send_as_owner(std::slice::from_ref(&instruction)),
        0,
        36,
    );
    let memo = Instruction {
        program_id: Address::from_str_const("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"),
        accounts: vec![],
        data: b"sold".to_vec(),
    };
    sale.send_as_owner(&[memo, instruction]).unwrap();
    assert_eq!(sale.net.identity(&sale.agent.mint).owner, buyer.pubkey());
    // and back: not through a program, which is what the guard is for
    let (mint, to) = (sale.agent.mint, sale.held_by(&sale.agent.owner));
    let back = transfer(&account, &mint, &to, &buyer.pubkey(), 1);
    let through = relay(std::slice::from_ref(&back));
    // CpiGuardTransferBlocked
    assert_refused(&sale.net.send(&[&buyer], &[through]), 0, 42);
    sale.net.send(&[&buyer], &[back]).unwrap();
    let identity = sale.net.identity(&mint);
    assert_eq!(identity.owner, sale.agent.owner.pubkey());
}

#[test]
fn an_owner_gets_no_extension_that_the_mint_would_need() {
    let mut sale = Sale::new();
    let (account, buyer, mint) = (sale.spare(), sale.buyer.insecure_clone(), sale.agent.mint);
    let types = HARMFUL.map(|(kind, _)| kind);
    let reallocate = sale.reallocate(&account, &types);
    sale.net.send(&[&buyer], &[reallocate]).unwrap();
    let before = sale.net.account(&account);
    // ConfidentialTransfer: ConfigureAccount, EmptyAccount, Deposit, EnableConfidentialCredits
    let configure = [&[27, 2][..], &[0; 36], &u64::MAX.to_le_bytes(), &[1]].concat();
    let deposit = [&[27, 5][..], &1u64.to_le_bytes(), &[0]].concat();
    for data in [configure, vec![27, 4, 0], deposit, vec![27, 9]] {
        let accounts = vec![
            writable(account),
            readonly(mint),
            readonly(instructions_sysvar()),
            signer(buyer.pubkey()),
        ];
        let instruction = token_2022::instruction(data.clone(), accounts);
        class_of(&sale.net.send(&[&buyer], &[instruction]));
        let instruction = sale.set(&account, &data);
        class_of(&sale.net.send(&[&buyer], &[instruction]));
    }
    // the other three come with a mint's extension, when the account is initialized; and an account that
    // is initialized is not initialized again
    let again = [&[18], buyer.pubkey().as_ref()].concat();
    let accounts = vec![writable(account), readonly(mint)];
    let instruction = token_2022::instruction(again, accounts);
    class_of(&sale.net.send(&[&buyer], &[instruction]));
    assert_eq!(sale.net.account(&account), before);
}

/// States that Token-2022 cannot produce for an agent's mint, written by hand, and a real transfer to them.
#[test]
fn refuses_a_destination_with_any_other_extension() {
    for (kind, length) in HARMFUL {
        let mut sale = Sale::new();
        let at = sale.held_by(&sale.buyer);
        let mut account = sale.net.account(&at);
        let mut value = vec![0; length];
        if kind == CONFIDENTIAL_TRANSFER_ACCOUNT.0 {
            value[262] = 1; // amounts in the clear are accepted
        }
        account.data.extend_from_slice(&kind.to_le_bytes());
        account
            .data
            .extend_from_slice(&(length as u16).to_le_bytes());
        account.data.extend_from_slice(&value);
        account.lamports = 100_000_000;
        sale.net.svm.set_account(at, account).unwrap();
        let instruction = sale.sale(1);
        assert_refused(&sale.send_as_owner(&[instruction]), 0, TRANSFER_REFUSED);
        sale.assert_nothing_changed();
    }
}

/// The same for every type there is and those that may come, in accounts in mid-transfer that are written by hand.
#[test]
fn refuses_every_type_that_is_not_known_to_be_harmless() {
    let mut sale = Sale::new();
    let (mint, buyer) = (sale.agent.mint, sale.buyer.pubkey());
    let (source, destination) = (Address::from([1; 32]), Address::from([2; 32]));
    let genuine = in_transfer(&mint, &buyer, token_2022::program());
    for kind in (1..64).chain([1 << 8, u16::MAX]) {
        let before = sale.net.svm.clone();
        let mut account = genuine.clone();
        account.data.extend_from_slice(&kind.to_le_bytes());
        account.data.extend_from_slice(&[0, 0]);
        sale.net.svm.set_account(source, genuine.clone()).unwrap();
        sale.net.svm.set_account(destination, account).unwrap();
        let call = direct_call(&mint, source, destination, 1);
        let sent = sale.send_as_owner(&[call]);
        if HARMLESS.contains(&kind) {
            sent.unwrap();
            assert_eq!(sale.net.identity(&mint).owner, buyer);
        } else {
            assert_refused(&sent, 0, TRANSFER_REFUSED);
        }
        sale.net.svm = before;
    }
}

#[test]
fn a_source_may_have_any_extension() {
    // an agent that got into such an account could otherwise never leave it
    let mut sale = Sale::new();
    let (mint, buyer) = (sale.agent.mint, sale.buyer.pubkey());
    let (source, destination) = (Address::from([1; 32]), Address::from([2; 32]));
    let genuine = in_transfer(&mint, &buyer, token_2022::program());
    let mut account = genuine.clone();
    account.data.extend_from_slice(&[13, 0, 0, 0]);
    sale.net.svm.set_account(source, account).unwrap();
    sale.net.svm.set_account(destination, genuine).unwrap();
    let call = direct_call(&mint, source, destination, 1);
    sale.send_as_owner(&[call]).unwrap();
    assert_eq!(sale.net.identity(&mint).owner, buyer);
}
