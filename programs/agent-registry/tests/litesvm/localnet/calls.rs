//! One call of each instruction that succeeds on a [`Stage`], every text at its limit.

use super::{
    NOW,
    authorization::Authorization,
    instructions::{
        GiveFeedback, agent_identity, event_authority, extra_account_metas, initialize, readonly,
        register_agent_bytes, registry, revoke_feedback, writable,
    },
    open_feedback::{
        GiveOpenFeedback, OPEN_SUMMARY, OPEN_SUMMARY_PART, open_summary, revoke_open_feedback,
    },
    program_id,
    registry::*,
    settings::*,
    stage::{ASKED, NEW_NONCE, Stage},
    token_2022,
    validation::{Answer, Request},
};
use solana_account::Account;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_signer::Signer;

pub struct Call {
    /// The instruction's name in the program's interface.
    pub name: &'static str,
    /// The precompile's call before it, where it needs one.
    pub before: Option<Instruction>,
    pub instruction: Instruction,
}

impl Call {
    fn new(name: &'static str, instruction: Instruction) -> Self {
        Self {
            name,
            before: None,
            instruction,
        }
    }

    /// The whole transaction, with `instruction` in place of the call's own.
    pub fn with(&self, instruction: Instruction) -> Vec<Instruction> {
        self.before.iter().cloned().chain([instruction]).collect()
    }

    /// The whole transaction.
    pub fn transaction(&self) -> Vec<Instruction> {
        self.with(self.instruction.clone())
    }
}

/// Token accounts that Token-2022 would be moving the agent's token between.
pub const SOURCE: Address = Address::new_from_array([0xA1; 32]);
pub const DESTINATION: Address = Address::new_from_array([0xA2; 32]);

impl Stage {
    /// Every instruction of the program, in the order of its interface.
    pub fn calls(&mut self) -> Vec<Call> {
        let mut calls = vec![self.initialize(), self.register()];
        calls.push(self.transfer_hook());
        calls.extend(self.settings());
        calls.extend(self.administration());
        calls.extend(self.authorized());
        calls.extend(self.open());
        calls.extend(self.validation());
        for call in &mut calls {
            let payer = &mut call.instruction.accounts[1];
            if payer.is_signer && payer.is_writable {
                payer.pubkey = self.sponsor.pubkey(); // R12
            }
        }
        calls
    }

    /// On a stage whose registry [`Stage::forget_registry`] has taken away.
    fn initialize(&self) -> Call {
        let authority = self.net.upgrade_authority.pubkey();
        let chain = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
        Call::new("initialize", initialize(&authority, chain))
    }

    /// As if the program had never been initialized.
    pub fn forget_registry(&mut self) {
        let nothing = Account::default();
        self.net.svm.set_account(registry(), nothing).unwrap();
    }

    fn register(&self) -> Call {
        let (owner, payer) = (self.agent.owner.pubkey(), self.sponsor.pubkey());
        let register = register_agent_bytes(&owner, &payer, NEW_NONCE, &[b'a'; 200]);
        Call::new("register_agent", register)
    }

    /// Called directly, on token accounts that only Token-2022 could have written.
    fn transfer_hook(&mut self) -> Call {
        let mint = self.agent.mint;
        for (at, owner) in [
            (SOURCE, self.agent.owner.pubkey()),
            (DESTINATION, self.friend.pubkey()),
        ] {
            let account = token_2022::in_transfer(&mint, &owner, token_2022::program());
            self.net.svm.set_account(at, account).unwrap();
        }
        let execute = [105, 37, 101, 197, 75, 251, 102, 26];
        let instruction = Instruction {
            program_id: program_id(),
            accounts: vec![
                readonly(SOURCE),
                readonly(mint),
                readonly(DESTINATION),
                readonly(self.agent.owner.pubkey()),
                readonly(extra_account_metas(&mint)),
                writable(agent_identity(&mint)),
                readonly(event_authority()),
                readonly(program_id()),
            ],
            data: [execute, 1u64.to_le_bytes()].concat(),
        };
        Call::new("transfer_hook", instruction)
    }

    fn settings(&self) -> Vec<Call> {
        let (me, mint) = (self.agent.owner.pubkey(), self.agent.mint);
        let (wallet, authority) = (self.wallet.pubkey(), self.friend.pubkey());
        vec![
            Call::new("set_agent_uri", set_agent_uri(&me, &mint, &[b'a'; 200])),
            Call::new(
                "set_metadata",
                set_metadata(&me, &mint, &[b'k'; 32], &[7; 256]),
            ),
            Call::new("set_agent_wallet", set_agent_wallet(&me, &mint, &wallet)),
            Call::new("unset_agent_wallet", unset_agent_wallet(&me, &mint)),
            Call::new(
                "set_feedback_authority",
                set_feedback_authority(&me, &mint, &authority),
            ),
            Call::new("set_auth_schemes", set_auth_schemes(&me, &mint, 3)),
        ]
    }

    fn administration(&self) -> Vec<Call> {
        let (me, next) = (self.net.upgrade_authority.pubkey(), self.successor.pubkey());
        let (token, facilitator) = (self.token, self.facilitator.pubkey());
        vec![
            Call::new(
                "propose_registry_authority",
                propose_authority(&me, &facilitator),
            ),
            Call::new("accept_registry_authority", accept_authority(&next)),
            Call::new("set_payment_token", set_payment_token(&me, &token, false)),
            Call::new("set_facilitator", set_facilitator(&me, &next, true)),
        ]
    }

    fn authorized(&self) -> Vec<Call> {
        let (me, mint) = (self.client.pubkey(), self.agent.mint);
        let feedback = GiveFeedback {
            feedback_index: 3,
            index_limit: 3,
            detail_uri: vec![b'a'; 200],
            expiry: NOW as u64 + 3600,
            ..GiveFeedback::new(&mint, &me)
        };
        let owner = &self.agent.owner;
        let proof = self.proof(2);
        vec![
            Call {
                name: "attach_payment_proof",
                before: Some(proof.signed_by(&self.facilitator)),
                instruction: proof.instruction(),
            },
            Call {
                name: "give_feedback",
                before: Some(Authorization::of(&feedback, &owner.pubkey()).signed_by(owner)),
                instruction: feedback.instruction(),
            },
            Call::new("revoke_feedback", revoke_feedback(&me, &mint, 1)),
            Call::new("append_response", self.response().to_authorized()),
        ]
    }

    fn open(&self) -> Vec<Call> {
        let (me, mint) = (self.client.pubkey(), self.agent.mint);
        let feedback = GiveOpenFeedback {
            feedback_index: 3,
            ..GiveOpenFeedback::longest(&mint, &me)
        };
        let listed = [(me, 2), (self.friend.pubkey(), 1)];
        let tag = "t".repeat(32);
        let summary = |kind| open_summary(kind, &mint, &listed, &tag, &tag);
        vec![
            Call::new("give_open_feedback", feedback.instruction()),
            Call::new("revoke_open_feedback", revoke_open_feedback(&me, &mint, 1)),
            Call::new("append_open_response", self.response().to_open()),
            Call::new("open_summary", summary(OPEN_SUMMARY)),
            Call::new("open_summary_part", summary(OPEN_SUMMARY_PART)),
        ]
    }

    fn validation(&self) -> Vec<Call> {
        let (owner, mint) = (self.agent.owner.pubkey(), self.agent.mint);
        let validator = self.validator.pubkey();
        let request = Request {
            hash: [0x68; 32],
            uri: vec![b'a'; 200],
            ..Request::new(&owner, &mint, &validator)
        };
        let answer = Answer {
            hash: ASKED,
            uri: vec![b'a'; 200],
            ..Answer::new(&validator, &mint)
        };
        vec![
            Call::new("validation_request", request.instruction()),
            Call::new("validation_response", answer.instruction()),
        ]
    }
}

/// The names of the program's instructions, in the order of its interface: the handlers in the
/// program's module.
pub fn instruction_names() -> Vec<&'static str> {
    let source = include_str!("../../../src/lib.rs");
    let (_, module) = source.split_once("#[program]").unwrap();
    module
        .lines()
        .filter_map(|line| line.strip_prefix("    pub fn "))
        .map(|rest| rest.split(['(', '<']).next().unwrap())
        .collect()
}
