//! R12: whoever signs as the payer pays the rent, and who acts needs no lamports.

use crate::localnet::{
    instructions::sponsored, open_feedback::GiveOpenFeedback, refusal::*,
    settings::set_agent_wallet, stage::Stage,
};
use solana_address::Address;
use solana_signer::Signer;

/// What the instructions that create accounts are called.
const CREATING: [&str; 9] = [
    "initialize",
    "register_agent",
    "set_agent_uri",
    "set_metadata",
    "attach_payment_proof",
    "give_feedback",
    "give_open_feedback",
    "validation_request",
    "validation_response",
];

fn lamports(stage: &Stage, of: &Address) -> u64 {
    let account = stage.net.svm.get_account(of);
    account.map_or(0, |account| account.lamports)
}

#[test]
fn the_payer_pays_and_who_acts_spends_nothing() {
    let mut stage = Stage::new();
    let calls = stage.calls();
    let ready = stage.net.svm.clone();
    let mut paid = vec![];
    for call in &calls {
        stage.net.svm = ready.clone();
        if call.name == "initialize" {
            stage.forget_registry();
        }
        let (actor, sponsor) = (call.instruction.accounts[0].pubkey, stage.sponsor.pubkey());
        assert!(!call.instruction.accounts[0].is_writable);
        let before = [actor, sponsor].map(|of| lamports(&stage, &of));
        if let Err(failed) = stage.send(&call.transaction()) {
            panic!("{}: {:?}", call.name, failed.err);
        }
        let after = [actor, sponsor].map(|of| lamports(&stage, &of));
        assert_eq!(before[0], after[0], "{}", call.name);
        if after[1] < before[1] {
            paid.push(call.name);
        }
    }
    assert_eq!(paid, CREATING);
}

#[test]
fn an_actor_without_lamports_gives_feedback() {
    let mut stage = Stage::new();
    let mint = stage.agent.mint;
    let nobody = stage.net.key();
    let feedback = GiveOpenFeedback::new(&mint, &nobody.pubkey());
    let give = sponsored(feedback.instruction(), &stage.sponsor.pubkey());
    let sponsor = stage.sponsor.insecure_clone();
    stage.net.send(&[&sponsor, &nobody], &[give]).unwrap();
    assert_eq!(lamports(&stage, &nobody.pubkey()), 0);
}

#[test]
fn a_sponsor_becomes_no_wallet_unawares() {
    // R3: the sponsor is writable in the message, because it pays
    let mut stage = Stage::new();
    let (owner, mint) = (stage.agent.owner.insecure_clone(), stage.agent.mint);
    let sponsor = stage.sponsor.insecure_clone();
    let feedback = GiveOpenFeedback {
        feedback_index: 3,
        ..GiveOpenFeedback::new(&mint, &stage.client.pubkey())
    };
    let give = sponsored(feedback.instruction(), &sponsor.pubkey());
    let set = set_agent_wallet(&owner.pubkey(), &mint, &sponsor.pubkey());
    let relayer = stage.relayer.insecure_clone();
    let client = stage.client.insecure_clone();
    let sent = stage
        .net
        .send(&[&relayer, &owner, &client, &sponsor], &[give, set]);
    assert_refused(&sent, 1, WALLET_CONSENT_MISSING);
}
