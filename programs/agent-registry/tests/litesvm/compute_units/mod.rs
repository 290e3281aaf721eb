//! What every instruction costs, held against its bar and against `docs/COMPUTE-UNITS.md`, which
//! `CONCORD_BLESS=1 cargo test -p agent-registry --test litesvm compute_units` writes anew.

mod authorized;
mod flow;
mod open;
mod settings;
mod sizes;
mod table;

use crate::localnet::calls::instruction_names;
use flow::Flow;
use std::collections::BTreeSet;

/// Every flow, in the order of the table.
fn flows() -> Vec<Flow> {
    let mut flows = authorized::flows();
    flows.extend(open::flows());
    flows.extend(settings::flows());
    flows
}

#[test]
fn every_instruction_keeps_its_bar_and_the_table_says_what_it_costs() {
    let flows = flows();
    let measured: BTreeSet<&str> = flows.iter().map(|flow| flow.instruction).collect();
    assert_eq!(measured, instruction_names().into_iter().collect());
    flows.iter().for_each(Flow::assert_bar);
    table::assert_written("accounts", &table::accounts(&sizes::accounts()));
    // Another toolchain's program has other units and another size; its bars are the same.
    let toolchain = sizes::toolchain();
    if table::is_for(&toolchain) {
        table::assert_written("units", &table::units(&flows, &sizes::transactions()));
        table::assert_written("program", &sizes::program(&toolchain));
    }
}
