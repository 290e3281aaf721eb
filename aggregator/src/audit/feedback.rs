use concord_canonical::caip::TaskRef;
use concord_files::{
    FeedbackFile, OnChainEntry, OnChainRating, Parsed, Timestamp, X402Feedback, parse_feedback,
};
use concord_registry::event::Event;

use super::{Audit, AuditError, Entry, Finding, Found, ProblemKind, problem};
use crate::claim::payment_key;

impl Audit {
    /// Whether the feedback of a receipt is on chain as it was signed, and who revoked it.
    pub(super) async fn feedback_finding(
        &self,
        entry: &Entry,
        found: &Found<'_>,
    ) -> Result<Finding, AuditError> {
        let file = match self.file(entry).await {
            Ok(file) => file,
            Err(reason) => return Ok(problem(ProblemKind::FileMissing, reason)),
        };
        let event = check_file(entry, &file, &found.identity, &found.events);
        let event = match event.and_then(|it| self.require_sent(entry, &file).map(|()| it)) {
            Ok(event) => event,
            Err(reason) => return Ok(problem(ProblemKind::Differs, reason)),
        };
        match found.settlement.is_revoked(event).await? {
            None => Ok(problem(
                ProblemKind::Differs,
                "the registry has no such feedback",
            )),
            Some(false) => Ok(Finding::Published),
            Some(true) => Ok(revocation(entry, &file)),
        }
    }

    /// Compares the file with what its reviewer sent, where that was kept.
    fn require_sent(&self, entry: &Entry, file: &Parsed<FeedbackFile>) -> Result<(), String> {
        let FeedbackFile::X402(review) = file.view() else {
            return Err("the file is not an X402 review".to_owned());
        };
        let mut payloads = self.payloads_of(entry);
        payloads.try_for_each(|it| it.require_published(&entry.receipt, review))
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
        return Err("the file is not an X402 review".to_owned());
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
    let key = payment_key(&task_ref, &proof.reviewer_address);
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
    if signed.key == entry.receipt.key && signed.request.feedback_hash == hash {
        Finding::Revoked
    } else {
        by_others("the revocation that is shown is for another feedback".to_owned())
    }
}
