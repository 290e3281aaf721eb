//! The program's events, from what a cluster keeps of a transaction.
//!
//! The program emits by calling itself (Anchor's `event-cpi`), so that a full log cannot swallow an
//! event. One falls back to the log: `AgentTransferred`, if the transfer hook runs at the deepest
//! call level (R4).
mod log;
mod native;

use super::{Program, accounts::EXECUTE};
use crate::event::{
    AccountId, Block, Decoded, Event, EventError, Origin, Position, RawEvent, TransactionId,
};
use alloc::{borrow::ToOwned, string::String, vec::Vec};
use solana_address::Address;

/// What Anchor puts before an event in a program's call of itself: sha256("anchor:event")[..8],
/// reversed.
const EVENT_TAG: [u8; 8] = 0x1d9a_cb51_2ea5_45e4_u64.to_le_bytes();

/// A transaction that succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// Its first signature.
    pub signature: [u8; 64],
    /// Its slot.
    pub block: Block,
    /// Its top-level instructions, in order.
    pub instructions: Vec<TopLevel>,
    /// What the runtime logged.
    pub logs: Vec<String>,
}

/// A top-level instruction, and the calls that it made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopLevel {
    /// Its program.
    pub program: Address,
    /// The calls in their order, at whatever depth.
    pub calls: Vec<Call>,
}

/// A call of one program by another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The program that was called.
    pub program: Address,
    /// Its accounts.
    pub accounts: Vec<Address>,
    /// Its data.
    pub data: Vec<u8>,
}

impl Call {
    /// A call as JSON-RPC and the runtime state it: by index into the transaction's accounts, which
    /// are the message's own, then those loaded from lookup tables, writable ones first. `None` if
    /// an index is beyond them.
    pub fn resolve(keys: &[Address], program: u8, accounts: &[u8], data: Vec<u8>) -> Option<Self> {
        let key = |index: &u8| keys.get(usize::from(*index)).copied();
        Some(Self {
            program: key(&program)?,
            accounts: accounts.iter().map(key).collect::<Option<_>>()?,
            data,
        })
    }
}

/// An event's bytes, whichever way the program emitted them.
pub(crate) fn decode_alone(data: &[u8]) -> Result<Event, EventError> {
    native::decode(data).map(|(event, _)| event)
}

impl Program {
    /// Decodes every event of this program in the transaction, in the order in which they happened.
    /// `chain` is the cluster's CAIP-2 id.
    pub fn events(&self, chain: &str, transaction: &Transaction) -> Decoded {
        let mut found = self.in_calls(&transaction.instructions);
        let logged = log::read(self.id(), transaction);
        found.extend(logged.events);
        found.sort_by_key(|(position, _)| *position);
        let mut decoded = Decoded {
            is_log_truncated: logged.is_truncated,
            ..Decoded::default()
        };
        for (position, data) in found {
            let origin = Origin {
                chain: chain.to_owned(),
                registry: AccountId::Svm(self.id()),
                block: transaction.block,
                transaction: TransactionId::Svm(transaction.signature),
                position,
            };
            let event = native::decode(&data).map(|(event, time)| (event, Some(time)));
            decoded.push(origin, event, || RawEvent::Svm(data));
        }
        decoded
    }

    /// Returns the agents of which a transaction called the transfer hook: calls are kept even where the log is cut off
    /// ([`Decoded::is_log_truncated`]). Anyone can call the hook, so these may also be mints of no agent.
    pub fn hooked<'a>(&self, transaction: &'a Transaction) -> impl Iterator<Item = Address> + 'a {
        let program = self.id();
        let calls = transaction.instructions.iter().flat_map(|it| &it.calls);
        let hooks = calls.filter(move |it| it.program == program && it.data.starts_with(&EXECUTE));
        hooks.filter_map(|it| it.accounts.get(1).copied())
    }

    fn in_calls(&self, instructions: &[TopLevel]) -> Vec<(Position, Vec<u8>)> {
        let mut found = Vec::new();
        for (instruction, top) in (0..).zip(instructions) {
            for (call, made) in (1..).zip(&top.calls) {
                let position = Position::Svm {
                    instruction,
                    call,
                    line: 0,
                };
                let data = self.event_data(made).map(<[u8]>::to_vec);
                found.extend(data.map(|data| (position, data)));
            }
        }
        found
    }

    /// The event in a call of the program by itself, which only its event authority can sign.
    fn event_data<'a>(&self, call: &'a Call) -> Option<&'a [u8]> {
        let is_ours =
            call.program == self.id() && call.accounts.first() == Some(&self.event_authority());
        call.data.strip_prefix(&EVENT_TAG).filter(|_| is_ours)
    }
}
