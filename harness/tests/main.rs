//! The tests of this crate from outside, as one executable.
mod error_classes;
mod evm_backend;
mod fuzz;
mod model;
mod runner;
mod scenario_files;
mod svm_backend;
mod token_2022;
mod variances;
mod views;
