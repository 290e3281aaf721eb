//! Transfers that ERC-721 refuses even the owner (HARN-62): from an account that is not the owner, and to the zero address.
//!
//! They are asked as views are, so that one that is accepted changes nothing.
use super::book::Book;
use crate::{
    backend::{
        StepFault,
        evm::ledger::View,
        views::{IDENTITY, ViewAnswer, ViewDifference, ViewName},
    },
    model::Actor,
};
use alloy::{
    primitives::{Address, Bytes},
    sol_types::SolCall,
};
use concord_registry::evm::abi::IdentityRegistry as Identity;
use serde_json::{Value, json};

/// A transfer that the agent's owner may not make.
pub(super) struct Move {
    arguments: Value,
    call: View,
}

pub(super) fn ask(book: &Book<'_>) -> Vec<Move> {
    let mut moves = Vec::new();
    for (agent, state) in &book.state.agents {
        let owner = &state.owner;
        let mut ask = |from: &Actor, to: Option<&Actor>| {
            let call = Identity::transferFromCall {
                from: book.address(from),
                to: to.map_or(Address::ZERO, |it| book.address(it)),
                tokenId: book.id(agent),
            };
            moves.push(Move {
                arguments: json!({ "agent": agent, "by": owner, "from": from, "to": to }),
                call: View {
                    from: book.address(owner),
                    contract: book.registries.identity,
                    input: call.abi_encode().into(),
                },
            });
        };
        ask(owner, None);
        if let Some(other) = other_than(owner, book) {
            ask(other, Some(other));
            ask(other, Some(owner));
        }
    }
    moves
}

/// Returns the owner of another agent, if there is one: its balance would not go below zero.
fn other_than<'a>(owner: &Actor, book: &'a Book<'_>) -> Option<&'a Actor> {
    let holders = book.state.agents.values().map(|it| &it.owner);
    holders.chain(&book.actors).find(|it| *it != owner)
}

pub(super) fn calls(moves: &[Move]) -> Vec<View> {
    moves.iter().map(|it| it.call.clone()).collect()
}

/// The moves, each with a difference if it was accepted.
///
/// # Errors
/// Another number of answers.
pub(super) fn compare(
    moves: Vec<Move>,
    answers: &[Result<Bytes, Bytes>],
) -> Result<Vec<ViewAnswer>, StepFault> {
    let (asked, answered) = (moves.len(), answers.len());
    if asked != answered {
        let reason = format!("{answered} answers to {asked} transfers");
        return Err(StepFault::Unreachable(reason));
    }
    let compare = |(it, answer): (Move, &Result<Bytes, Bytes>)| ViewAnswer {
        view: ViewName {
            interface: IDENTITY,
            signature: Identity::transferFromCall::SIGNATURE,
        },
        arguments: it.arguments,
        difference: answer
            .is_ok()
            .then(|| ViewDifference::of("$".to_owned(), json!("a refusal"), json!("accepted"))),
    };
    Ok(moves.into_iter().zip(answers).map(compare).collect())
}
