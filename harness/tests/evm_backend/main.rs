//! The EVM backends against the model, step by step: outcome, events, summary, the touched agent
//! and at the end the whole state. Needs what `scripts/build` makes, and anvil on PATH or in
//! CONCORD_ANVIL.
mod attached;
mod every_operation;
mod gas;
mod random_operations;

use concord_harness::{
    backend::{
        Backend,
        evm::{EvmAnvil, EvmRevm},
    },
    model::{Actor, Chain, Model, Operation, Verdict},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

const START: u64 = 1_760_000_000;

fn artifacts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../contracts/out")
}

fn anvil() -> EvmAnvil {
    EvmAnvil::start(None, &artifacts()).expect("anvil starts: run scripts/bootstrap")
}

fn revm() -> EvmRevm {
    EvmRevm::start(&artifacts()).expect("the contracts are there: run scripts/build")
}

/// How often each operation came to each verdict.
type Verdicts = BTreeMap<(&'static str, String), usize>;

/// Plays the steps on both, and stops at the first difference.
fn play(backend: &mut dyn Backend, actors: &[Actor], steps: &[(u64, Operation)]) -> Verdicts {
    let mut model = Model::new(Chain::Evm);
    let mut verdicts = Verdicts::new();
    backend.reset(START, actors).unwrap();
    for (number, (time, operation)) in steps.iter().enumerate() {
        let expected = model.apply(operation, *time);
        let at = format!("{} step {number} at {time}: {operation:?}", backend.name());
        if !backend.supports(operation) {
            assert_eq!(expected.verdict, Verdict::Unsupported, "{at}");
            continue;
        }
        let observed = backend.execute(operation, *time);
        let observed = observed.unwrap_or_else(|fault| panic!("{at}: {fault}"));
        assert_eq!(observed.outcome, expected, "{at}");
        assert_eq!(observed.cost.is_none(), operation.is_read(), "{at}");
        if let Some(agent) = operation.agent() {
            let touched = backend.agent_state(agent).unwrap();
            assert_eq!(touched.as_ref(), model.state().agents.get(agent), "{at}");
        }
        let verdict = expected.verdict.to_string();
        *verdicts.entry((operation.name(), verdict)).or_default() += 1;
    }
    assert_eq!(&backend.state().unwrap(), model.state());
    verdicts
}
