use super::{
    bounds::{self, Reached},
    generators, mutators,
    random::Random,
};
use crate::model::{
    Actor, Agent, AgentState, Authorization, Chain, Consent, DEPLOYER, ListFacilitator,
    ListPaymentToken, Model, Operation, Profile, Register, SetAgentWallet, Verdict,
};
use concord_canonical::ErrorClass;
use std::collections::BTreeSet;

/// Who acts in every world. On EVM the last two are contract accounts (R3, R6).
pub const ACTORS: &[&str] = &[
    "alice",
    "bob",
    "carol",
    "dana",
    "erin",
    "frank",
    DEPLOYER,
    "contract-gail",
    "contract-hugo",
];
/// The labels of mints that may come to count as payment (R13): the first two in every world.
pub const TOKENS: &[&str] = &[
    "usd", "eur", "token-3", "token-4", "token-5", "token-6", "token-7", "token-8", "token-9",
];
pub const UNLISTED_TOKEN: &str = "scrip";
/// Who may come to sign payments (R13): the first two in every world.
pub const FACILITATORS: &[&str] = &[
    "erin",
    "frank",
    "facilitator-3",
    "facilitator-4",
    "facilitator-5",
    "facilitator-6",
    "facilitator-7",
    "facilitator-8",
    "facilitator-9",
    "facilitator-10",
    "facilitator-11",
    "facilitator-12",
    "facilitator-13",
    "facilitator-14",
    "facilitator-15",
    "facilitator-16",
    "facilitator-17",
];
/// Of the tokens and the facilitators, those that most worlds have.
pub const USUAL: usize = 2;
/// The start of every world, in unix seconds.
pub const START: u64 = 1_800_000_000;
/// Steps with a value at a bound or right beside it, of a hundred.
const AT_A_BOUND_PERCENT: u64 = 25;
/// Of the other steps, those that break a rule on purpose, of a hundred. Some cannot.
const MUTATED_PERCENT: u64 = 55;
/// Of those, steps that may break a second rule: the order of checks (§3a) decides.
const MUTATED_TWICE_PERCENT: u64 = 25;
/// How many earlier statements are remembered, to be sent again.
const MEMORY: usize = 24;

/// One step: an operation, and how long after the one before it.
#[derive(Clone, Debug)]
pub struct Transition {
    pub operation: Operation,
    /// Seconds since the step before. A read takes none.
    pub wait: u64,
    pub mutation: Option<Mutation>,
    /// The bounds that its values are at, or right beside.
    pub bounds: Vec<Reached>,
    /// Chooses the impostors that the step is played with first, where a backend has some. `None`: none.
    pub impostors: Option<u64>,
}

/// Which rule a step breaks, and what must come of it.
#[derive(Clone, Copy, Debug)]
pub struct Mutation {
    pub name: &'static str,
    /// `None`: this chain has no such rule, or would not have accepted the operation before.
    pub evm: Option<ErrorClass>,
    pub svm: Option<ErrorClass>,
}

impl Mutation {
    pub fn must(&self, chain: Chain) -> Option<ErrorClass> {
        match chain {
            Chain::Evm => self.evm,
            Chain::Svm => self.svm,
        }
    }
}

/// What a generator knows of the registries.
#[derive(Clone, Debug)]
pub struct World {
    pub evm: Model,
    pub svm: Model,
    /// Seconds after the start.
    pub time: u64,
    pub agents: Vec<Agent>,
    /// Registrations tried: a label is used once, whatever came of it.
    pub registrations: u64,
    pub authorizations: Vec<Authorization>,
    pub used_consents: Vec<Consent>,
    /// Payments that counted: the task and the payer (R32).
    pub spent: Vec<(String, Actor)>,
    pub focus: Focus,
}

/// What a world tries more than others do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    Nothing,
    /// The registry's lists, until they are full (R13).
    Lists,
    /// Few reviewers, who revoke what they said last and go on (R8).
    LastEntries,
}

impl World {
    /// Registries where nothing has happened.
    pub fn new() -> Self {
        Self {
            evm: Model::new(Chain::Evm),
            svm: Model::new(Chain::Svm),
            time: 0,
            agents: Vec::new(),
            registrations: 0,
            authorizations: Vec::new(),
            used_consents: Vec::new(),
            spent: Vec::new(),
            focus: Focus::Nothing,
        }
    }

    /// Chooses what the next steps try more than others do: by number, so that no run leaves
    /// something out by chance.
    pub fn turn_to(&mut self, number: u64) {
        self.focus = match number % 8 {
            2 => Focus::Lists,
            4 | 6 => Focus::LastEntries,
            _ => Focus::Nothing,
        };
    }

    pub fn model(&self, chain: Chain) -> &Model {
        match chain {
            Chain::Evm => &self.evm,
            Chain::Svm => &self.svm,
        }
    }

    pub fn record(&self, chain: Chain, agent: &Agent) -> Option<&AgentState> {
        self.model(chain).state().agents.get(agent)
    }

    /// Of the client's entries; 0 if there are none.
    pub fn last_index(&self, chain: Chain, profile: Profile, agent: &Agent, client: &Actor) -> u64 {
        let record = self.record(chain, agent);
        record.map_or(0, |record| match profile {
            Profile::Authorized => record.authorized.last_index(client),
            Profile::Open => record.open.last_index(client),
        })
    }

    /// Would the chain accept the operation at this time?
    pub fn accepts(&self, chain: Chain, operation: &Operation, time: u64) -> bool {
        let mut model = self.model(chain).clone();
        model.apply(operation, time).verdict == Verdict::Ok
    }

    pub fn take(mut self, step: &Transition) -> Self {
        if !step.operation.is_read() {
            self.time += step.wait;
        }
        self.registrations += u64::from(matches!(step.operation, Operation::Register(_)));
        let (evm, svm) = (&mut self.evm, &mut self.svm);
        let on_evm = evm.apply(&step.operation, self.time).verdict == Verdict::Ok;
        let on_svm = svm.apply(&step.operation, self.time).verdict == Verdict::Ok;
        if on_evm || on_svm {
            self.remember(&step.operation);
        }
        self
    }

    fn remember(&mut self, operation: &Operation) {
        match operation {
            Operation::Register(Register { agent, .. }) => self.agents.push(agent.clone()),
            Operation::GiveFeedback(feedback) => {
                self.authorizations.extend(feedback.authorization.clone());
            }
            Operation::SetAgentWallet(SetAgentWallet { consent, .. }) => {
                self.used_consents.extend(consent.clone());
            }
            Operation::AttachPaymentProof(attached) => {
                let payment = &attached.payment;
                self.spent
                    .push((payment.task.clone(), payment.payer.clone()));
            }
            _ => (),
        }
        let surplus = self.authorizations.len().saturating_sub(MEMORY);
        self.authorizations.drain(..surplus);
    }
}

/// Every label of a world of these steps, of actors and of mints.
pub fn actors(steps: &[Transition]) -> Vec<Actor> {
    let usual = [ACTORS, &TOKENS[..USUAL], &[UNLISTED_TOKEN]].concat();
    let mut labels: Vec<Actor> = usual.into_iter().map(Into::into).collect();
    let mut known: BTreeSet<Actor> = labels.iter().cloned().collect();
    let named = steps.iter().flat_map(|step| match &step.operation {
        Operation::ListPaymentToken(ListPaymentToken { token, .. }) => vec![token],
        Operation::ListFacilitator(ListFacilitator { facilitator, .. }) => vec![facilitator],
        Operation::AttachPaymentProof(attached) => {
            vec![&attached.payment.token, &attached.payment.facilitator]
        }
        _ => Vec::new(),
    });
    labels.extend(named.filter(|it| known.insert((*it).clone())).cloned());
    labels
}

/// Any actor.
pub fn any_actor(random: &mut Random) -> Actor {
    random.pick(ACTORS).map_or(DEPLOYER, |actor| actor).into()
}

/// The next step of a world.
pub fn next(world: &World, random: &mut Random) -> Transition {
    let wait = generators::wait(random);
    let time = world.time + wait;
    let operation = generators::operation(world, time, random);
    let sound = Transition {
        operation,
        wait,
        mutation: None,
        bounds: Vec::new(),
        impostors: None,
    };
    let mut step = chosen(world, sound, time, random);
    step.bounds = bounds::reached(world, &step.operation, step.time_after(world));
    step
}

fn chosen(world: &World, sound: Transition, time: u64, random: &mut Random) -> Transition {
    if random.percent(AT_A_BOUND_PERCENT)
        && let Some(step) = bounds::draw(world, &sound, time, random)
    {
        return step;
    }
    if !random.percent(MUTATED_PERCENT) {
        return sound;
    }
    let mutated = mutators::mutate(world, &sound, time, random).unwrap_or(sound);
    if !random.percent(MUTATED_TWICE_PERCENT) {
        return mutated;
    }
    mutators::mutate_again(world, mutated, time, random)
}

impl Transition {
    /// When it takes place, in seconds after the start. Reads do not advance the time.
    fn time_after(&self, world: &World) -> u64 {
        if self.operation.is_read() {
            world.time
        } else {
            world.time + self.wait
        }
    }
}
