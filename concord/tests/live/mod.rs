//! `concord conform --live` and the scenarios of `concord deploy verify`, on anvil with Base
//! Sepolia's chain id, where the registries were deployed by `concord deploy apply`. Needs
//! contracts/out, and anvil on PATH or in CONCORD_ANVIL.
mod deployed;
mod document;
mod playing;
pub(crate) mod recorder;
mod refusals;
mod smoke;
mod verification;
