//! Registration, settings, wallet, transfer.
use super::*;
use concord_canonical::ErrorClass::*;
use concord_harness::model::{
    Actor, Approve, Burn, Bytes, Consent, Event, Metadata, Register, SetAgentUri, SetAgentWallet,
    SetAuthSchemes, SetFeedbackAuthority, SetMetadata, SetOperator, Transfer, UnsetAgentWallet,
};

#[test]
fn r3_the_owner_is_the_wallet_until_a_transfer_to_another() {
    let mut model = registered(Chain::Evm);
    let wallet = |model: &Model| model.state().agents[&"desk".into()].wallet.clone();
    assert_eq!(wallet(&model), Some(Actor::from("alice")));
    assert_eq!(
        model.apply(&transfer("alice", "alice"), 2),
        Outcome::accepted(vec![])
    );
    assert_eq!(wallet(&model), Some(Actor::from("alice")));
    let cleared = Event::AgentWalletSet {
        agent: "desk".into(),
        wallet: None,
    };
    assert_eq!(
        model.apply(&transfer("alice", "bob"), 3),
        Outcome::accepted(vec![cleared])
    );
    assert_eq!(wallet(&model), None);
    assert_eq!(
        model.state().agents[&"desk".into()].owner,
        Actor::from("bob")
    );
}

/// On Solana it is a key like any other (declared variance 6).
#[test]
fn r2_a_contract_that_refuses_tokens_registers_on_solana_only() {
    let by = "contract-closed-vera";
    for (chain, verdict) in [
        (Chain::Evm, refused(ReceiverRefused)),
        (Chain::Svm, Verdict::Ok),
    ] {
        expect(&mut Model::new(chain), 1, register("safe", by, ""), verdict);
        let mut model = registered(chain);
        expect(&mut model, 2, transfer("alice", by), Verdict::Ok);
    }
}

#[test]
fn r4_only_the_holder_transfers() {
    let mut model = registered(Chain::Svm);
    let stranger = model.apply(&transfer("mallory", "bob"), 2);
    assert_eq!(stranger.verdict, refused(TransferNotAllowed));
    model.apply(&transfer("alice", "bob"), 3);
    let previous = model.apply(&transfer("alice", "alice"), 4);
    assert_eq!(previous.verdict, refused(TransferNotAllowed));
}

#[test]
fn r17_portable_lengths_bind_on_solana_only() {
    let (longest, longer) = ("u".repeat(200), "u".repeat(201));
    for (uri, on_solana) in [
        (longest.as_str(), Verdict::Ok),
        (longer.as_str(), refused(LengthLimit)),
        ("é".repeat(101).as_str(), refused(LengthLimit)),
        ("nul\0", refused(LengthLimit)),
    ] {
        let verdict = |chain| {
            Model::new(chain)
                .apply(&register("a", "alice", uri), 1)
                .verdict
        };
        assert_eq!(verdict(Chain::Evm), Verdict::Ok);
        assert_eq!(verdict(Chain::Svm), on_solana);
    }
}

fn entry(key: &str, length: usize) -> Metadata {
    Metadata {
        key: key.to_owned(),
        value: Bytes(vec![7; length]),
    }
}

fn set(key: &str, length: usize, by: &str) -> Operation {
    let Metadata { key, value } = entry(key, length);
    Operation::SetMetadata(SetMetadata {
        agent: "desk".into(),
        by: by.into(),
        key,
        value,
    })
}

#[test]
fn r2_the_reserved_key_is_refused_byte_for_byte() {
    for chain in BOTH {
        let mut model = registered(chain);
        for (key, verdict) in [
            ("agentWallet", refused(ReservedKey)),
            ("AgentWallet", Verdict::Ok),
            ("agentWallet ", Verdict::Ok),
        ] {
            expect(&mut model, 2, set(key, 1, "alice"), verdict);
        }
        let with_reserved = Operation::Register(Register {
            agent: "other".into(),
            by: "alice".into(),
            uri: String::new(),
            metadata: vec![entry("a", 1), entry("agentWallet", 20)],
        });
        expect(&mut model, 3, with_reserved, refused(ReservedKey));
        assert_eq!(model.state().agents.len(), 1);
    }
}

#[test]
fn r17_metadata_is_portable_on_solana_only() {
    let (longest, longer) = ("k".repeat(32), "k".repeat(33));
    for (key, length, on_solana) in [
        (longest.as_str(), 256, Verdict::Ok),
        (longer.as_str(), 1, refused(LengthLimit)),
        ("k", 257, refused(LengthLimit)),
        ("k\0", 1, refused(LengthLimit)),
    ] {
        let mut evm = registered(Chain::Evm);
        expect(&mut evm, 2, set(key, length, "alice"), Verdict::Ok);
        let mut svm = registered(Chain::Svm);
        expect(&mut svm, 2, set(key, length, "alice"), on_solana);
    }
}

#[test]
fn registration_reports_itself_and_then_its_metadata() {
    let mut model = Model::new(Chain::Evm);
    let register = Operation::Register(Register {
        agent: "desk".into(),
        by: "alice".into(),
        uri: "u".to_owned(),
        metadata: vec![entry("b", 1), entry("a", 0), entry("b", 2)],
    });
    let outcome = expect(&mut model, 1, register, Verdict::Ok);
    let keys: Vec<_> = outcome.events[1..]
        .iter()
        .map(|event| match event {
            Event::MetadataSet { key, value, .. } => (key.as_str(), value.0.len()),
            other => panic!("MetadataSet, not {other:?}"),
        })
        .collect();
    assert_eq!(keys, [("b", 1), ("a", 0), ("b", 2)]);
    let stored = &model.state().agents[&"desk".into()].metadata;
    assert_eq!((stored["a"].0.len(), stored["b"].0.len()), (0, 2));
}

#[test]
fn only_who_may_manage_an_agent_sets_anything() {
    for chain in BOTH {
        let mut model = registered(chain);
        let uri = |by: &str, agent: &str| {
            Operation::SetAgentUri(SetAgentUri {
                agent: agent.into(),
                by: by.into(),
                uri: "v".to_owned(),
            })
        };
        expect(&mut model, 2, uri("bob", "desk"), refused(NotAuthorized));
        expect(&mut model, 3, uri("alice", "ghost"), refused(AgentNotFound));
        let outcome = expect(&mut model, 4, uri("alice", "desk"), Verdict::Ok);
        let event = Event::AgentUriSet {
            agent: "desk".into(),
            by: "alice".into(),
            uri: "v".to_owned(),
        };
        assert_eq!(outcome.events, [event]);
        expect(
            &mut model,
            5,
            set("agentWallet", 1, "bob"),
            refused(NotAuthorized),
        );
    }
}

#[test]
fn r18_whom_the_owner_approved_on_evm_manages_and_does_not_review() {
    let approve = |operator: Option<&str>| {
        Operation::Approve(Approve {
            agent: "desk".into(),
            by: "alice".into(),
            operator: operator.map(Into::into),
        })
    };
    let operator = |approved| {
        Operation::SetOperator(SetOperator {
            by: "alice".into(),
            operator: "carol".into(),
            approved,
        })
    };
    let mut model = registered(Chain::Evm);
    expect(&mut model, 2, set("k", 1, "bob"), refused(NotAuthorized));
    expect(&mut model, 3, approve(Some("bob")), Verdict::Ok);
    expect(&mut model, 4, operator(true), Verdict::Ok);
    for by in ["bob", "carol"] {
        expect(&mut model, 5, set("k", 1, by), Verdict::Ok);
        let own = give(&mut model, feedback(by, 50, None), 5);
        assert_eq!(own.verdict, refused(SelfFeedback));
    }
    expect(&mut model, 6, transfer("alice", "alice"), Verdict::Ok); // ends the approval
    expect(&mut model, 7, set("k", 1, "bob"), refused(NotAuthorized));
    expect(&mut model, 8, transfer("carol", "dana"), Verdict::Ok);
    expect(&mut model, 9, set("k", 1, "carol"), refused(NotAuthorized));
    let mut on_solana = registered(Chain::Svm);
    expect(
        &mut on_solana,
        2,
        approve(Some("bob")),
        Verdict::Unsupported,
    );
    assert_eq!(on_solana.state().time, 1);
}

/// Carol agrees, until second 100, to be the wallet of Alice's `desk`.
fn agreed() -> Consent {
    Consent {
        signer: "carol".into(),
        agent: "desk".into(),
        wallet: "carol".into(),
        owner: "alice".into(),
        deadline: 100,
    }
}

fn wallet(by: &str, wallet: Option<&str>, consent: Option<Consent>) -> Operation {
    Operation::SetAgentWallet(SetAgentWallet {
        agent: "desk".into(),
        by: by.into(),
        wallet: wallet.map(Into::into),
        consent,
    })
}

#[test]
fn r3_a_wallet_is_set_with_its_own_consent_only() {
    for chain in BOTH {
        let mut model = registered(chain);
        let carol = Some("carol");
        let cases = [
            (wallet("bob", None, None), NotAuthorized),
            (wallet("alice", None, Some(agreed())), WalletZero),
            (wallet("alice", carol, None), WalletConsentMissing),
            (
                wallet("alice", Some("dana"), Some(agreed())),
                WalletConsentMissing,
            ),
        ];
        for (operation, class) in cases {
            expect(&mut model, 2, operation, refused(class));
        }
        let changes: [fn(&mut Consent); 3] = [
            |it| it.signer = "alice".into(),
            |it| it.owner = "carol".into(),
            |it| it.agent = "other".into(),
        ];
        for change in changes {
            let mut consent = agreed();
            change(&mut consent);
            let operation = wallet("alice", carol, Some(consent));
            expect(&mut model, 3, operation, refused(WalletConsentMissing));
        }
        let good = wallet("alice", carol, Some(agreed()));
        expect(&mut model, 4, good, Verdict::Ok);
        assert_eq!(
            model.state().agents[&"desk".into()].wallet,
            Some("carol".into())
        );
    }
}

#[test]
fn r3_a_consent_works_once_and_in_its_time_on_evm() {
    let at = |chain, now| {
        let operation = wallet("alice", Some("carol"), Some(agreed()));
        registered(chain).apply(&operation, now).verdict
    };
    let deadline_too_far = Consent {
        deadline: 303,
        ..agreed()
    };
    for (now, on_evm) in [(100, Verdict::Ok), (101, refused(DeadlinePassed))] {
        assert_eq!(at(Chain::Evm, now), on_evm);
        assert_eq!(at(Chain::Svm, now), Verdict::Ok);
    }
    for (now, verdict) in [(2, refused(DeadlineTooFar)), (3, Verdict::Ok)] {
        let operation = wallet("alice", Some("carol"), Some(deadline_too_far.clone()));
        expect(&mut registered(Chain::Evm), now, operation, verdict);
    }
    let mut model = registered(Chain::Evm);
    let again = || wallet("alice", Some("carol"), Some(agreed()));
    expect(&mut model, 2, again(), Verdict::Ok);
    let unset = Operation::UnsetAgentWallet(UnsetAgentWallet {
        agent: "desk".into(),
        by: "alice".into(),
    });
    expect(&mut model, 3, unset, Verdict::Ok);
    expect(&mut model, 4, again(), refused(WalletConsentUsed));
}

#[test]
fn r4_a_token_account_whose_owner_could_change_is_refused_on_solana() {
    let mutable = Operation::Transfer(Transfer {
        agent: "desk".into(),
        by: "alice".into(),
        to: "bob".into(),
        into_mutable_account: true,
    });
    let transfer = |chain| registered(chain).apply(&mutable, 2).verdict;
    assert_eq!(transfer(Chain::Evm), Verdict::Ok);
    assert_eq!(transfer(Chain::Svm), refused(TransferRefused));
}

#[test]
fn r7_nobody_becomes_the_authority_against_their_will() {
    let name = |agent: &str, by: &str, authority: Option<&str>, consents| {
        Operation::SetFeedbackAuthority(SetFeedbackAuthority {
            agent: agent.into(),
            by: by.into(),
            authority: authority.map(Into::into),
            consents,
        })
    };
    let missing = refused(AuthorityConsentMissing);
    for (agent, by, authority, consents, verdict) in [
        ("desk", "alice", Some("bob"), false, missing),
        ("desk", "alice", Some("bob"), true, Verdict::Ok),
        ("desk", "alice", Some("alice"), false, Verdict::Ok),
        ("desk", "alice", None, false, Verdict::Ok),
        ("desk", "bob", Some("dana"), false, refused(NotAuthorized)),
        ("desk", "bob", Some("bob"), true, refused(NotAuthorized)),
        ("ghost", "bob", Some("dana"), false, refused(AgentNotFound)),
    ] {
        let operation = name(agent, by, authority, consents);
        expect(&mut registered(Chain::Svm), 2, operation, verdict);
    }
    let mut model = registered(Chain::Svm);
    expect(
        &mut model,
        2,
        name("desk", "alice", Some("bob"), false),
        missing,
    );
    let signer = model.signer_of(&"desk".into()).cloned();
    assert_eq!(signer, Some("alice".into()));
}

#[test]
fn r4_a_transfer_takes_authority_and_schemes_away() {
    let mut model = registered(Chain::Svm);
    let settings = [
        Operation::SetFeedbackAuthority(SetFeedbackAuthority {
            agent: "desk".into(),
            by: "alice".into(),
            authority: Some("dana".into()),
            consents: true,
        }),
        Operation::SetAuthSchemes(SetAuthSchemes {
            agent: "desk".into(),
            by: "alice".into(),
            schemes: 1,
        }),
    ];
    for setting in settings {
        expect(&mut model, 2, setting, Verdict::Ok);
    }
    expect(&mut model, 3, transfer("alice", "carol"), Verdict::Ok);
    let renewed = Authorization {
        signer: "carol".into(),
        ..granted()
    };
    let given = give(&mut model, feedback("bob", 50, Some(renewed)), 4);
    assert_eq!(given.verdict, Verdict::Ok);
}

#[test]
fn variance_7_a_burned_agent_keeps_its_last_owner() {
    let burn = |by: &str| {
        Operation::Burn(Burn {
            agent: "desk".into(),
            by: by.into(),
        })
    };
    let mut model = registered(Chain::Svm);
    expect(&mut model, 2, burn("bob"), refused(TransferNotAllowed));
    expect(&mut model, 3, burn("alice"), Verdict::Ok);
    expect(
        &mut model,
        4,
        transfer("alice", "bob"),
        refused(TransferNotAllowed),
    );
    let owner: &Actor = &model.state().agents[&"desk".into()].owner;
    assert_eq!(*owner, "alice".into());
}
