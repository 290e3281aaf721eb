//! R13's conditions on the payment: each broken once, each at its boundary.

use crate::localnet::{
    NOW,
    payment::{AttachPayment, Purchase},
    refusal::*,
    registry::{add_facilitator, add_payment_token, remove_facilitator, remove_payment_token},
    settings::{set_feedback_authority, unset_agent_wallet},
};
use solana_address::Address;
use solana_signer::Signer;

#[test]
fn counts_until_the_second_before_its_expiry() {
    let mut it = Purchase::new();
    let proof = AttachPayment {
        expiry: NOW as u64,
        ..it.proof(1)
    };
    for clock in [NOW, NOW + 1, i64::MAX] {
        it.net.set_clock(clock);
        it.refuses(&proof, AUTH_EXPIRED);
    }
    // a negative clock counts as 0
    it.net.set_clock(-1);
    it.refuses(
        &AttachPayment {
            expiry: 0,
            ..it.proof(1)
        },
        AUTH_EXPIRED,
    );
    it.net.set_clock(NOW - 1);
    it.accepts(&proof);
}

#[test]
fn refuses_another_payee_than_the_wallet_of_that_moment() {
    let mut it = Purchase::new();
    let (owner, wallet) = (it.agent.owner.insecure_clone(), it.net.key());
    let to = |it: &Purchase, payee: Address| AttachPayment {
        payee,
        ..it.proof(1)
    };
    it.refuses(&to(&it, wallet.pubkey()), PAYMENT_WRONG_PAYEE);
    it.set_wallet(&owner, &wallet);
    // the owner is no longer the wallet
    it.refuses(&to(&it, owner.pubkey()), PAYMENT_WRONG_PAYEE);
    let unset = unset_agent_wallet(&owner.pubkey(), &it.agent.mint);
    it.net.send(&[&owner], &[unset]).unwrap();
    for payee in [wallet.pubkey(), owner.pubkey(), Address::default()] {
        it.refuses(&to(&it, payee), PAYMENT_WRONG_PAYEE);
    }
    it.set_wallet(&owner, &wallet);
    it.accepts(&to(&it, wallet.pubkey()));
}

#[test]
fn after_a_sale_nobody_is_paid_until_the_buyer_sets_a_wallet() {
    // R3, R4
    let mut it = Purchase::new();
    let (buyer, wallet) = (it.net.actor(), it.net.key());
    it.net
        .transfer(&it.agent.mint, &it.agent.owner, &buyer.pubkey())
        .unwrap();
    for payee in [it.agent.owner.pubkey(), buyer.pubkey(), Address::default()] {
        it.refuses(
            &AttachPayment {
                payee,
                ..it.proof(1)
            },
            PAYMENT_WRONG_PAYEE,
        );
    }
    it.set_wallet(&buyer, &wallet);
    let proof = AttachPayment {
        payee: wallet.pubkey(),
        ..it.proof(1)
    };
    it.accepts(&proof);
}

#[test]
fn refuses_a_payer_who_is_not_the_reviewer() {
    let mut it = Purchase::new();
    for payer in [
        it.net.key().pubkey(),
        it.agent.owner.pubkey(),
        Address::default(),
    ] {
        it.refuses(
            &AttachPayment {
                payer,
                ..it.proof(1)
            },
            PAYMENT_WRONG_PAYER,
        );
    }
}

#[test]
fn refuses_a_reviewer_who_has_become_the_wallet_or_the_authority() {
    let mut it = Purchase::new();
    let (owner, me) = (it.agent.owner.insecure_clone(), it.client.pubkey());
    // the wallet: he pays himself
    let client = it.client.insecure_clone();
    it.set_wallet(&owner, &client);
    it.refuses(
        &AttachPayment {
            payee: me,
            ..it.proof(1)
        },
        PAYMENT_WRONG_PAYER,
    );
    it.set_wallet(&owner, &owner);
    // the authority
    let name = set_feedback_authority(&owner.pubkey(), &it.agent.mint, &me);
    it.net.send(&[&owner], &[name]).unwrap();
    it.refuses(&it.proof(1), PAYMENT_WRONG_PAYER);
    let nobody = set_feedback_authority(&owner.pubkey(), &it.agent.mint, &Address::default());
    it.net.send(&[&owner], &[nobody]).unwrap();
    it.accepts(&it.proof(1));
}

#[test]
fn refuses_a_reviewer_who_has_become_the_owner() {
    let mut it = Purchase::new();
    let (client, wallet) = (it.client.insecure_clone(), it.net.key());
    it.net
        .transfer(&it.agent.mint, &it.agent.owner, &client.pubkey())
        .unwrap();
    it.set_wallet(&client, &wallet);
    let proof = AttachPayment {
        payee: wallet.pubkey(),
        ..it.proof(1)
    };
    it.refuses(&proof, PAYMENT_WRONG_PAYER);
}

#[test]
fn refuses_tokens_that_are_not_listed() {
    let mut it = Purchase::new();
    let (other, token) = (it.net.key().pubkey(), it.token);
    it.refuses(
        &AttachPayment {
            token: other,
            ..it.proof(1)
        },
        PAYMENT_WRONG_TOKEN,
    );
    it.administer(add_payment_token, &other);
    it.administer(remove_payment_token, &token);
    it.refuses(&it.proof(1), PAYMENT_WRONG_TOKEN);
    it.accepts(&AttachPayment {
        token: other,
        ..it.proof(1)
    });
    // what was proven stays when the token goes
    it.administer(remove_payment_token, &other);
    assert_eq!(it.counters(), [(1, 80), (0, 0)]);
}

#[test]
fn refuses_an_amount_of_0_and_takes_the_smallest_and_the_largest() {
    let mut it = Purchase::new();
    it.net.given(&it.agent, &it.client, 2, 30);
    it.refuses(
        &AttachPayment {
            amount: 0,
            ..it.proof(1)
        },
        PAYMENT_ZERO_AMOUNT,
    );
    for (feedback_index, amount) in [(1, 1), (2, u64::MAX)] {
        let proof = AttachPayment {
            feedback_index,
            amount,
            ..it.proof(feedback_index as u8)
        };
        it.accepts(&proof);
        let entry = it
            .net
            .entry(&it.agent.mint, &it.client.pubkey(), feedback_index);
        assert_eq!(entry.payment.0, amount);
    }
}

#[test]
fn refuses_facilitators_that_are_not_listed() {
    let mut it = Purchase::new();
    let (listed, other) = (it.facilitator.insecure_clone(), it.net.key());
    it.facilitator = other.insecure_clone();
    it.refuses(&it.proof(1), PAYMENT_WRONG_FACILITATOR);
    it.administer(add_facilitator, &other.pubkey());
    it.administer(remove_facilitator, &listed.pubkey());
    it.accepts(&it.proof(1));
    it.net.given(&it.agent, &it.client, 2, 30);
    it.facilitator = listed;
    let proof = AttachPayment {
        feedback_index: 2,
        ..it.proof(2)
    };
    it.refuses(&proof, PAYMENT_WRONG_FACILITATOR);
}
