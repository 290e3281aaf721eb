//! R13's proof of payment, from its byte table, and a registry in which it counts.

use super::{
    Agent, CHAIN, Localnet, NOW, Sent,
    authorization::{Word, call, keccak, precompile, word},
    instructions::{
        agent_identity, event_authority, feedback_entry, instructions_sysvar, readonly, registry,
        signer, signer_and_payer, system_program, writable,
    },
    pda, program_id,
    registry::{set_facilitator, set_payment_token},
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;

pub fn spent_payment(task_ref_hash: &Word, payer: &Address) -> Address {
    pda(&[b"spent", task_ref_hash, payer.as_ref()])
}

/// The arguments of `attach_payment_proof`, and whom they concern.
#[derive(Clone)]
pub struct AttachPayment {
    pub caller: Address,
    pub reviewer: Address,
    pub mint: Address,
    pub feedback_index: u64,
    pub payer: Address,
    pub payee: Address,
    pub token: Address,
    pub amount: u64,
    pub task_ref_hash: Word,
    pub paid_at: u64,
    pub expiry: u64,
    pub facilitator: Address,
}

impl AttachPayment {
    /// The eleven words in R13's order.
    pub fn words(&self) -> [Word; 11] {
        [
            self.mint.to_bytes(),
            self.payer.to_bytes(),
            self.payee.to_bytes(),
            self.token.to_bytes(),
            word(self.amount),
            self.task_ref_hash,
            word(self.paid_at),
            word(self.expiry),
            keccak(CHAIN.as_bytes()),
            program_id().to_bytes(),
            self.facilitator.to_bytes(),
        ]
    }

    pub fn message(&self) -> Vec<u8> {
        message(self.words())
    }

    pub fn signed_by(&self, key: &Keypair) -> Instruction {
        precompile(call(key, &self.message()))
    }

    pub fn instruction(&self) -> Instruction {
        let discriminator = [254, 82, 53, 85, 247, 224, 223, 245];
        let data = [
            &discriminator[..],
            &self.feedback_index.to_le_bytes(),
            self.payer.as_ref(),
            self.payee.as_ref(),
            self.token.as_ref(),
            &self.amount.to_le_bytes(),
            &self.task_ref_hash,
            &self.paid_at.to_le_bytes(),
            &self.expiry.to_le_bytes(),
            self.facilitator.as_ref(),
        ]
        .concat();
        let entry = feedback_entry(&self.mint, &self.reviewer, self.feedback_index);
        Instruction {
            program_id: program_id(),
            accounts: vec![
                signer(self.caller),
                signer_and_payer(self.caller),
                readonly(self.reviewer),
                readonly(registry()),
                writable(agent_identity(&self.mint)),
                readonly(self.mint),
                writable(entry),
                writable(spent_payment(&self.task_ref_hash, &self.payer)),
                readonly(instructions_sysvar()),
                readonly(system_program()),
                readonly(event_authority()),
                readonly(program_id()),
            ],
            data,
        }
    }
}

pub fn message(words: [Word; 11]) -> Vec<u8> {
    let mut message = b"ERC8004/PAYMENT-PROOF/v2".to_vec();
    message.extend_from_slice(&keccak(&words.concat()));
    message
}

/// An agent with one feedback of score 80 by a client who paid for it, in a registry that lists
/// the token and the facilitator.
pub struct Purchase {
    pub net: Localnet,
    pub agent: Agent,
    pub client: Keypair,
    pub facilitator: Keypair,
    pub token: Address,
}

impl Purchase {
    pub fn new() -> Self {
        let mut net = Localnet::new();
        let (agent, client, facilitator) = (net.agent(), net.actor(), net.key());
        let token = net.key().pubkey();
        let authority = net.upgrade_authority.insecure_clone();
        let lists = [
            set_payment_token(&authority.pubkey(), &token, true),
            set_facilitator(&authority.pubkey(), &facilitator.pubkey(), true),
        ];
        net.send(&[&authority], &lists).unwrap();
        net.given(&agent, &client, 1, 80);
        Self {
            net,
            agent,
            client,
            facilitator,
            token,
        }
    }

    /// The proof of the client's payment number `number` for the first feedback.
    pub fn proof(&self, number: u8) -> AttachPayment {
        let client = self.client.pubkey();
        AttachPayment {
            caller: client,
            reviewer: client,
            mint: self.agent.mint,
            feedback_index: 1,
            payer: client,
            payee: self.agent.owner.pubkey(),
            token: self.token,
            amount: 1_000_000,
            task_ref_hash: keccak(&[b"solana:localnet:payment ", &[number][..]].concat()),
            paid_at: NOW as u64 - 60,
            expiry: NOW as u64 + 3600,
            facilitator: self.facilitator.pubkey(),
        }
    }

    /// Sent by the client, signed by the facilitator.
    pub fn attach(&mut self, proof: &AttachPayment) -> Sent {
        let instructions = [proof.signed_by(&self.facilitator), proof.instruction()];
        self.net.send(&[&self.client], &instructions)
    }
}
