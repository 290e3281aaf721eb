//! Another registry, in any language, behind a program that answers lines of JSON
//! (docs/ADAPTER.md).
pub mod check;
mod message;
mod program;
#[cfg(test)]
mod schema;
mod views;

use super::{
    Backend, Observed, SetupError, StepFault,
    views::{Draw, Known, ViewAnswer, ViewName},
};
use crate::model::{Actor, Agent, AgentState, CanonicalState, Chain, Operation, RegistryProfile};
use message::{Ask, Executed, Hello, Snapshot};
use program::Program;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{collections::BTreeSet, time::Duration};

/// The version of the protocol that this harness speaks.
pub const PROTOCOL: u64 = 1;
/// Every line of it, as a JSON Schema.
pub const SCHEMA: &str = include_str!("../../../../tests/adapters/schema.json");
/// The longest wait for an answer, in seconds, unless another is asked for. Long enough for a
/// transaction on a local chain.
pub const ANSWER_LIMIT: u64 = 30;

/// The backend of `--adapter`: one program, ended with the run.
pub struct Adapter {
    command: String,
    limit: Duration,
    program: Program,
    chain: Chain,
    hello: Hello,
    views: BTreeSet<ViewName>,
    /// Of the present scenario.
    actors: Vec<Actor>,
}

impl Adapter {
    /// Starts `command`, words as a shell would split them, and asks who it is. The wait for each
    /// answer is up to `limit`.
    ///
    /// # Errors
    /// A command that does not start, or a program that does not introduce itself.
    pub fn start(command: &str, chain: Chain, limit: Duration) -> Result<Self, SetupError> {
        let setup = |reason| SetupError::Adapter {
            command: command.to_owned(),
            reason,
        };
        let (program, hello) = introduced(command, chain, limit).map_err(setup)?;
        Ok(Self {
            views: hello.views(chain).map_err(setup)?,
            actors: Vec::new(),
            command: command.to_owned(),
            limit,
            program,
            chain,
            hello,
        })
    }

    fn ask<T: DeserializeOwned>(&mut self, ask: &Ask<'_>) -> Result<T, StepFault> {
        ask_for(&mut self.program, ask)
    }
}

/// A new process, and who it says that it is.
fn introduced(command: &str, chain: Chain, limit: Duration) -> Result<(Program, Hello), String> {
    let mut program = Program::start(command, limit)?;
    let ask = Ask::Hello {
        protocol: PROTOCOL,
        chain,
    };
    let hello: Hello = ask_for(&mut program, &ask).map_err(StepFault::in_words)?;
    hello.check()?;
    hello.views(chain)?;
    Ok((program, hello))
}

/// Asks once, and reads what the answer must be.
fn ask_for<T: DeserializeOwned>(program: &mut Program, ask: &Ask<'_>) -> Result<T, StepFault> {
    let answer: Value = program.ask(ask)?;
    serde_path_to_error::deserialize(&answer).map_err(|fault| {
        StepFault::UnexplainedState(format!(
            "answer to {}: {}: {}",
            ask.name(),
            fault.path(),
            fault.inner()
        ))
    })
}

impl Backend for Adapter {
    fn name(&self) -> &str {
        &self.hello.name
    }

    fn chain(&self) -> Chain {
        self.chain
    }

    fn profiles(&self) -> BTreeSet<RegistryProfile> {
        self.hello.profiles()
    }

    /// The old process is killed.
    fn restart(&mut self) -> Result<(), StepFault> {
        let (program, hello) =
            introduced(&self.command, self.chain, self.limit).map_err(StepFault::Unreachable)?;
        if hello != self.hello {
            let reason = "the adapter introduces itself otherwise than before".to_owned();
            return Err(StepFault::Unreachable(reason));
        }
        self.program = program;
        Ok(())
    }

    fn supports(&self, operation: &Operation) -> bool {
        self.hello.operations.contains(operation.name())
            && operation.only_on().is_none_or(|only| only == self.chain)
    }

    fn reset(&mut self, start: u64, actors: &[Actor]) -> Result<(), StepFault> {
        self.actors = actors.to_vec();
        self.ask::<message::Done>(&Ask::Reset { start, actors })
            .map(|_| ())
    }

    fn execute(&mut self, operation: &Operation, time: u64) -> Result<Observed, StepFault> {
        self.ask::<Executed>(&Ask::Execute { operation, time })
            .map(Observed::from)
    }

    fn state(&mut self) -> Result<CanonicalState, StepFault> {
        self.ask(&Ask::State {})
    }

    fn agent_state(&mut self, agent: &Agent) -> Result<Option<AgentState>, StepFault> {
        self.ask::<Snapshot>(&Ask::AgentState { agent })
            .map(|snapshot| snapshot.agent)
    }

    fn views(&self) -> BTreeSet<ViewName> {
        self.views.clone()
    }

    fn ask_views(
        &mut self,
        known: Known<'_>,
        draw: &mut Draw,
    ) -> Result<Vec<ViewAnswer>, StepFault> {
        self.ask_declared_views(known, draw)
    }
}
