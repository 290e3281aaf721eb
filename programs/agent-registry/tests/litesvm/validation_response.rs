use crate::localnet::{
    Agent, Localnet, NOW,
    accounts::Fields,
    events,
    instructions::{agent_identity, readonly, sponsored},
    refusal::*,
    swaps::{assert_forgeries_refused, assert_swaps_refused},
    validation::{
        Answer, Request, ValidationRequest, ValidationResponse, request_address, response_address,
    },
};
use solana_keypair::Keypair;
use solana_signer::Signer;

/// An agent whose request waits for its validator's answer, which is not sent yet.
fn asked() -> (Localnet, Agent, Keypair, Answer) {
    let mut net = Localnet::new();
    let (agent, validator) = (net.agent(), net.actor());
    let request = Request::new(&agent.owner.pubkey(), &agent.mint, &validator.pubkey());
    net.send(&[&agent.owner], &[request.instruction()]).unwrap();
    let answer = Answer::new(&validator.pubkey(), &agent.mint);
    (net, agent, validator, answer)
}

#[test]
fn stores_the_response_and_counts_the_validation() {
    let (mut net, agent, validator, answer) = asked();
    let mut identity = net.identity(&agent.mint);
    let request = net.request(&agent.mint, &validator.pubkey(), &answer.hash);
    net.set_clock(NOW + 6);
    net.send(&[&validator], &[answer.instruction()]).unwrap();
    assert_eq!(
        net.response(&agent.mint, &validator.pubkey(), &answer.hash),
        ValidationResponse {
            nft_mint: agent.mint,
            validator: validator.pubkey(),
            request_hash: [0x66; 32],
            score: 90,
            tag: [0x88; 32],
            created_at: NOW + 6,
            evidence_hash: [0x99; 32],
            last_update: NOW + 6,
            response_count: 1,
        }
    );
    let responded = ValidationRequest {
        responded: true,
        ..request
    };
    assert_eq!(
        net.request(&agent.mint, &validator.pubkey(), &answer.hash),
        responded
    );
    identity.validation_count = 1;
    assert_eq!(net.identity(&agent.mint), identity);
    let at = response_address(&agent.mint, &validator.pubkey(), &answer.hash);
    let account = net.account(&at);
    let rent = net.svm.minimum_balance_for_rent_exemption(195);
    assert_eq!((account.lamports, account.data.len()), (rent, 195));
}

#[test]
fn the_last_response_stands_and_the_validation_counts_once() {
    // R20
    let (mut net, agent, validator, answer) = asked();
    net.send(&[&validator], &[answer.instruction()]).unwrap();
    net.set_clock(NOW + 100);
    let last = Answer {
        score: 0,
        tag: [1; 32],
        evidence_hash: [2; 32],
        uri: vec![],
        ..answer.clone()
    };
    net.send(&[&validator], &[last.instruction()]).unwrap();
    net.send(&[&validator], &[last.instruction()]).unwrap();
    assert_eq!(
        net.response(&agent.mint, &validator.pubkey(), &answer.hash),
        ValidationResponse {
            nft_mint: agent.mint,
            validator: validator.pubkey(),
            request_hash: answer.hash,
            score: 0,
            tag: [1; 32],
            created_at: NOW,
            evidence_hash: [2; 32],
            last_update: NOW + 100,
            response_count: 3,
        }
    );
    assert_eq!(net.identity(&agent.mint).validation_count, 1);
    let second = Request {
        hash: [3; 32],
        ..Request::new(&agent.owner.pubkey(), &agent.mint, &validator.pubkey())
    };
    net.send(&[&agent.owner], &[second.instruction()]).unwrap();
    let answer = Answer {
        hash: [3; 32],
        score: 100,
        ..answer
    };
    net.send(&[&validator], &[answer.instruction()]).unwrap();
    assert_eq!(net.identity(&agent.mint).validation_count, 2);
}

#[test]
fn one_event_reports_each_response() {
    let (mut net, agent, validator, answer) = asked();
    for (score, time) in [(100, NOW), (0, NOW + 1)] {
        net.set_clock(time);
        let answer = Answer {
            score,
            uri: vec![b'e'; 200],
            ..answer.clone()
        };
        let sent = net.send(&[&validator], &[answer.instruction()]).unwrap();
        let [event] = &events(&sent)[..] else {
            panic!("one event")
        };
        let mut fields = Fields::of(event, [93, 63, 246, 101, 212, 208, 53, 167]);
        assert_eq!(
            (fields.key(), fields.key()),
            (agent.mint, validator.pubkey())
        );
        assert_eq!((fields.u8(), fields.bytes32()), (score, [0x88; 32]));
        assert_eq!(
            (fields.text(), fields.bytes32()),
            ("e".repeat(200), [0x99; 32])
        );
        assert_eq!((fields.bytes32(), fields.i64()), ([0x66; 32], time));
        fields.end();
    }
}

#[test]
fn a_transfer_of_the_agent_leaves_the_request_open() {
    let (mut net, agent, validator, answer) = asked();
    let buyer = net.actor();
    net.transfer(&agent.mint, &agent.owner, &buyer.pubkey())
        .unwrap();
    net.send(&[&validator], &[answer.instruction()]).unwrap();
    assert_eq!(net.identity(&agent.mint).validation_count, 1);
}

#[test]
fn refuses_what_was_not_requested() {
    let (mut net, agent, validator, answer) = asked();
    let nobody = net.key().pubkey();
    let mut twin = answer.hash;
    twin[31] ^= 1; // the same account, another hash (R20)
    for (mint, hash) in [
        (agent.mint, [7; 32]),
        (agent.mint, twin),
        (nobody, answer.hash),
    ] {
        let answer = Answer {
            mint,
            hash,
            ..answer.clone()
        };
        let sent = net.send(&[&validator], &[answer.instruction()]);
        assert_refused(&sent, 0, REQUEST_NOT_FOUND);
    }
    // asked of somebody else: at the stranger's own address there is nothing
    let stranger = net.actor();
    let answer = Answer::new(&stranger.pubkey(), &agent.mint);
    let sent = net.send(&[&stranger], &[answer.instruction()]);
    assert_refused(&sent, 0, REQUEST_NOT_FOUND);
}

#[test]
fn refuses_everybody_but_the_validator() {
    let (mut net, agent, validator, answer) = asked();
    let stranger = net.actor();
    for who in [&stranger, &agent.owner] {
        let mut instruction = answer.instruction();
        instruction.accounts[0].pubkey = who.pubkey();
        instruction.accounts[1].pubkey = who.pubkey();
        let sent = net.send(&[who], &[instruction]);
        assert_refused(&sent, 0, NOT_VALIDATOR);
    }
    let mut unsigned = sponsored(answer.instruction(), &stranger.pubkey());
    unsigned.accounts[0].is_signer = false;
    assert_refused(&net.send(&[&stranger], &[unsigned]), 0, 3010); // Anchor's AccountNotSigner
    net.send(&[&validator], &[answer.instruction()]).unwrap();
}

#[test]
fn reports_the_first_of_any_two_broken_rules() {
    type Break = (u32, fn(&mut Answer));
    const BREAKS: [Break; 3] = [
        (REQUEST_NOT_FOUND, |a| a.hash[20] = 1),
        (SCORE_OUT_OF_RANGE, |a| a.score = 101),
        (LENGTH_LIMIT, |a| a.uri = vec![b'a'; 201]),
    ];
    let (mut net, _, validator, answer) = asked();
    let stranger = net.actor();
    for (first, (code, break_first)) in BREAKS.iter().enumerate() {
        for (_, break_second) in &BREAKS[first..] {
            let mut call = answer.clone();
            break_second(&mut call);
            break_first(&mut call);
            let mut instruction = call.instruction();
            let sent = net.send(&[&validator], &[instruction.clone()]);
            assert_refused(&sent, 0, *code);
            // and by a stranger: after RequestNotFound, before all else
            instruction.accounts[0].pubkey = stranger.pubkey();
            instruction.accounts[1].pubkey = stranger.pubkey();
            let expected = if first == 0 { *code } else { NOT_VALIDATOR };
            let sent = net.send(&[&stranger], &[instruction]);
            assert_refused(&sent, 0, expected);
        }
    }
}

#[test]
fn refuses_scores_and_uris_beyond_their_limits() {
    // R20, R17
    let (mut net, _, validator, answer) = asked();
    for score in [101, 255] {
        let answer = Answer {
            score,
            ..answer.clone()
        };
        let sent = net.send(&[&validator], &[answer.instruction()]);
        assert_refused(&sent, 0, SCORE_OUT_OF_RANGE);
    }
    for uri in [vec![b'a'; 201], b"a\0".to_vec()] {
        let answer = Answer {
            uri,
            ..answer.clone()
        };
        let sent = net.send(&[&validator], &[answer.instruction()]);
        assert_refused(&sent, 0, LENGTH_LIMIT);
    }
}

#[test]
fn refuses_counters_at_their_maximum() {
    // R8
    const VALIDATION_COUNT: usize = 8 + 32 + 32 + 8 + 32 + 32 + 1 + 8 + 8 + 4 * 8;
    const RESPONSE_COUNT: usize = 195 - 8;
    let (mut net, agent, validator, answer) = asked();
    let patch = |net: &mut Localnet, at, offset: usize, value: u64| {
        let mut account = net.account(&at);
        account.data[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
        net.svm.set_account(at, account).unwrap();
    };
    let identity = agent_identity(&agent.mint);
    patch(&mut net, identity, VALIDATION_COUNT, u64::MAX);
    assert_eq!(net.identity(&agent.mint).validation_count, u64::MAX);
    let sent = net.send(&[&validator], &[answer.instruction()]);
    assert_refused(&sent, 0, COUNTER_EXHAUSTED);
    patch(&mut net, identity, VALIDATION_COUNT, u64::MAX - 1);
    net.send(&[&validator], &[answer.instruction()]).unwrap();
    let response = response_address(&agent.mint, &validator.pubkey(), &answer.hash);
    patch(&mut net, response, RESPONSE_COUNT, u64::MAX);
    let sent = net.send(&[&validator], &[answer.instruction()]);
    assert_refused(&sent, 0, COUNTER_EXHAUSTED);
}

#[test]
fn refuses_another_account_in_each_place() {
    let (mut net, agent, validator, answer) = asked();
    let (other, stranger) = (net.agent(), net.actor());
    let (mint, me, her) = (agent.mint, validator.pubkey(), stranger.pubkey());
    for (agent, validator, hash) in [
        (&other, &validator, answer.hash),
        (&agent, &stranger, answer.hash),
        (&agent, &validator, [9; 32]),
    ] {
        let request = Request {
            hash,
            ..Request::new(&agent.owner.pubkey(), &agent.mint, &validator.pubkey())
        };
        net.send(&[&agent.owner], &[request.instruction()]).unwrap();
        let answer = Answer {
            hash,
            ..Answer::new(&validator.pubkey(), &agent.mint)
        };
        net.send(&[validator], &[answer.instruction()]).unwrap();
    }
    let pool = [
        agent_identity(&other.mint),
        other.mint,
        request_address(&other.mint, &me, &answer.hash),
        request_address(&mint, &me, &[9; 32]),
        request_address(&mint, &me, &[8; 32]), // does not exist
        response_address(&other.mint, &me, &answer.hash),
        response_address(&mint, &her, &answer.hash),
        response_address(&mint, &me, &[9; 32]),
        response_address(&mint, &me, &[8; 32]), // does not exist
        her,
    ];
    let instruction = answer.instruction();
    for place in [2, 4, 5] {
        let mut frozen = instruction.clone();
        frozen.accounts[place] = readonly(frozen.accounts[place].pubkey);
        assert_refused(&net.send(&[&validator], &[frozen]), 0, ACCOUNT_MISMATCH);
    }
    let (sender, code) = (&validator, ACCOUNT_MISMATCH);
    assert_forgeries_refused(&mut net, sender, &instruction, &[2, 4], code);
    assert_swaps_refused(&mut net, sender, &instruction, &pool);
    // the same where the response exists
    assert_forgeries_refused(&mut net, sender, &instruction, &[2, 4, 5], code);
    assert_swaps_refused(&mut net, sender, &instruction, &pool);
    // another validator's request about the agent: named, not mistaken for the caller's own
    let mut hers = instruction;
    hers.accounts[4].pubkey = request_address(&mint, &her, &answer.hash);
    assert_refused(&net.send(&[&validator], &[hers]), 0, NOT_VALIDATOR);
}
