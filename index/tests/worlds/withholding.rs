//! An endpoint that withholds some of a chain's events, and says what the chain's state is.
use async_trait::async_trait;
use concord_index::{
    SourceError,
    batch::{Batch, Header, IndexedEvent},
    source::Source,
    state::{StateRead, Subject},
};

/// Whether an event is withheld.
pub type Withheld = Box<dyn Fn(&IndexedEvent) -> bool + Send>;

pub struct Withholding<S> {
    pub source: S,
    pub withheld: Withheld,
}

#[async_trait]
impl<S: Source> Source for Withholding<S> {
    fn name(&self) -> String {
        self.source.name()
    }

    async fn head(&mut self) -> Result<Header, SourceError> {
        self.source.head().await
    }

    async fn final_number(&mut self) -> Result<Option<u64>, SourceError> {
        self.source.final_number().await
    }

    async fn hash(&mut self, number: u64) -> Result<[u8; 32], SourceError> {
        self.source.hash(number).await
    }

    async fn batch(&mut self, from: u64, to: u64, settled: u64) -> Result<Batch, SourceError> {
        let mut batch = self.source.batch(from, to, settled).await?;
        batch.events.retain(|it| !(self.withheld)(it));
        Ok(batch)
    }

    async fn state(
        &mut self,
        subjects: &[Subject],
        at: &Header,
    ) -> Result<Option<StateRead>, SourceError> {
        self.source.state(subjects, at).await
    }
}
