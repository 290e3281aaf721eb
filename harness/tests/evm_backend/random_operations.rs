//! Lists drawn at random, with a fixed seed each.
use super::{Verdicts, anvil, play, revm};
use concord_harness::backend::Backend;
use concord_harness::model::{
    Actor, Agent, Approve, Authorization, Bytes, Bytes32, Consent, Feedback, Form, Integer,
    Metadata, OpenFeedback, OpenSummaryQuery, Operation, Register, Response, Revocation,
    SetAgentUri, SetAgentWallet, SetMetadata, SetOperator, SummaryQuery, Tamper, Transfer,
    UnsetAgentWallet, ValidationAnswer, ValidationRequest,
};
use std::{collections::BTreeSet, ops::RangeInclusive};

pub const ACTORS: [&str; 4] = ["alice", "bob", "carol", "dave"];
const AGENTS: [&str; 3] = ["bot", "cat", "never"];
const STEPS: usize = 150;

/// xorshift64*.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound
    }

    fn one_in(&mut self, sides: u64) -> bool {
        self.below(sides) == 0
    }

    fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        let at = self.below(choices.len() as u64);
        choices[usize::try_from(at).unwrap()].clone()
    }

    /// Mostly one of the two who own and review.
    fn actor(&mut self) -> Actor {
        Actor::from(self.pick(&[
            "alice", "alice", "alice", "bob", "bob", "bob", "carol", "dave",
        ]))
    }

    /// Mostly one of the two that get registered.
    fn agent(&mut self) -> Agent {
        Agent::from(self.pick(&["bot", "bot", "bot", "cat", "cat", "never"]))
    }

    fn text(&mut self) -> String {
        self.pick(&["", "a", "https://example.org/ü", "with\0nul"])
            .to_owned()
    }

    fn tag(&mut self) -> String {
        self.pick(&["", "speed", "quality"]).to_owned()
    }

    fn hash(&mut self) -> Bytes32 {
        Bytes32([self.pick(&[0, 1, 2, 0xff]); 32])
    }

    fn authorization(&mut self, agent: &Agent, by: &Actor, now: u64) -> Authorization {
        let tampers = [
            Tamper::WrongChain,
            Tamper::WrongRegistry,
            Tamper::CorruptSignature,
            Tamper::MalleateSignature,
            Tamper::SignedBy(self.actor()),
            Tamper::Empty,
            Tamper::Truncated,
            Tamper::Extended,
            Tamper::Dirty,
        ];
        Authorization {
            signer: self.actor(),
            agent: if self.one_in(8) {
                self.agent()
            } else {
                agent.clone()
            },
            client: if self.one_in(8) {
                self.actor()
            } else {
                by.clone()
            },
            index_limit: self.below(6),
            expiry: now.saturating_sub(3) + self.below(30),
            form: self.pick(&[Form::Bounded, Form::Bounded, Form::DraftV1, Form::X84]),
            tamper: self.one_in(4).then(|| self.pick(&tampers)),
        }
    }

    fn consent(&mut self, agent: &Agent, wallet: &Actor, now: u64) -> Consent {
        Consent {
            signer: if self.one_in(5) {
                self.actor()
            } else {
                wallet.clone()
            },
            agent: if self.one_in(8) {
                self.agent()
            } else {
                agent.clone()
            },
            wallet: if self.one_in(8) {
                self.actor()
            } else {
                wallet.clone()
            },
            owner: self.actor(),
            deadline: now + self.pick(&[0, 1, 2, 3, 299, 300, 301]) - self.below(2),
        }
    }

    fn operation(&mut self, agent: Agent, now: u64) -> Operation {
        let by = self.actor();
        match self.below(24) {
            0 => Operation::SetAgentUri(SetAgentUri {
                agent,
                by,
                uri: self.text(),
            }),
            1 => Operation::SetMetadata(SetMetadata {
                agent,
                by,
                key: self
                    .pick(&["", "name", "agentWallet", "AgentWallet"])
                    .to_owned(),
                value: Bytes(vec![7; usize::try_from(self.below(70)).unwrap()]),
            }),
            2 | 3 => {
                let wallet = self.actor();
                let consent = self.consent(&agent, &wallet, now);
                Operation::SetAgentWallet(SetAgentWallet {
                    agent,
                    by,
                    wallet: (!self.one_in(10)).then_some(wallet),
                    consent: (!self.one_in(6)).then_some(consent),
                })
            }
            4 => Operation::UnsetAgentWallet(UnsetAgentWallet { agent, by }),
            5 => Operation::Transfer(Transfer {
                agent,
                by,
                to: self.actor(),
                into_mutable_account: self.one_in(2),
            }),
            6 => Operation::Approve(Approve {
                agent,
                by,
                operator: (!self.one_in(3)).then(|| self.actor()),
            }),
            7 => Operation::SetOperator(SetOperator {
                by,
                operator: self.actor(),
                approved: self.one_in(3),
            }),
            8..=11 => {
                let authorization = self.authorization(&agent, &by, now);
                Operation::GiveFeedback(Box::new(Feedback {
                    agent,
                    by,
                    score: self.pick(&[0, 1, 50, 99, 100, 101]),
                    tag1: self.tag().parse().unwrap(),
                    tag2: self.hash().to_string().parse().unwrap(),
                    uri: self.text(),
                    hash: self.hash(),
                    index: None,
                    authorization: (!self.one_in(12)).then_some(authorization),
                }))
            }
            12 => Operation::RevokeFeedback(Revocation {
                agent,
                by,
                index: self.pick(&[0, 1, 1, 1, 2, 2, 3]),
            }),
            13 => Operation::AppendResponse(self.response(agent, by)),
            14 => Operation::Summary(SummaryQuery { agent }),
            15..=17 => Operation::GiveOpenFeedback(Box::new(OpenFeedback {
                agent,
                by,
                value: Integer(self.pick(&[
                    0,
                    1,
                    -7,
                    9977,
                    10_i128.pow(38),
                    -(10_i128.pow(38)),
                    10_i128.pow(38) + 1,
                    i128::MIN,
                ])),
                decimals: self.pick(&[0, 0, 2, 2, 17, 18, 19]),
                tag1: self.tag(),
                tag2: self.text(),
                endpoint: self.text(),
                uri: self.text(),
                hash: self.hash(),
                index: None,
            })),
            18 => Operation::RevokeOpenFeedback(Revocation {
                agent,
                by,
                index: self.pick(&[0, 1, 1, 1, 2, 2, 3]),
            }),
            19 => Operation::AppendOpenResponse(self.response(agent, by)),
            20 | 21 => {
                let clients = (0..self.below(5)).map(|_| self.actor()).collect();
                Operation::OpenSummary(OpenSummaryQuery {
                    agent,
                    clients,
                    tag1: self.tag(),
                    tag2: self.text(),
                })
            }
            22 => Operation::ValidationRequest(ValidationRequest {
                agent,
                by,
                validator: (!self.one_in(8)).then(|| self.actor()),
                request: self.hash(),
                uri: self.text(),
            }),
            _ => Operation::ValidationResponse(Box::new(ValidationAnswer {
                agent,
                validator: by.clone(),
                by,
                request: self.hash(),
                score: self.pick(&[0, 55, 100, 101]),
                uri: self.text(),
                hash: self.hash(),
                tag: self.tag().parse().unwrap(),
            })),
        }
    }

    fn response(&mut self, agent: Agent, by: Actor) -> Response {
        Response {
            agent,
            by,
            client: self.actor(),
            index: self.pick(&[0, 1, 1, 1, 2, 2, 3]),
            uri: self.text(),
            hash: self.hash(),
        }
    }

    /// The two agents first, then whatever comes.
    fn world(&mut self) -> Vec<(u64, Operation)> {
        let mut now = 1;
        let mut steps = Vec::new();
        for agent in &AGENTS[..2] {
            let metadata = vec![Metadata {
                key: self.text(),
                value: Bytes(vec![1]),
            }];
            let operation = Operation::Register(Register {
                agent: Agent::from(*agent),
                by: self.actor(),
                uri: self.text(),
                metadata: if self.one_in(2) { metadata } else { Vec::new() },
            });
            steps.push((now, operation));
            now += 1;
        }
        while steps.len() < STEPS {
            let agent = self.agent();
            let operation = self.operation(agent, now);
            let takes_time = !operation.is_read();
            steps.push((now, operation));
            if takes_time {
                now += if self.one_in(10) {
                    1 + self.below(400)
                } else {
                    1
                };
            }
        }
        steps
    }
}

#[test]
fn random_operations_on_anvil_come_to_what_the_model_says() {
    check_worlds(&mut anvil(), 1..=8);
}

#[test]
fn random_operations_in_revm_come_to_what_the_model_says() {
    check_worlds(&mut revm(), 1..=20);
}

/// One list; equal seeds give equal lists.
pub fn world(seed: u64) -> Vec<(u64, Operation)> {
    Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).world()
}

fn check_worlds(backend: &mut dyn Backend, seeds: RangeInclusive<u64>) {
    let actors = ACTORS.map(Actor::from);
    let mut seen = Verdicts::new();
    for seed in seeds {
        for (verdict, count) in play(backend, &actors, &world(seed)) {
            *seen.entry(verdict).or_default() += count;
        }
    }
    let accepted: BTreeSet<_> = seen.keys().filter(|(_, verdict)| verdict == "ok").collect();
    assert_eq!(accepted.len(), 18, "accepted at least once: {seen:?}");
    let classes: BTreeSet<_> = seen.keys().map(|(_, verdict)| verdict).collect();
    assert!(classes.len() > 25, "{classes:?}");
}
