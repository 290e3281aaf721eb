//! R13's conditions on the payment: each broken once, each at its boundary.

use crate::localnet::{
    NOW,
    payment::{AttachPayment, Purchase},
    refusal::*,
    registry::{set_facilitator, set_payment_token},
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
fn an_owner_blesses_no_payment_by_setting_the_wallet_for_one_transaction() {
    let mut it = Purchase::new();
    let (owner, friend) = (it.agent.owner.insecure_clone(), it.net.key());
    it.set_wallet(&owner, &friend);
    // the facilitator saw a payment to the owner, not to the friend
    let attested = it.proof(1);
    let claimed = AttachPayment {
        payee: friend.pubkey(),
        ..attested.clone()
    };
    let instructions = [attested.signed_by(&it.facilitator), claimed.instruction()];
    let sent = it.net.send(&[&it.client], &instructions);
    assert_refused(&sent, 1, AUTH_WRONG_MESSAGE);
    it.accepts(&attested);
}

#[test]
fn a_payment_to_the_former_owner_counts_after_a_sale() {
    // R3, R4: whoever compares the event with the wallet's history finds the seller at `paid_at`
    let mut it = Purchase::new();
    let buyer = it.net.actor();
    it.net
        .transfer(&it.agent.mint, &it.agent.owner, &buyer.pubkey())
        .unwrap();
    it.accepts(&it.proof(1));
}

#[test]
fn takes_a_payment_of_this_second_and_none_of_the_next() {
    let mut it = Purchase::new();
    it.net.given(&it.agent, &it.client, 2, 30);
    let paid_at = |it: &Purchase, paid_at: u64| AttachPayment {
        paid_at,
        ..it.proof(1)
    };
    for later in [NOW as u64 + 1, u64::MAX] {
        it.refuses(&paid_at(&it, later), PAYMENT_IN_FUTURE);
    }
    it.accepts(&paid_at(&it, NOW as u64));
    // a negative clock counts as 0
    it.net.set_clock(-1);
    let second = |paid_at: u64, it: &Purchase| AttachPayment {
        paid_at,
        feedback_index: 2,
        ..it.proof(2)
    };
    it.refuses(&second(1, &it), PAYMENT_IN_FUTURE);
    it.accepts(&second(0, &it));
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
    it.administer(set_payment_token, &other, true);
    it.administer(set_payment_token, &token, false);
    it.refuses(&it.proof(1), PAYMENT_WRONG_TOKEN);
    it.accepts(&AttachPayment {
        token: other,
        ..it.proof(1)
    });
    // what was proven stays when the token goes
    it.administer(set_payment_token, &other, false);
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
    it.administer(set_facilitator, &other.pubkey(), true);
    it.administer(set_facilitator, &listed.pubkey(), false);
    it.accepts(&it.proof(1));
    it.net.given(&it.agent, &it.client, 2, 30);
    it.facilitator = listed;
    let proof = AttachPayment {
        feedback_index: 2,
        ..it.proof(2)
    };
    it.refuses(&proof, PAYMENT_WRONG_FACILITATOR);
}
