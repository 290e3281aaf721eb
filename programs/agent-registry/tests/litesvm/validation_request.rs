use crate::localnet::{
    Agent, Localnet, NOW,
    accounts::Fields,
    events,
    instructions::{agent_identity, readonly, sponsored},
    program_id,
    refusal::*,
    swaps::{assert_forgeries_refused, assert_swaps_refused},
    token_2022,
    token_2022::token_account,
    validation::{Answer, Request, ValidationRequest, request_address, response_address},
};
use solana_account::Account;
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;

/// An agent and its request to a validator, not sent yet.
fn asking() -> (Localnet, Agent, Keypair, Request) {
    let mut net = Localnet::new();
    let (agent, validator) = (net.agent(), net.actor());
    let request = Request::new(&agent.owner.pubkey(), &agent.mint, &validator.pubkey());
    (net, agent, validator, request)
}

#[test]
fn stores_a_pending_request() {
    let (mut net, agent, validator, request) = asking();
    let identity = net.identity(&agent.mint);
    net.set_clock(NOW + 4);
    net.send(&[&agent.owner], &[request.instruction()]).unwrap();
    assert_eq!(
        net.request(&agent.mint, &validator.pubkey(), &request.hash),
        ValidationRequest {
            nft_mint: agent.mint,
            validator: validator.pubkey(),
            request_hash: [0x66; 32],
            tag: [0x77; 32],
            responded: false,
            created_at: NOW + 4,
        }
    );
    assert_eq!(net.identity(&agent.mint), identity);
    let at = request_address(&agent.mint, &validator.pubkey(), &request.hash);
    let rent = net.svm.minimum_balance_for_rent_exemption(147);
    assert_eq!(net.account(&at).lamports, rent);
}

#[test]
fn one_event_reports_it() {
    let (mut net, agent, validator, mut request) = asking();
    request.uri = vec![b'u'; 200];
    let sent = net.send(&[&agent.owner], &[request.instruction()]).unwrap();
    let [event] = &events(&sent)[..] else {
        panic!("one event")
    };
    let mut fields = Fields::of(event, [133, 42, 252, 198, 82, 135, 183, 65]);
    assert_eq!(
        (fields.key(), fields.key()),
        (agent.mint, validator.pubkey())
    );
    assert_eq!(
        (fields.bytes32(), fields.bytes32()),
        ([0x66; 32], [0x77; 32])
    );
    assert_eq!((fields.text(), fields.i64()), ("u".repeat(200), NOW));
    fields.end();
}

#[test]
fn accepts_hash_zero_and_the_owner_as_validator_and_an_empty_uri() {
    // R20
    let (mut net, agent, _, request) = asking();
    let request = Request {
        validator: agent.owner.pubkey(),
        hash: [0; 32],
        uri: vec![],
        ..request
    };
    net.send(&[&agent.owner], &[request.instruction()]).unwrap();
    let answer = Answer {
        hash: [0; 32],
        ..Answer::new(&agent.owner.pubkey(), &agent.mint)
    };
    net.send(&[&agent.owner], &[answer.instruction()]).unwrap();
    assert_eq!(net.identity(&agent.mint).validation_count, 1);
}

#[test]
fn one_hash_may_be_asked_of_another_validator_and_about_another_agent() {
    // variance 3
    let (mut net, agent, _, request) = asking();
    let (second, other) = (net.actor(), net.agent());
    net.send(&[&agent.owner], &[request.instruction()]).unwrap();
    let elsewhere = Request {
        validator: second.pubkey(),
        ..request.clone()
    };
    net.send(&[&agent.owner], &[elsewhere.instruction()])
        .unwrap();
    let others = Request {
        owner: other.owner.pubkey(),
        mint: other.mint,
        ..request
    };
    net.send(&[&other.owner], &[others.instruction()]).unwrap();
}

#[test]
fn refuses_the_same_hash_again_even_after_the_response() {
    let (mut net, agent, validator, request) = asking();
    net.send(&[&agent.owner], &[request.instruction()]).unwrap();
    let again = Request {
        tag: [1; 32],
        ..request
    };
    let sent = net.send(&[&agent.owner], &[again.instruction()]);
    assert_refused(&sent, 0, REQUEST_EXISTS);
    let answer = Answer::new(&validator.pubkey(), &agent.mint);
    net.send(&[&validator], &[answer.instruction()]).unwrap();
    let sent = net.send(&[&agent.owner], &[again.instruction()]);
    assert_refused(&sent, 0, REQUEST_EXISTS);
}

#[test]
fn refuses_another_hash_with_the_same_first_8_bytes() {
    // R20
    let (mut net, agent, _, request) = asking();
    net.send(&[&agent.owner], &[request.instruction()]).unwrap();
    for place in [8, 31] {
        let mut twin = request.clone();
        twin.hash[place] ^= 1;
        let sent = net.send(&[&agent.owner], &[twin.instruction()]);
        assert_refused(&sent, 0, REQUEST_PREFIX_COLLISION);
    }
    let mut neighbour = request;
    neighbour.hash[7] ^= 1;
    net.send(&[&agent.owner], &[neighbour.instruction()])
        .unwrap();
}

#[test]
fn refuses_everybody_but_the_owner() {
    // R20, R4: a delegate and the feedback authority have no say
    let (mut net, agent, validator, request) = asking();
    let (stranger, delegate, authority) = (net.actor(), net.actor(), net.actor());
    let (owner, mint) = (agent.owner.pubkey(), agent.mint);
    let approve = token_2022::approve(
        &token_account(&owner, &mint),
        &mint,
        &delegate.pubkey(),
        &owner,
    );
    net.send(&[&agent.owner], &[approve]).unwrap();
    net.set_feedback_authority(&mint, &authority.pubkey());
    for who in [&stranger, &delegate, &authority, &validator] {
        let request = Request {
            owner: who.pubkey(),
            ..request.clone()
        };
        let sent = net.send(&[who], &[request.instruction()]);
        assert_refused(&sent, 0, NOT_AUTHORIZED);
    }
}

#[test]
fn a_transfer_hands_the_right_over() {
    let (mut net, agent, _, request) = asking();
    let buyer = net.actor();
    net.transfer(&agent.mint, &agent.owner, &buyer.pubkey())
        .unwrap();
    let sent = net.send(&[&agent.owner], &[request.instruction()]);
    assert_refused(&sent, 0, NOT_AUTHORIZED);
    let request = Request {
        owner: buyer.pubkey(),
        ..request
    };
    net.send(&[&buyer], &[request.instruction()]).unwrap();
}

#[test]
fn refuses_uris_beyond_the_limit_and_nul() {
    // R17
    let (mut net, agent, _, request) = asking();
    for uri in [vec![b'a'; 201], b"\0".to_vec()] {
        let request = Request {
            uri,
            ..request.clone()
        };
        let sent = net.send(&[&agent.owner], &[request.instruction()]);
        assert_refused(&sent, 0, LENGTH_LIMIT);
    }
    let longest = Request {
        uri: vec![b'a'; 200],
        ..request
    };
    net.send(&[&agent.owner], &[longest.instruction()]).unwrap();
}

#[test]
fn reports_the_first_of_any_two_broken_rules() {
    type Break = (u32, fn(&mut Request));
    const UNKNOWN: Address = Address::new_from_array([5; 32]);
    // The requests that exist: hash 1 about the agent, and hash 1 about the unknown agent
    // cannot be; so RequestExists and RequestPrefixCollision are broken by hash alone.
    const BREAKS: [Break; 6] = [
        (VALIDATOR_ZERO, |r| r.validator = Address::default()),
        (REQUEST_EXISTS, |r| r.hash = [1; 32]),
        (AGENT_NOT_FOUND, |r| r.mint = UNKNOWN),
        (NOT_AUTHORIZED, |r| r.owner = Address::default()), // stands for the stranger
        (REQUEST_PREFIX_COLLISION, |r| r.hash[..8].fill(1)),
        (LENGTH_LIMIT, |r| r.uri = vec![b'a'; 201]),
    ];
    let (mut net, agent, _, request) = asking();
    let stranger = net.actor();
    let taken = Request {
        hash: [1; 32],
        ..request.clone()
    };
    net.send(&[&agent.owner], &[taken.instruction()]).unwrap();
    for (first, (code, break_first)) in BREAKS.iter().enumerate() {
        for (second, (_, break_second)) in BREAKS.iter().enumerate().skip(first) {
            // nothing is requested about an unknown agent, and a hash is taken or a twin
            if matches!((first, second), (1, 2 | 4) | (2, 4)) {
                continue;
            }
            let mut call = request.clone();
            break_second(&mut call);
            break_first(&mut call);
            let sender = if call.owner == agent.owner.pubkey() {
                &agent.owner
            } else {
                call.owner = stranger.pubkey();
                &stranger
            };
            let sent = net.send(&[sender], &[call.instruction()]);
            assert_refused(&sent, 0, *code);
        }
    }
}

#[test]
fn refuses_another_account_in_each_place() {
    let (mut net, agent, validator, request) = asking();
    let (other, stranger) = (net.agent(), net.actor());
    let others = Request {
        owner: other.owner.pubkey(),
        mint: other.mint,
        ..request.clone()
    };
    net.send(&[&other.owner], &[others.instruction()]).unwrap();
    let strangers = Request {
        validator: stranger.pubkey(),
        ..request.clone()
    };
    net.send(&[&agent.owner], &[strangers.instruction()])
        .unwrap();
    let answer = Answer::new(&stranger.pubkey(), &agent.mint);
    net.send(&[&stranger], &[answer.instruction()]).unwrap();
    let second = Request {
        hash: [9; 32],
        ..request.clone()
    };
    net.send(&[&agent.owner], &[second.instruction()]).unwrap();
    let (mint, hash) = (agent.mint, request.hash);
    let pool = [
        agent_identity(&other.mint),
        other.mint,
        request_address(&other.mint, &validator.pubkey(), &hash),
        request_address(&mint, &stranger.pubkey(), &hash),
        request_address(&mint, &validator.pubkey(), &[9; 32]),
        request_address(&mint, &validator.pubkey(), &[8; 32]), // does not exist
        response_address(&mint, &stranger.pubkey(), &hash),
        stranger.pubkey(),
    ];
    let instruction = request.instruction();
    let mut frozen = instruction.clone();
    frozen.accounts[4] = readonly(frozen.accounts[4].pubkey);
    assert_refused(&net.send(&[&agent.owner], &[frozen]), 0, ACCOUNT_MISMATCH);
    let mut unsigned = sponsored(instruction.clone(), &stranger.pubkey());
    unsigned.accounts[0].is_signer = false;
    assert_refused(&net.send(&[&stranger], &[unsigned]), 0, 3010); // Anchor's AccountNotSigner
    let owner = &agent.owner;
    assert_forgeries_refused(&mut net, owner, &instruction, &[2], ACCOUNT_MISMATCH);
    assert_swaps_refused(&mut net, owner, &instruction, &pool);
}

#[test]
fn takes_over_lamports_that_were_sent_to_its_address() {
    let (mut net, agent, validator, request) = asking();
    let at = request_address(&agent.mint, &validator.pubkey(), &request.hash);
    let account = Account {
        lamports: 1,
        ..Account::default()
    };
    net.svm.set_account(at, account).unwrap();
    net.send(&[&agent.owner], &[request.instruction()]).unwrap();
    let rent = net.svm.minimum_balance_for_rent_exemption(147);
    let account = net.account(&at);
    assert_eq!((account.owner, account.lamports), (program_id(), rent));
}
