//! Every committed scenario and more of the fuzzer's worlds; a part of them is played whenever tests are.
use crate::replay::{evm, svm};

#[test]
fn on_anvil_the_index_equals_the_model_after_each_step_of_every_scenario() {
    evm::play_each(1);
}

#[test]
fn in_litesvm_the_index_equals_the_model_after_each_step_of_every_scenario() {
    svm::play_each(1);
}

#[test]
fn on_anvil_the_index_equals_the_model_after_each_step_of_the_fuzzers_worlds() {
    evm::play_worlds(24);
}

#[test]
fn in_litesvm_the_index_equals_the_model_after_each_step_of_the_fuzzers_worlds() {
    svm::play_worlds(24);
}
