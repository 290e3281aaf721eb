//! Every instruction with each of its accounts exchanged for others that are valid elsewhere,
//! without its signature, without its write permission, and in another program's hands. The
//! variations are generated from the instruction's own list of accounts.
//!
//! A variation is refused with an error that has a class (R25) and changes nothing, or it is
//! in [`LEGAL`] with the reason; an entry that nothing needs fails the test. `lookalikes` adds accounts that are not
//! what they seem.

mod lookalikes;

use crate::localnet::{
    Sent,
    calls::{Call, instruction_names},
    stage::Stage,
    stranger_id, token_2022,
};
use concord_canonical::error_class::class_of_anchor_code;
use solana_address::Address;
use solana_instruction::{Instruction, error::InstructionError};
use solana_signer::Signer;
use solana_transaction::TransactionError;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// Another account in its place.
    Swapped,
    /// The same account, which has not signed.
    Unsigned,
    /// The same account, which must not be written.
    Frozen,
    /// The same account and bytes, owned by a stranger's program.
    Stolen,
    /// Another account of the same call.
    Aliased,
    /// A multisignature account of Token-2022 that spells its bytes, as far as one can.
    Spelled,
    /// An account of another program with the same bytes, our discriminators among them.
    Foreign,
    /// An account that anyone assigned to our program or to Token-2022: zeros.
    Blank,
    /// A mint that is not an agent's, or a token account of another mint, in mid-transfer.
    Token,
    /// The same account with one byte more.
    Longer,
    /// With one byte less.
    Shorter,
    /// With the first 8 bytes only: our discriminator.
    Cut,
    /// Without any bytes.
    Emptied,
}
use Change::*;

/// Instructions with the places of their accounts, changes of those, and why they are accepted.
type Legal = (
    &'static [(&'static str, usize)],
    &'static [Change],
    &'static str,
);

const LEGAL: &[Legal] = &[
    (
        &[
            ("initialize", 1),
            ("set_agent_uri", 1),
            ("set_metadata", 1),
            ("attach_payment_proof", 1),
            ("give_feedback", 1),
            ("give_open_feedback", 1),
            ("validation_request", 1),
            ("validation_response", 1),
        ],
        &[Swapped, Aliased],
        "R12: whoever signs may pay; the payer of a registration is part of the mint's address",
    ),
    (
        &[("append_response", 0), ("append_open_response", 0)],
        &[Swapped],
        "R19: anyone may respond",
    ),
    (
        &[("set_agent_wallet", 3), ("set_feedback_authority", 3)],
        &[Swapped, Aliased],
        "R3, R7: whoever consents becomes the wallet, or the authority",
    ),
    (
        &[("transfer_hook", 0), ("transfer_hook", 2)],
        &[Swapped, Aliased],
        "the other side of the same transfer; Token-2022 says that it takes place",
    ),
    (
        &[("transfer_hook", 0), ("transfer_hook", 2)],
        &[Longer],
        "room behind the extensions is not an extension",
    ),
    (
        &[("transfer_hook", 3), ("transfer_hook", 4)],
        &[Swapped, Aliased, Spelled, Blank, Token],
        "owner or delegate, and the list of accounts: Token-2022 has checked them",
    ),
    (
        &[("transfer_hook", 4)],
        &[Stolen, Foreign, Shorter, Cut, Emptied],
        "the list of accounts is Token-2022's matter",
    ),
    (
        &[
            ("transfer_hook", 1),
            ("set_metadata", 3),
            ("set_agent_wallet", 2),
            ("unset_agent_wallet", 2),
            ("set_feedback_authority", 2),
            ("set_auth_schemes", 2),
            ("attach_payment_proof", 5),
            ("give_feedback", 4),
            ("revoke_feedback", 2),
            ("append_response", 1),
            ("give_open_feedback", 3),
            ("revoke_open_feedback", 1),
            ("append_open_response", 1),
            ("open_summary", 0),
            ("open_summary_part", 0),
            ("validation_request", 3),
            ("validation_response", 3),
        ],
        &[Stolen, Longer, Shorter, Cut, Emptied],
        "only the mint's address is used; a mint cannot leave it (`agent_mint_address`)",
    ),
    (
        &[("set_agent_uri", 3)],
        &[Longer],
        "Token-2022 reads the mint, and takes room behind the extensions for none",
    ),
    (
        &[("attach_payment_proof", 3), ("give_feedback", 2)],
        &[Shorter],
        "the lists' room, which is read by nothing",
    ),
];

/// Refusals that are not the program's own: of which changes, by whom.
const FRAMEWORK: &[(&[Change], InstructionError, &str)] = &[
    (
        &[Unsigned],
        InstructionError::Custom(3010),
        "Anchor: AccountNotSigner",
    ),
    (
        &[Frozen],
        InstructionError::Custom(2000),
        "Anchor: ConstraintMut, of a signer who pays",
    ),
    (
        &[Swapped, Aliased, Spelled, Blank, Token],
        InstructionError::Custom(3008),
        "Anchor: InvalidProgramId, of a program that is called",
    ),
    (
        &[Swapped, Aliased, Spelled, Blank, Token],
        InstructionError::InvalidSeeds,
        "the associated token program: not the owner's token account of this mint",
    ),
    (
        &[Swapped],
        InstructionError::Custom(1),
        "the system program: who pays has too little",
    ),
    (
        &[Stolen],
        InstructionError::IncorrectProgramId,
        "Token-2022: the mint is not its own",
    ),
    (
        &[Shorter, Cut, Emptied],
        InstructionError::InvalidAccountData,
        "Token-2022: not a mint",
    ),
];

/// A call, broken in one place.
struct Variation {
    place: usize,
    change: Change,
    instruction: Instruction,
}

fn at(call: &Call, place: usize, change: Change) -> Variation {
    Variation {
        place,
        change,
        instruction: call.instruction.clone(),
    }
}

/// Where an account must sign, only those that can are put there.
fn swaps(stage: &Stage, call: &Call) -> Vec<Variation> {
    let signers: Vec<Address> = stage.keys()[1..].iter().map(|key| key.pubkey()).collect();
    let everything = stage.pool();
    let mut variations = vec![];
    for (place, meta) in call.instruction.accounts.iter().enumerate() {
        let pool = if meta.is_signer {
            &signers
        } else {
            &everything
        };
        for other in pool.iter().filter(|other| **other != meta.pubkey) {
            let mut swapped = at(call, place, Swapped);
            swapped.instruction.accounts[place].pubkey = *other;
            variations.push(swapped);
        }
    }
    variations
}

fn without_rights(call: &Call) -> Vec<Variation> {
    let mut variations = vec![];
    for (place, meta) in call.instruction.accounts.iter().enumerate() {
        if meta.is_signer {
            let mut unsigned = at(call, place, Unsigned);
            unsigned.instruction.accounts[place].is_signer = false;
            variations.push(unsigned);
        }
        if meta.is_writable {
            let mut frozen = at(call, place, Frozen);
            frozen.instruction.accounts[place].is_writable = false;
            variations.push(frozen);
        }
    }
    variations
}

/// The refusal, if it is one: `None` if the transaction was accepted.
fn refusal(sent: &Sent) -> Option<InstructionError> {
    match &sent.as_ref().err()?.err {
        TransactionError::InstructionError(_, error) => Some(error.clone()),
        other => panic!("the transaction failed before any instruction: {other:?}"),
    }
}

/// Runs the variations of `call`, each on the same stage.
fn run(stage: &mut Stage, call: &Call, variations: Vec<Variation>, used: &mut Used) {
    let before = stage.state();
    let untouched = stage.net.svm.clone();
    for Variation {
        place,
        change,
        instruction,
    } in variations
    {
        let what = format!(
            "{} {change:?} in place {place}: {}",
            call.name, instruction.accounts[place].pubkey
        );
        let sent = stage.send(&call.with(instruction));
        match refusal(&sent) {
            Some(error) => {
                used.refuse(change, &error, &what);
                assert!(stage.state() == before, "{what}: changed something");
            }
            None => {
                used.accept(call.name, place, change, what);
                stage.net.svm = untouched.clone();
            }
        }
    }
}

/// Which entries of [`LEGAL`] and [`FRAMEWORK`] were needed, and what none of them covers.
#[derive(Default)]
struct Used {
    legal: BTreeSet<(Change, &'static str, usize)>,
    framework: BTreeSet<(Change, usize)>,
    unexplained: Vec<String>,
}

impl Used {
    fn accept(&mut self, name: &'static str, place: usize, change: Change, what: String) {
        let covers =
            |(places, of, _): &Legal| of.contains(&change) && places.contains(&(name, place));
        if LEGAL.iter().any(covers) {
            self.legal.insert((change, name, place));
        } else {
            self.unexplained.push(format!("{what}: accepted"));
        }
    }

    /// R25: one of the program's own errors has a class.
    fn refuse(&mut self, change: Change, error: &InstructionError, what: &str) {
        let class = match error {
            InstructionError::Custom(code) => class_of_anchor_code(*code),
            _ => None,
        };
        let listed = |entry: &(&[Change], InstructionError, &str)| {
            entry.0.contains(&change) && entry.1 == *error
        };
        match (class, FRAMEWORK.iter().position(listed)) {
            (Some(_), _) => (),
            (None, Some(place)) => drop(self.framework.insert((change, place))),
            (None, None) => self.unexplained.push(format!("{what}: {error:?}")),
        }
    }

    #[track_caller]
    fn assert_complete(self, changes: &[Change]) {
        assert!(self.unexplained.is_empty(), "{:#?}", self.unexplained);
        for change in changes {
            self.assert_all_needed(*change);
        }
    }

    #[track_caller]
    fn assert_all_needed(&self, change: Change) {
        for (places, of, reason) in LEGAL {
            for (name, place) in *places {
                assert!(
                    !of.contains(&change) || self.legal.contains(&(change, *name, *place)),
                    "{name} refuses {change:?} in {place} in spite of: {reason}"
                );
            }
        }
        for (number, (of, error, reason)) in FRAMEWORK.iter().enumerate() {
            assert!(
                !of.contains(&change) || self.framework.contains(&(change, number)),
                "{change:?} is never answered with {error:?}: {reason}"
            );
        }
    }
}

/// A stage on which every call in turn succeeds, with the call.
fn each(mut act: impl FnMut(&mut Stage, &Call)) {
    let mut stage = Stage::new();
    let calls = stage.calls();
    let ready = stage.net.svm.clone();
    for call in calls {
        stage.net.svm = ready.clone();
        if call.name == "initialize" {
            stage.forget_registry();
        }
        act(&mut stage, &call);
    }
}

#[test]
fn every_instruction_is_called_and_succeeds() {
    let mut called = vec![];
    each(|stage, call| {
        if let Err(failed) = stage.send(&call.transaction()) {
            panic!("{}: {:?} {:#?}", call.name, failed.err, failed.meta.logs);
        }
        called.push(call.name);
    });
    called.sort_unstable();
    let mut names = instruction_names();
    names.sort_unstable();
    assert_eq!(called, names);
}

#[test]
fn refuses_every_other_account_in_every_place() {
    let mut used = Used::default();
    each(|stage, call| {
        let variations = swaps(stage, call);
        run(stage, call, variations, &mut used);
    });
    used.assert_complete(&[Swapped]);
}

#[test]
fn refuses_accounts_without_their_signature_or_write_permission() {
    let mut used = Used::default();
    each(|stage, call| run(stage, call, without_rights(call), &mut used));
    used.assert_complete(&[Unsigned, Frozen]);
}

#[test]
fn refuses_accounts_in_another_programs_hands() {
    let mut used = Used::default();
    each(|stage, call| {
        for (place, meta) in call.instruction.accounts.iter().enumerate() {
            let owners = [crate::localnet::program_id(), token_2022::program()];
            let Some(mut account) = stage.net.svm.get_account(&meta.pubkey) else {
                continue;
            };
            if !owners.contains(&account.owner) {
                continue;
            }
            let genuine = account.clone();
            account.owner = stranger_id();
            stage.net.svm.set_account(meta.pubkey, account).unwrap();
            run(stage, call, vec![at(call, place, Stolen)], &mut used);
            stage.net.svm.set_account(meta.pubkey, genuine).unwrap();
        }
    });
    used.assert_complete(&[Stolen]);
}
