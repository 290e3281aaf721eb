//! R13: a payment proof is a fact, not a claim.

mod accounts;
mod check_order;
mod conditions;
mod entries;
mod owners_settings;
mod signature;

use crate::localnet::{
    Agent, Localnet, NOW,
    accounts::Fields,
    events,
    instructions::revoke_feedback,
    payment::{AttachPayment, Purchase, spent_payment},
    program_id,
    refusal::*,
    settings::set_agent_wallet,
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;

impl Purchase {
    /// As the registry's authority.
    pub fn administer(
        &mut self,
        set: fn(&Address, &Address, bool) -> Instruction,
        key: &Address,
        listed: bool,
    ) {
        let authority = self.net.upgrade_authority.insecure_clone();
        let call = set(&authority.pubkey(), key, listed);
        self.net.send(&[&authority], &[call]).unwrap();
    }

    #[track_caller]
    pub fn refuses(&mut self, proof: &AttachPayment, code: u32) {
        assert_refused(&self.attach(proof), 1, code);
    }

    #[track_caller]
    pub fn accepts(&mut self, proof: &AttachPayment) {
        if let Err(failed) = self.attach(proof) {
            panic!("{:?}", failed.err);
        }
    }

    pub fn set_wallet(&mut self, owner: &Keypair, wallet: &Keypair) {
        let set = set_agent_wallet(&owner.pubkey(), &self.agent.mint, &wallet.pubkey());
        self.net.send(&[owner, wallet], &[set]).unwrap();
    }

    pub fn counters(&self) -> [(u64, u64); 2] {
        let identity = self.net.identity(&self.agent.mint);
        [identity.verified, identity.unverified]
    }
}

#[test]
fn sets_flag_amount_and_token_and_moves_the_score_to_the_verified_counters() {
    let mut it = Purchase::new();
    let me = it.client.pubkey();
    it.net.given(&it.agent, &it.client, 2, 30);
    let mut entry = it.net.entry(&it.agent.mint, &me, 1);
    let mut identity = it.net.identity(&it.agent.mint);
    it.net.set_clock(NOW + 60);
    let proof = it.proof(1);
    it.accepts(&proof);

    entry.has_payment_proof = true;
    entry.payment = (1_000_000, it.token);
    assert_eq!(it.net.entry(&it.agent.mint, &me, 1), entry);
    identity.verified = (1, 80);
    identity.unverified = (1, 30);
    assert_eq!(it.net.identity(&it.agent.mint), identity);

    let marker = it.net.account(&spent_payment(&proof.task_ref_hash, &me));
    assert_eq!(marker.owner, program_id());
    assert_eq!(
        marker.lamports,
        it.net.svm.minimum_balance_for_rent_exemption(82)
    );
    let mut fields = Fields::of(&marker.data, [77, 205, 185, 208, 111, 79, 133, 247]);
    assert_eq!((fields.key(), fields.key()), (it.agent.mint, me));
    assert_eq!(fields.u64(), 1);
    let seeds: &[&[u8]] = &[b"spent", &proof.task_ref_hash, me.as_ref()];
    let bump = Address::find_program_address(seeds, &program_id()).1;
    assert_eq!((fields.u8(), fields.u8()), (bump, 1)); // R12: version
    fields.end();
}

#[test]
fn one_event_reports_it_with_the_facilitators_signature() {
    let mut it = Purchase::new();
    it.net.set_clock(NOW + 60);
    let proof = it.proof(1);
    let sent = it.attach(&proof).unwrap();
    let [event] = &events(&sent)[..] else {
        panic!("one event")
    };
    let mut fields = Fields::of(event, [185, 89, 225, 218, 136, 182, 205, 247]);
    assert_eq!(
        (fields.key(), fields.key()),
        (it.agent.mint, it.client.pubkey())
    );
    assert_eq!((fields.u64(), fields.key()), (1, it.agent.owner.pubkey()));
    assert_eq!((fields.key(), fields.u64()), (it.token, 1_000_000));
    assert_eq!(fields.bytes32(), proof.task_ref_hash);
    let times = (fields.u64(), fields.u64());
    assert_eq!(times, (NOW as u64 - 60, NOW as u64 + 3600));
    assert_eq!(fields.key(), it.facilitator.pubkey());
    let signature = it.facilitator.sign_message(&proof.message());
    assert_eq!(&fields.bytes64()[..], signature.as_ref());
    assert_eq!(fields.i64(), NOW + 60);
    fields.end();
}

#[test]
fn revoking_takes_a_proven_entry_out_of_the_verified_counters() {
    let mut it = Purchase::new();
    it.net.given(&it.agent, &it.client, 2, 30);
    it.accepts(&it.proof(1));
    assert_eq!(it.counters(), [(1, 80), (1, 30)]);
    for (index, left) in [(1, [(0, 0), (1, 30)]), (2, [(0, 0), (0, 0)])] {
        let revoke = revoke_feedback(&it.client.pubkey(), &it.agent.mint, index);
        it.net.send(&[&it.client], &[revoke]).unwrap();
        assert_eq!(it.counters(), left);
    }
}

#[test]
fn agents_and_clients_count_apart() {
    let mut it = Purchase::new();
    let other: Agent = it.net.agent();
    it.net.given(&other, &it.client, 1, 20);
    it.accepts(&it.proof(1));
    let untouched: &Localnet = &it.net;
    assert_eq!(untouched.identity(&other.mint).verified, (0, 0));
    assert_eq!(untouched.identity(&other.mint).unverified, (1, 20));
}
