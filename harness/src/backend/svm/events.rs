//! What the program reported, in the model's terms.
use super::{
    World,
    addresses::{address, event_authority, program},
    ledger::Done,
};
use crate::{
    backend::StepFault,
    model::{Actor, Agent, Bytes, Bytes32, Event, Integer, PaddedTag, Profile},
};
use agent_registry as native;
use anchor_lang::{AnchorDeserialize, Discriminator, event::EVENT_IX_TAG_LE, prelude::Pubkey};
use solana_transaction::Message;

/// What the program reported by calling itself, in the order of the calls.
pub fn events(sent: &Done, message: &Message, world: &World) -> Result<Vec<Event>, StepFault> {
    let reader = EventReader { world };
    sent.inner_instructions
        .iter()
        .filter_map(|inner| event_data(inner, message))
        .filter_map(|data| reader.read(data).transpose())
        .collect()
}

/// The bytes behind the event tag, where this is the program's call of itself that only its event
/// authority can sign.
fn event_data<'a>(
    instruction: &'a solana_transaction::CompiledInstruction,
    message: &Message,
) -> Option<&'a [u8]> {
    let key = |at: u8| message.account_keys.get(usize::from(at));
    let is_ours = key(instruction.program_id_index) == Some(&program())
        && instruction.accounts.first().and_then(|at| key(*at)) == Some(&event_authority());
    instruction
        .data
        .strip_prefix(EVENT_IX_TAG_LE)
        .filter(|_| is_ours)
}

struct EventReader<'a> {
    world: &'a World,
}

/// Tries one native event after the other; each says when it happened.
macro_rules! first_of {
    ($reader:ident, $data:ident: $($native:ident => $canonical:expr,)+) => {
        $(if let Some(event) = decode::<native::$native>($data)? {
            $reader.check_is_now(event.timestamp)?;
            let read: fn(&Self, native::$native) -> Event = $canonical;
            return Ok(Some(read($reader, event)));
        })+
    };
}

/// What Solana alone reports of its settings: no canonical event.
macro_rules! extras {
    ($reader:ident, $data:ident: $($native:ident)+) => {
        $(if let Some(event) = decode::<native::$native>($data)? {
            $reader.check_is_now(event.timestamp)?;
            return Ok(None);
        })+
    };
}

impl EventReader<'_> {
    /// None for a native extra.
    fn read(&self, data: &[u8]) -> Result<Option<Event>, StepFault> {
        first_of!(self, data:
            AgentRegistered => Self::agent_registered,
            AgentTransferred => Self::agent_transferred,
            AgentUriSet => Self::agent_uri_set,
            MetadataSet => Self::metadata_set,
            AgentWalletSet => Self::agent_wallet_set,
            FeedbackGiven => Self::feedback_given,
            FeedbackRevoked => Self::feedback_revoked,
            ResponseAppended => Self::response_appended,
            PaymentProven => Self::payment_proven,
            OpenFeedbackGiven => Self::open_feedback_given,
            OpenFeedbackRevoked => Self::open_feedback_revoked,
            OpenResponseAppended => Self::open_response_appended,
            ValidationRequested => Self::validation_requested,
            ValidationResponded => Self::validation_responded,
        );
        extras!(self, data:
            FeedbackAuthoritySet AuthSchemesSet RegistryAuthorityProposed
            RegistryAuthorityAccepted PaymentTokenListed FacilitatorListed
        );
        Err(unexplained(data))
    }

    /// Every event carries the chain's clock.
    fn check_is_now(&self, timestamp: i64) -> Result<(), StepFault> {
        if timestamp == self.world.clock {
            return Ok(());
        }
        Err(StepFault::UnexplainedEvent(format!(
            "timestamp {timestamp}, and the clock shows {}",
            self.world.now
        )))
    }

    fn agent_registered(&self, event: native::AgentRegistered) -> Event {
        Event::AgentRegistered {
            agent: self.agent(event.nft_mint),
            owner: self.actor(event.owner),
            uri: event.metadata_uri,
        }
    }

    /// R4: the new owner starts without a wallet.
    fn agent_transferred(&self, event: native::AgentTransferred) -> Event {
        Event::AgentWalletSet {
            agent: self.agent(event.nft_mint),
            wallet: None,
        }
    }

    fn agent_uri_set(&self, event: native::AgentUriSet) -> Event {
        Event::AgentUriSet {
            agent: self.agent(event.nft_mint),
            by: self.actor(event.owner),
            uri: event.metadata_uri,
        }
    }

    fn metadata_set(&self, event: native::MetadataSet) -> Event {
        Event::MetadataSet {
            agent: self.agent(event.nft_mint),
            key: event.metadata_key,
            value: Bytes(event.metadata_value),
        }
    }

    fn agent_wallet_set(&self, event: native::AgentWalletSet) -> Event {
        Event::AgentWalletSet {
            agent: self.agent(event.nft_mint),
            wallet: (event.agent_wallet != Pubkey::default())
                .then(|| self.actor(event.agent_wallet)),
        }
    }

    fn feedback_given(&self, event: native::FeedbackGiven) -> Event {
        Event::AuthorizedFeedback {
            agent: self.agent(event.nft_mint),
            client: self.actor(event.reviewer),
            index: event.feedback_index,
            score: event.score,
            tag1: PaddedTag(event.tag1),
            tag2: PaddedTag(event.tag2),
            uri: event.detail_uri,
            hash: Bytes32(event.detail_hash),
            time: self.world.now.saturating_sub(self.world.start), // checked to be the event's
        }
    }

    fn feedback_revoked(&self, event: native::FeedbackRevoked) -> Event {
        Event::FeedbackRevoked {
            profile: Profile::Authorized,
            agent: self.agent(event.nft_mint),
            client: self.actor(event.reviewer),
            index: event.feedback_index,
        }
    }

    fn response_appended(&self, event: native::ResponseAppended) -> Event {
        Event::ResponseAppended {
            profile: Profile::Authorized,
            agent: self.agent(event.nft_mint),
            client: self.actor(event.client),
            index: event.feedback_index,
            responder: self.actor(event.responder),
            uri: event.response_uri,
            hash: Bytes32(event.response_hash),
        }
    }

    fn payment_proven(&self, event: native::PaymentProven) -> Event {
        Event::PaymentProven {
            agent: self.agent(event.nft_mint),
            client: self.actor(event.reviewer),
            index: event.feedback_index,
            payee: self.actor(event.payee),
            token: self.actor(event.payment_token),
            amount: event.payment_amount,
            paid_at: event.paid_at.saturating_sub(self.world.start),
        }
    }

    fn open_feedback_given(&self, event: native::OpenFeedbackGiven) -> Event {
        Event::OpenFeedback {
            agent: self.agent(event.nft_mint),
            client: self.actor(event.client),
            index: event.feedback_index,
            value: Integer(event.value),
            decimals: event.value_decimals,
            tag1: event.tag1,
            tag2: event.tag2,
            endpoint: event.endpoint,
            uri: event.feedback_uri,
            hash: Bytes32(event.feedback_hash),
        }
    }

    fn open_feedback_revoked(&self, event: native::OpenFeedbackRevoked) -> Event {
        Event::FeedbackRevoked {
            profile: Profile::Open,
            agent: self.agent(event.nft_mint),
            client: self.actor(event.client),
            index: event.feedback_index,
        }
    }

    fn open_response_appended(&self, event: native::OpenResponseAppended) -> Event {
        Event::ResponseAppended {
            profile: Profile::Open,
            agent: self.agent(event.nft_mint),
            client: self.actor(event.client),
            index: event.feedback_index,
            responder: self.actor(event.responder),
            uri: event.response_uri,
            hash: Bytes32(event.response_hash),
        }
    }

    fn validation_requested(&self, event: native::ValidationRequested) -> Event {
        Event::ValidationRequested {
            agent: self.agent(event.nft_mint),
            validator: self.actor(event.validator),
            request: Bytes32(event.request_hash),
            uri: event.request_uri,
        }
    }

    fn validation_responded(&self, event: native::ValidationResponded) -> Event {
        Event::ValidationResponded {
            agent: self.agent(event.nft_mint),
            validator: self.actor(event.validator),
            request: Bytes32(event.request_hash),
            score: event.score,
            uri: event.evidence_uri,
            hash: Bytes32(event.evidence_hash),
            tag: PaddedTag(event.tag),
        }
    }

    fn agent(&self, mint: Pubkey) -> Agent {
        self.world.agents.agent(address(mint))
    }

    fn actor(&self, key: Pubkey) -> Actor {
        self.world.agents.actor(address(key))
    }
}

/// The event, where `data` begins with its discriminator; every byte must belong to it.
fn decode<E: AnchorDeserialize + Discriminator>(data: &[u8]) -> Result<Option<E>, StepFault> {
    data.strip_prefix(E::DISCRIMINATOR)
        .map(|fields| E::try_from_slice(fields).map_err(|_| unexplained(data)))
        .transpose()
}

fn unexplained(data: &[u8]) -> StepFault {
    StepFault::UnexplainedEvent(format!("event data 0x{}", hex::encode(data)))
}
