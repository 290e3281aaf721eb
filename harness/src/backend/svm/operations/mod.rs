//! How each operation becomes a transaction: one file for each subject.
mod authorized;
mod identity;
mod open;
mod validation;
