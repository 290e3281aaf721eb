//! Every account and every read instruction of the program, asked at the end of a scenario.
mod accounts;
mod summaries;

pub(in crate::backend) use summaries::questions;

use super::{Registry, World, ledger::Ledger, view};
use crate::{
    backend::{
        StepFault,
        views::{self, Draw, Known, ViewAnswer, ViewDifference, ViewName},
    },
    model::first_difference,
};
use concord_registry::svm::{accounts::AccountType, views::View};
use serde_json::{Value, json};
use solana_address::Address;
use solana_instruction::Instruction;
use std::collections::BTreeSet;

impl<L: Ledger> Registry<L> {
    /// All of them, on a cluster that is not shared: there an endpoint counts each question.
    pub(in crate::backend::svm) fn askable(&self) -> BTreeSet<ViewName> {
        if self.ledger.is_shared() {
            return BTreeSet::new();
        }
        views::all(views::SVM)
    }

    pub(in crate::backend::svm) fn ask_every_view(
        &self,
        known: Known<'_>,
        draw: &mut Draw,
    ) -> Result<Vec<ViewAnswer>, StepFault> {
        if self.ledger.is_shared() {
            return Ok(Vec::new());
        }
        let mut asking = Asking {
            ledger: &self.ledger,
            world: &self.world,
            known,
            answers: Vec::new(),
        };
        asking.registry()?;
        asking.payments()?;
        for (agent, state) in &known.state.agents {
            asking.identity(agent, state)?;
            asking.metadata(agent, state)?;
            asking.authorized(agent, state)?;
            asking.open(agent, state)?;
            asking.summaries(agent, state, draw)?;
        }
        asking.validations()?;
        Ok(asking.answers)
    }
}

struct Asking<'a, L> {
    ledger: &'a L,
    world: &'a World,
    known: Known<'a>,
    answers: Vec<ViewAnswer>,
}

impl<L: Ledger> Asking<'_, L> {
    /// Reads an account; `read` says in canonical terms what it holds.
    fn account<T: AccountType>(
        &mut self,
        address: &Address,
        arguments: Value,
        expected: &Value,
        read: impl FnOnce(&World, T) -> Value,
    ) -> Result<(), StepFault> {
        let held = self.ledger.load::<T>(&self.world.program, address)?;
        let actual = held.map_or(Value::Null, |held| read(self.world, held));
        let view = named("account", T::NAME);
        self.note(view, arguments, expected, &actual, None);
        Ok(())
    }

    fn note(
        &mut self,
        view: ViewName,
        arguments: Value,
        expected: &Value,
        actual: &Value,
        native_error: Option<String>,
    ) {
        let difference = first_difference(expected, actual);
        self.answers.push(ViewAnswer {
            view,
            arguments,
            difference: difference.map(|(path, expected, actual)| ViewDifference {
                path,
                expected,
                actual,
                native_error,
            }),
        });
    }

    fn call<T: View>(
        &mut self,
        instruction: &Instruction,
        name: &'static str,
        arguments: Value,
        expected: &Value,
        read: impl FnOnce(T) -> Value,
    ) -> Result<(), StepFault> {
        let answer = view::call::<T>(self.ledger, &self.world.program, instruction)?;
        let (actual, native_error) = match answer {
            Ok(answer) => (read(answer), None),
            Err(refusal) => (json!(refusal.class.name()), Some(refusal.native)),
        };
        let view = named("instruction", name);
        self.note(view, arguments, expected, &actual, native_error);
        Ok(())
    }
}

fn named(interface: &'static str, signature: &'static str) -> ViewName {
    ViewName {
        interface,
        signature,
    }
}
