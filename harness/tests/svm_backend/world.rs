//! Model and backend, side by side.
use concord_harness::{
    backend::{Backend, Cost, svm::SvmLitesvm},
    model::{Actor, Agent, Chain, Model, Operation, Outcome, Summary, Verdict},
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub const START: u64 = 1_700_000_000;
pub const ACTORS: [&str; 8] = [
    "alice", "bob", "carol", "dave", "erin", "frank", "usdc", "deployer",
];

pub fn program() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/deploy/agent_registry.so")
}

pub struct World {
    pub model: Model,
    pub backend: SvmLitesvm,
    pub time: u64,
}

impl World {
    pub fn new() -> Self {
        let mut world = Self {
            model: Model::new(Chain::Svm),
            backend: SvmLitesvm::start(&program()).unwrap(),
            time: 0,
        };
        world.reset();
        world
    }

    pub fn reset(&mut self) {
        let actors = ACTORS.map(Actor::from);
        self.backend.reset(START, &actors).unwrap();
        self.model = Model::new(Chain::Svm);
        self.time = 0;
    }

    /// `alice` owns agent `bot`, whose feedback authority is none.
    pub fn with_agent() -> Self {
        let mut world = Self::new();
        world.accepts(json!({"register": {"agent": "bot", "by": "alice", "uri": "ipfs://bot"}}));
        world
    }

    /// Both come to the same outcome, and to the same state of the agent that the step is about.
    #[track_caller]
    pub fn step(&mut self, operation: &Operation) -> Outcome {
        if !operation.is_read() {
            self.time += 1;
        }
        let expected = self.model.apply(operation, self.time);
        assert!(self.backend.supports(operation), "{operation:?}");
        let observed = self
            .backend
            .execute(operation, self.time)
            .unwrap_or_else(|fault| panic!("{fault}\n{operation:?}\nmodel: {expected:?}"));
        assert_eq!(
            observed.outcome, expected,
            "{operation:?}: {:?}",
            observed.native_error
        );
        let is_refused = matches!(expected.verdict, Verdict::Refused(_));
        assert_eq!(observed.native_error.is_some(), is_refused);
        match observed.cost {
            Some(Cost::ComputeUnits(_)) => assert!(!operation.is_read()),
            Some(Cost::Gas(_)) => panic!("gas on Solana"),
            None => assert!(operation.is_read()),
        }
        if let Some(agent) = operation.agent() {
            self.check_agent(agent);
        }
        expected
    }

    #[track_caller]
    fn check_agent(&mut self, agent: &Agent) {
        let expected = self.model.state().agents.get(agent);
        let observed = self.backend.agent_state(agent).unwrap();
        assert_eq!(observed.as_ref(), expected);
    }

    /// The whole state, from every account there is.
    #[track_caller]
    pub fn check_state(&mut self) {
        assert_eq!(self.backend.state().unwrap(), *self.model.state());
    }

    #[track_caller]
    pub fn accepts(&mut self, operation: Value) -> Outcome {
        let outcome = self.step(&read(operation));
        assert_eq!(outcome.verdict, Verdict::Ok);
        self.check_state();
        outcome
    }

    #[track_caller]
    pub fn answers(&mut self, summary: Summary, operation: Value) {
        let outcome = self.step(&read(operation));
        assert_eq!(outcome.summary, Some(summary));
    }
}

pub fn read(operation: Value) -> Operation {
    serde_json::from_value(operation.clone()).unwrap_or_else(|fault| panic!("{fault}: {operation}"))
}

/// `value` with the members of `changes` in place of its own.
pub fn with(mut value: Value, changes: Value) -> Value {
    let members = value.as_object_mut().unwrap();
    members.extend(changes.as_object().unwrap().clone());
    value
}

pub fn text(length: usize) -> String {
    "x".repeat(length)
}
