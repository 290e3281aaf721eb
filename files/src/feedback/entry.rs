//! A file against the entry on chain that refers to it.

use concord_canonical::{Word, caip::EIP155, tag::Tag};

use super::{FeedbackFile, Rating};
use crate::{FileHashes, HashScheme, parsed::Parsed};

/// A feedback entry as a registry and its events have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnChainEntry<'a> {
    /// The identity registry, CAIP-10.
    pub agent_registry: &'a str,
    /// The agent's id as text.
    pub agent_id: &'a str,
    /// The account that submitted it, CAIP-10.
    pub client_address: &'a str,
    /// The rating, with what its profile stores beside it.
    pub rating: OnChainRating<'a>,
    /// `feedbackHash`; zeros state no hash.
    pub feedback_hash: Word,
}

/// The part of an entry that depends on the profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnChainRating<'a> {
    /// Authorized feedback.
    Authorized {
        /// 0 to 100.
        score: u8,
        /// First tag, in either 32-byte encoding (R14).
        tag1: Word,
        /// Second tag, in either 32-byte encoding (R14).
        tag2: Word,
    },
    /// Open feedback.
    Open {
        /// The fixed-point value.
        value: concord_canonical::value::Value,
        /// First tag.
        tag1: &'a str,
        /// Second tag.
        tag2: &'a str,
        /// The endpoint, from the event.
        endpoint: &'a str,
    },
}

/// One statement in which file and chain differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The field, by the file's name for it.
    pub field: &'static str,
    /// What the file says; `None` if it is silent, which contradicts nothing.
    pub in_file: Option<String>,
    /// What the chain says.
    pub on_chain: String,
}

impl Parsed<FeedbackFile> {
    /// Lists every statement in which the file differs from the entry, the hash included: an empty list
    /// means that the file is the entry's. A hash of a foreign scheme is not a difference if
    /// [`identify_hash`](crate::identify_hash) knows the scheme, and neither is a zero hash, which states
    /// nothing.
    #[must_use]
    pub fn differences(&self, entry: &OnChainEntry<'_>) -> Vec<Difference> {
        let hashes = FileHashes::of(self.original().as_bytes());
        self.differences_with(entry, &hashes)
    }

    /// As [`Self::differences`], with the file's hashes: for one file and many entries.
    #[must_use]
    pub fn differences_with(
        &self,
        entry: &OnChainEntry<'_>,
        hashes: &FileHashes,
    ) -> Vec<Difference> {
        let mut differences = self.view().differences(entry);
        let hash = entry.feedback_hash;
        if hash != [0; 32] && hashes.scheme(&hash).is_none() {
            let written = hashes.by(HashScheme::Jcs).unwrap_or_else(|| self.hash());
            differences.push(Difference {
                field: "feedbackHash",
                in_file: Some(format!(
                    "0x{} ({})",
                    hex::encode(written),
                    HashScheme::Jcs.name()
                )),
                on_chain: format!("0x{}", hex::encode(hash)),
            });
        }
        differences
    }

    /// Whether the file agrees with the entry in every statement, the hash included.
    #[must_use]
    pub fn matches(&self, entry: &OnChainEntry<'_>) -> bool {
        self.differences(entry).is_empty()
    }
}

impl FeedbackFile {
    /// As [`Parsed::differences`], without the hash.
    #[must_use]
    pub fn differences(&self, entry: &OnChainEntry<'_>) -> Vec<Difference> {
        let head = self.head();
        let mut found = Comparison::default();
        found.account("agentRegistry", &head.agent_registry, entry.agent_registry);
        found.text("agentId", Some(self.agent_id().as_str()), entry.agent_id);
        found.account("clientAddress", &head.client_address, entry.client_address);
        found.rating(self.rating(), &entry.rating);
        let [tag1, tag2] = [head.tag1.as_deref(), head.tag2.as_deref()];
        match &entry.rating {
            OnChainRating::Authorized {
                tag1: a, tag2: b, ..
            } => {
                found.word_tag("tag1", tag1, a);
                found.word_tag("tag2", tag2, b);
            }
            OnChainRating::Open {
                tag1: a,
                tag2: b,
                endpoint,
                ..
            } => {
                found.text("tag1", tag1, a);
                found.text("tag2", tag2, b);
                found.text("endpoint", head.endpoint.as_deref(), endpoint);
            }
        }
        found.0
    }
}

#[derive(Default)]
struct Comparison(Vec<Difference>);

impl Comparison {
    /// A missing text is the empty one, as on chain.
    fn text(&mut self, field: &'static str, in_file: Option<&str>, on_chain: &str) {
        if in_file.unwrap_or_default() != on_chain {
            self.add(field, in_file.map(str::to_owned), on_chain.to_owned());
        }
    }

    /// EVM addresses are equal in either case.
    fn account(&mut self, field: &'static str, in_file: &str, on_chain: &str) {
        let is_evm = in_file.starts_with(EIP155) && on_chain.starts_with(EIP155);
        let is_same = if is_evm {
            in_file.eq_ignore_ascii_case(on_chain)
        } else {
            in_file == on_chain
        };
        if !is_same {
            self.add(field, Some(in_file.to_owned()), on_chain.to_owned());
        }
    }

    /// R14: on chain a 32-byte tag is opaque, and either encoding of the text is its own.
    fn word_tag(&mut self, field: &'static str, in_file: Option<&str>, on_chain: &Word) {
        let is_same = Tag::new(in_file.unwrap_or_default())
            .is_ok_and(|tag| tag.padded() == *on_chain || tag.hashed() == *on_chain);
        if !is_same {
            let on_chain = format!("0x{}", hex::encode(on_chain));
            self.add(field, in_file.map(str::to_owned), on_chain);
        }
    }

    fn rating(&mut self, in_file: Rating, on_chain: &OnChainRating<'_>) {
        match (in_file, on_chain) {
            (Rating::Score(said), OnChainRating::Authorized { score, .. }) => {
                self.number("score", said, score);
            }
            (Rating::Value(said), OnChainRating::Open { value, .. }) => {
                self.number("value", said.value(), value.value());
                self.number("valueDecimals", said.decimals(), value.decimals());
            }
            (Rating::Score(said), OnChainRating::Open { value, .. }) => {
                self.add("score", Some(said.to_string()), format!("value {value}"));
            }
            (Rating::Value(said), OnChainRating::Authorized { score, .. }) => {
                self.add("value", Some(said.to_string()), format!("score {score}"));
            }
        }
    }

    fn number(&mut self, field: &'static str, in_file: impl ToString, on_chain: impl ToString) {
        let [in_file, on_chain] = [in_file.to_string(), on_chain.to_string()];
        if in_file != on_chain {
            self.add(field, Some(in_file), on_chain);
        }
    }

    fn add(&mut self, field: &'static str, in_file: Option<String>, on_chain: String) {
        self.0.push(Difference {
            field,
            in_file,
            on_chain,
        });
    }
}
