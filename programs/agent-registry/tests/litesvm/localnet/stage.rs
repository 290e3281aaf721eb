//! A localnet in which every instruction of the program can succeed, and one call of each.

use super::{
    Agent, Localnet, Sent,
    calls::{DESTINATION, SOURCE},
    instructions::{
        agent_identity, agent_mint, client_index, event_authority, extra_account_metas,
        feedback_entry, instructions_sysvar, registry, system_program,
    },
    open_feedback::{open_client_index, open_feedback},
    payment::{AttachPayment, Purchase, spent_payment},
    program_data, program_id,
    registry::propose_authority,
    responses::Respond,
    settings::{metadata_entry, set_metadata},
    stranger_id, token_2022,
    token_2022::token_account,
    validation::{Answer, Request, request_address, response_address},
};
use solana_account::{Account, ReadableAccount};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::collections::BTreeMap;

/// The validation that waits for its response; [`Request::new`] asks for it.
pub const ASKED: [u8; 32] = [0x66; 32];
/// The validation that has one.
pub const ANSWERED: [u8; 32] = [0x67; 32];

/// The sponsor's nonce of an agent that is not registered.
pub const NEW_NONCE: u64 = 0x0807_0605_0403_0201;

pub struct Stage {
    pub net: Localnet,
    pub agent: Agent,
    pub other: Agent,
    /// Has given authorized and open feedback numbers 1 and 2 about `agent`, 1 about `other`.
    pub client: Keypair,
    /// Has given number 1 of each about `agent`.
    pub friend: Keypair,
    pub validator: Keypair,
    pub facilitator: Keypair,
    pub token: Address,
    /// Whom the registry's authority has proposed.
    pub successor: Keypair,
    /// Has no lamports.
    pub wallet: Keypair,
    /// Pays every fee, and is nothing else to anybody.
    pub relayer: Keypair,
    /// Pays every rent, and is nothing else to anybody.
    pub sponsor: Keypair,
}

impl Stage {
    pub fn new() -> Self {
        let Purchase {
            mut net,
            agent,
            client,
            facilitator,
            token,
        } = Purchase::new();
        let mut stage = Self {
            other: net.agent(),
            friend: net.actor(),
            validator: net.actor(),
            successor: net.actor(),
            wallet: net.key(),
            relayer: net.actor(),
            sponsor: net.actor(),
            net,
            agent,
            client,
            facilitator,
            token,
        };
        stage.give_feedback();
        stage.prove_a_payment();
        stage.settle();
        stage.validate();
        stage
    }

    fn give_feedback(&mut self) {
        let (client, friend) = (self.client.insecure_clone(), self.friend.insecure_clone());
        let net = &mut self.net;
        net.given(&self.agent, &client, 2, 30);
        net.given(&self.agent, &friend, 1, 50);
        net.given(&self.other, &client, 1, 70);
        for (mint, who, index) in [
            (&self.agent.mint, &client, 1),
            (&self.agent.mint, &client, 2),
            (&self.agent.mint, &friend, 1),
            (&self.other.mint, &client, 1),
        ] {
            net.given_open(mint, who, index);
        }
    }

    /// The friend's.
    fn prove_a_payment(&mut self) {
        let proof = AttachPayment {
            caller: self.friend.pubkey(),
            reviewer: self.friend.pubkey(),
            payer: self.friend.pubkey(),
            ..self.proof(1)
        };
        let attach = [proof.signed_by(&self.facilitator), proof.instruction()];
        self.net.send(&[&self.friend], &attach).unwrap();
    }

    /// Metadata of both agents, and a successor of the registry's authority.
    fn settle(&mut self) {
        let authority = self.net.upgrade_authority.insecure_clone();
        let propose = propose_authority(&authority.pubkey(), &self.successor.pubkey());
        self.net.send(&[&authority], &[propose]).unwrap();
        for agent in [&self.agent, &self.other] {
            for key in [&b"key"[..], b"other"] {
                let set = set_metadata(&agent.owner.pubkey(), &agent.mint, key, b"value");
                self.net.send(&[&agent.owner], &[set]).unwrap();
            }
        }
    }

    fn validate(&mut self) {
        let validator = self.validator.pubkey();
        for (agent, hash) in [
            (&self.agent, ASKED),
            (&self.agent, ANSWERED),
            (&self.other, ASKED),
        ] {
            let request = Request {
                hash,
                ..Request::new(&agent.owner.pubkey(), &agent.mint, &validator)
            };
            self.net
                .send(&[&agent.owner], &[request.instruction()])
                .unwrap();
        }
        let answer = Answer {
            hash: ANSWERED,
            ..Answer::new(&validator, &self.agent.mint)
        };
        self.net
            .send(&[&self.validator], &[answer.instruction()])
            .unwrap();
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
            task_ref_hash: [number; 32],
            paid_at: super::NOW as u64,
            expiry: super::NOW as u64 + 3600,
            facilitator: self.facilitator.pubkey(),
        }
    }

    /// A response of the friend's to the client's first feedback, with the longest URI.
    pub fn response(&self) -> Respond {
        Respond {
            response_uri: vec![b'a'; 200],
            ..Respond::new(
                &self.friend.pubkey(),
                &self.agent.mint,
                &self.client.pubkey(),
            )
        }
    }

    /// The mint of an agent that is not registered.
    pub fn new_mint(&self) -> Address {
        agent_mint(&self.sponsor.pubkey(), NEW_NONCE)
    }

    /// Who can sign.
    pub fn keys(&self) -> [&Keypair; 11] {
        [
            &self.relayer,
            &self.agent.owner,
            &self.other.owner,
            &self.client,
            &self.friend,
            &self.validator,
            &self.facilitator,
            &self.successor,
            &self.wallet,
            &self.net.upgrade_authority,
            &self.sponsor,
        ]
    }

    /// Sends one transaction that the relayer pays for and everyone signs whom it names as signer.
    pub fn send(&mut self, instructions: &[Instruction]) -> Sent {
        let named = |key: &Address| {
            let metas = instructions.iter().flat_map(|it| &it.accounts);
            metas
                .filter(|meta| meta.is_signer)
                .any(|meta| meta.pubkey == *key)
        };
        let signers: Vec<Keypair> = self
            .keys()
            .iter()
            .enumerate()
            .filter(|(place, key)| *place == 0 || named(&key.pubkey()))
            .map(|(_, key)| key.insecure_clone())
            .collect();
        self.net
            .send(&signers.iter().collect::<Vec<_>>(), instructions)
    }

    /// Accounts of every kind, of both agents, both clients and nobody; programs; sysvars.
    pub fn pool(&self) -> Vec<Address> {
        let (client, friend) = (self.client.pubkey(), self.friend.pubkey());
        let (mine, its) = (self.agent.mint, self.other.mint);
        let validator = self.validator.pubkey();
        let mut pool: Vec<Address> = self.keys()[1..].iter().map(|key| key.pubkey()).collect();
        for mint in [mine, its, self.new_mint()] {
            pool.extend([mint, agent_identity(&mint), extra_account_metas(&mint)]);
            pool.extend([b"key", b"new"].map(|key| metadata_entry(&mint, key)));
            for owner in [&self.agent.owner, &self.other.owner] {
                pool.push(token_account(&owner.pubkey(), &mint));
            }
        }
        for (mint, who) in [(mine, client), (mine, friend), (its, client), (its, friend)] {
            pool.extend([client_index(&mint, &who), open_client_index(&mint, &who)]);
            for index in [1, 2, 3] {
                pool.push(feedback_entry(&mint, &who, index));
                pool.push(open_feedback(&mint, &who, index));
            }
        }
        for (mint, hash) in [(mine, ASKED), (mine, ANSWERED), (its, ASKED)] {
            pool.push(request_address(&mint, &validator, &hash));
            pool.push(response_address(&mint, &validator, &hash));
        }
        pool.extend(
            [(1, &friend), (1, &client), (2, &client)]
                .map(|(number, payer)| spent_payment(&[number; 32], payer)),
        );
        pool.extend([registry(), event_authority(), program_data(), self.token]);
        pool.extend([
            program_id(),
            stranger_id(),
            system_program(),
            token_2022::program(),
            token_2022::associated_token_program(),
            Address::from_str_const("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"),
            instructions_sysvar(),
            SOURCE,
            DESTINATION,
            Address::from_str_const("SysvarC1ock11111111111111111111111111111111"),
        ]);
        pool
    }

    /// Every account but the relayer's, the sysvars' and the programs'.
    pub fn state(&self) -> BTreeMap<Address, Account> {
        let owners = [program_id(), token_2022::program(), system_program()];
        let accounts = &self.net.svm.accounts_db().inner;
        accounts
            .iter()
            .filter(|(at, account)| {
                **at != self.relayer.pubkey()
                    && account.lamports() > 0
                    && owners.contains(account.owner())
            })
            .map(|(at, account)| (*at, account.clone().into()))
            .collect()
    }
}
