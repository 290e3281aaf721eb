//! Random sequences of open feedback, revocation and response, by several clients about several
//! agents: the counters must equal what the entries say, and what a plain record of the accepted
//! calls says.

use crate::localnet::{
    Agent, Localnet,
    open_feedback::{GiveOpenFeedback, OPEN_SUMMARY_PART, open_summary, revoke_open_feedback},
    refusal::*,
    responses::Respond,
};
use proptest::prelude::*;
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::collections::BTreeMap;

const AGENTS: usize = 2;
const CLIENTS: usize = 3;

#[derive(Clone, Debug)]
enum Step {
    /// `skip`: how far the named index is from the next one.
    Give {
        skip: u64,
        value: i128,
        decimals: u8,
    },
    Revoke {
        index: u64,
    },
    Respond {
        index: u64,
    },
}

fn step() -> impl Strategy<Value = (usize, usize, Step)> {
    let kind = prop_oneof![
        4 => (prop_oneof![5 => Just(0u64), 1 => 1..3u64], any::<i64>(), 0..=19u8).prop_map(
            |(skip, value, decimals)| Step::Give { skip, value: value.into(), decimals }
        ),
        2 => (0..5u64).prop_map(|index| Step::Revoke { index }),
        2 => (0..5u64).prop_map(|index| Step::Respond { index }),
    ];
    (0..AGENTS, 0..CLIENTS, kind)
}

/// What a client's entries must be: decimals, revoked, responses.
type Entries = Vec<(u8, bool, u64)>;

struct Record {
    net: Localnet,
    agents: Vec<Agent>,
    clients: Vec<Keypair>,
    entries: BTreeMap<(usize, usize), Entries>,
    /// Per agent, clients in order of their first feedback.
    order: [Vec<usize>; AGENTS],
}

impl Record {
    fn new() -> Self {
        let mut net = Localnet::new();
        let agents = (0..AGENTS).map(|_| net.agent()).collect();
        let clients = (0..CLIENTS).map(|_| net.actor()).collect();
        Self {
            net,
            agents,
            clients,
            entries: BTreeMap::new(),
            order: [const { vec![] }; AGENTS],
        }
    }

    fn run(&mut self, agent: usize, client: usize, step: &Step) {
        let (mint, keypair) = (
            self.agents[agent].mint,
            self.clients[client].insecure_clone(),
        );
        let me = keypair.pubkey();
        let entries = self.entries.entry((agent, client)).or_default();
        let last = entries.len() as u64;
        let entry = |index: u64| usize::try_from(index).unwrap().wrapping_sub(1);
        match *step {
            Step::Give {
                skip,
                value,
                decimals,
            } => {
                let feedback = GiveOpenFeedback {
                    feedback_index: last + 1 + skip,
                    value,
                    value_decimals: decimals,
                    ..GiveOpenFeedback::new(&mint, &me)
                };
                let sent = self.net.give_open(&keypair, &feedback);
                if decimals > 18 {
                    assert_refused(&sent, 0, DECIMALS_OUT_OF_RANGE);
                } else if skip > 0 {
                    assert_refused(&sent, 0, FEEDBACK_INDEX_STALE);
                } else {
                    sent.unwrap();
                    entries.push((decimals, false, 0));
                    if last == 0 {
                        self.order[agent].push(client);
                    }
                }
            }
            Step::Revoke { index } => {
                let sent = self
                    .net
                    .send(&[&keypair], &[revoke_open_feedback(&me, &mint, index)]);
                match entries.get_mut(entry(index)) {
                    None => assert_refused(&sent, 0, FEEDBACK_NOT_FOUND),
                    Some((_, true, _)) => assert_refused(&sent, 0, ALREADY_REVOKED),
                    Some((_, revoked, _)) => {
                        sent.unwrap();
                        *revoked = true;
                    }
                }
            }
            Step::Respond { index } => {
                let respond = Respond {
                    feedback_index: index,
                    ..Respond::new(&me, &mint, &me)
                };
                let sent = self.net.send(&[&keypair], &[respond.to_open()]);
                match entries.get_mut(entry(index)) {
                    None => assert_refused(&sent, 0, FEEDBACK_NOT_FOUND),
                    Some((_, _, responses)) => {
                        sent.unwrap();
                        *responses += 1;
                    }
                }
            }
        }
    }

    fn check(&mut self) {
        for (agent, order) in self.order.clone().iter().enumerate() {
            let mint = self.agents[agent].mint;
            let identity = self.net.identity(&mint);
            assert_eq!(identity.open_client_count, order.len() as u64);
            assert_eq!((identity.client_count, identity.unverified), (0, (0, 0)));
            let mut histogram = [0u64; 19];
            let mut listed = vec![];
            for (place, client) in order.iter().enumerate() {
                let me = self.clients[*client].pubkey();
                let entries = &self.entries[&(agent, *client)];
                let index = self.net.open_client_index(&mint, &me);
                assert_eq!(index.ordinal, place as u64 + 1);
                assert_eq!(index.last_index, entries.len() as u64);
                for (number, (decimals, revoked, responses)) in (1..).zip(entries) {
                    let entry = self.net.open_entry(&mint, &me, number);
                    assert_eq!(entry.value_decimals, *decimals);
                    assert_eq!(
                        (entry.revoked, entry.response_count),
                        (*revoked, *responses)
                    );
                    histogram[usize::from(*decimals)] += u64::from(!revoked);
                }
                listed.push((me, index.last_index));
            }
            if !listed.is_empty() {
                self.check_summary(agent, &listed, histogram);
            }
        }
    }

    fn check_summary(
        &mut self,
        agent: usize,
        listed: &[(solana_address::Address, u64)],
        histogram: [u64; 19],
    ) {
        let mint = self.agents[agent].mint;
        let reader = self.clients[0].insecure_clone();
        let instruction = open_summary(OPEN_SUMMARY_PART, &mint, listed, "", "");
        let sent = self.net.send(&[&reader], &[instruction]).unwrap();
        let counters: Vec<u64> = sent.return_data.data[32..]
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(counters[0], histogram.iter().sum::<u64>());
        assert_eq!(counters[1..], histogram);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn counters_equal_what_the_entries_say(steps in proptest::collection::vec(step(), 1..40)) {
        let mut record = Record::new();
        for (agent, client, step) in &steps {
            record.run(*agent, *client, step);
        }
        record.check();
    }
}
