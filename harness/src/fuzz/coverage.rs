//! What a step reached, in the model's terms: outcomes, bounds, and what was true of the agent that
//! it is about.
use super::{Transition, world::World};
use crate::model::{AgentState, Chain, Model, Operation};
use std::collections::BTreeSet;

/// What one step reached, each in words of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features(pub BTreeSet<String>);

impl Features {
    /// Of a step that led from one world to another.
    pub fn of_step(before: &World, step: &Transition, after: &World) -> Self {
        let operation = &step.operation;
        let name = operation.name();
        let verdicts = Chain::ALL.map(|chain| {
            let mut model = before.model(chain).clone();
            model.apply(operation, after.time).verdict.to_string()
        });
        let came = verdicts.join("/");
        let mut found = BTreeSet::from([format!("{name} {came}")]);
        if let Some(mutation) = &step.mutation {
            found.insert(format!("{name} {} {came}", mutation.name));
        }
        for reached in &step.bounds {
            found.insert(format!("{reached} {came}"));
        }
        for (chain, verdict) in Chain::ALL.iter().zip(&verdicts) {
            let facts = facts_before(before, *chain, operation);
            found.extend(
                facts
                    .iter()
                    .map(|it| format!("{chain} {name} {verdict} {it}")),
            );
        }
        Self(found)
    }
}

/// What is true of the agent, of who acts, and of the entries that they have.
fn facts_before(world: &World, chain: Chain, operation: &Operation) -> Vec<String> {
    let model = world.model(chain);
    let Some(agent) = operation.agent() else {
        return vec![format!("agents {}", magnitude(model.state().agents.len()))];
    };
    let Some(state) = model.state().agents.get(agent) else {
        return vec!["no agent".to_owned()];
    };
    let mut facts = facts_of_agent(state);
    if let Some(by) = operation.by() {
        let role = if *by == state.owner {
            "owner"
        } else if state.wallet.as_ref() == Some(by) {
            "wallet"
        } else if model.is_insider(agent, by) {
            "insider"
        } else {
            "outsider"
        };
        facts.push(format!("by {role}"));
        if by.is_contract() {
            facts.push("by a contract".to_owned());
        }
        facts.extend(facts_of_client(state, by));
    }
    facts.extend(signer(model, operation));
    facts
}

fn facts_of_agent(state: &AgentState) -> Vec<String> {
    let wallet = match &state.wallet {
        None => "none",
        Some(wallet) if *wallet == state.owner => "owner",
        Some(_) => "other",
    };
    let (requests, answered) = (&state.validations.requests, state.validations.answered);
    vec![
        format!("wallet {wallet}"),
        format!("metadata {}", magnitude(state.metadata.len())),
        format!("clients {}", magnitude(state.authorized.clients.len())),
        format!("open clients {}", magnitude(state.open.clients.len())),
        format!("average {}", state.authorized.average / 25),
        format!(
            "verified {}",
            magnitude(count(state.authorized.verified.map(|it| it.count)))
        ),
        format!("requests {}", magnitude(requests.len())),
        format!("answered {}", magnitude(count(Some(answered)))),
    ]
}

fn facts_of_client(state: &AgentState, client: &crate::model::Actor) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(own) = state.authorized.entries.get(client) {
        let last = own.last();
        facts.push(format!("entries {}", magnitude(own.len())));
        facts.push(format!(
            "last revoked {}",
            last.is_some_and(|it| it.revoked)
        ));
        facts.push(format!(
            "last paid {}",
            last.is_some_and(|it| it.payment.is_some())
        ));
    }
    if let Some(own) = state.open.entries.get(client) {
        let last = own.last();
        facts.push(format!("open entries {}", magnitude(own.len())));
        facts.push(format!(
            "last open revoked {}",
            last.is_some_and(|it| it.revoked)
        ));
    }
    facts
}

fn signer(model: &Model, operation: &Operation) -> Option<String> {
    let Operation::GiveFeedback(feedback) = operation else {
        return None;
    };
    let sent = feedback.authorization.as_ref()?;
    let role = match model.signer_of(&feedback.agent) {
        Some(signer) if *signer == sent.signer => "right",
        _ => "wrong",
    };
    let kind = if sent.signer.is_contract() {
        "contract"
    } else {
        "key"
    };
    Some(format!("{role} signer, a {kind}, {:?}", sent.form))
}

fn count(of: Option<u64>) -> usize {
    usize::try_from(of.unwrap_or(0)).unwrap_or(usize::MAX)
}

/// 0, 1, 2, then up to 4, 8, 16 and so on.
fn magnitude(number: usize) -> usize {
    match number {
        0..=2 => number,
        _ => number.next_power_of_two(),
    }
}
