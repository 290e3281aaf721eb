//! Audits an aggregator from outside (R57): its chain of receipts against the registries. It trusts the
//! nodes that it is given, and nothing that the aggregator says.

mod receipts;
mod settlement;

use std::collections::BTreeMap;

use alloy::transports::http::reqwest::{Client, Url};
use concord_canonical::caip::TaskRef;
use concord_chain::{ChainError, fetch::Fetcher};
use concord_files::{
    FeedbackFile, OnChainEntry, OnChainRating, Parsed, Timestamp, X402Feedback, parse_feedback,
};
use concord_registry::event::Event;
use serde::{Deserialize, Serialize};

use crate::{RevocationRequest, admission::is_same_account, claim::payer_account};

pub use receipts::PublishedReceipt;
pub use settlement::Settlement;

/// Receipts that are asked for at once.
const PAGE: u64 = 500;
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
        /// What was asked.
        url: String,
        /// Why.
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
    /// Receipts whose feedback is on chain, as it was signed.
    pub published: u64,
    /// Receipts of feedback that their reviewers revoked.
    pub revoked: u64,
    /// Receipts without feedback that are younger than the grace period.
    pub pending: u64,
    /// What is wrong.
    pub problems: Vec<Problem>,
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
    /// No feedback is on chain.
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

#[derive(Deserialize)]
struct Page {
    receipts: Vec<Entry>,
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
}

#[derive(Clone, Debug, Deserialize)]
struct RevocationEntry {
    request: RevocationRequest,
}

/// What one receipt turned out to be.
enum Finding {
    Published,
    Revoked,
    Pending,
    Problem(ProblemKind, String),
}

fn problem(kind: ProblemKind, detail: impl Into<String>) -> Finding {
    Finding::Problem(kind, detail.into())
}

impl Audit {
    /// Audits every receipt. `given`: receipts that clients kept, which must be in the chain. `now`: unix
    /// seconds.
    ///
    /// # Errors
    /// [`AuditError`] if something does not answer; that is no finding.
    pub async fn run(&self, given: &[PublishedReceipt], now: u64) -> Result<Report, AuditError> {
        let entries = self.entries().await?;
        let mut report = Report {
            public_key: entries.first().map(|it| it.receipt.public_key.clone()),
            receipts: entries.len() as u64,
            ..Report::default()
        };
        let chain: Vec<&PublishedReceipt> = entries.iter().map(|it| &it.receipt).collect();
        report.problems = receipts::problems(&chain, given);
        for entry in &entries {
            match self.finding(entry, now).await? {
                Finding::Published => report.published += 1,
                Finding::Revoked => report.revoked += 1,
                Finding::Pending => report.pending += 1,
                Finding::Problem(kind, detail) => {
                    report.problems.push(entry.receipt.problem(kind, detail));
                }
            }
        }
        Ok(report)
    }

    async fn entries(&self) -> Result<Vec<Entry>, AuditError> {
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let from = entries.len() as u64 + 1;
            let path = format!("receipts?from={from}&limit={PAGE}");
            let bytes = self.get(&path).await?;
            let page: Page = serde_json::from_slice(&bytes)
                .map_err(|error| self.unusable(&path, error.to_string()))?;
            if page.receipts.is_empty() {
                return Ok(entries);
            }
            entries.extend(page.receipts);
        }
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
            url: format!("{}{path}", self.url),
            reason,
        }
    }

    async fn finding(&self, entry: &Entry, now: u64) -> Result<Finding, AuditError> {
        let age = now.saturating_sub(entry.receipt.accepted_at);
        let withheld = |why: &str| match age < self.grace {
            true => Finding::Pending,
            false => {
                let detail = format!("{why}, {age} seconds after it was accepted");
                problem(ProblemKind::Withheld, detail)
            }
        };
        let Some(tx_ref) = &entry.tx_ref else {
            return Ok(withheld(&format!(
                "no transaction (state {:?})",
                entry.state
            )));
        };
        let place = tx_ref.rsplit_once(':');
        let place = place.and_then(|(chain, it)| Some((chain, it, self.settlements.get(chain)?)));
        let Some((chain, transaction, settlement)) = place else {
            let detail = format!("{tx_ref} is on no chain that counts");
            return Ok(problem(ProblemKind::OtherRegistry, detail));
        };
        let expected = settlement.reputation(chain);
        if !is_same_account(&expected, &entry.settlement_registry) {
            let found = &entry.settlement_registry;
            let detail = format!("settled on {found}, expected {expected}");
            return Ok(problem(ProblemKind::OtherRegistry, detail));
        }
        let Some(events) = settlement.events(chain, transaction).await? else {
            return Ok(withheld(&format!("{tx_ref} is not on chain")));
        };
        let file = match self.file(entry).await {
            Ok(file) => file,
            Err(reason) => return Ok(problem(ProblemKind::FileMissing, reason)),
        };
        let identity = settlement.identity(chain);
        let event = match check_file(entry, &file, &identity, &events) {
            Ok(event) => event,
            Err(reason) => return Ok(problem(ProblemKind::Differs, reason)),
        };
        match settlement.is_revoked(event).await? {
            None => Ok(problem(
                ProblemKind::Differs,
                "the registry has no such feedback",
            )),
            Some(false) => Ok(Finding::Published),
            Some(true) => Ok(revocation(entry, &file)),
        }
    }

    /// The feedback file, from the aggregator or from where its URI says: the registry's event has its hash.
    async fn file(&self, entry: &Entry) -> Result<Parsed<FeedbackFile>, String> {
        let uri = &entry.feedback_uri;
        let cid = uri.rsplit('/').next().unwrap_or_default();
        let bytes = match self.get(&format!("ipfs/{cid}")).await {
            Ok(bytes) => bytes,
            Err(_) => {
                let fetched = self.fetcher.fetch(uri).await;
                fetched.map_err(|error| format!("{uri}: {error}"))?.bytes
            }
        };
        parse_feedback(&bytes).map_err(|error| format!("{uri}: {error}"))
    }
}

/// The event of the file, if the file is what reviewer and agent signed for the receipt's payment.
fn check_file<'e>(
    entry: &Entry,
    file: &Parsed<FeedbackFile>,
    identity: &str,
    events: &'e [Event],
) -> Result<&'e Event, String> {
    let FeedbackFile::X402(review) = file.view() else {
        return Err("the file is no X402 review".to_owned());
    };
    require_signed(entry, review)?;
    let found = events.iter().find(|it| {
        matches!(it, Event::OpenFeedback { hash, uri, .. }
            if *hash == file.hash() && *uri == entry.feedback_uri)
    });
    let event = found.ok_or("the transaction has no feedback with this file")?;
    let Event::OpenFeedback {
        agent,
        client,
        value,
        decimals,
        tag1,
        tag2,
        endpoint,
        hash,
        ..
    } = event
    else {
        return Err("the transaction has no open feedback".to_owned());
    };
    let network = identity.rsplit_once(':').map_or("", |(it, _)| it);
    let on_chain = OnChainEntry {
        agent_registry: identity,
        agent_id: &agent.to_string(),
        client_address: &format!("{network}:{client}"),
        rating: OnChainRating::Open {
            value: concord_canonical::value::Value::new(*value, *decimals)
                .map_err(|error| error.to_string())?,
            tag1,
            tag2,
            endpoint,
        },
        feedback_hash: *hash,
    };
    match file.differences(&on_chain).first() {
        None => Ok(event),
        Some(first) => Err(format!("{}: {} on chain", first.field, first.on_chain)),
    }
}

fn require_signed(entry: &Entry, review: &X402Feedback) -> Result<(), String> {
    let proof = review.proof();
    let task_ref = TaskRef::parse(&proof.signed.task_ref).map_err(|error| error.to_string())?;
    let key = format!(
        "{}:{}",
        task_ref.dedupe_key(),
        payer_account(&proof.reviewer_address)
    );
    if key != entry.receipt.key {
        return Err(format!("the file is about {key}"));
    }
    let accepted_at = Timestamp::from_unix_seconds(entry.receipt.accepted_at);
    if accepted_at.as_ref() != Some(&review.head.created_at) {
        return Err("createdAt is not when the receipt was given (R55)".to_owned());
    }
    let broken = |who: &str, error: concord_canonical::Error| format!("{who}'s signature: {error}");
    (review.verify_review()).map_err(|error| broken("the reviewer", error))?;
    let signed = proof.signed.verify(review.profile());
    signed.map_err(|error| broken("the agent", error))
}

/// R58
fn revocation(entry: &Entry, file: &Parsed<FeedbackFile>) -> Finding {
    let by_others = |detail: String| problem(ProblemKind::RevokedByOthers, detail);
    let Some(revocation) = &entry.revocation else {
        return by_others("it is revoked, and no reviewer's signature is shown".to_owned());
    };
    let signed = match revocation.request.clone().verify() {
        Ok(signed) => signed,
        Err(refusal) => return by_others(refusal.to_string()),
    };
    let hash = format!("0x{}", hex::encode(file.hash()));
    match signed.key == entry.receipt.key && signed.request.feedback_hash == hash {
        true => Finding::Revoked,
        false => by_others("the revocation that is shown is for another feedback".to_owned()),
    }
}
