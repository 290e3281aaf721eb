//! R9: one program id may live on several clusters, with the same agents and clients. The chain
//! word alone tells what was signed for one from what was signed for another.

use crate::localnet::{
    Agent, CHAIN, Localnet, NOW, Sent,
    authorization::{Authorization, Word, call, keccak, precompile},
    instructions::{GiveFeedback, initialize},
    payment::{AttachPayment, message},
    refusal::*,
    registry::{set_facilitator, set_payment_token},
    settings::set_auth_schemes,
};
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;

const DEVNET: &str = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
const TOKEN: [u8; 32] = [9; 32];

/// The same in both: program, agent, owner, client, facilitator and their addresses.
struct Cluster {
    net: Localnet,
    agent: Agent,
    client: Keypair,
    facilitator: Keypair,
}

impl Cluster {
    fn of(chain: &str) -> Self {
        let mut net = Localnet::uninitialized();
        let authority = net.upgrade_authority.insecure_clone();
        let me = authority.pubkey();
        net.send(&[&authority], &[initialize(&me, chain)]).unwrap();
        let (agent, client, facilitator) = (net.agent(), net.actor(), net.key());
        let lists = [
            set_facilitator(&me, &facilitator.pubkey(), true),
            set_payment_token(&me, &TOKEN.into(), true),
        ];
        net.send(&[&authority], &lists).unwrap();
        Self {
            net,
            agent,
            client,
            facilitator,
        }
    }

    fn send(&mut self, instructions: &[Instruction]) -> Sent {
        self.net.send(&[&self.client], instructions)
    }

    fn feedback(&self) -> GiveFeedback {
        GiveFeedback::new(&self.agent.mint, &self.client.pubkey())
    }

    /// The first feedback, signed for the cluster whose chain word this is.
    fn give(&self, chain: Word) -> [Instruction; 2] {
        let owner = &self.agent.owner;
        let authorization = Authorization {
            chain,
            ..Authorization::of(&self.feedback(), &owner.pubkey())
        };
        [
            authorization.signed_by(owner),
            self.feedback().instruction(),
        ]
    }

    /// Its payment proof, likewise.
    fn prove(&self, chain: Word) -> [Instruction; 2] {
        let client = self.client.pubkey();
        let proof = AttachPayment {
            caller: client,
            reviewer: client,
            mint: self.agent.mint,
            feedback_index: 1,
            payer: client,
            payee: self.agent.owner.pubkey(),
            token: TOKEN.into(),
            amount: 5,
            task_ref_hash: [8; 32],
            paid_at: 1,
            expiry: NOW as u64 + 1,
            facilitator: self.facilitator.pubkey(),
        };
        let mut words = proof.words();
        words[8] = chain;
        let signed = call(&self.facilitator, &message(words));
        [precompile(signed), proof.instruction()]
    }
}

#[test]
fn what_is_signed_for_one_cluster_is_refused_on_the_other() {
    let mut clusters = [CHAIN, DEVNET].map(Cluster::of);
    assert_eq!(clusters[0].agent.mint, clusters[1].agent.mint);
    let words = [CHAIN, DEVNET].map(|chain| keccak(chain.as_bytes()));
    for (here, there) in [(0, 1), (1, 0)] {
        // the very bytes that the other cluster accepts
        let abroad = clusters[there].give(words[there]);
        assert_refused(&clusters[here].send(&abroad), 1, AUTH_WRONG_MESSAGE);
        let own = clusters[here].give(words[here]);
        clusters[here].send(&own).unwrap();
        let abroad = clusters[there].prove(words[there]);
        assert_refused(&clusters[here].send(&abroad), 1, AUTH_WRONG_MESSAGE);
        let own = clusters[here].prove(words[here]);
        clusters[here].send(&own).unwrap();
    }
}

#[test]
fn x84s_message_names_no_cluster_and_serves_on_both() {
    // R10: why an owner must opt in
    for mut cluster in [CHAIN, DEVNET].map(Cluster::of) {
        let (owner, mint) = (cluster.agent.owner.insecure_clone(), cluster.agent.mint);
        let message = [cluster.client.pubkey().as_ref(), mint.as_ref()].concat();
        let mut give = cluster.feedback().instruction();
        give.data.truncate(give.data.len() - 17);
        give.data.push(1);
        let instructions = [precompile(call(&owner, &message)), give];
        assert_refused(&cluster.send(&instructions), 1, AUTH_WRONG_MESSAGE);
        let opt_in = set_auth_schemes(&owner.pubkey(), &mint, 3);
        cluster.net.send(&[&owner], &[opt_in]).unwrap();
        cluster.send(&instructions).unwrap();
    }
}
