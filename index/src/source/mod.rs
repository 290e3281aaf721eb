//! Where blocks and events come from.
pub mod evm;
pub mod svm;

use crate::{
    SourceError,
    batch::{Batch, Header},
    binding::BindingRead,
    state::{StateRead, Subject},
};
use async_trait::async_trait;
use concord_registry::event::AgentId;

/// A chain, as the index reads it.
#[async_trait]
pub trait Source: Send {
    /// The endpoint's name, for messages.
    fn name(&self) -> String;

    /// Returns the newest block.
    async fn head(&mut self) -> Result<Header, SourceError>;

    /// Returns the last block that is final; `None` if the chain does not say.
    async fn final_number(&mut self) -> Result<Option<u64>, SourceError>;

    /// Returns the hash of a block that is not after the newest one; `None` if the chain skipped that number, as Solana
    /// does.
    ///
    /// # Errors
    /// [`SourceError::Inconsistent`] if the endpoint does not have the block.
    async fn hash(&mut self, number: u64) -> Result<Option<[u8; 32]>, SourceError>;

    /// Returns the blocks from `from` on, at most up to `to`, completely. Blocks after
    /// `settled` can still be taken back: they are read one by one, with their parents.
    async fn batch(&mut self, from: u64, to: u64, settled: u64) -> Result<Batch, SourceError>;

    /// R45: returns what the registries' state says of agents and clients, after block `at` or a later one;
    /// `None` if the source has no state.
    async fn state(
        &mut self,
        subjects: &[Subject],
        at: &Header,
    ) -> Result<Option<StateRead>, SourceError> {
        let _ = (subjects, at);
        Ok(None)
    }

    /// ERC-8217: asks the contracts that agents declare, after block `at`, to which token each of these agents is bound. A
    /// source without such contracts answers nothing.
    async fn bindings(
        &mut self,
        declared: &[(AgentId, [u8; 20])],
        at: &Header,
    ) -> Result<Vec<BindingRead>, SourceError> {
        let _ = (declared, at);
        Ok(Vec::new())
    }
}

#[async_trait]
impl Source for Box<dyn Source> {
    fn name(&self) -> String {
        (**self).name()
    }

    async fn head(&mut self) -> Result<Header, SourceError> {
        (**self).head().await
    }

    async fn final_number(&mut self) -> Result<Option<u64>, SourceError> {
        (**self).final_number().await
    }

    async fn hash(&mut self, number: u64) -> Result<Option<[u8; 32]>, SourceError> {
        (**self).hash(number).await
    }

    async fn batch(&mut self, from: u64, to: u64, settled: u64) -> Result<Batch, SourceError> {
        (**self).batch(from, to, settled).await
    }

    async fn state(
        &mut self,
        subjects: &[Subject],
        at: &Header,
    ) -> Result<Option<StateRead>, SourceError> {
        (**self).state(subjects, at).await
    }

    async fn bindings(
        &mut self,
        declared: &[(AgentId, [u8; 20])],
        at: &Header,
    ) -> Result<Vec<BindingRead>, SourceError> {
        (**self).bindings(declared, at).await
    }
}
