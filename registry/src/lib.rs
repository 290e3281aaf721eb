//! Everything that a client of Concord's ERC-8004 registries needs to know, on EVM and on Solana, without a network.
//!
//! - [`event`]: one typed [`Event`] for both chains, with its origin.
//! - [`svm`]: the Anchor program: addresses, instructions, accounts, events, views, errors.
//! - [`evm`] (feature `evm`, on by default): the Solidity contracts, and the canonical ERC-8004
//!   registries 2.0.0: interfaces, calls, events, errors.
//!
//! Nothing here opens a connection, and no program id or contract address is compiled in: one build
//! serves any deployment. Every hashed or signed byte comes from `concord-canonical`.
//!
//! ```
//! use concord_registry::svm::{Address, Program, ed25519};
//! use concord_registry::svm::instructions::{FeedbackAuthorization, GiveFeedback};
//! use concord_canonical::{auth::SvmFeedbackAuth, caip::ChainId, sign};
//!
//! let program = Program::new("4dqu3YHQaBRRG7MPP4KRapDWK2XoAcHuAjTRwTuZCxbB".parse()?);
//! let (owner, client) = ([1; 32], [2; 32]); // secret keys
//! let [owner_key, client_key] = [owner, client].map(|it| sign::ed25519_public_key(&it));
//! let mint = Address::from([3; 32]);
//!
//! // The owner lets the client give one feedback (R8, R9).
//! let (index_limit, expiry) = (1, 1_800_000_000);
//! let message = SvmFeedbackAuth {
//!     agent_mint: mint.to_bytes(),
//!     client: client_key,
//!     index_limit,
//!     expiry,
//!     chain: ChainId::parse("solana:localnet")?.hash(),
//!     program_id: program.id().to_bytes(),
//!     signer: owner_key,
//! }
//! .message();
//! let signature = sign::ed25519_sign(&owner, &message);
//!
//! // One transaction, signed by the client: the precompile, then the feedback (R11).
//! let feedback = GiveFeedback {
//!     index: 1,
//!     score: 87,
//!     tag1: [0; 32],
//!     tag2: [0; 32],
//!     uri: "",
//!     hash: [0; 32],
//!     authorization: FeedbackAuthorization::Bounded { index_limit, expiry },
//! };
//! let instructions = [
//!     ed25519::verify(&owner_key, &signature, &message)?,
//!     program.give_feedback(client_key.into(), mint, &feedback),
//! ];
//! # assert_eq!(instructions[1].program_id, program.id());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Rulings (`R8` and the like) and `§3a` are those of Concord's specification; `X84` is one of the
//! documents that it reconciles.

#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

pub mod event;
#[cfg(feature = "evm")]
pub mod evm;
pub mod svm;

pub use concord_canonical as canonical;
pub use event::{AccountId, AgentId, Event};
