//! Runs on registries on a live chain, paid for by a funder.
//!
//! The actors of a run have keys that are made from the funder's secret and the run's nonce
//! ([`crate::backend::RunSecret`]). The nonce is on record ([`Record`]) from before they get
//! anything until they have given back what is left ([`Funder`]), with what is on its way to them: whoever
//! has the funder's key can take back what a killed run left behind.
pub mod evm;
mod fault;
mod funder;
mod record;
mod rehearsal;
pub mod svm;

pub use fault::LiveFault;
pub use funder::{Funder, Funding, Swept};
pub use record::{Gift, Record};
