//! A process that stops at a point of a submission, to be killed there.
use crate::{errand, hooked_registry::Hooks};
use async_trait::async_trait;
use concord_chain::{
    ChainError,
    submission::{Landing, SignedTx, TxRecord, TxStatus},
};
use concord_x402::feedback::{
    FeedbackError, FeedbackJob, FeedbackRegistry, FileFolder, FileStore, ResponseJob,
};

/// Waits to be killed, if this is the point.
pub fn reach(point: &str, stop: &str) {
    if point == stop {
        errand::stop();
    }
}

/// A folder of files whose keeper is killed before a file is stored, at the point `before`.
pub struct StoppingFiles {
    pub files: FileFolder,
    pub before: &'static str,
    pub stop: String,
}

#[async_trait]
impl FileStore for StoppingFiles {
    fn uri(&self, file: &[u8]) -> String {
        self.files.uri(file)
    }

    async fn store(&self, file: &[u8]) -> Result<(), ChainError> {
        reach(self.before, &self.stop);
        self.files.store(file).await
    }
}

struct StoppingRecord<'r> {
    record: &'r mut (dyn TxRecord + Sync),
    stop: &'r str,
}

impl TxRecord for StoppingRecord<'_> {
    fn transactions(&self, job: &str) -> &[SignedTx] {
        self.record.transactions(job)
    }

    fn landing(&self, job: &str) -> Option<&Landing> {
        self.record.landing(job)
    }

    fn signed(&mut self, signed: &[(&str, SignedTx)]) -> Result<(), ChainError> {
        self.record.signed(signed)?;
        if !signed.is_empty() {
            reach("signed", self.stop);
        }
        Ok(())
    }

    fn sent(&mut self, sent: &[(&str, SignedTx)]) -> Result<(), ChainError> {
        self.record.sent(sent)?;
        if !sent.is_empty() {
            reach("sent", self.stop);
        }
        Ok(())
    }

    fn failed(&mut self, failed: &[(&str, SignedTx)]) -> Result<(), ChainError> {
        self.record.failed(failed)
    }

    fn landed(&mut self, landed: &[(&str, Landing)]) -> Result<(), ChainError> {
        self.record.landed(landed)?;
        if !landed.is_empty() {
            reach("landed", self.stop);
        }
        Ok(())
    }

    fn reorganised(&mut self, jobs: &[&str]) -> Result<(), ChainError> {
        self.record.reorganised(jobs)
    }

    fn finalized(&mut self, jobs: &[&str]) -> Result<(), ChainError> {
        self.record.finalized(jobs)?;
        if !jobs.is_empty() {
            reach("final", self.stop);
        }
        Ok(())
    }

    fn looked(&mut self, job: &str, statuses: &[TxStatus]) -> Result<(), ChainError> {
        self.record.looked(job, statuses)
    }

    fn waiting(&mut self, jobs: &[&str]) {
        self.record.waiting(jobs);
    }
}

/// Stops the child at a point of its submission.
pub struct StopsAt(pub String);

#[async_trait]
impl Hooks for StopsAt {
    async fn submit(
        &mut self,
        registry: &mut dyn FeedbackRegistry,
        job: FeedbackJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let stop = &self.0;
        if record.transactions(job.id).is_empty() {
            reach("stored", stop);
        }
        let mut record = StoppingRecord { record, stop };
        registry.submit(job, &mut record).await
    }

    async fn respond(
        &mut self,
        registry: &mut dyn FeedbackRegistry,
        job: ResponseJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let stop = &self.0;
        if record.transactions(job.id).is_empty() {
            reach("accepted", stop);
        }
        let mut record = StoppingRecord { record, stop };
        registry.respond(job, &mut record).await
    }
}
