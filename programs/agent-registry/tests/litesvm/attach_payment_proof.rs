//! R13: a payment proof is a fact, not a claim.

use crate::{
    calls_by_programs::relay,
    localnet::{
        Agent, Localnet, NOW, Sent,
        accounts::Fields,
        authorization::{Authorization, call, keccak, precompile, word},
        events,
        instructions::{
            GiveFeedback, agent_identity, client_index, feedback_entry, readonly, registry,
            revoke_feedback,
        },
        payment::{AttachPayment, Purchase, message, spent_payment},
        program_id,
        refusal::*,
        registry::{add_facilitator, add_payment_token, remove_facilitator, remove_payment_token},
        settings::{set_agent_wallet, set_feedback_authority, unset_agent_wallet},
        stranger_id,
    },
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;

impl Purchase {
    /// As the registry's authority.
    fn administer(&mut self, call: fn(&Address, &Address) -> Instruction, key: &Address) {
        let authority = self.net.upgrade_authority.insecure_clone();
        let call = call(&authority.pubkey(), key);
        self.net.send(&[&authority], &[call]).unwrap();
    }

    #[track_caller]
    fn refuses(&mut self, proof: &AttachPayment, code: u32) {
        assert_refused(&self.attach(proof), 1, code);
    }

    #[track_caller]
    fn accepts(&mut self, proof: &AttachPayment) {
        if let Err(failed) = self.attach(proof) {
            panic!("{:?}", failed.err);
        }
    }

    fn set_wallet(&mut self, owner: &Keypair, wallet: &Keypair) {
        let set = set_agent_wallet(&owner.pubkey(), &self.agent.mint, &wallet.pubkey());
        self.net.send(&[owner, wallet], &[set]).unwrap();
    }

    fn counters(&self) -> [(u64, u64); 2] {
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

    let marker = it.net.account(&spent_payment(&proof.task_ref_hash));
    assert_eq!(marker.owner, program_id());
    assert_eq!(
        marker.lamports,
        it.net.svm.minimum_balance_for_rent_exemption(81)
    );
    let mut fields = Fields::of(&marker.data, [77, 205, 185, 208, 111, 79, 133, 247]);
    assert_eq!((fields.key(), fields.key()), (it.agent.mint, me));
    assert_eq!(fields.u64(), 1);
    let seeds: &[&[u8]] = &[b"spent", &proof.task_ref_hash];
    assert_eq!(
        fields.u8(),
        Address::find_program_address(seeds, &program_id()).1
    );
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
    assert_eq!(
        (fields.bytes32(), fields.key()),
        (proof.task_ref_hash, it.facilitator.pubkey())
    );
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
    assert!(!it.net.exists(&spent_payment(&proof.task_ref_hash)));
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
    assert_eq!(it.counters(), [(3, 120), (0, 0)]);
    assert_eq!(it.net.identity(&other.mint).verified, (1, 20));
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

#[test]
fn refuses_a_signature_by_another_key_than_the_facilitator_named() {
    // R11
    let mut it = Purchase::new();
    let other = it.net.key();
    it.administer(add_facilitator, &other.pubkey());
    let proof = it.proof(1);
    for key in [&other, &it.client, &it.agent.owner] {
        let instructions = [proof.signed_by(key), proof.instruction()];
        let sent = it.net.send(&[&it.client], &instructions);
        assert_refused(&sent, 1, AUTH_WRONG_SIGNER);
    }
}

#[test]
fn refuses_a_message_in_which_any_word_differs() {
    let mut it = Purchase::new();
    let proof = it.proof(1);
    for place in 0..10 {
        for byte in [0, 31] {
            let mut words = proof.words();
            words[place][byte] ^= 1;
            let signed = precompile(call(&it.facilitator, &message(words)));
            let sent = it.net.send(&[&it.client], &[signed, proof.instruction()]);
            assert_refused(&sent, 1, AUTH_WRONG_MESSAGE);
        }
    }
    // a proof for another chain or program among them; and two words that changed places
    let mut words = proof.words();
    words.swap(1, 2);
    let signed = precompile(call(&it.facilitator, &message(words)));
    let sent = it.net.send(&[&it.client], &[signed, proof.instruction()]);
    assert_refused(&sent, 1, AUTH_WRONG_MESSAGE);
}

#[test]
fn refuses_a_feedback_authorization_by_the_facilitator() {
    // equally long, with another prefix
    let mut it = Purchase::new();
    let proof = it.proof(1);
    let feedback = GiveFeedback::new(&it.agent.mint, &it.client.pubkey());
    let authorization = Authorization::of(&feedback, &it.facilitator.pubkey());
    let instructions = [
        authorization.signed_by(&it.facilitator),
        proof.instruction(),
    ];
    let sent = it.net.send(&[&it.client], &instructions);
    assert_refused(&sent, 1, AUTH_WRONG_MESSAGE);
    // nor the same hash under the other prefix
    let hash = keccak(&proof.words().concat());
    let signed = [&b"ERC8004/FEEDBACK-AUTH/v1"[..], &hash].concat();
    let signed = precompile(call(&it.facilitator, &signed));
    let sent = it.net.send(&[&it.client], &[signed, proof.instruction()]);
    assert_refused(&sent, 1, AUTH_WRONG_MESSAGE);
}

#[test]
fn refuses_without_a_precompile_directly_before_and_off_its_template() {
    // R11
    let mut it = Purchase::new();
    let proof = it.proof(1);
    let (signed, attach) = (proof.signed_by(&it.facilitator), proof.instruction());
    let sent = it.net.send(&[&it.client], std::slice::from_ref(&attach));
    assert_refused(&sent, 0, AUTH_MISSING);
    let sent = it
        .net
        .send(&[&it.client], &[attach.clone(), signed.clone()]);
    assert_refused(&sent, 0, AUTH_MISSING);
    let mut longer = signed.clone();
    longer.data.push(0);
    let sent = it.net.send(&[&it.client], &[longer, attach.clone()]);
    assert_refused(&sent, 1, AUTH_MALFORMED);
    let mut with_account = signed;
    with_account.accounts = vec![readonly(stranger_id())];
    let sent = it.net.send(&[&it.client], &[with_account, attach]);
    assert_refused(&sent, 1, AUTH_MALFORMED);
}

#[test]
fn lamports_sent_to_the_marker_beforehand_do_not_block_it() {
    for gift in [1_000_000, 1_000_000_000] {
        let mut it = Purchase::new();
        let proof = it.proof(1);
        let marker = spent_payment(&proof.task_ref_hash);
        it.net.svm.airdrop(&marker, gift).unwrap();
        it.accepts(&proof);
        let account = it.net.account(&marker);
        assert_eq!((account.owner, account.data.len()), (program_id(), 81));
        assert_eq!(
            account.lamports,
            gift.max(it.net.svm.minimum_balance_for_rent_exemption(81))
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
        spent_payment(&it.proof(2).task_ref_hash), // of another payment
        spent_payment(&it.proof(3).task_ref_hash), // vacant
        registry(),
        friend.pubkey(),
    ];
    for place in 1..proof.instruction().accounts.len() {
        for account in others {
            let mut attach = proof.instruction();
            if attach.accounts[place].pubkey != account {
                attach.accounts[place].pubkey = account;
                let instructions = [proof.signed_by(&it.facilitator), attach];
                let sent = it.net.send(&[&it.client], &instructions);
                assert_refused(&sent, 1, ACCOUNT_MISMATCH);
            }
        }
    }
    for place in [3, 5, 6] {
        let mut attach = proof.instruction();
        attach.accounts[place] = readonly(attach.accounts[place].pubkey);
        let instructions = [proof.signed_by(&it.facilitator), attach];
        let sent = it.net.send(&[&it.client], &instructions);
        assert_refused(&sent, 1, ACCOUNT_MISMATCH);
    }
    // in his name, without his signature
    let mut attach = proof.instruction();
    attach.accounts[0].is_signer = false;
    let instructions = [proof.signed_by(&it.facilitator), attach];
    let sent = it.net.send(&[&friend], &instructions);
    assert_refused(&sent, 1, 3010); // AccountNotSigner
    it.accepts(&proof);
}

/// One call, to be broken in as many ways as wanted.
struct Call {
    proof: AttachPayment,
    sender: Keypair,
    signer: Keypair,
    is_missing: bool,
    is_revoked: bool,
    is_proven: bool,
    has_precompile: bool,
    trailing_byte: bool,
    sign_another_message: bool,
}

type Break = (u32, fn(&mut Call));

/// Every rule a reviewer can break, in the order of SPEC 3a.
const BREAKS: [Break; 15] = [
    (FEEDBACK_NOT_FOUND, |call| call.is_missing = true),
    (NOT_AUTHORIZED, |call| {
        call.sender = Keypair::new_from_array([3; 32]);
        call.proof.caller = call.sender.pubkey();
    }),
    (ALREADY_REVOKED, |call| call.is_revoked = true),
    (PAYMENT_ALREADY_PROVEN, |call| call.is_proven = true),
    (PAYMENT_SPENT, |call| call.proof.task_ref_hash = SPENT),
    (AUTH_MISSING, |call| call.has_precompile = false),
    (AUTH_MALFORMED, |call| call.trailing_byte = true),
    (AUTH_EXPIRED, |call| call.proof.expiry = 0),
    (PAYMENT_WRONG_PAYEE, |call| {
        call.proof.payee = [4; 32].into()
    }),
    (PAYMENT_WRONG_PAYER, |call| {
        call.proof.payer = [4; 32].into()
    }),
    (PAYMENT_WRONG_TOKEN, |call| {
        call.proof.token = [4; 32].into()
    }),
    (PAYMENT_ZERO_AMOUNT, |call| call.proof.amount = 0),
    (PAYMENT_WRONG_FACILITATOR, |call| {
        call.proof.facilitator = [4; 32].into()
    }),
    (AUTH_WRONG_SIGNER, |call| {
        call.signer = Keypair::new_from_array([5; 32])
    }),
    (AUTH_WRONG_MESSAGE, |call| call.sign_another_message = true),
];

/// A payment that has counted for another client.
const SPENT: [u8; 32] = [0x99; 32];

impl Call {
    /// Entries 1 to 4: fresh, revoked, proven, both.
    fn instructions(&mut self) -> Vec<Instruction> {
        self.proof.feedback_index = match (self.is_missing, self.is_proven, self.is_revoked) {
            (true, ..) => 9,
            (_, proven, revoked) => 1 + u64::from(revoked) + 2 * u64::from(proven),
        };
        let mut signed = self.proof.message();
        signed[30] ^= u8::from(self.sign_another_message);
        let mut data = call(&self.signer, &signed);
        if self.trailing_byte {
            data.push(0);
        }
        let attach = self.proof.instruction();
        if self.has_precompile {
            vec![precompile(data), attach]
        } else {
            vec![attach]
        }
    }
}

/// A purchase with the four entries of [`Call::instructions`], and [`SPENT`] spent.
fn four_entries() -> Purchase {
    let mut it = Purchase::new();
    for index in 2..=4 {
        it.net.given(&it.agent, &it.client, index, 50);
    }
    for feedback_index in [3, 4] {
        it.accepts(&AttachPayment {
            feedback_index,
            ..it.proof(feedback_index as u8)
        });
    }
    for index in [2, 4] {
        let revoke = revoke_feedback(&it.client.pubkey(), &it.agent.mint, index);
        it.net.send(&[&it.client], &[revoke]).unwrap();
    }
    let client = std::mem::replace(&mut it.client, it.net.actor());
    it.net.given(&it.agent, &it.client, 1, 50);
    it.accepts(&AttachPayment {
        task_ref_hash: SPENT,
        ..it.proof(9)
    });
    it.client = client;
    let stranger = Keypair::new_from_array([3; 32]);
    it.net
        .svm
        .airdrop(&stranger.pubkey(), 1_000_000_000)
        .unwrap();
    it
}

#[test]
fn reports_the_first_of_any_two_broken_rules() {
    let mut it = four_entries();
    for (first, (code, break_first)) in BREAKS.iter().enumerate() {
        for (_, break_second) in &BREAKS[first..] {
            let mut call = Call {
                proof: it.proof(1),
                sender: it.client.insecure_clone(),
                signer: it.facilitator.insecure_clone(),
                is_missing: false,
                is_revoked: false,
                is_proven: false,
                has_precompile: true,
                trailing_byte: false,
                sign_another_message: false,
            };
            break_second(&mut call);
            break_first(&mut call);
            let instructions = call.instructions();
            let sent = it.net.send(&[&call.sender], &instructions);
            assert_refused(&sent, instructions.len() as u8 - 1, *code);
        }
    }
    it.accepts(&it.proof(1));
}

#[test]
fn the_message_is_the_published_one() {
    // the ten words of the canonical crate's vector, whose hash another program computed
    let words = [
        [1; 32],
        [5; 32],
        [6; 32],
        [7; 32],
        word(1_000_000),
        hex("7c9fd599342b43bb684dc25ea11789b2a0b079a8f80ca75755d327552c93705f"),
        word(1_900_000_000),
        hex("d29e4f51ca30c90e3b0bd295891ad4815ec081e851f67643faf3f32b4e67f68b"),
        [3; 32],
        [8; 32],
    ];
    let hash = hex("0b0dc38e0e58022a0ba0081d477d7718e4e77a3c1bc334dc62f51263794cd0be");
    assert_eq!(message(words)[24..], hash);
}

fn hex(digits: &str) -> [u8; 32] {
    std::array::from_fn(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap())
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
