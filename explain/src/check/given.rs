use alloy_primitives::B256;
use concord_canonical::{Word, value::Value};
use concord_files::OnChainRating;
use concord_registry::event::{AccountId, AuthorizedBy, Event, Profile};

use crate::subject::Named;

/// A feedback's event, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    pub event: Event,
    /// E: the block.
    pub block: Option<B256>,
    /// Its number, or the slot.
    pub number: u64,
    /// Where it is in the block, or in the slot.
    pub place: Place,
    /// Unix seconds.
    pub time: Option<u64>,
}

/// The place of an event in its block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The transaction's, from 0; `None` on Solana until it is asked for.
    pub transaction: Option<u64>,
    /// The event's among those of the transaction.
    pub event: usize,
}

impl Given {
    /// Whether an event is the one that gave this feedback.
    pub(super) fn is_of(event: &Event, named: &Named) -> bool {
        let found = match event {
            Event::OpenFeedback {
                agent,
                client,
                index,
                ..
            } => (Profile::Open, *agent, *client, *index),
            Event::AuthorizedFeedback {
                agent,
                client,
                index,
                ..
            } => (Profile::Authorized, *agent, *client, *index),
            _ => return false,
        };
        found == (named.profile, named.agent, named.client, named.index)
    }

    pub(super) fn uri(&self) -> &str {
        match &self.event {
            Event::OpenFeedback { uri, .. } | Event::AuthorizedFeedback { uri, .. } => uri,
            _ => "",
        }
    }

    pub(super) const fn hash(&self) -> Word {
        match &self.event {
            Event::OpenFeedback { hash, .. } | Event::AuthorizedFeedback { hash, .. } => *hash,
            _ => [0; 32],
        }
    }

    pub(super) const fn authorized_by(&self) -> Option<AuthorizedBy> {
        match &self.event {
            Event::AuthorizedFeedback { authorized_by, .. } => *authorized_by,
            _ => None,
        }
    }

    /// The rating as files are compared with; `None` if it is beyond the bounds (R16).
    pub(super) fn rating(&self) -> Option<OnChainRating<'_>> {
        match &self.event {
            Event::OpenFeedback {
                value,
                decimals,
                tag1,
                tag2,
                endpoint,
                ..
            } => Some(OnChainRating::Open {
                value: Value::new(*value, *decimals).ok()?,
                tag1,
                tag2,
                endpoint,
            }),
            Event::AuthorizedFeedback {
                score, tag1, tag2, ..
            } => Some(OnChainRating::Authorized {
                score: *score,
                tag1: *tag1,
                tag2: *tag2,
            }),
            _ => None,
        }
    }
}

/// Who may not review the agent (R18), as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Insiders {
    pub accounts: Vec<(&'static str, AccountId)>,
    /// Whether they are those of the time of the feedback.
    pub are_of_that_time: bool,
    /// A client who was none of them when the feedback was given, whatever they are now: the entry keeps this (R13).
    pub stranger: Option<AccountId>,
}
