//! What was accepted, and what must therefore be on chain.

use super::{AGENTS, PEOPLE, Profile, Step};
use crate::localnet::{
    Agent, Sent,
    authorization::Authorization,
    instructions::{GiveFeedback, revoke_feedback},
    open_feedback::{GiveOpenFeedback, revoke_open_feedback},
    payment::{AttachPayment, Purchase},
    refusal::*,
    responses::Respond,
    settings::set_agent_wallet,
    token_2022::{create_associated, token_account, transfer},
    validation::{Answer, Request},
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default)]
struct Entry {
    score: u8,
    revoked: bool,
    proven: bool,
    responses: u64,
    by_stranger: bool,
}

pub struct Record {
    /// Whose lists name a token and a facilitator.
    registry: Purchase,
    people: Vec<Keypair>,
    mints: Vec<Address>,
    /// People, by agent.
    owners: Vec<usize>,
    wallets: Vec<Option<usize>>,
    /// By profile, agent and person.
    entries: BTreeMap<(Profile, usize, usize), Vec<Entry>>,
    /// By number and payer (R32).
    spent: BTreeSet<(u8, usize)>,
    /// By agent, validator and number: whether it has its response.
    validations: BTreeMap<(usize, usize, u8), bool>,
}

impl Record {
    pub fn new() -> Self {
        let mut registry = Purchase::new();
        let agents: Vec<Agent> = (0..AGENTS).map(|_| registry.net.agent()).collect();
        let mints = agents.iter().map(|agent| agent.mint).collect();
        let mut people: Vec<Keypair> = agents.into_iter().map(|agent| agent.owner).collect();
        people.extend((AGENTS..PEOPLE).map(|_| registry.net.actor()));
        Self {
            registry,
            people,
            mints,
            owners: (0..AGENTS).collect(),
            wallets: (0..AGENTS).map(Some).collect(),
            entries: BTreeMap::new(),
            spent: BTreeSet::new(),
            validations: BTreeMap::new(),
        }
    }

    pub fn run(&mut self, agent: usize, person: usize, step: &Step) {
        match *step {
            Step::Give {
                profile,
                skip,
                score,
            } => self.give(profile, agent, person, skip, score),
            Step::Revoke { profile, index } => self.revoke(profile, agent, person, index),
            Step::Respond { profile, index } => self.respond(profile, agent, person, index),
            Step::ProvePayment { index, number } => self.prove(agent, person, index, number),
            Step::Ask { number } => self.ask(agent, person, number),
            Step::Validate { number, score } => self.validate(agent, person, number, score),
            Step::SetWallet => self.set_wallet(agent, person),
            Step::Sell => self.sell(agent, person),
        }
    }

    fn key(&self, person: usize) -> Address {
        self.people[person].pubkey()
    }

    fn send(&mut self, signers: &[usize], instructions: &[Instruction]) -> Sent {
        let mut signers = signers.to_vec();
        signers.dedup();
        let keys: Vec<&Keypair> = signers.iter().map(|person| &self.people[*person]).collect();
        self.registry.net.send(&keys, instructions)
    }

    fn entry(
        &mut self,
        profile: Profile,
        agent: usize,
        person: usize,
        index: u64,
    ) -> Option<&mut Entry> {
        let place = usize::try_from(index).unwrap().checked_sub(1)?;
        self.entries
            .get_mut(&(profile, agent, person))?
            .get_mut(place)
    }

    /// Open feedback says its score without decimals; 101 stands for a value with too many.
    fn give(&mut self, profile: Profile, agent: usize, person: usize, skip: u64, score: u8) {
        let (mint, me) = (self.mints[agent], self.key(person));
        let last = self.entries.get(&(profile, agent, person));
        let index = last.map_or(0, Vec::len) as u64 + 1 + skip;
        let instructions = match profile {
            Profile::Authorized => {
                let feedback = GiveFeedback {
                    feedback_index: index,
                    score,
                    index_limit: index,
                    ..GiveFeedback::new(&mint, &me)
                };
                let owner = &self.people[self.owners[agent]];
                let signed = Authorization::of(&feedback, &owner.pubkey()).signed_by(owner);
                vec![signed, feedback.instruction()]
            }
            Profile::Open => {
                let feedback = GiveOpenFeedback {
                    feedback_index: index,
                    value: score.into(),
                    value_decimals: if score > 100 { 19 } else { 0 },
                    ..GiveOpenFeedback::new(&mint, &me)
                };
                vec![feedback.instruction()]
            }
        };
        let place = instructions.len() as u8 - 1;
        let sent = self.send(&[person], &instructions);
        let refusal = match profile {
            Profile::Authorized if score > 100 => Some(SCORE_OUT_OF_RANGE),
            Profile::Open if score > 100 => Some(DECIMALS_OUT_OF_RANGE),
            _ if person == self.owners[agent] => Some(SELF_FEEDBACK),
            _ if skip > 0 => Some(FEEDBACK_INDEX_STALE),
            _ => None,
        };
        let by_stranger = !self.is_own(agent, person);
        if outcome(&sent, place, refusal) {
            let entries = self.entries.entry((profile, agent, person)).or_default();
            entries.push(Entry {
                score,
                by_stranger,
                ..Entry::default()
            });
        }
    }

    /// Whether it is the agent's owner or wallet.
    fn is_own(&self, agent: usize, person: usize) -> bool {
        person == self.owners[agent] || Some(person) == self.wallets[agent]
    }

    fn revoke(&mut self, profile: Profile, agent: usize, person: usize, index: u64) {
        let (mint, me) = (self.mints[agent], self.key(person));
        let instruction = match profile {
            Profile::Authorized => revoke_feedback(&me, &mint, index),
            Profile::Open => revoke_open_feedback(&me, &mint, index),
        };
        let sent = self.send(&[person], &[instruction]);
        match self.entry(profile, agent, person, index) {
            None => assert_refused(&sent, 0, FEEDBACK_NOT_FOUND),
            Some(entry) => {
                outcome(&sent, 0, entry.revoked.then_some(ALREADY_REVOKED));
                entry.revoked = true;
            }
        }
    }

    fn respond(&mut self, profile: Profile, agent: usize, person: usize, index: u64) {
        let (mint, me) = (self.mints[agent], self.key(person));
        let respond = Respond {
            feedback_index: index,
            ..Respond::new(&me, &mint, &me)
        };
        let instruction = match profile {
            Profile::Authorized => respond.to_authorized(),
            Profile::Open => respond.to_open(),
        };
        let sent = self.send(&[person], &[instruction]);
        match self.entry(profile, agent, person, index) {
            None => assert_refused(&sent, 0, FEEDBACK_NOT_FOUND),
            Some(entry) => {
                outcome(&sent, 0, None);
                entry.responses += 1;
            }
        }
    }

    fn prove(&mut self, agent: usize, person: usize, index: u64, number: u8) {
        let me = self.key(person);
        let payee = self.wallets[agent].map(|wallet| self.key(wallet));
        let proof = AttachPayment {
            caller: me,
            reviewer: me,
            mint: self.mints[agent],
            feedback_index: index,
            payer: me,
            payee: payee.unwrap_or_default(),
            ..self.registry.proof(number)
        };
        let signed = proof.signed_by(&self.registry.facilitator);
        let sent = self.send(&[person], &[signed, proof.instruction()]);
        let is_spent = self.spent.contains(&(number, person));
        let Some(entry) = self.entry(Profile::Authorized, agent, person, index) else {
            return assert_refused(&sent, 1, FEEDBACK_NOT_FOUND);
        };
        let refusal = match entry {
            Entry { revoked: true, .. } => Some(ALREADY_REVOKED),
            Entry { proven: true, .. } => Some(PAYMENT_ALREADY_PROVEN),
            _ if is_spent => Some(PAYMENT_SPENT),
            Entry {
                by_stranger: false, ..
            } => Some(PAYMENT_WRONG_PAYER),
            _ => None,
        };
        if outcome(&sent, 1, refusal) {
            entry.proven = true;
            self.spent.insert((number, person));
        }
    }

    fn ask(&mut self, agent: usize, validator: usize, number: u8) {
        let owner = self.owners[agent];
        let request = Request {
            hash: [number; 32],
            ..Request::new(&self.key(owner), &self.mints[agent], &self.key(validator))
        };
        let sent = self.send(&[owner], &[request.instruction()]);
        let place = (agent, validator, number);
        let exists = self.validations.contains_key(&place);
        outcome(&sent, 0, exists.then_some(REQUEST_EXISTS));
        self.validations.entry(place).or_insert(false);
    }

    fn validate(&mut self, agent: usize, validator: usize, number: u8, score: u8) {
        let answer = Answer {
            hash: [number; 32],
            score,
            ..Answer::new(&self.key(validator), &self.mints[agent])
        };
        let sent = self.send(&[validator], &[answer.instruction()]);
        match self.validations.get_mut(&(agent, validator, number)) {
            None => assert_refused(&sent, 0, REQUEST_NOT_FOUND),
            Some(responded) => {
                let refusal = (score > 100).then_some(SCORE_OUT_OF_RANGE);
                *responded |= outcome(&sent, 0, refusal);
            }
        }
    }

    fn set_wallet(&mut self, agent: usize, person: usize) {
        let owner = self.owners[agent];
        // a fee payer's consent does not count: somebody else pays
        let payer = self.registry.client.insecure_clone();
        let set = set_agent_wallet(&self.key(owner), &self.mints[agent], &self.key(person));
        let mut signers = vec![&payer, &self.people[owner], &self.people[person]];
        signers.truncate(if owner == person { 2 } else { 3 });
        let sent = self.registry.net.send(&signers, &[set]);
        outcome(&sent, 0, None);
        self.wallets[agent] = Some(person);
    }

    fn sell(&mut self, agent: usize, buyer: usize) {
        let (owner, mint) = (self.owners[agent], self.mints[agent]);
        let (from, to) = (self.key(owner), self.key(buyer));
        let create = create_associated(&from, &to, &mint);
        let (source, destination) = (token_account(&from, &mint), token_account(&to, &mint));
        let sale = transfer(&source, &mint, &destination, &from, 1);
        let sent = self.send(&[owner], &[create, sale]);
        outcome(&sent, 1, None);
        if buyer != owner {
            self.owners[agent] = buyer;
            self.wallets[agent] = None;
        }
    }
}

/// Whether it was accepted, which it was unless `refusal` says otherwise.
#[track_caller]
fn outcome(sent: &Sent, place: u8, refusal: Option<u32>) -> bool {
    match (refusal, sent) {
        (Some(code), _) => assert_refused(sent, place, code),
        (None, Err(failed)) => panic!("refused: {:?}", failed.err),
        (None, Ok(_)) => (),
    }
    refusal.is_none()
}

impl Record {
    pub fn check(&self) {
        for agent in 0..AGENTS {
            self.check_agent(agent);
        }
    }

    fn check_agent(&self, agent: usize) {
        let (net, mint) = (&self.registry.net, self.mints[agent]);
        let (mut verified, mut unverified) = ((0, 0), (0, 0));
        for (person, entries) in self.of(Profile::Authorized, agent) {
            let client = net.client_index(&mint, &self.key(person));
            assert_eq!(client.last_index, entries.len() as u64);
            for (index, expected) in (1..).zip(entries) {
                let entry = net.entry(&mint, &self.key(person), index);
                assert_eq!(
                    (entry.score, entry.revoked, entry.has_payment_proof),
                    (expected.score, expected.revoked, expected.proven)
                );
                assert_eq!(
                    (entry.response_count, entry.by_stranger),
                    (expected.responses, expected.by_stranger)
                );
                // the counters, from what is on chain
                let counters = match (entry.revoked, entry.has_payment_proof) {
                    (true, _) => continue,
                    (false, true) => &mut verified,
                    (false, false) => &mut unverified,
                };
                *counters = (counters.0 + 1, counters.1 + u64::from(entry.score));
            }
        }
        for (person, entries) in self.of(Profile::Open, agent) {
            let client = net.open_client_index(&mint, &self.key(person));
            assert_eq!(client.last_index, entries.len() as u64);
            for (index, expected) in (1..).zip(entries) {
                let entry = net.open_entry(&mint, &self.key(person), index);
                assert_eq!(
                    (entry.value, entry.revoked, entry.response_count),
                    (expected.score.into(), expected.revoked, expected.responses)
                );
            }
        }
        let identity = net.identity(&mint);
        assert_eq!(
            (identity.verified, identity.unverified),
            (verified, unverified)
        );
        let clients = [identity.client_count, identity.open_client_count];
        let counted = [Profile::Authorized, Profile::Open];
        assert_eq!(clients, counted.map(|it| self.of(it, agent).count() as u64));
        self.check_rights(agent);
    }

    fn check_rights(&self, agent: usize) {
        let identity = self.registry.net.identity(&self.mints[agent]);
        assert_eq!(identity.owner, self.key(self.owners[agent]));
        let wallet = self.wallets[agent].map(|wallet| self.key(wallet));
        assert_eq!(identity.agent_wallet, wallet.unwrap_or_default());
        let answered =
            |((of, ..), responded): &(&(usize, usize, u8), &bool)| *of == agent && **responded;
        let validations = self.validations.iter().filter(answered).count();
        assert_eq!(identity.validation_count, validations as u64);
    }

    /// The people who have given feedback, with their entries.
    fn of(&self, profile: Profile, agent: usize) -> impl Iterator<Item = (usize, &Vec<Entry>)> {
        self.entries
            .iter()
            .filter(move |((its, about, _), _)| (*its, *about) == (profile, agent))
            .map(|((_, _, person), entries)| (*person, entries))
    }
}
