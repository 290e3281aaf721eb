//! The Solidity registries, Concord's and the canonical ERC-8004 2.0.0: interfaces, calls, events
//! and errors.
//!
//! Where both families have a function or an event it has one ABI, so that the interfaces in
//! [`abi`] serve both (R2); [`canonical`] has what only the canonical contracts have.
#[allow(missing_docs, clippy::too_many_arguments)]
pub mod abi;
pub mod calls;
#[allow(missing_docs)]
pub mod canonical;
mod deployment;
mod errors;
mod events;
pub mod text;

pub use alloy_primitives::{Address, B256, Bytes, Log, U256};
pub use alloy_sol_types;
pub use deployment::RegistryAddresses;
pub use errors::{Dialect, revert_text};
pub use events::PlacedLog;
pub(crate) use events::decode_alone;

use crate::event::{AccountId, AgentId};

impl From<U256> for AgentId {
    fn from(id: U256) -> Self {
        Self::Evm(id.to_be_bytes())
    }
}

impl From<Address> for AccountId {
    fn from(address: Address) -> Self {
        Self::Evm(address.into_array())
    }
}
