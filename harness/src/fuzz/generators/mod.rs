//! Operations that a registry ought to accept, most of the time.
mod authorized;
mod identity;
mod open;
mod registry;
mod validation;
mod value;

use super::{
    random::Random,
    world::{Focus, World},
};
use crate::model::Operation;
use authorized::{append_response, attach_payment_proof, give_feedback, revoke_feedback, summary};
use identity::{
    approve, burn, new_agent, register, set_agent_uri, set_agent_wallet, set_auth_schemes,
    set_feedback_authority, set_metadata, set_operator, transfer, unset_agent_wallet,
};
use open::{append_open_response, give_open_feedback, open_summary, revoke_open_feedback};
use registry::{
    accept_registry_authority, list_facilitator, list_payment_token, propose_registry_authority,
};
pub use validation::request;
use validation::{validation_request, validation_response};
pub use value::stranger;

type Generator = fn(&World, u64, &mut Random) -> Option<Operation>;

/// Seconds until the next step: one mostly, sometimes past a deadline or an expiry.
pub fn wait(random: &mut Random) -> u64 {
    let spread = [(80, 1), (10, 7), (6, 150), (3, 301), (1, 86_400)];
    random.weigh(&spread).unwrap_or(1)
}

/// Steps that serve the world's focus, of a hundred.
const FOCUSED_PERCENT: u64 = 45;

/// An operation that the world tries more than others do.
fn focused(world: &World, time: u64, random: &mut Random) -> Option<Operation> {
    let kinds: &[(u64, Generator)] = match world.focus {
        Focus::Nothing => return None,
        Focus::Lists => &[(2, list_payment_token), (3, list_facilitator)],
        Focus::LastEntries => &[
            (3, give_feedback),
            (2, revoke_feedback),
            (3, give_open_feedback),
            (2, revoke_open_feedback),
        ],
    };
    random.weigh(kinds)?(world, time, random)
}

/// One operation at `time`.
pub fn operation(world: &World, time: u64, random: &mut Random) -> Operation {
    const KINDS: &[(u64, Generator)] = &[
        (5, register),
        (3, set_agent_uri),
        (4, set_metadata),
        (6, set_agent_wallet),
        (2, unset_agent_wallet),
        (5, transfer),
        (2, burn),
        (2, approve),
        (2, set_operator),
        (4, set_feedback_authority),
        (3, set_auth_schemes),
        (3, list_payment_token),
        (3, list_facilitator),
        (1, propose_registry_authority),
        (1, accept_registry_authority),
        (20, give_feedback),
        (6, revoke_feedback),
        (8, append_response),
        (20, attach_payment_proof),
        (3, summary),
        (14, give_open_feedback),
        (5, revoke_open_feedback),
        (8, append_open_response),
        (5, open_summary),
        (6, validation_request),
        (8, validation_response),
    ];
    if world.agents.is_empty() {
        return new_agent(world, random);
    }
    if random.percent(FOCUSED_PERCENT)
        && let Some(operation) = focused(world, time, random)
    {
        return operation;
    }
    (0..KINDS.len())
        .find_map(|_| random.weigh(KINDS)?(world, time, random))
        .unwrap_or_else(|| new_agent(world, random))
}
