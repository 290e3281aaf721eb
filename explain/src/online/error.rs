use crate::rpc::AnswerMalformed;
use concord_chain::{ChainError, fetch::FetchError};

/// Why something could not be read. Endpoints are shown by their hosts only.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OnlineError {
    /// The chain has no endpoint.
    #[error("no endpoint for {0}; pass --rpc {0}=URL")]
    NoEndpoint(String),
    /// The endpoint failed.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The node's answer lacks a member.
    #[error(transparent)]
    Answer(#[from] AnswerMalformed),
    /// The file cannot be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The node does not have it.
    #[error("{host} has no {what}")]
    Missing {
        /// The node.
        host: String,
        /// What was asked for.
        what: String,
    },
    /// The parts that a node delivered do not make the block.
    #[error("the {what} that {host} delivers do not make the root in the header of block {number}")]
    Root {
        /// The node.
        host: String,
        /// `transactions` or `receipts`.
        what: &'static str,
        /// The block.
        number: u64,
    },
    /// The block is after the one on which everything rests.
    #[error("block {number} is after block {anchor}, on which the bundle rests")]
    AfterAnchor {
        /// The block.
        number: u64,
        /// The bundle's.
        anchor: u64,
    },
    /// Too many parents lie between two blocks.
    #[error(
        "block {number} is {age} blocks before block {anchor}, and the chain keeps no hash of it; at most {limit} parents are read"
    )]
    TooOld {
        /// The block.
        number: u64,
        /// The bundle's.
        anchor: u64,
        /// The blocks between them.
        age: u64,
        /// The most that are read.
        limit: u64,
    },
    /// A name is not one of this kind of chain.
    #[error("{0} is not an address or a transaction of this chain")]
    NotOfChain(String),
    /// The transaction gives no feedback, or several.
    #[error("transaction {id} gives {found} feedbacks; name one: {names}")]
    NotOne {
        /// The transaction.
        id: String,
        /// How many it gives.
        found: usize,
        /// Their names.
        names: String,
    },
    /// No event gives the feedback.
    #[error("no event of {registry} gives feedback {name}")]
    NoSuchFeedback {
        /// The registry that was searched.
        registry: String,
        /// The feedback.
        name: String,
    },
    /// The registry to search is not known.
    #[error(
        "no {profile} reputation registry for {registry} is known (R28); pass --address-book or --trust"
    )]
    NoReputation {
        /// `open` or `authorized`.
        profile: &'static str,
        /// The identity registry.
        registry: String,
    },
}
