use crate::{
    backend::{
        StepFault,
        evm::{Agents, Clock, Dialect, ErrorClasses, Requests, labels::native_words, ledger::View},
        views::{ViewAnswer, ViewDifference, ViewName, ViewQuestion, shown},
    },
    model::first_difference,
};
use alloy::{
    primitives::{Address, B256, Bytes, U256},
    sol_types::SolCall,
};
use concord_canonical::ErrorClass;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The answer in canonical terms, or the class of the refusal.
pub(super) type Expected = Result<Value, ErrorClass>;

/// Views to be asked together, each with the answer that must come.
#[derive(Default)]
pub(super) struct Questions(Vec<Question>);

struct Question {
    view: ViewName,
    arguments: Value,
    call: View,
    expected: Expected,
    read: Box<ReadReturned>,
}

/// Reads what a call returned.
type ReadReturned = dyn Fn(&Reader<'_>, &Bytes) -> Result<Value, String>;

/// Reads native ids as labels.
pub(super) struct Reader<'a> {
    pub agents: &'a Agents,
    pub requests: &'a Requests,
    pub clock: Clock<'a>,
    pub dialect: Dialect,
    pub error_classes: &'a ErrorClasses,
}

impl Reader<'_> {
    fn class_of(&self, revert_data: &[u8]) -> Option<ErrorClass> {
        let own = self.error_classes.class_of(revert_data);
        own.or_else(|| self.dialect.class_of(revert_data))
    }

    /// `null` for the zero address.
    pub fn actor(&self, address: Address) -> Value {
        match address {
            Address::ZERO => Value::Null,
            address => json!(self.agents.actor(address)),
        }
    }

    pub fn actors(&self, addresses: Vec<Address>) -> Value {
        addresses.into_iter().map(|it| self.actor(it)).collect()
    }

    pub fn agent(&self, id: U256) -> Value {
        json!(self.agents.agent(id))
    }

    pub fn requests(&self, hashes: Vec<B256>) -> Value {
        let labels = hashes.into_iter().map(|it| self.requests.label(it));
        labels.map(|it| json!(it)).collect()
    }

    /// After the scenario's start.
    pub fn seconds(&self, timestamp: U256) -> Result<Value, String> {
        self.clock.seconds(timestamp).map(|it| json!(it))
    }
}

impl Questions {
    /// Asks `call` of the contract that `interface` names, at `registry`. The answer is read with
    /// `read`, and must be `expected`.
    pub fn ask<C: SolCall>(
        &mut self,
        (interface, registry): (&'static str, Address),
        call: &C,
        arguments: Value,
        expected: Expected,
        read: impl Fn(&Reader<'_>, C::Return) -> Result<Value, String> + 'static,
    ) {
        self.0.push(Question {
            view: ViewName {
                interface,
                signature: C::SIGNATURE,
            },
            arguments,
            call: View {
                from: Address::ZERO,
                contract: registry,
                input: call.abi_encode().into(),
            },
            expected,
            read: Box::new(move |reader, returned| {
                let answer = C::abi_decode_returns_validate(returned);
                read(reader, answer.map_err(|fault| fault.to_string())?)
            }),
        });
    }

    /// Leaves out the views that are not among these.
    pub fn retain(&mut self, views: &BTreeSet<ViewName>) {
        self.0.retain(|it| views.contains(&it.view));
    }

    /// The same without a chain.
    pub fn in_canonical_terms(self) -> Vec<ViewQuestion> {
        let each = self.0.into_iter().map(|it| ViewQuestion {
            view: it.view,
            arguments: it.arguments,
            expected: it.expected,
        });
        each.collect()
    }

    pub fn calls(&self) -> Vec<View> {
        self.0.iter().map(|it| it.call.clone()).collect()
    }

    /// The questions with what is wrong with their answers, which come in the same order.
    ///
    /// # Errors
    /// Another number of answers.
    pub fn compare(
        self,
        answers: &[Result<Bytes, Bytes>],
        reader: &Reader<'_>,
    ) -> Result<Vec<ViewAnswer>, StepFault> {
        let (asked, answered) = (self.0.len(), answers.len());
        if asked != answered {
            let reason = format!("{answered} answers to {asked} views");
            return Err(StepFault::Unreachable(reason));
        }
        let each = self.0.into_iter().zip(answers);
        Ok(each
            .map(|(it, answer)| it.compare(answer, reader))
            .collect())
    }
}

impl Question {
    fn compare(self, answer: &Result<Bytes, Bytes>, reader: &Reader<'_>) -> ViewAnswer {
        let difference = match (&self.expected, answer) {
            (Ok(expected), Ok(returned)) => {
                let actual = (self.read)(reader, returned).unwrap_or_else(Value::String);
                first_difference(expected, &actual)
                    .map(|(path, expected, actual)| ViewDifference::of(path, expected, actual))
            }
            (Err(class), Err(data)) if reader.class_of(data) == Some(*class) => None,
            (expected, Ok(returned)) => {
                let actual = (self.read)(reader, returned).unwrap_or_else(Value::String);
                Some(ViewDifference::of("$".to_owned(), shown(expected), actual))
            }
            (expected, Err(data)) => {
                let class = reader.class_of(data); // R25
                let actual = class.map_or("a refusal without an error class", |it| it.name());
                Some(ViewDifference {
                    native_error: Some(native_words(data)),
                    ..ViewDifference::of("$".to_owned(), shown(expected), actual.into())
                })
            }
        };
        ViewAnswer {
            view: self.view,
            arguments: self.arguments,
            difference,
        }
    }
}
