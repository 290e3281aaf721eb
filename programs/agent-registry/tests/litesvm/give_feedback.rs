use crate::localnet::{
    Localnet, NOW,
    accounts::{FeedbackEntry, Fields},
    authorization::{Authorization, word},
    events,
    instructions::{
        GiveFeedback, agent_identity, client_index, feedback_entry, readonly, sponsored,
        system_program,
    },
    program_id,
    refusal::*,
    stranger_id,
    token_2022::token_account,
};
use solana_address::Address;
use solana_signer::Signer;

#[test]
fn stores_the_entry_and_counts_it() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    net.give(&client, &agent.owner, &feedback).unwrap();

    let at = feedback_entry(&agent.mint, &client.pubkey(), 1);
    let account = net.account(&at);
    assert_eq!(account.owner, program_id());
    assert_eq!(
        account.lamports,
        net.svm
            .minimum_balance_for_rent_exemption(account.data.len())
    );
    // R12
    assert_eq!(
        net.entry(&agent.mint, &client.pubkey(), 1),
        FeedbackEntry {
            nft_mint: agent.mint,
            reviewer: client.pubkey(),
            score: 85,
            tags: [[0x11; 32], [0x22; 32]],
            auth_verified: true, // R10
            has_payment_proof: false,
            payment: (0, Address::default()),
            revoked: false,
            created_at: NOW,
            feedback_index: 1,
            auth_scheme: 2,
            response_count: 0,
            by_stranger: true,
        }
    );
    let index = net.client_index(&agent.mint, &client.pubkey());
    assert_eq!((index.agent, index.client), (agent.mint, client.pubkey()));
    assert_eq!((index.last_index, index.ordinal), (1, 1));
    let identity = net.identity(&agent.mint);
    assert_eq!(identity.unverified, (1, 85));
    assert_eq!(identity.verified, (0, 0));
    assert_eq!(identity.client_count, 1);
}

#[test]
fn one_event_reports_it_with_the_signature() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    let message = Authorization::of(&feedback, &agent.owner.pubkey()).message();
    let sent = net.give(&client, &agent.owner, &feedback).unwrap();
    let [event] = &events(&sent)[..] else {
        panic!("one event")
    };
    let mut fields = Fields::of(event, [64, 65, 2, 152, 174, 215, 156, 194]);
    assert_eq!(fields.key(), agent.mint);
    assert_eq!(fields.key(), client.pubkey());
    assert_eq!(fields.u8(), 85);
    assert_eq!(
        (fields.bytes32(), fields.bytes32()),
        ([0x11; 32], [0x22; 32])
    );
    assert_eq!((fields.flag(), fields.u64()), (false, 0));
    assert_eq!(fields.text().as_bytes(), feedback.detail_uri);
    assert_eq!(fields.bytes32(), [0x33; 32]);
    let signature = agent.owner.sign_message(&message);
    assert_eq!(&fields.bytes64()[..], signature.as_ref()); // R11
    assert_eq!((fields.i64(), fields.u64(), fields.u8()), (NOW, 1, 2));
    fields.end();
}

#[test]
fn indices_follow_each_other_and_clients_have_ordinals() {
    // R8
    let mut net = Localnet::new();
    let agent = net.agent();
    let (first, second) = (net.actor(), net.actor());
    for (client, index, score) in [
        (&first, 1, 100),
        (&second, 1, 0),
        (&first, 2, 50),
        (&first, 3, 7),
        (&second, 2, 1),
    ] {
        net.given(&agent, client, index, score);
    }
    for (client, ordinal, last) in [(&first, 1, 3), (&second, 2, 2)] {
        let index = net.client_index(&agent.mint, &client.pubkey());
        assert_eq!((index.ordinal, index.last_index), (ordinal, last));
    }
    let identity = net.identity(&agent.mint);
    assert_eq!(identity.unverified, (5, 158));
    assert_eq!(identity.client_count, 2);
}

#[test]
fn agents_count_apart() {
    let mut net = Localnet::new();
    let (one, two, client) = (net.agent(), net.agent(), net.actor());
    net.given(&one, &client, 1, 10);
    net.given(&two, &client, 1, 20);
    assert_eq!(net.identity(&one.mint).unverified, (1, 10));
    assert_eq!(net.identity(&two.mint).unverified, (1, 20));
}

#[test]
fn accepts_scores_0_to_100_and_refuses_101_to_255() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    net.given(&agent, &client, 1, 0);
    net.given(&agent, &client, 2, 100);
    for score in 101..=255 {
        let feedback = GiveFeedback {
            feedback_index: 3,
            index_limit: 3,
            score,
            ..GiveFeedback::new(&agent.mint, &client.pubkey())
        };
        let sent = net.give(&client, &agent.owner, &feedback);
        assert_refused(&sent, 1, SCORE_OUT_OF_RANGE);
    }
}

#[test]
fn refuses_an_unknown_agent() {
    let mut net = Localnet::new();
    let (agent, client, nobody) = (net.agent(), net.actor(), net.key());
    let feedback = GiveFeedback::new(&nobody.pubkey(), &client.pubkey());
    let sent = net.give(&client, &agent.owner, &feedback);
    assert_refused(&sent, 1, AGENT_NOT_FOUND);
}

#[test]
fn refuses_the_owner() {
    // R18
    let mut net = Localnet::new();
    let agent = net.agent();
    let feedback = GiveFeedback::new(&agent.mint, &agent.owner.pubkey());
    let sent = net.give(&agent.owner, &agent.owner, &feedback);
    assert_refused(&sent, 1, SELF_FEEDBACK);
}

#[test]
fn refuses_the_feedback_authority() {
    // R18
    let mut net = Localnet::new();
    let (agent, authority) = (net.agent(), net.actor());
    net.set_feedback_authority(&agent.mint, &authority.pubkey());
    let feedback = GiveFeedback::new(&agent.mint, &authority.pubkey());
    let sent = net.give(&authority, &authority, &feedback);
    assert_refused(&sent, 1, SELF_FEEDBACK);
}

#[test]
fn a_previous_owner_may_review_and_the_new_one_may_not() {
    // R18
    let mut net = Localnet::new();
    let (agent, buyer) = (net.agent(), net.actor());
    net.transfer(&agent.mint, &agent.owner, &buyer.pubkey())
        .unwrap();
    let by_buyer = GiveFeedback::new(&agent.mint, &buyer.pubkey());
    assert_refused(&net.give(&buyer, &buyer, &by_buyer), 1, SELF_FEEDBACK);
    let by_seller = GiveFeedback::new(&agent.mint, &agent.owner.pubkey());
    net.give(&agent.owner, &buyer, &by_seller).unwrap();
}

#[test]
fn accepts_detail_uris_up_to_200_bytes() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    for (index, uri) in (1..).zip(["", &"a".repeat(200), &"é".repeat(100)]) {
        let feedback = GiveFeedback {
            feedback_index: index,
            index_limit: index,
            detail_uri: uri.as_bytes().to_vec(),
            ..GiveFeedback::new(&agent.mint, &client.pubkey())
        };
        net.give(&client, &agent.owner, &feedback).unwrap();
    }
}

#[test]
fn refuses_detail_uris_over_200_bytes_or_with_nul() {
    // R17
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    for uri in [vec![b'a'; 201], b"a\0b".to_vec(), vec![0]] {
        let feedback = GiveFeedback {
            detail_uri: uri,
            ..GiveFeedback::new(&agent.mint, &client.pubkey())
        };
        let sent = net.give(&client, &agent.owner, &feedback);
        assert_refused(&sent, 1, LENGTH_LIMIT);
    }
    let feedback = GiveFeedback {
        detail_uri: vec![0xC0, 0x80],
        ..GiveFeedback::new(&agent.mint, &client.pubkey())
    };
    // not UTF-8: Anchor's InstructionDidNotDeserialize
    assert_refused(&net.give(&client, &agent.owner, &feedback), 1, 102);
}

#[test]
fn refuses_every_index_but_the_next() {
    // R8, R12
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    net.given(&agent, &client, 1, 50);
    for feedback_index in [0, 1, 3, u64::MAX] {
        let feedback = GiveFeedback {
            feedback_index,
            index_limit: u64::MAX,
            ..GiveFeedback::new(&agent.mint, &client.pubkey())
        };
        let sent = net.give(&client, &agent.owner, &feedback);
        assert_refused(&sent, 1, FEEDBACK_INDEX_STALE);
    }
}

/// Writes a u64 into an account, as no instruction can.
fn patch(net: &mut Localnet, at: &Address, offset: usize, value: u64) {
    let mut account = net.account(at);
    account.data[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
    net.svm.set_account(*at, account).unwrap();
}

#[test]
fn refuses_when_a_counter_is_at_its_maximum() {
    // R8
    const UNVERIFIED_COUNT: usize = 177;
    const UNVERIFIED_SUM: usize = 185;
    const CLIENT_COUNT: usize = 201;
    const LAST_INDEX: usize = 72;
    let mut net = Localnet::new();
    let client = net.actor();
    for (offset, value) in [
        (UNVERIFIED_COUNT, u64::MAX),
        (UNVERIFIED_SUM, u64::MAX - 84),
        (CLIENT_COUNT, u64::MAX),
    ] {
        let agent = net.agent();
        patch(&mut net, &agent_identity(&agent.mint), offset, value);
        let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
        let sent = net.give(&client, &agent.owner, &feedback);
        assert_refused(&sent, 1, COUNTER_EXHAUSTED);
        patch(&mut net, &agent_identity(&agent.mint), offset, value - 1);
        net.give(&client, &agent.owner, &feedback).unwrap();
    }
    let agent = net.agent();
    net.given(&agent, &client, 1, 1);
    let at = client_index(&agent.mint, &client.pubkey());
    patch(&mut net, &at, LAST_INDEX, u64::MAX);
    let feedback = GiveFeedback {
        feedback_index: 0,
        index_limit: u64::MAX,
        ..GiveFeedback::new(&agent.mint, &client.pubkey())
    };
    let sent = net.give(&client, &agent.owner, &feedback);
    assert_refused(&sent, 1, COUNTER_EXHAUSTED);
    // and the last one that a limit can cover
    patch(&mut net, &at, LAST_INDEX, u64::MAX - 1);
    let feedback = GiveFeedback {
        feedback_index: u64::MAX,
        ..feedback
    };
    net.give(&client, &agent.owner, &feedback).unwrap();
}

#[test]
fn refuses_another_account_in_each_place() {
    let mut net = Localnet::new();
    let (agent, other, client, stranger) = (net.agent(), net.agent(), net.actor(), net.actor());
    net.given(&agent, &client, 1, 50);
    net.given(&agent, &stranger, 1, 50);
    net.given(&other, &client, 1, 50);
    let (mint, me) = (agent.mint, client.pubkey());
    let accounts = [
        agent_identity(&mint),
        agent_identity(&other.mint),
        client_index(&mint, &me),
        client_index(&mint, &stranger.pubkey()),
        client_index(&other.mint, &me),
        feedback_entry(&mint, &me, 1),
        feedback_entry(&mint, &me, 2),
        feedback_entry(&mint, &me, 3),
        feedback_entry(&mint, &stranger.pubkey(), 1),
        token_account(&agent.owner.pubkey(), &mint),
        other.mint,
        stranger.pubkey(),
        system_program(),
        program_id(),
    ];
    let feedback = GiveFeedback {
        feedback_index: 2,
        index_limit: 2,
        ..GiveFeedback::new(&mint, &me)
    };
    let authorization = Authorization::of(&feedback, &agent.owner.pubkey());
    for place in 2..11 {
        for account in accounts {
            let mut instruction = feedback.instruction();
            let genuine = instruction.accounts[place].pubkey;
            if genuine == account {
                continue;
            }
            instruction.accounts[place].pubkey = account;
            let precompile = authorization.signed_by(&agent.owner);
            let sent = net.send(&[&client], &[precompile, instruction]);
            assert_refused(&sent, 1, mismatch_of(&genuine));
        }
    }
    net.give(&client, &agent.owner, &feedback).unwrap();
}

#[test]
fn refuses_accounts_that_another_program_forged() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    net.given(&agent, &client, 1, 50);
    let feedback = GiveFeedback {
        feedback_index: 2,
        index_limit: 2,
        ..GiveFeedback::new(&agent.mint, &client.pubkey())
    };
    for place in [3, 5] {
        let mut instruction = feedback.instruction();
        let mut forged = net.account(&instruction.accounts[place].pubkey);
        forged.owner = stranger_id();
        let at = Address::from([9; 32]);
        net.svm.set_account(at, forged).unwrap();
        instruction.accounts[place].pubkey = at;
        let precompile =
            Authorization::of(&feedback, &agent.owner.pubkey()).signed_by(&agent.owner);
        let sent = net.send(&[&client], &[precompile, instruction]);
        assert_refused(&sent, 1, ACCOUNT_MISMATCH);
    }
}

#[test]
fn refuses_where_no_registry_is_initialized() {
    // R9: no chain word, no message
    let mut net = Localnet::uninitialized();
    let (agent, client) = (net.agent(), net.actor());
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    let sent = net.give(&client, &agent.owner, &feedback);
    assert_refused(&sent, 1, ACCOUNT_MISMATCH);
}

#[test]
fn refuses_when_the_client_has_not_signed() {
    let mut net = Localnet::new();
    let (agent, client, payer) = (net.agent(), net.actor(), net.actor());
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    let mut instruction = sponsored(feedback.instruction(), &payer.pubkey());
    instruction.accounts[0].is_signer = false;
    let precompile = Authorization::of(&feedback, &agent.owner.pubkey()).signed_by(&agent.owner);
    let sent = net.send(&[&payer], &[precompile, instruction]);
    assert_refused(&sent, 1, 3010); // Anchor's AccountNotSigner
}

#[test]
fn refuses_accounts_that_are_not_writable() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    for place in [3, 5, 6] {
        let mut instruction = feedback.instruction();
        instruction.accounts[place] = readonly(instruction.accounts[place].pubkey);
        let precompile =
            Authorization::of(&feedback, &agent.owner.pubkey()).signed_by(&agent.owner);
        let sent = net.send(&[&client], &[precompile, instruction]);
        assert_refused(&sent, 1, ACCOUNT_MISMATCH);
    }
}

#[test]
fn another_payer_may_carry_the_transaction() {
    let mut net = Localnet::new();
    let (agent, client, payer) = (net.agent(), net.actor(), net.actor());
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    let authorization = Authorization::of(&feedback, &agent.owner.pubkey());
    assert_eq!(authorization.index_limit, word(1));
    let instructions = [
        authorization.signed_by(&agent.owner),
        feedback.instruction(),
    ];
    net.send(&[&payer, &client], &instructions).unwrap();
}
