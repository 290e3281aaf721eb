//! Impostors in the place of an operation's accounts: a transaction that nobody honest sends.
//!
//! Everything that somebody can make is tried, and some of what nobody can: an account of the program that the program did
//! not write. But what the program holds to be its own record is one, wherever it is: no impostor has the right content,
//! the program's ownership and another address.
//!
//! - [`places`]: the accounts of each instruction, and what refuses another one there
//! - [`kind`]: what impostors are
mod kind;
mod places;

use super::ledger::Answer;
use crate::{
    backend::{StepFault, impostor::Impostor, views::Draw},
    model::Bytes32,
};
use concord_canonical::{ErrorClass, hash::keccak256v};
use concord_registry::svm::{Program, associated_token_account};
use kind::{Kind, Original};
use litesvm::LiteSVM;
use places::Place;
use solana_account::Account;
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
};

/// Direct calls of the hook, of a hundred trials about an agent that is registered.
const HOOK_PERCENT: u64 = 12;
/// In one transaction.
const IMPOSTORS_MAX: usize = 3;
/// What `transfer_hook` is called by (R4): the transfer-hook interface's Execute.
const EXECUTE: [u8; 8] = [105, 37, 101, 197, 75, 251, 102, 26];

/// One trial: which account is replaced, and by what.
pub struct Plan {
    program: Program,
    /// The agent's that the operation is about.
    mint: Address,
    /// The impostors' addresses, unless they are accounts that exist.
    keys: [Keypair; IMPOSTORS_MAX],
    used: Cell<usize>,
    /// Pays the fee, so that who acts signs for the operation alone.
    sponsor: Keypair,
    draw: RefCell<Draw>,
    tried: RefCell<Tried>,
}

/// What was replaced.
#[derive(Default)]
pub struct Tried {
    pub impostors: Vec<Impostor>,
    pub refusals: &'static [ErrorClass],
    pub may_do_as_well: bool,
}

/// Every place and every kind.
pub fn all() -> BTreeSet<Impostor> {
    let kinds = Kind::ALL.map(|kind| Impostor::Kind(kind.name()));
    places::all().chain(kinds).collect()
}

impl Plan {
    pub fn new(program: Program, mint: Address, draw: u64) -> Self {
        let number = draw.to_be_bytes();
        let key = |of: &[u8]| Keypair::new_from_array(keccak256v(&[b"impostor", of, &number]));
        Self {
            program,
            mint,
            keys: [b"first", b"other", b"third"].map(|it| key(it)),
            used: Cell::new(0),
            sponsor: key(b"sponsor"),
            draw: RefCell::new(Draw::of(&Bytes32(keccak256v(&[b"impostor", &number])))),
            tried: RefCell::default(),
        }
    }

    /// The address of the first impostor, if it is a new one, and of whoever makes them all.
    pub fn maker(&self) -> Address {
        self.keys[0].pubkey()
    }

    /// The address of the next one.
    fn address(&self) -> Address {
        self.keys[self.used.get().min(IMPOSTORS_MAX - 1)].pubkey()
    }

    /// Is it a direct call of the hook?
    fn is_of_the_hook(&self, instructions: &[Instruction]) -> bool {
        let is_call =
            |it: &Instruction| it.program_id == self.program.id() && it.data.starts_with(&EXECUTE);
        instructions.iter().any(is_call)
    }

    pub fn into_tried(self) -> Tried {
        self.tried.into_inner()
    }

    /// Is this trial a direct call of the hook, rather than the operation?
    pub fn calls_the_hook(&self) -> bool {
        self.draw.borrow_mut().below(100) < HOOK_PERCENT
    }

    /// The accounts of an honest call, which there is none of: only Token-2022 calls the hook, in a transfer from `owner`.
    pub fn hook_call(&self, owner: &Address) -> Instruction {
        let own = associated_token_account(owner, &self.mint);
        let thief = associated_token_account(&self.maker(), &self.mint);
        let read = |address| AccountMeta::new_readonly(address, false);
        let accounts = vec![
            read(own),
            read(self.mint),
            read(thief),
            read(self.maker()),
            read(self.program.extra_account_metas(&self.mint)),
            AccountMeta::new(self.program.agent(&self.mint), false),
            read(self.program.event_authority()),
            read(self.program.id()),
        ];
        let amount = self.draw.borrow_mut().below(2);
        Instruction {
            program_id: self.program.id(),
            accounts,
            data: [&EXECUTE[..], &amount.to_le_bytes()].concat(),
        }
    }

    /// Replaces accounts of the hook's call: both sides of the transfer, often by the same, and now and then another one.
    fn disguise_hook(&self, svm: &mut LiteSVM, call: &mut Instruction) -> Answer<()> {
        self.tried.borrow_mut().refusals = places::HOOK;
        let places = places::of_hook();
        let [source, destination] = [0, 2];
        // Else the holder's own account, which nothing is transferred from.
        if self.draw.borrow_mut().below(4) > 0 {
            self.replace(svm, std::slice::from_mut(call), (0, source), places[source])?;
        }
        if self.draw.borrow_mut().coin() {
            call.accounts[destination] = call.accounts[source].clone();
            let mut tried = self.tried.borrow_mut();
            if !tried.impostors.is_empty() {
                tried.impostors.push(places[destination].named());
            }
        } else {
            let at = (0, destination);
            self.replace(svm, std::slice::from_mut(call), at, places[destination])?;
        }
        if self.draw.borrow_mut().coin() {
            let others: Vec<_> = (0..places.len())
                .filter(|it| ![source, destination].contains(it))
                .collect();
            let at = self.draw.borrow_mut().pick(&others).unwrap_or(source);
            self.replace(svm, std::slice::from_mut(call), (0, at), places[at])?;
        }
        Ok(())
    }

    /// Replaces one account of the transaction, or some of the hook's.
    pub fn disguise(&self, svm: &mut LiteSVM, instructions: &mut [Instruction]) -> Answer<()> {
        if self.is_of_the_hook(instructions) {
            return self.disguise_hook(svm, &mut instructions[0]);
        }
        let mut all = Vec::new();
        for (number, instruction) in instructions.iter().enumerate() {
            let places = places::of(instruction, &self.program).into_iter();
            all.extend((0..).zip(places).map(|(at, place)| ((number, at), place)));
        }
        let Some((at, place)) = self.draw.borrow_mut().pick(&all) else {
            return Ok(());
        };
        self.replace(svm, instructions, at, place)
    }

    fn replace(
        &self,
        svm: &mut LiteSVM,
        instructions: &mut [Instruction],
        at: (usize, usize),
        place: Place,
    ) -> Answer<()> {
        let original = instructions[at.0].accounts[at.1].clone();
        let kinds: Vec<_> = Kind::ALL
            .into_iter()
            .filter_map(|kind| Some((kind, self.meta(kind, svm, instructions, at, place)?)))
            .collect();
        let Some((kind, meta)) = self.draw.borrow_mut().pick(&kinds) else {
            return Ok(());
        };
        let held = svm.get_account(&original.pubkey).filter(exists);
        let of_program = self.accounts_of_program(svm);
        let made = kind.account(
            &self.program,
            &Original {
                place,
                account: held.as_ref(),
                mint: self.mint,
                maker: self.maker(),
                of_program: of_program.first().map_or(&[], |it| &it.1.data),
            },
        );
        let purse = (kind == Kind::Vacant && meta.is_signer).then(Kind::purse);
        if let Some(account) = made.or(purse) {
            put(svm, self.address(), account)?;
        }
        if meta.pubkey == self.address() {
            self.used.set(self.used.get() + 1);
        }
        match kind {
            Kind::Unsigned | Kind::ReadOnly => change_everywhere(instructions, &meta),
            _ => instructions[at.0].accounts[at.1] = meta,
        }
        let mut tried = self.tried.borrow_mut();
        let named = [place.named(), Impostor::Kind(kind.name())];
        tried.impostors.extend(named);
        tried.refusals = place.refusals;
        tried.may_do_as_well = place.may_do_as_well;
        Ok(())
    }

    /// What the instruction names instead; `None` if there is no such impostor here.
    fn meta(
        &self,
        kind: Kind,
        svm: &LiteSVM,
        instructions: &[Instruction],
        at: (usize, usize),
        place: Place,
    ) -> Option<AccountMeta> {
        let original = &instructions[at.0].accounts[at.1];
        let elsewhere = |pubkey| AccountMeta {
            pubkey,
            is_signer: false,
            ..original.clone()
        };
        match kind {
            Kind::Unsigned => original.is_signer.then(|| elsewhere(original.pubkey)),
            // Token-2022 writes nothing where it moves a token to where it is.
            Kind::ReadOnly if is_to_itself(&instructions[at.0], place) => None,
            Kind::ReadOnly => original.is_writable.then(|| AccountMeta {
                is_writable: false,
                ..original.clone()
            }),
            Kind::Alias => {
                let metas = instructions.iter().flat_map(|it| &it.accounts);
                let signs = |of: &AccountMeta| {
                    let mut same = metas.clone().filter(|it| it.pubkey == of.pubkey);
                    same.any(|it| it.is_signer)
                };
                let own = instructions[at.0].accounts.iter();
                let others: Vec<_> = own
                    .filter(|it| it.pubkey != original.pubkey)
                    // The same operation by another signer, or in favour of one, is another operation.
                    .filter(|it| !(place.may_do_as_well && signs(it)))
                    // To send the token to where it is changes nothing.
                    .filter(|_| place.instruction != "token_2022_transfer" || at.1 != 2)
                    .map(|it| (it.pubkey, signs(it)))
                    .collect();
                let (pubkey, signs) = self.draw.borrow_mut().pick(&others)?;
                Some(AccountMeta {
                    is_signer: original.is_signer && signs,
                    ..elsewhere(pubkey)
                })
            }
            Kind::AnotherType | Kind::OfAnother => {
                let held = svm.get_account(&original.pubkey);
                let ours = held.filter(|it| it.owner == self.program.id());
                let same = |it: &Account| {
                    let ours = ours.as_ref().and_then(|ours| ours.data.get(..8));
                    ours.is_some() && it.data.get(..8) == ours
                };
                let wanted: Vec<_> = self
                    .accounts_of_program(svm)
                    .into_iter()
                    .filter(|(address, _)| *address != original.pubkey)
                    .filter(|(_, it)| same(it) == (kind == Kind::OfAnother))
                    .map(|(address, _)| address)
                    .collect();
                self.draw.borrow_mut().pick(&wanted).map(elsewhere)
            }
            _ => Some(AccountMeta {
                pubkey: self.address(),
                ..original.clone()
            }),
        }
    }

    fn accounts_of_program(&self, svm: &LiteSVM) -> Vec<(Address, Account)> {
        let mut all = svm.get_program_accounts(&self.program.id());
        all.sort_by_key(|(address, _)| *address);
        all
    }

    /// The sponsor, and those of the keys that sign.
    pub fn signers<'a>(
        &'a self,
        svm: &mut LiteSVM,
        keys: &[&'a Keypair],
        instructions: &[Instruction],
    ) -> Answer<Vec<&'a Keypair>> {
        put(svm, self.sponsor.pubkey(), Kind::purse())?;
        let metas = || instructions.iter().flat_map(|it| &it.accounts);
        let signs = |key: &&Keypair| metas().any(|it| it.is_signer && it.pubkey == key.pubkey());
        let all = keys.iter().copied().chain(&self.keys).filter(signs);
        Ok([&self.sponsor].into_iter().chain(all).collect())
    }
}

fn is_to_itself(transfer: &Instruction, place: Place) -> bool {
    let account = |at: usize| transfer.accounts.get(at).map(|it| it.pubkey);
    place.instruction == "token_2022_transfer" && account(0) == account(2) // source, mint, destination
}

fn exists(account: &Account) -> bool {
    account.lamports > 0 && !account.data.is_empty()
}

/// A key signs, or is written, in a whole transaction.
fn change_everywhere(instructions: &mut [Instruction], changed: &AccountMeta) {
    let metas = instructions.iter_mut().flat_map(|it| &mut it.accounts);
    for meta in metas.filter(|it| it.pubkey == changed.pubkey) {
        meta.is_signer &= changed.is_signer;
        meta.is_writable &= changed.is_writable;
    }
}

fn put(svm: &mut LiteSVM, address: Address, account: Account) -> Answer<()> {
    svm.set_account(address, account)
        .map_err(|fault| StepFault::Unreachable(format!("account {address}: {fault:?}")))
}
