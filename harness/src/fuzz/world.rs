use super::{generators, mutators, random::Random};
use crate::model::{
    Actor, Agent, AgentState, Authorization, Chain, Consent, DEPLOYER, Model, Operation, Register,
    SetAgentWallet, Verdict,
};
use concord_canonical::ErrorClass;
use proptest::strategy::{BoxedStrategy, Just, Strategy};
use proptest_state_machine::ReferenceStateMachine;

/// Who acts in every world.
pub const ACTORS: &[&str] = &["alice", "bob", "carol", "dana", "erin", "frank", DEPLOYER];
/// The labels of mints: two that may come to count as payment, one that never does (R13).
pub const TOKENS: &[&str] = &["usd", "eur"];
pub const UNLISTED_TOKEN: &str = "scrip";
/// The start of every world, in unix seconds.
pub const START: u64 = 1_800_000_000;
/// Steps that break a rule on purpose, of a hundred. Some cannot.
const MUTATED_PERCENT: u64 = 50;
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
    pub tasks: u64,
}

impl World {
    fn new() -> Self {
        Self {
            evm: Model::new(Chain::Evm),
            svm: Model::new(Chain::Svm),
            time: 0,
            agents: Vec::new(),
            registrations: 0,
            authorizations: Vec::new(),
            used_consents: Vec::new(),
            tasks: 0,
        }
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

    /// Would the chain accept the operation at this time?
    pub fn accepts(&self, chain: Chain, operation: &Operation, time: u64) -> bool {
        let mut model = self.model(chain).clone();
        model.apply(operation, time).verdict == Verdict::Ok
    }

    fn take(mut self, step: &Transition) -> Self {
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
            Operation::AttachPaymentProof(_) => self.tasks += 1,
            _ => (),
        }
        let surplus = self.authorizations.len().saturating_sub(MEMORY);
        self.authorizations.drain(..surplus);
    }
}

/// Every label of a world, of actors and of mints.
pub fn actors() -> Vec<Actor> {
    let labels = [ACTORS, TOKENS, &[UNLISTED_TOKEN]].concat();
    labels.into_iter().map(Into::into).collect()
}

/// Any actor.
pub fn any_actor(random: &mut Random) -> Actor {
    random.pick(ACTORS).map_or(DEPLOYER, |actor| actor).into()
}

/// The registries as proptest's state machine: what may come next, and what it leads to.
pub struct Registries;

impl ReferenceStateMachine for Registries {
    type State = World;
    type Transition = Transition;

    fn init_state() -> BoxedStrategy<World> {
        Just(World::new()).boxed()
    }

    fn transitions(world: &World) -> BoxedStrategy<Transition> {
        Just(world.clone())
            .prop_perturb(|world, rng| next(&world, &mut Random(rng)))
            .boxed()
    }

    fn apply(world: World, step: &Transition) -> World {
        world.take(step)
    }
}

fn next(world: &World, random: &mut Random) -> Transition {
    let wait = generators::wait(random);
    let time = world.time + wait;
    let operation = generators::operation(world, time, random);
    let sound = Transition {
        operation,
        wait,
        mutation: None,
    };
    if !random.percent(MUTATED_PERCENT) {
        return sound;
    }
    let mutated = mutators::mutate(world, &sound, time, random).unwrap_or(sound);
    if !random.percent(MUTATED_TWICE_PERCENT) {
        return mutated;
    }
    mutators::mutate_again(world, mutated, time, random)
}
