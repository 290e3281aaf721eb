//! `append_response` and `append_open_response`: the same rules for either profile's feedback.

use crate::localnet::{
    Agent, Localnet, NOW,
    accounts::Fields,
    events,
    instructions::{agent_identity, client_index, feedback_entry, readonly, revoke_feedback},
    open_feedback::{open_client_index, open_feedback, revoke_open_feedback},
    refusal::*,
    responses::Respond,
    swaps::{assert_forgeries_refused, assert_swaps_refused},
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Profile {
    Authorized,
    Open,
}
use Profile::{Authorized, Open};

const PROFILES: [Profile; 2] = [Authorized, Open];

impl Profile {
    fn other(self) -> Self {
        match self {
            Authorized => Open,
            Open => Authorized,
        }
    }

    fn event(self) -> [u8; 8] {
        match self {
            Authorized => [168, 169, 214, 193, 171, 1, 232, 123],
            Open => [86, 70, 232, 142, 203, 186, 99, 111],
        }
    }

    /// Where an entry's account counts its responses.
    fn count_offset(self) -> usize {
        match self {
            Authorized => 189 + 1 + 8 + 1, // after version, index and scheme
            Open => 8 + 32 + 32 + 8 + 16 + 1 + 1 + 8, // after the time
        }
    }

    fn give(self, net: &mut Localnet, agent: &Agent, client: &Keypair, index: u64) {
        match self {
            Authorized => net.given(agent, client, index, 70),
            Open => net.given_open(&agent.mint, client, index),
        }
    }

    fn revoke(self, client: &Address, mint: &Address, index: u64) -> Instruction {
        match self {
            Authorized => revoke_feedback(client, mint, index),
            Open => revoke_open_feedback(client, mint, index),
        }
    }

    fn respond(self, response: &Respond) -> Instruction {
        match self {
            Authorized => response.to_authorized(),
            Open => response.to_open(),
        }
    }

    fn entry(self, mint: &Address, client: &Address, index: u64) -> Address {
        match self {
            Authorized => feedback_entry(mint, client, index),
            Open => open_feedback(mint, client, index),
        }
    }

    /// Whether an entry is revoked, and its responses.
    fn counted(self, net: &Localnet, mint: &Address, client: &Address, index: u64) -> (bool, u64) {
        match self {
            Authorized => {
                let entry = net.entry(mint, client, index);
                (entry.revoked, entry.response_count)
            }
            Open => {
                let entry = net.open_entry(mint, client, index);
                (entry.revoked, entry.response_count)
            }
        }
    }
}

/// An agent with two feedbacks of a client, and somebody else.
fn two_feedbacks(profile: Profile) -> (Localnet, Agent, Keypair, Keypair) {
    let mut net = Localnet::new();
    let (agent, client, responder) = (net.agent(), net.actor(), net.actor());
    profile.give(&mut net, &agent, &client, 1);
    profile.give(&mut net, &agent, &client, 2);
    (net, agent, client, responder)
}

#[test]
fn counts_on_the_entry_alone() {
    for profile in PROFILES {
        let (mut net, agent, client, responder) = two_feedbacks(profile);
        let (mint, me) = (agent.mint, client.pubkey());
        let [first, second] = [1, 2].map(|index| profile.entry(&mint, &me, index));
        let identity = net.identity(&mint);
        let (mut expected, untouched) = (net.account(&first).data, net.account(&second).data);
        // R19: anyone, the agent's owner and the client themselves included, as often as they like
        let everybody = [&responder, &agent.owner, &client, &responder];
        for (before, who) in everybody.into_iter().enumerate() {
            let counted = profile.counted(&net, &mint, &me, 1);
            assert_eq!(counted, (false, before as u64));
            let respond = profile.respond(&Respond::new(&who.pubkey(), &mint, &me));
            net.send(&[who], &[respond]).unwrap();
        }
        expected[profile.count_offset()] = 4;
        assert_eq!(net.account(&first).data, expected);
        assert_eq!(net.account(&second).data, untouched);
        assert_eq!(net.identity(&mint), identity);
    }
}

#[test]
fn one_event_reports_it_with_the_responder() {
    for profile in PROFILES {
        let (mut net, agent, client, responder) = two_feedbacks(profile);
        net.set_clock(NOW + 8);
        let respond = profile.respond(&Respond {
            feedback_index: 2,
            response_uri: vec![b'r'; 200],
            ..Respond::new(&responder.pubkey(), &agent.mint, &client.pubkey())
        });
        let sent = net.send(&[&responder], &[respond]).unwrap();
        let [event] = &events(&sent)[..] else {
            panic!("one event")
        };
        let mut fields = Fields::of(event, profile.event());
        assert_eq!((fields.key(), fields.key()), (agent.mint, client.pubkey()));
        assert_eq!((fields.u64(), fields.key()), (2, responder.pubkey()));
        assert_eq!(fields.text(), "r".repeat(200));
        assert_eq!((fields.bytes32(), fields.i64()), ([0x55; 32], NOW + 8));
        fields.end();
    }
}

#[test]
fn a_revoked_feedback_can_be_responded_to() {
    // R19
    for profile in PROFILES {
        let (mut net, agent, client, responder) = two_feedbacks(profile);
        let (mint, me) = (agent.mint, client.pubkey());
        let revoke = profile.revoke(&me, &mint, 1);
        net.send(&[&client], &[revoke]).unwrap();
        let respond = profile.respond(&Respond::new(&responder.pubkey(), &mint, &me));
        net.send(&[&responder], &[respond]).unwrap();
        assert_eq!(profile.counted(&net, &mint, &me, 1), (true, 1));
    }
}

#[test]
fn refuses_what_does_not_exist() {
    for profile in PROFILES {
        let (mut net, agent, client, responder) = two_feedbacks(profile);
        let nobody = net.key().pubkey();
        profile.other().give(&mut net, &agent, &client, 1);
        for (mint, client, index) in [
            (agent.mint, client.pubkey(), 0),        // indices begin at 1
            (agent.mint, client.pubkey(), 3),        // beyond the last
            (agent.mint, client.pubkey(), u64::MAX), //
            (nobody, client.pubkey(), 1),            // no such agent
            (agent.mint, responder.pubkey(), 1),     // never gave feedback
        ] {
            let respond = profile.respond(&Respond {
                feedback_index: index,
                ..Respond::new(&responder.pubkey(), &mint, &client)
            });
            let sent = net.send(&[&responder], &[respond]);
            assert_refused(&sent, 0, FEEDBACK_NOT_FOUND);
        }
    }
}

#[test]
fn reports_the_first_of_any_two_broken_rules() {
    for profile in PROFILES {
        let (mut net, agent, client, responder) = two_feedbacks(profile);
        let new = Respond::new(&responder.pubkey(), &agent.mint, &client.pubkey());
        for (index, uri, code) in [
            (0, vec![], FEEDBACK_NOT_FOUND),
            (0, vec![b'a'; 201], FEEDBACK_NOT_FOUND),
            (0, b"a".to_vec(), FEEDBACK_NOT_FOUND),
            (3, vec![], EMPTY_URI),
            (1, vec![], EMPTY_URI),
            (3, vec![b'a'; 201], FEEDBACK_NOT_FOUND),
            (1, vec![b'a'; 201], LENGTH_LIMIT),
            (1, b"a\0".to_vec(), LENGTH_LIMIT),
        ] {
            let respond = profile.respond(&Respond {
                feedback_index: index,
                response_uri: uri,
                ..new.clone()
            });
            let sent = net.send(&[&responder], &[respond]);
            assert_refused(&sent, 0, code);
        }
        // index 0 is wrong whatever account stands for it
        let mut instruction = profile.respond(&Respond {
            feedback_index: 0,
            ..new
        });
        instruction.accounts[2].pubkey = profile.entry(&agent.mint, &client.pubkey(), 1);
        let sent = net.send(&[&responder], &[instruction]);
        assert_refused(&sent, 0, FEEDBACK_NOT_FOUND);
    }
}

#[test]
fn refuses_a_counter_at_its_maximum() {
    // R8
    for profile in PROFILES {
        let (mut net, agent, client, responder) = two_feedbacks(profile);
        let (mint, me) = (agent.mint, client.pubkey());
        let at = profile.entry(&mint, &me, 1);
        let respond = [profile.respond(&Respond::new(&responder.pubkey(), &mint, &me))];
        let mut account = net.account(&at);
        let offset = profile.count_offset();
        account.data[offset..offset + 8].copy_from_slice(&(u64::MAX - 1).to_le_bytes());
        net.svm.set_account(at, account).unwrap();
        net.send(&[&responder], &respond).unwrap();
        assert_eq!(profile.counted(&net, &mint, &me, 1), (false, u64::MAX));
        let sent = net.send(&[&responder], &respond);
        assert_refused(&sent, 0, COUNTER_EXHAUSTED);
    }
}

#[test]
fn refuses_another_account_in_each_place() {
    for profile in PROFILES {
        let (mut net, agent, client, stranger) = two_feedbacks(profile);
        let other = net.agent();
        for (agent, who) in [(&agent, &stranger), (&other, &client)] {
            Open.give(&mut net, agent, who, 1);
            Authorized.give(&mut net, agent, who, 1);
        }
        profile.other().give(&mut net, &agent, &client, 1);
        let (mint, me, her) = (agent.mint, client.pubkey(), stranger.pubkey());
        let pool = [
            agent_identity(&mint),
            other.mint,
            client_index(&mint, &me),
            open_client_index(&mint, &me),
            profile.entry(&mint, &me, 2),
            profile.entry(&mint, &me, 3), // does not exist
            profile.entry(&mint, &her, 1),
            profile.entry(&other.mint, &me, 1),
            profile.other().entry(&mint, &me, 1),
            me,
        ];
        let instruction = profile.respond(&Respond::new(&her, &mint, &me));
        let mut frozen = instruction.clone();
        frozen.accounts[2] = readonly(frozen.accounts[2].pubkey);
        assert_refused(&net.send(&[&stranger], &[frozen]), 0, ACCOUNT_MISMATCH);
        let mut unsigned = instruction.clone();
        unsigned.accounts[0].is_signer = false;
        assert_refused(&net.send(&[&client], &[unsigned]), 0, 3010); // Anchor's AccountNotSigner
        assert_forgeries_refused(&mut net, &stranger, &instruction, &[2], ACCOUNT_MISMATCH);
        assert_swaps_refused(&mut net, &stranger, &instruction, &pool);
    }
}
