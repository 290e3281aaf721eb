//! Payment proofs and the registry's lists (R9, R13).
use super::*;
use concord_canonical::ErrorClass::*;
use concord_harness::model::{
    AcceptRegistryAuthority, AttachPaymentProof, Authorization, Consent, DEPLOYER, Event,
    ListFacilitator, ListPaymentToken, Payment, ProofVersion, ProposeRegistryAuthority,
    SetAgentWallet, SetFeedbackAuthority, Tamper, UnsetAgentWallet,
};

/// Finn states that Bob paid Alice 5 of `usd`, until second 100.
fn paid() -> Payment {
    Payment {
        facilitator: "finn".into(),
        agent: "desk".into(),
        payer: "bob".into(),
        payee: "alice".into(),
        token: "usd".into(),
        amount: 5,
        task: "one".to_owned(),
        paid_at: 3,
        expiry: 100,
        version: ProofVersion::V2,
        tamper: None,
    }
}

fn token(by: &str, token: &str, listed: bool) -> Operation {
    Operation::ListPaymentToken(ListPaymentToken {
        by: by.into(),
        token: token.into(),
        listed,
    })
}

fn facilitator(by: &str, facilitator: &str, listed: bool) -> Operation {
    Operation::ListFacilitator(ListFacilitator {
        by: by.into(),
        facilitator: facilitator.into(),
        listed,
    })
}

fn attach(by: &str, index: u64, payment: Payment) -> Operation {
    Operation::AttachPaymentProof(AttachPaymentProof {
        agent: "desk".into(),
        by: by.into(),
        client: "bob".into(),
        index,
        payment,
    })
}

/// Bob's two feedbacks about `desk`, of which none is paid for; `usd` and Finn count.
fn reviewed() -> Model {
    let mut model = registered(Chain::Svm);
    expect(&mut model, 2, token(DEPLOYER, "usd", true), Verdict::Ok);
    expect(
        &mut model,
        3,
        facilitator(DEPLOYER, "finn", true),
        Verdict::Ok,
    );
    given(&mut model, 50, 4);
    given(&mut model, 70, 5);
    model
}

#[test]
fn a_payment_at_the_start_in_the_current_form_names_neither() {
    let json = |payment: &Payment| serde_json::to_value(payment).unwrap();
    let usual = Payment {
        paid_at: 0,
        ..paid()
    };
    let written = json(&usual);
    assert_eq!(
        (written.get("paid_at"), written.get("version")),
        (None, None)
    );
    assert_eq!(serde_json::from_value::<Payment>(written).unwrap(), usual);
    let other = Payment {
        version: ProofVersion::V1,
        ..paid()
    };
    let written = json(&other);
    assert_eq!(
        (&written["paid_at"], &written["version"]),
        (&3.into(), &"v1".into())
    );
}

#[test]
fn r13_a_proof_moves_the_score_to_the_verified_counters() {
    let mut model = reviewed();
    let outcome = expect(&mut model, 6, attach("bob", 2, paid()), Verdict::Ok);
    let event = Event::PaymentProven {
        agent: "desk".into(),
        client: "bob".into(),
        index: 2,
        payee: "alice".into(),
        token: "usd".into(),
        amount: 5,
        paid_at: 3,
    };
    assert_eq!(outcome.events, [event]);
    let verified = |model: &Model| {
        let verified = model.state().agents[&"desk".into()].authorized.verified;
        verified.map(|totals| (totals.count, totals.sum))
    };
    assert_eq!(verified(&model), Some((1, 70)));
    assert_eq!(summary(&mut model), (2, 60));
    expect(&mut model, 7, revoke("bob", 2), Verdict::Ok);
    assert_eq!(verified(&model), None);
}

#[test]
fn r13_each_condition_on_a_payment_counts() {
    let changes: [fn(&mut Payment); 6] = [
        |it| it.payer = "carol".into(),
        |it| it.payer = "alice".into(),
        |it| it.token = "eur".into(),
        |it| it.amount = 0,
        |it| it.paid_at = 7, // one second after the call
        |it| it.facilitator = "mallory".into(),
    ];
    for change in changes {
        let mut payment = paid();
        change(&mut payment);
        expect(
            &mut reviewed(),
            6,
            attach("bob", 1, payment),
            refused(PaymentNotAccepted),
        );
    }
}

/// An owner could set or unset the wallet for one transaction: the facilitator attests the payee.
#[test]
fn r13_the_wallet_of_the_moment_does_not_count() {
    for payee in ["alice", "carol", "bob"] {
        let mut model = reviewed();
        let unset = Operation::UnsetAgentWallet(UnsetAgentWallet {
            agent: "desk".into(),
            by: "alice".into(),
        });
        expect(&mut model, 6, unset, Verdict::Ok);
        let payment = Payment {
            payee: payee.into(),
            paid_at: 7,
            ..paid()
        };
        expect(&mut model, 7, attach("bob", 1, payment), Verdict::Ok);
    }
}

#[test]
fn r13_a_payment_counts_once_and_for_one_entry() {
    let mut model = reviewed();
    expect(&mut model, 6, attach("bob", 1, paid()), Verdict::Ok);
    expect(
        &mut model,
        7,
        attach("bob", 1, paid()),
        refused(PaymentAlreadyProven),
    );
    expect(
        &mut model,
        8,
        attach("bob", 2, paid()),
        refused(PaymentSpent),
    );
    let other = Payment {
        task: "two".to_owned(),
        ..paid()
    };
    expect(&mut model, 9, attach("bob", 2, other), Verdict::Ok);
}

/// R32: a payment is its transaction and its payer.
#[test]
fn r13_two_payers_of_one_transaction_prove_two_payments() {
    let mut model = reviewed();
    for score in [10, 20] {
        let granted = Authorization {
            client: "carol".into(),
            ..granted()
        };
        let given = give(&mut model, feedback("carol", score, Some(granted)), 6);
        assert_eq!(given.verdict, Verdict::Ok);
    }
    let of_carol = |index| {
        let Operation::AttachPaymentProof(proof) = attach("carol", index, paid()) else {
            unreachable!("it is one");
        };
        Operation::AttachPaymentProof(AttachPaymentProof {
            client: "carol".into(),
            payment: Payment {
                payer: "carol".into(),
                ..paid()
            },
            ..proof
        })
    };
    expect(&mut model, 7, attach("bob", 1, paid()), Verdict::Ok);
    expect(&mut model, 8, of_carol(1), Verdict::Ok);
    expect(&mut model, 9, of_carol(2), refused(PaymentSpent));
}

/// Whatever the owner sets after the entry was given.
#[test]
fn r13_what_the_reviewer_was_to_the_agent_counts_as_of_the_entry() {
    let wallet = |wallet: &str| {
        Operation::SetAgentWallet(SetAgentWallet {
            agent: "desk".into(),
            by: "alice".into(),
            wallet: Some(wallet.into()),
            consent: Some(Consent {
                signer: wallet.into(),
                agent: "desk".into(),
                wallet: wallet.into(),
                owner: "alice".into(),
                deadline: 100,
            }),
        })
    };
    let later = [
        Operation::SetFeedbackAuthority(SetFeedbackAuthority {
            agent: "desk".into(),
            by: "alice".into(),
            authority: Some("bob".into()),
            consents: true,
        }),
        wallet("bob"),
        transfer("alice", "bob"),
    ];
    for change in later {
        let mut model = reviewed();
        expect(&mut model, 6, change, Verdict::Ok);
        expect(&mut model, 7, attach("bob", 1, paid()), Verdict::Ok);
    }
    let mut model = reviewed();
    expect(&mut model, 6, wallet("bob"), Verdict::Ok);
    given(&mut model, 90, 7);
    let no = refused(PaymentNotAccepted);
    expect(&mut model, 8, attach("bob", 3, paid()), no);
    expect(&mut model, 9, wallet("wren"), Verdict::Ok);
    expect(&mut model, 10, attach("bob", 3, paid()), no);
    expect(&mut model, 11, attach("bob", 1, paid()), Verdict::Ok);
}

#[test]
fn r13_a_proof_of_the_first_version_is_refused() {
    let mut model = reviewed();
    let outdated = Payment {
        version: ProofVersion::V1,
        ..paid()
    };
    expect(
        &mut model,
        6,
        attach("bob", 1, outdated),
        refused(AuthNotGranted),
    );
    expect(&mut model, 7, attach("bob", 1, paid()), Verdict::Ok);
}

/// §3a: one more rule is broken at each step, from the last of the order to the first.
#[test]
fn the_first_broken_rule_of_a_proof_is_reported() {
    let elsewhere = Payment {
        agent: "other".into(),
        ..paid()
    };
    let uncounted = Payment {
        amount: 0,
        ..elsewhere.clone()
    };
    let late = Payment {
        expiry: 8,
        ..uncounted.clone()
    };
    let with = |tamper| Payment {
        tamper: Some(tamper),
        ..late.clone()
    };
    let mut model = reviewed();
    for (payment, class) in [
        (elsewhere, AuthNotGranted),
        (uncounted, PaymentNotAccepted),
        (late.clone(), AuthExpired),
        (with(Tamper::Extended), AuthMalformed),
        (with(Tamper::Empty), AuthMissing),
    ] {
        expect(&mut model, 8, attach("bob", 1, payment), refused(class));
    }
    expect(&mut model, 9, attach("bob", 1, paid()), Verdict::Ok);
    expect(
        &mut model,
        10,
        attach("bob", 2, with(Tamper::Empty)),
        refused(PaymentSpent),
    );
    expect(
        &mut model,
        11,
        attach("bob", 1, with(Tamper::Empty)),
        refused(PaymentAlreadyProven),
    );
    expect(&mut model, 12, revoke("bob", 1), Verdict::Ok);
    expect(
        &mut model,
        13,
        attach("bob", 1, with(Tamper::Empty)),
        refused(AlreadyRevoked),
    );
    expect(
        &mut model,
        14,
        attach("carol", 1, with(Tamper::Empty)),
        refused(NotAuthorized),
    );
    expect(
        &mut model,
        15,
        attach("carol", 3, with(Tamper::Empty)),
        refused(FeedbackNotFound),
    );
    // Declared variance 1.
    let corrupt = with(Tamper::CorruptSignature);
    expect(
        &mut model,
        16,
        attach("carol", 3, corrupt),
        refused(AuthNotGranted),
    );
}

#[test]
fn r13_the_lists_are_the_registry_authority_s_and_bounded() {
    let mut model = registered(Chain::Svm);
    expect(
        &mut model,
        2,
        token("alice", "usd", true),
        refused(NotAuthorized),
    );
    for number in 0..8 {
        let listed = token(DEPLOYER, &format!("t{number}"), true);
        expect(&mut model, 3, listed, Verdict::Ok);
    }
    expect(&mut model, 4, token(DEPLOYER, "t0", true), Verdict::Ok);
    expect(
        &mut model,
        5,
        token(DEPLOYER, "t8", true),
        refused(ListTooLong),
    );
    expect(&mut model, 6, token(DEPLOYER, "t0", false), Verdict::Ok);
    expect(&mut model, 7, token(DEPLOYER, "t8", true), Verdict::Ok);
    for number in 0..16 {
        let listed = facilitator(DEPLOYER, &format!("f{number}"), true);
        expect(&mut model, 8, listed, Verdict::Ok);
    }
    expect(
        &mut model,
        9,
        facilitator(DEPLOYER, "f16", true),
        refused(ListTooLong),
    );
}

#[test]
fn r9_the_registry_s_authority_changes_in_two_steps() {
    let propose = |by: &str| {
        Operation::ProposeRegistryAuthority(ProposeRegistryAuthority {
            by: by.into(),
            successor: "carol".into(),
        })
    };
    let accept =
        |by: &str| Operation::AcceptRegistryAuthority(AcceptRegistryAuthority { by: by.into() });
    let mut model = registered(Chain::Svm);
    expect(&mut model, 2, accept("carol"), refused(NotAuthorized));
    expect(&mut model, 3, propose("carol"), refused(NotAuthorized));
    expect(&mut model, 4, propose(DEPLOYER), Verdict::Ok);
    expect(&mut model, 5, accept("bob"), refused(NotAuthorized));
    expect(
        &mut model,
        6,
        token("carol", "usd", true),
        refused(NotAuthorized),
    );
    expect(&mut model, 7, accept("carol"), Verdict::Ok);
    expect(&mut model, 8, token("carol", "usd", true), Verdict::Ok);
    expect(
        &mut model,
        9,
        token(DEPLOYER, "eur", true),
        refused(NotAuthorized),
    );
    expect(&mut model, 10, accept("carol"), refused(NotAuthorized));
}

#[test]
fn variance_4_payment_proofs_exist_on_solana_only() {
    let mut evm = registered(Chain::Evm);
    expect(&mut evm, 2, attach("bob", 1, paid()), Verdict::Unsupported);
    expect(
        &mut evm,
        3,
        token(DEPLOYER, "usd", true),
        Verdict::Unsupported,
    );
}
