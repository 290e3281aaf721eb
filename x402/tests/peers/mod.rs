//! Purchases among x402's own packages and ours: servers, clients and facilitators of others on both sides, on
//! anvil and on a local cluster, with the agent registered on one of them or on both.
mod cluster;
mod commands;
mod crossed;
mod customer;
mod entrance;
mod fees;
mod files;
mod interrupted;
mod killed;
mod matrix;
mod nodes;
mod peer;
mod shop;
mod solana;
mod unpayable;
mod world;

use concord_x402::verify::{Report, State, Step};

/// The steps that are not verified.
fn states(report: &Report) -> Vec<(Step, State, &str)> {
    let doubtful = report.steps.iter().filter(|it| it.state != State::Verified);
    doubtful
        .map(|it| (it.step, it.state, &*it.detail))
        .collect()
}
