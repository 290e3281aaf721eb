//! R13: what held when the entry was given decides whose payment counts, not what the owner sets later.

use crate::localnet::{
    NOW, Sent,
    instructions::GiveFeedback,
    payment::{AttachPayment, Purchase},
    refusal::*,
    settings::*,
    token_2022,
};
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;

impl Purchase {
    /// As the agent's owner, with the signatures of others that it takes.
    fn by_owner(&mut self, others: &[&Keypair], instruction: Instruction) -> Sent {
        let signers = [&[&self.agent.owner], others].concat();
        self.net.send(&signers, &[instruction])
    }

    fn by_stranger(&self, index: u64) -> bool {
        let entry = self
            .net
            .entry(&self.agent.mint, &self.client.pubkey(), index);
        entry.by_stranger
    }
}

#[test]
fn an_owner_voids_no_proof_by_anything_set_after_the_payment() {
    let wallet = Keypair::new_from_array([0x77; 32]);
    for place in 0..9 {
        let mut it = Purchase::new();
        let (client, owner, mint) = (
            it.client.insecure_clone(),
            it.agent.owner.pubkey(),
            it.agent.mint,
        );
        // the payment settled a minute ago
        it.net.set_clock(NOW + 1);
        let (set, signer) = match place {
            0 => (set_metadata(&owner, &mint, b"key", b"value"), None),
            1 => (set_agent_uri(&owner, &mint, b"ipfs://other"), None),
            2 => (set_auth_schemes(&owner, &mint, 1), None),
            3 => (unset_agent_wallet(&owner, &mint), None),
            4 => {
                let set = set_agent_wallet(&owner, &mint, &wallet.pubkey());
                (set, Some(&wallet))
            }
            5 => (set_feedback_authority(&owner, &mint, &owner), None),
            6 => {
                let set = set_feedback_authority(&owner, &mint, &wallet.pubkey());
                (set, Some(&wallet))
            }
            // with the reviewer's own consent
            7 => {
                let set = set_agent_wallet(&owner, &mint, &client.pubkey());
                (set, Some(&client))
            }
            _ => {
                let set = set_feedback_authority(&owner, &mint, &client.pubkey());
                (set, Some(&client))
            }
        };
        let others: Vec<&Keypair> = signer.into_iter().collect();
        it.by_owner(&others, set).unwrap();
        it.accepts(&it.proof(1));
        assert_eq!(it.counters(), [(1, 80), (0, 0)]);
    }
}

#[test]
fn an_owner_voids_no_proof_by_sending_the_agent_to_the_reviewer() {
    let mut it = Purchase::new();
    let (me, owner) = (it.client.pubkey(), it.agent.owner.insecure_clone());
    it.net.transfer(&it.agent.mint, &owner, &me).unwrap();
    assert_eq!(it.net.identity(&it.agent.mint).owner, me);
    it.accepts(&it.proof(1));
    // nor by selling it to anybody else
    let mut it = Purchase::new();
    let (buyer, owner) = (it.net.actor(), it.agent.owner.insecure_clone());
    it.net
        .transfer(&it.agent.mint, &owner, &buyer.pubkey())
        .unwrap();
    it.accepts(&it.proof(1));
}

#[test]
fn an_entry_by_the_agents_wallet_never_gets_a_proof() {
    let mut it = Purchase::new();
    let (owner, client) = (it.agent.owner.insecure_clone(), it.client.insecure_clone());
    it.set_wallet(&owner, &client);
    it.net.given(&it.agent, &it.client, 2, 30);
    assert!(it.by_stranger(1) && !it.by_stranger(2));
    let second = AttachPayment {
        feedback_index: 2,
        ..it.proof(2)
    };
    it.refuses(&second, PAYMENT_WRONG_PAYER);
    // not even if the wallet becomes another's again
    it.set_wallet(&owner, &owner);
    it.refuses(&second, PAYMENT_WRONG_PAYER);
    // what the same reviewer gives from now on is a stranger's again
    it.net.given(&it.agent, &it.client, 3, 40);
    assert!(it.by_stranger(3));
    it.accepts(&AttachPayment {
        feedback_index: 3,
        ..it.proof(2)
    });
    it.accepts(&it.proof(1));
    assert_eq!(it.counters(), [(2, 120), (1, 30)]);
}

#[test]
fn who_was_owner_or_authority_before_the_entry_is_a_stranger_to_it() {
    let mut it = Purchase::new();
    let (owner, buyer, authority) = (
        it.agent.owner.insecure_clone(),
        it.net.actor(),
        it.net.actor(),
    );
    let mint = it.agent.mint;
    let name = set_feedback_authority(&owner.pubkey(), &mint, &authority.pubkey());
    it.by_owner(&[&authority], name).unwrap();
    it.net.transfer(&mint, &owner, &buyer.pubkey()).unwrap();
    for reviewer in [&owner, &authority] {
        let feedback = GiveFeedback::new(&mint, &reviewer.pubkey());
        it.net.give(reviewer, &buyer, &feedback).unwrap();
        let entry = it.net.entry(&mint, &reviewer.pubkey(), 1);
        assert!(entry.by_stranger);
    }
}

#[test]
fn who_is_owner_or_authority_gives_no_entry() {
    // R18: so that no entry of theirs could have a proof
    let mut it = Purchase::new();
    let (owner, authority) = (it.agent.owner.insecure_clone(), it.net.actor());
    let mint = it.agent.mint;
    let name = set_feedback_authority(&owner.pubkey(), &mint, &authority.pubkey());
    it.by_owner(&[&authority], name).unwrap();
    for reviewer in [&owner, &authority] {
        let feedback = GiveFeedback::new(&mint, &reviewer.pubkey());
        let sent = it.net.give(reviewer, &authority, &feedback);
        assert_refused(&sent, 1, SELF_FEEDBACK);
    }
}

#[test]
fn a_reviewer_who_has_become_a_delegate_keeps_the_proof() {
    // R4: delegates of the token have no part in the agent
    let mut it = Purchase::new();
    let (me, owner, mint) = (it.client.pubkey(), it.agent.owner.pubkey(), it.agent.mint);
    let held = token_2022::token_account(&owner, &mint);
    let approve = token_2022::approve(&held, &mint, &me, &owner);
    it.by_owner(&[], approve).unwrap();
    it.accepts(&it.proof(1));
}
