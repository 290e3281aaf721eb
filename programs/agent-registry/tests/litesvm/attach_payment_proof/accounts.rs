//! `attach_payment_proof` with accounts that are not the ones its arguments derive.

use crate::localnet::{
    instructions::{agent_identity, client_index, feedback_entry, readonly, registry, sponsored},
    payment::{AttachPayment, Purchase, spent_payment},
    program_id,
    refusal::*,
};
use solana_signer::Signer;

#[test]
fn lamports_sent_to_the_marker_beforehand_do_not_block_it() {
    for gift in [1_000_000, 1_000_000_000] {
        let mut it = Purchase::new();
        let proof = it.proof(1);
        let marker = spent_payment(&proof.task_ref_hash, &proof.payer);
        it.net.svm.airdrop(&marker, gift).unwrap();
        it.accepts(&proof);
        let account = it.net.account(&marker);
        assert_eq!((account.owner, account.data.len()), (program_id(), 82));
        assert_eq!(
            account.lamports,
            gift.max(it.net.svm.minimum_balance_for_rent_exemption(82))
        );
    }
}

#[test]
fn refuses_another_account_in_each_place() {
    let mut it = Purchase::new();
    let (other, friend) = (it.net.agent(), it.net.actor());
    let (me, mint) = (it.client.pubkey(), it.agent.mint);
    it.net.given(&it.agent, &it.client, 2, 10);
    it.net.given(&other, &it.client, 1, 20);
    it.net.given(&it.agent, &friend, 1, 30);
    it.accepts(&AttachPayment {
        feedback_index: 2,
        ..it.proof(2)
    });
    let proof = it.proof(1);
    let others = [
        agent_identity(&other.mint),
        other.mint,
        feedback_entry(&mint, &me, 2),
        feedback_entry(&mint, &friend.pubkey(), 1),
        feedback_entry(&other.mint, &me, 1),
        client_index(&mint, &me),
        spent_payment(&it.proof(2).task_ref_hash, &me), // of another payment
        spent_payment(&it.proof(3).task_ref_hash, &me), // vacant
        spent_payment(&proof.task_ref_hash, &friend.pubkey()), // of another payer, vacant
        registry(),
        friend.pubkey(),
    ];
    for place in 2..proof.instruction().accounts.len() {
        for account in others {
            let mut attach = proof.instruction();
            let genuine = attach.accounts[place].pubkey;
            if genuine != account {
                attach.accounts[place].pubkey = account;
                let instructions = [proof.signed_by(&it.facilitator), attach];
                let sent = it.net.send(&[&it.client], &instructions);
                assert_refused(&sent, 1, mismatch_of(&genuine));
            }
        }
    }
    for place in [4, 6, 7] {
        let mut attach = proof.instruction();
        attach.accounts[place] = readonly(attach.accounts[place].pubkey);
        let instructions = [proof.signed_by(&it.facilitator), attach];
        let sent = it.net.send(&[&it.client], &instructions);
        assert_refused(&sent, 1, ACCOUNT_MISMATCH);
    }
    // in the client's name, without its signature
    let mut attach = sponsored(proof.instruction(), &friend.pubkey());
    attach.accounts[0].is_signer = false;
    let instructions = [proof.signed_by(&it.facilitator), attach];
    let sent = it.net.send(&[&friend], &instructions);
    assert_refused(&sent, 1, 3010); // AccountNotSigner
    it.accepts(&proof);
}
