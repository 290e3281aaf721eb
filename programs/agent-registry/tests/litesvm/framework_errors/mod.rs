//! R25: every error of a framework that a user of the program or of an agent's token can cause is
//! provoked here, and has exactly one class. The program's own errors are the other files' matter.

mod program;
mod token;
mod transaction;

use crate::localnet::{
    Agent, Localnet, Sent,
    authorization::ed25519_program,
    instructions::system_program,
    token_2022,
    token_2022::{associated_token_program, token_account},
};
use concord_canonical::error_class::{
    ALL, Framework, class_of_anchor_code, class_of_framework_error, class_of_runtime_error,
};
use solana_address::Address;
use solana_instruction::{Instruction, error::InstructionError};
use solana_keypair::Keypair;
use solana_signer::Signer;
use solana_transaction::TransactionError;
use std::collections::BTreeSet;

/// An error as the cluster reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Native {
    /// By number, and whose it is.
    Numbered(Framework, u32),
    /// By the variant's name.
    Named(&'static str),
}

use Native::{Named, Numbered};

/// What is done, what it is refused with, and the class of that.
struct Case {
    act: fn(&mut Stage) -> Sent,
    native: Native,
    class: &'static str,
}

const fn case(act: fn(&mut Stage) -> Sent, native: Native, class: &'static str) -> Case {
    Case { act, native, class }
}

/// Two agents of two owners, and a stranger with an empty account for the first one's token.
struct Stage {
    net: Localnet,
    agent: Agent,
    other: Agent,
    stranger: Keypair,
}

impl Stage {
    fn new() -> Self {
        let mut net = Localnet::new();
        let (agent, other, stranger) = (net.agent(), net.agent(), net.actor());
        let key = stranger.pubkey();
        let create = token_2022::create_associated(&key, &key, &agent.mint);
        net.send(&[&stranger], &[create]).unwrap();
        Self {
            net,
            agent,
            other,
            stranger,
        }
    }

    fn owner(&self) -> Address {
        self.agent.owner.pubkey()
    }

    /// The owner's token account, which holds the token.
    fn full(&self) -> Address {
        token_account(&self.owner(), &self.agent.mint)
    }

    /// The stranger's, which does not.
    fn empty(&self) -> Address {
        token_account(&self.stranger.pubkey(), &self.agent.mint)
    }

    fn by_owner(&mut self, instruction: Instruction) -> Sent {
        self.net.send(&[&self.agent.owner], &[instruction])
    }

    fn by_stranger(&mut self, instruction: Instruction) -> Sent {
        self.net.send(&[&self.stranger], &[instruction])
    }

    /// A key with no more than so many lamports.
    fn poor(&mut self, lamports: u64) -> Keypair {
        let key = self.net.actor();
        let mut account = self.net.account(&key.pubkey());
        account.lamports = lamports;
        self.net.svm.set_account(key.pubkey(), account).unwrap();
        key
    }
}

/// What was reported. A number is of the innermost program that failed, which the runtime logs
/// first; the precompile logs nothing.
fn reported(sent: &Sent) -> (TransactionError, Option<Framework>) {
    let failed = sent.as_ref().expect_err("the transaction is refused");
    let program = failed.meta.logs.iter().find_map(|line| {
        let (program, _) = line.strip_prefix("Program ")?.split_once(" failed: ")?;
        (!program.contains([' ', ':'])).then(|| program.to_owned())
    });
    let framework = match program {
        None => Some(Framework::Ed25519),
        Some(id) if id == system_program().to_string() => Some(Framework::System),
        Some(id) if id == token_2022::program().to_string() => Some(Framework::Token2022),
        Some(id) if id == associated_token_program().to_string() => None, // numbers none of these
        Some(_) => Some(Framework::Anchor), // our program, once under another id
    };
    (failed.err.clone(), framework)
}

fn assert_native(sent: &Sent, native: Native) {
    let (error, framework) = reported(sent);
    match (native, &error) {
        (
            Numbered(expected, number),
            TransactionError::InstructionError(_, InstructionError::Custom(code)),
        ) => assert_eq!((framework, *code), (Some(expected), number)),
        (Named(name), TransactionError::InstructionError(_, error)) => {
            assert_eq!(format!("{error:?}"), name);
        }
        (Named(name), error) => {
            let text = format!("{error:?}");
            assert_eq!(text.split(' ').next(), Some(name));
        }
        (native, error) => panic!("{error:?} is not {native:?}"),
    }
}

/// R25: a refusal by whatever program has a class. With the class's name.
#[track_caller]
pub fn class_of(sent: &Sent) -> &'static str {
    let (error, framework) = reported(sent);
    let class = match (&error, framework) {
        (TransactionError::InstructionError(_, InstructionError::Custom(code)), Some(of)) => {
            class_of_framework_error(of, *code).or_else(|| class_of_anchor_code(*code))
        }
        (TransactionError::InstructionError(_, error), _) => {
            class_of_runtime_error(&format!("{error:?}"))
        }
        (error, _) => class_of_runtime_error(&format!("{error:?}")),
    };
    class
        .unwrap_or_else(|| panic!("{error:?} of {framework:?} has no class"))
        .name()
}

fn check(cases: &[Case]) {
    for case in cases {
        assert_native(&(case.act)(&mut Stage::new()), case.native);
        let class = match case.native {
            Numbered(framework, code) => class_of_framework_error(framework, code),
            Named(name) => class_of_runtime_error(name),
        };
        let name = class.map(|class| class.name());
        assert_eq!(name, Some(case.class), "{:?}", case.native);
    }
}

#[test]
fn no_listed_error_goes_unprovoked() {
    let cases = [
        program::CASES,
        token::TRANSFERS,
        token::OTHERS,
        token::ASSOCIATED,
        transaction::PRECOMPILE,
        transaction::CLUSTER,
    ];
    let natives = cases.into_iter().flatten().map(|case| case.native);
    let provoked: BTreeSet<Native> = natives.collect();
    let mut listed = BTreeSet::new();
    for class in ALL {
        let numbered = class.info().framework.iter();
        listed.extend(numbered.map(|error| Numbered(error.framework, error.code)));
        listed.extend(class.info().runtime.iter().map(|name| Named(name)));
    }
    assert_eq!(provoked, listed);
}

#[test]
fn the_precompile_is_known_by_its_address() {
    // [`reported`] takes silence for the precompile's
    let call = Instruction {
        program_id: ed25519_program(),
        accounts: vec![],
        data: vec![1],
    };
    let sent = Stage::new().by_stranger(call);
    let failed = sent.expect_err("one byte is too short");
    assert_eq!(failed.meta.logs, [""; 0]);
}
