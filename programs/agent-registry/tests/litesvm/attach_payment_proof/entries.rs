//! Whose entry a payment proves, and that it proves one only.

use crate::{
    calls_by_programs::relay,
    localnet::{
        Sent,
        instructions::revoke_feedback,
        payment::{AttachPayment, Purchase, spent_payment},
        refusal::*,
    },
};
use solana_signer::Signer;

#[test]
fn refuses_an_entry_that_does_not_exist_or_is_not_the_callers() {
    let mut it = Purchase::new();
    for feedback_index in [0, 2, u64::MAX] {
        let proof = AttachPayment {
            feedback_index,
            ..it.proof(1)
        };
        it.refuses(&proof, FEEDBACK_NOT_FOUND);
    }
    let nobody = it.net.key().pubkey();
    let proof = AttachPayment {
        mint: nobody,
        ..it.proof(1)
    };
    it.refuses(&proof, FEEDBACK_NOT_FOUND);
    let proof = AttachPayment {
        reviewer: nobody,
        ..it.proof(1)
    };
    it.refuses(&proof, FEEDBACK_NOT_FOUND);
    // the owner, who would gain by it, among them
    for caller in [it.net.actor(), it.agent.owner.insecure_clone()] {
        let proof = AttachPayment {
            caller: caller.pubkey(),
            ..it.proof(1)
        };
        let instructions = [proof.signed_by(&it.facilitator), proof.instruction()];
        assert_refused(&it.net.send(&[&caller], &instructions), 1, NOT_AUTHORIZED);
    }
}

#[test]
fn refuses_revoked_and_proven_entries() {
    let mut it = Purchase::new();
    it.net.given(&it.agent, &it.client, 2, 30);
    it.accepts(&it.proof(1));
    it.refuses(&it.proof(2), PAYMENT_ALREADY_PROVEN);
    let revoke = revoke_feedback(&it.client.pubkey(), &it.agent.mint, 2);
    it.net.send(&[&it.client], &[revoke]).unwrap();
    let proof = AttachPayment {
        feedback_index: 2,
        ..it.proof(2)
    };
    it.refuses(&proof, ALREADY_REVOKED);
    assert!(
        !it.net
            .exists(&spent_payment(&proof.task_ref_hash, &proof.payer))
    );
    assert_eq!(it.counters(), [(1, 80), (0, 0)]);
}

#[test]
fn one_payment_counts_once_across_entries_agents_and_clients() {
    let mut it = Purchase::new();
    let (other, friend) = (it.net.agent(), it.net.actor());
    it.net.given(&it.agent, &it.client, 2, 10);
    it.net.given(&other, &it.client, 1, 20);
    it.net.given(&it.agent, &friend, 1, 30);
    it.accepts(&it.proof(1));
    let entry = AttachPayment {
        feedback_index: 2,
        ..it.proof(1)
    };
    it.refuses(&entry, PAYMENT_SPENT);
    let agent = AttachPayment {
        mint: other.mint,
        payee: other.owner.pubkey(),
        ..it.proof(1)
    };
    it.refuses(&agent, PAYMENT_SPENT);
    let who = friend.pubkey();
    let client = AttachPayment {
        caller: who,
        reviewer: who,
        payer: who,
        ..it.proof(1)
    };
    let by_friend = |it: &mut Purchase, proof: &AttachPayment| -> Sent {
        let instructions = [proof.signed_by(&it.facilitator), proof.instruction()];
        it.net.send(&[&friend], &instructions)
    };
    // R32: a payment is a transaction and its payer, so this is another one
    by_friend(&mut it, &client).unwrap();
    it.net.given(&it.agent, &friend, 2, 40);
    let client = AttachPayment {
        feedback_index: 2,
        ..client
    };
    assert_refused(&by_friend(&mut it, &client), 1, PAYMENT_SPENT);
    // each of them counts with a payment of its own
    let number = |number, it: &Purchase| it.proof(number).task_ref_hash;
    it.accepts(&AttachPayment {
        task_ref_hash: number(2, &it),
        ..entry
    });
    it.accepts(&AttachPayment {
        task_ref_hash: number(3, &it),
        ..agent
    });
    let client = AttachPayment {
        task_ref_hash: number(4, &it),
        ..client
    };
    by_friend(&mut it, &client).unwrap();
    assert_eq!(it.counters(), [(4, 160), (0, 0)]);
    assert_eq!(it.net.identity(&other.mint).verified, (1, 20));
}

#[test]
fn two_payers_in_one_transaction_both_prove() {
    // R13, R32: one transaction that pays for two clients has one dedupe key
    let mut it = Purchase::new();
    let friend = it.net.actor();
    it.net.given(&it.agent, &friend, 1, 30);
    let first = it.proof(1);
    let who = friend.pubkey();
    let second = AttachPayment {
        caller: who,
        reviewer: who,
        payer: who,
        ..first.clone()
    };
    // both proofs in one transaction too
    let instructions = [
        first.signed_by(&it.facilitator),
        first.instruction(),
        second.signed_by(&it.facilitator),
        second.instruction(),
    ];
    it.net.send(&[&it.client, &friend], &instructions).unwrap();
    let [one, other] =
        [&first, &second].map(|proof| spent_payment(&proof.task_ref_hash, &proof.payer));
    assert_ne!(one, other);
    for (marker, reviewer) in [(one, it.client.pubkey()), (other, who)] {
        assert_eq!(it.net.account(&marker).data[40..72], reviewer.to_bytes());
    }
    assert_eq!(it.counters(), [(2, 110), (0, 0)]);
    it.net.given(&it.agent, &friend, 2, 30);
    let again = AttachPayment {
        feedback_index: 2,
        ..second
    };
    let instructions = [again.signed_by(&it.facilitator), again.instruction()];
    let sent = it.net.send(&[&friend], &instructions);
    assert_refused(&sent, 1, PAYMENT_SPENT);
}

#[test]
fn refuses_the_marker_of_another_payer() {
    let mut it = Purchase::new();
    let proof = it.proof(1);
    for payer in [it.agent.owner.pubkey(), it.facilitator.pubkey()] {
        let mut attach = proof.instruction();
        attach.accounts[7].pubkey = spent_payment(&proof.task_ref_hash, &payer);
        let instructions = [proof.signed_by(&it.facilitator), attach];
        let sent = it.net.send(&[&it.client], &instructions);
        assert_refused(&sent, 1, ACCOUNT_MISMATCH);
    }
    it.accepts(&proof);
}

#[test]
fn revoking_does_not_set_the_payment_free() {
    let mut it = Purchase::new();
    it.net.given(&it.agent, &it.client, 2, 30);
    it.accepts(&it.proof(1));
    let revoke = revoke_feedback(&it.client.pubkey(), &it.agent.mint, 1);
    it.net.send(&[&it.client], &[revoke]).unwrap();
    let again = AttachPayment {
        feedback_index: 2,
        ..it.proof(1)
    };
    it.refuses(&again, PAYMENT_SPENT);
}

#[test]
fn the_marker_bounds_what_one_precompile_serves_through_a_program() {
    // R11
    let mut it = Purchase::new();
    it.net.given(&it.agent, &it.client, 2, 30);
    let first = it.proof(1);
    let second = AttachPayment {
        feedback_index: 2,
        ..first.clone()
    };
    let both = relay(&[first.instruction(), second.instruction()]);
    let sent = it
        .net
        .send(&[&it.client], &[first.signed_by(&it.facilitator), both]);
    assert_refused(&sent, 1, PAYMENT_SPENT);
    let one = relay(&[first.instruction()]);
    let instructions = [first.signed_by(&it.facilitator), one];
    it.net.send(&[&it.client], &instructions).unwrap();
}
