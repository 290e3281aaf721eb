//! The feedback's file: whether it is there, whether it is the one that the chain names, and what it says.
use super::{
    given::Given,
    is_refuted,
    verdict::{Checked, Verdict},
};
use crate::{
    Step,
    evidence::{Content, Evidence, Gap, ProvenBy},
    subject::Named,
};
use concord_canonical::Word;
use concord_files::{
    FeedbackFile, OnChainEntry, Parsed, X402Feedback, identify_hash, parse_feedback,
};

/// What is known of a feedback's file.
pub(super) struct FeedbackFacts {
    uri: String,
    hash: Word,
    content: Result<Content, Gap>,
    parsed: Result<Parsed<FeedbackFile>, String>,
    /// The statements of the file that differ from the event; `None` if they cannot be compared.
    differences: Option<Vec<String>>,
}

impl FeedbackFacts {
    pub(super) fn read(evidence: &Evidence<'_>, named: &Named, given: &Given) -> Result<Self, Gap> {
        let uri = given.uri().to_owned();
        let content = if uri.is_empty() {
            Err(Gap::cannot_check("the event names no file"))
        } else {
            evidence.content(&uri)
        };
        let parsed = match &content {
            Ok(content) => parse_feedback(&content.bytes).map_err(|error| error.to_string()),
            Err(_) => Err("there is no file".to_owned()),
        };
        let subject = &evidence.bundle.feedback;
        let client = format!("{}:{}", named.chain, named.client);
        let entry = given.rating().map(|rating| OnChainEntry {
            agent_registry: &subject.agent_registry,
            agent_id: &subject.agent_id,
            client_address: &client,
            rating,
            feedback_hash: given.hash(),
        });
        let differences = parsed
            .as_ref()
            .ok()
            .zip(entry)
            .map(|(it, entry)| differences(it, &entry));
        Ok(Self {
            hash: given.hash(),
            uri,
            content,
            parsed,
            differences,
        })
    }

    /// [`Step::File`].
    pub(super) fn is_there(&self) -> Checked {
        if self.uri.is_empty() {
            return Ok(Verdict::not_applicable("the event names no file"));
        }
        let content = self.content.as_ref().map_err(Clone::clone)?;
        let length = content.bytes.len();
        let verdict = match &content.proven_by {
            ProvenBy::Uri => Verdict::verified().with("proven by", "the URI, which holds it"),
            ProvenBy::Cid => Verdict::verified().with("proven by", "its CID"),
            ProvenBy::Host(host) | ProvenBy::Bundle(host) => Verdict::claimed(
                "only who delivered it says that it is the file of this URI; see file-hash",
            )
            .with("delivered by", host),
        };
        Ok(verdict.with("bytes", length))
    }

    /// [`Step::FileHash`] (R21).
    pub(super) fn hash(&self) -> Checked {
        if self.uri.is_empty() {
            return Ok(Verdict::not_applicable("the event names no file"));
        }
        if is_refuted(&self.is_there()) {
            return Err(Gap::Needs(Step::File));
        }
        let content = self.content.as_ref().map_err(|_| Gap::Needs(Step::File))?;
        let proven = content.proven_by == ProvenBy::Uri || content.proven_by == ProvenBy::Cid;
        if self.hash == [0; 32] {
            return Ok(if proven {
                Verdict::not_applicable("the event states no hash; the URI proves the file")
            } else {
                Verdict::cannot_check("the event states no hash, and the URI proves nothing")
            });
        }
        let stated = format!("0x{}", hex::encode(self.hash));
        let verdict = match identify_hash(&content.bytes, &self.hash) {
            Some(scheme) if scheme.covers_everything() => {
                Verdict::verified().with("scheme", scheme.name())
            }
            Some(scheme) => Verdict::cannot_check(
                "the scheme leaves out parts of the file, so it proves nothing",
            )
            .with("scheme", scheme.name()),
            None => Verdict::refuted("no known scheme makes this hash of the file"),
        };
        Ok(verdict.with("hash on chain", stated))
    }

    /// The file, unless it is not the one that the chain names.
    fn sound(&self) -> Result<&Parsed<FeedbackFile>, Gap> {
        for (step, checked) in [(Step::File, self.is_there()), (Step::FileHash, self.hash())] {
            if is_refuted(&checked) {
                return Err(Gap::Needs(step));
            }
        }
        if self.content.is_err() {
            return Err(Gap::Needs(Step::File));
        }
        let unreadable =
            |why: &String| Gap::CannotCheck(format!("the file is of no known form: {why}"));
        self.parsed.as_ref().map_err(unreadable)
    }

    /// [`Step::FileAgrees`].
    pub(super) fn agrees(&self) -> Checked {
        if self.uri.is_empty() {
            return Ok(Verdict::not_applicable("the event names no file"));
        }
        let file = self.sound()?;
        let dialect = file.view().dialect().name();
        Ok(match &self.differences {
            None => Verdict::cannot_check("the event's rating is beyond the bounds (R16)"),
            Some(all) if all.is_empty() => Verdict::verified().with("dialect", dialect),
            Some(all) => Verdict::refuted(all.join("; ")).with("dialect", dialect),
        })
    }

    /// Whether the chain proves the file and they agree, so that a proof in it may count (R49).
    pub(super) fn is_proven(&self) -> bool {
        let by_uri = self
            .content
            .as_ref()
            .is_ok_and(|it| !matches!(it.proven_by, ProvenBy::Host(_)));
        let by_hash =
            matches!(self.hash(), Ok(verdict) if verdict.state() == Some(crate::State::Verified));
        (by_uri || by_hash) && self.differences.as_ref().is_some_and(Vec::is_empty)
    }

    /// The file, if it has X402's proof; [`None`] if it has none.
    pub(super) fn x402(&self) -> Result<Option<&X402Feedback>, Gap> {
        if self.uri.is_empty() {
            return Ok(None);
        }
        Ok(match self.sound()?.view() {
            FeedbackFile::X402(file) => Some(file),
            _ => None,
        })
    }

    /// The file, whatever its dialect; [`None`] if there is none.
    pub(super) fn plain_file(&self) -> Result<Option<&FeedbackFile>, Gap> {
        if self.uri.is_empty() {
            Ok(None)
        } else {
            Ok(Some(self.sound()?.view()))
        }
    }

    /// The reviewer that X402's proof names, CAIP-10 (R38).
    pub(super) fn reviewer(&self) -> Option<&str> {
        let file = self.x402().ok().flatten();
        file.map(|it| it.proof().reviewer_address.as_str())
    }
}

fn differences(parsed: &Parsed<FeedbackFile>, entry: &OnChainEntry<'_>) -> Vec<String> {
    let all = parsed.view().differences(entry).into_iter();
    all.map(|it| {
        let in_file = it.in_file.unwrap_or_else(|| "nothing".to_owned());
        format!(
            "{}: the file says {in_file}, the chain {}",
            it.field, it.on_chain
        )
    })
    .collect()
}
