//! Audits an aggregator from outside (R57): its chain of receipts against the registries. It trusts the
//! nodes that it is given, and nothing that the aggregator says.

mod feedback;
mod listing;
mod payload;
mod receipts;
mod response;
mod settlement;

use std::collections::BTreeMap;

use alloy::transports::http::reqwest::{Client, Url};
use concord_chain::{ChainError, fetch::Fetcher};
use concord_registry::event::Event;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{RevocationRequest, admission::is_same_account};

pub use payload::SentPayload;
pub use receipts::PublishedReceipt;
pub use settlement::Settlement;

/// Bytes of one answer.
const ANSWER_MAX: usize = 16 << 20;

/// An audit.
pub struct Audit {
    /// Where the aggregator's routes are mounted.
    pub url: Url,
    /// The registries that count, by CAIP-2 id.
    pub settlements: BTreeMap<String, Settlement>,
    /// Fetches feedback files that the aggregator does not serve itself.
    pub fetcher: Fetcher,
    /// Seconds after which a receipt must have its feedback.
    pub grace: u64,
    /// Accepted submissions that their reviewers kept: comment and endpoint are compared with these only.
    pub payloads: Vec<SentPayload>,
    /// Asks the aggregator.
    pub client: Client,
}

/// Why an audit has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// A chain does not answer.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The aggregator does not answer, or not what X402 or R57 has.
    #[error("{url}: {reason}")]
    Aggregator {
        /// Its scheme, host and port: the rest of its URL may be a secret.
        url: String,
        /// What was asked, and why it is of no use.
        reason: String,
    },
}

/// What an audit found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The key of the receipts, hex with `0x`.
    pub public_key: Option<String>,
    /// Receipts in the chain.
    pub receipts: u64,
    /// Receipts whose feedback is on chain, as it was signed. Comment and endpoint are not signed.
    pub published: u64,
    /// Receipts of feedback that their reviewers revoked.
    pub revoked: u64,
    /// Of the published and the revoked: those that were compared with the payload that was sent, with comment and endpoint.
    pub compared: u64,
    /// Receipts of responses that are on chain, as their agents asked.
    pub responded: u64,
    /// Receipts without feedback or response that are younger than the grace period.
    pub pending: u64,
    /// Receipts of which the nodes cannot say what became of them (R36). They are neither fine nor wrong.
    pub unknown: Vec<Unknown>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// A receipt that could not be checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// The receipt's number; 0 of a payload without a receipt.
    pub n: u64,
    /// The payment whose feedback it is.
    pub key: String,
    /// Why.
    pub detail: String,
}

/// Something that is wrong with one receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The receipt's number.
    pub n: u64,
    /// The payment whose feedback it is.
    pub key: String,
    /// What is wrong.
    pub kind: ProblemKind,
    /// In words.
    pub detail: String,
}

/// What can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// The receipt does not continue the chain, or its signature does not hold.
    ChainBroken,
    /// A receipt that was given out is not in the chain.
    Forked,
    /// No feedback, or no response, is on chain.
    Withheld,
    /// It is recorded by a registry that does not count.
    OtherRegistry,
    /// The feedback file cannot be read.
    FileMissing,
    /// What is on chain is not what was signed.
    Differs,
    /// It is revoked, and the reviewer did not sign that (R58).
    RevokedByOthers,
}

/// An entry of `GET /receipts`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    receipt: PublishedReceipt,
    #[serde(default)]
    tx_ref: Option<String>,
    #[serde(default, rename = "feedbackURI")]
    feedback_uri: String,
    #[serde(default)]
    settlement_registry: String,
    #[serde(default)]
    state: String,
    #[serde(default)]
    revocation: Option<RevocationEntry>,
    /// Of a response: what the agent signed, any members it may have.
    #[serde(default)]
    request: Option<Box<RawValue>>,
}

#[derive(Clone, Debug, Deserialize)]
struct RevocationEntry {
    request: RevocationRequest,
}

/// What one receipt turned out to be.
enum Finding {
    Published,
    Revoked,
    Responded,
    Pending,
    Unknown(String),
    Problem(ProblemKind, String),
}

/// Where an entry's transaction is, and what it did.
struct Found<'a> {
    settlement: &'a Settlement,
    /// The identity registry, CAIP-10.
    identity: String,
    events: Vec<Event>,
}

/// The entry of each payment's feedback: an aggregator has one (R51).
fn feedback_by_key(entries: &[Entry]) -> BTreeMap<&str, &Entry> {
    let mut feedback = BTreeMap::new();
    for entry in entries.iter().filter(|it| it.request.is_none()) {
        feedback.entry(&*entry.receipt.key).or_insert(entry);
    }
    feedback
}

fn problem(kind: ProblemKind, detail: impl Into<String>) -> Finding {
    Finding::Problem(kind, detail.into())
}

impl Audit {
    /// Audits every receipt. `given`: receipts that clients kept, which must be in the chain. `now`: unix
    /// seconds.
    ///
    /// # Errors
    /// [`AuditError`] if something does not answer; that is not a finding.
    pub async fn run(&self, given: &[PublishedReceipt], now: u64) -> Result<Report, AuditError> {
        let entries = self.entries().await?;
        let mut report = Report {
            public_key: entries.first().map(|it| it.receipt.public_key.clone()),
            receipts: entries.len() as u64,
            ..Report::default()
        };
        let chain: Vec<&PublishedReceipt> = entries.iter().map(|it| &it.receipt).collect();
        report.problems = receipts::problems(&chain, given, now);
        let feedback = feedback_by_key(&entries);
        for entry in &entries {
            let finding = self.finding(entry, &feedback, now).await?;
            if matches!(finding, Finding::Published | Finding::Revoked) {
                report.compared += u64::from(self.payloads_of(entry).next().is_some());
            }
            match finding {
                Finding::Published => report.published += 1,
                Finding::Revoked => report.revoked += 1,
                Finding::Responded => report.responded += 1,
                Finding::Pending => report.pending += 1,
                Finding::Unknown(detail) => report.unknown.push(entry.receipt.unknown(detail)),
                Finding::Problem(kind, detail) => {
                    report.problems.push(entry.receipt.problem(kind, detail));
                }
            }
        }
        let without = self.payloads.iter();
        let without = without.filter(|it| !feedback.contains_key(&*it.key));
        report.unknown.extend(without.map(SentPayload::unknown));
        Ok(report)
    }

    /// The payloads that were sent for the payment of an entry.
    fn payloads_of(&self, entry: &Entry) -> impl Iterator<Item = &SentPayload> {
        let payloads = self.payloads.iter();
        payloads.filter(|it| it.key == entry.receipt.key)
    }

    async fn get(&self, path: &str) -> Result<Vec<u8>, AuditError> {
        let url = self.url.join(path);
        let url = url.map_err(|error| self.unusable(path, error.to_string()))?;
        let silent = |error: alloy::transports::http::reqwest::Error| {
            self.unusable(path, error.without_url().to_string())
        };
        let mut response = self.client.get(url).send().await.map_err(silent)?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.unusable(path, format!("answered {status}")));
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(silent)? {
            if bytes.len() + chunk.len() > ANSWER_MAX {
                let reason = format!("the answer has more than {ANSWER_MAX} bytes");
                return Err(self.unusable(path, reason));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    fn unusable(&self, path: &str, reason: String) -> AuditError {
        AuditError::Aggregator {
            url: self.url.origin().ascii_serialization(),
            reason: format!("{path}: {reason}"),
        }
    }

    async fn finding(
        &self,
        entry: &Entry,
        feedback: &BTreeMap<&str, &Entry>,
        now: u64,
    ) -> Result<Finding, AuditError> {
        let found = match self.locate(entry, now).await? {
            Ok(found) => found,
            Err(finding) => return Ok(finding),
        };
        match &entry.request {
            Some(request) => {
                let feedback = feedback.get(&*entry.receipt.key).copied();
                self.response_finding((entry, request), &found, feedback, now)
                    .await
            }
            None => self.feedback_finding(entry, &found).await,
        }
    }

    /// Finds the transaction of an entry at a registry that counts.
    async fn locate<'e>(
        &'e self,
        entry: &'e Entry,
        now: u64,
    ) -> Result<Result<Found<'e>, Finding>, AuditError> {
        let age = now.saturating_sub(entry.receipt.accepted_at);
        // A receipt from the future would be pending for ever.
        let is_young = age < self.grace && !entry.receipt.is_ahead_of(now);
        let withheld = |why: &str| {
            if is_young {
                Finding::Pending
            } else {
                let detail = format!("{why}, {age} seconds after it was accepted");
                problem(ProblemKind::Withheld, detail)
            }
        };
        let Some(tx_ref) = &entry.tx_ref else {
            let why = format!("no transaction (state {:?})", entry.state);
            return Ok(Err(withheld(&why)));
        };
        let place = tx_ref.rsplit_once(':');
        let place = place.and_then(|(chain, it)| Some((chain, it, self.settlements.get(chain)?)));
        let Some((chain, transaction, settlement)) = place else {
            let detail = format!("{tx_ref} is on no chain that counts");
            return Ok(Err(problem(ProblemKind::OtherRegistry, detail)));
        };
        let expected = settlement.reputation(chain);
        if !is_same_account(&expected, &entry.settlement_registry) {
            let found = &entry.settlement_registry;
            let detail = format!("settled on {found}, expected {expected}");
            return Ok(Err(problem(ProblemKind::OtherRegistry, detail)));
        }
        if !settlement.is_name(transaction) {
            return Ok(Err(withheld(&format!("{tx_ref} is no transaction"))));
        }
        let Some(events) = settlement.events(chain, transaction).await? else {
            let lost = settlement.lost_since(entry.receipt.accepted_at).await?;
            return Ok(Err(match lost {
                Some(lost) if !is_young => Finding::Unknown(format!("{tx_ref}: {lost}")),
                _ => withheld(&format!("{tx_ref} is not on chain")),
            }));
        };
        Ok(Ok(Found {
            identity: settlement.identity(chain),
            settlement,
            events,
        }))
    }
}
