//! Instructions of the program and of Token-2022, built for addresses.
pub mod authorized;
pub mod identity;
pub mod open;
pub mod registry;
pub mod token;
pub mod validation;

use concord_deploy::svm::instructions::call;
