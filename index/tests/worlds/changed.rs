//! A chain whose batches are changed on their way to the index.
use async_trait::async_trait;
use concord_index::{
    SourceError,
    batch::{Batch, Header, IndexedEvent},
    source::Source,
    state::{StateRead, Subject},
};

/// Takes the source, the block from which on was asked, and what it answered.
pub type Change<S> = Box<dyn FnMut(&mut S, u64, Batch) -> Result<Batch, SourceError> + Send>;

pub struct Changed<S> {
    pub source: S,
    pub change: Change<S>,
}

/// An endpoint that withholds some events.
pub fn withholding<S>(withheld: impl Fn(&IndexedEvent) -> bool + Send + 'static) -> Change<S> {
    Box::new(move |_, _, mut batch| {
        batch.events.retain(|it| !withheld(it));
        Ok(batch)
    })
}

#[async_trait]
impl<S: Source> Source for Changed<S> {
    fn name(&self) -> String {
        self.source.name()
    }

    async fn head(&mut self) -> Result<Header, SourceError> {
        self.source.head().await
    }

    async fn final_number(&mut self) -> Result<Option<u64>, SourceError> {
        self.source.final_number().await
    }

    async fn hash(&mut self, number: u64) -> Result<Option<[u8; 32]>, SourceError> {
        self.source.hash(number).await
    }

    async fn batch(&mut self, from: u64, to: u64, settled: u64) -> Result<Batch, SourceError> {
        let batch = self.source.batch(from, to, settled).await?;
        (self.change)(&mut self.source, from, batch)
    }

    async fn state(
        &mut self,
        subjects: &[Subject],
        at: &Header,
    ) -> Result<Option<StateRead>, SourceError> {
        self.source.state(subjects, at).await
    }
}
