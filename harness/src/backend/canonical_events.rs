//! The registries' events in the model's terms: native ids become labels, and native extras are
//! left out (§3a).
use super::StepFault;
use crate::model::{Actor, Agent, Bytes, Bytes32, Event, Integer, PaddedTag, Profile};
use concord_canonical::tag::Tag;
use concord_registry::event::{
    self as native, AccountId, AgentId, Decoded, Emitted, ValidationTag,
};

/// The native ids of a scenario's labels on a chain.
pub(super) trait Labels {
    fn agent(&self, id: &AgentId) -> Agent;
    fn actor(&self, id: &AccountId) -> Actor;
    /// The scenario's own hash of a request.
    fn request(&self, hash: [u8; 32]) -> Bytes32;
    /// Unix seconds of the scenario's start.
    fn start(&self) -> u64;
    /// Seconds after the scenario's start, for the time of an event's block in Unix seconds.
    fn seconds(&self, timestamp: Option<i64>) -> Result<u64, StepFault>;
}

/// The canonical events, in order.
///
/// # Errors
/// What did not decode, and what canonical terms cannot express.
pub(super) fn canonical_events(
    decoded: Decoded,
    labels: &impl Labels,
) -> Result<Vec<Event>, StepFault> {
    if let Some(undecoded) = decoded.undecoded.first() {
        return Err(StepFault::UnexplainedEvent(format!(
            "{}: {:?}",
            undecoded.reason, undecoded.raw
        )));
    }
    let canonical = decoded.events.into_iter();
    canonical
        .filter_map(|emitted| canonical_event(emitted, labels).transpose())
        .collect()
}

/// `None` for a native extra.
fn canonical_event(emitted: Emitted, labels: &impl Labels) -> Result<Option<Event>, StepFault> {
    let Emitted {
        event, timestamp, ..
    } = emitted;
    Ok(Some(match event {
        native::Event::AgentRegistered { agent, owner, uri } => Event::AgentRegistered {
            agent: labels.agent(&agent),
            owner: labels.actor(&owner),
            uri,
        },
        // R4: on Solana this event alone says that the wallet is gone.
        native::Event::AgentTransferred { agent, .. } => match agent {
            AgentId::Evm(_) => return Ok(None),
            AgentId::Svm(_) => Event::AgentWalletSet {
                agent: labels.agent(&agent),
                wallet: None,
            },
        },
        native::Event::AgentUriSet { agent, by, uri } => Event::AgentUriSet {
            agent: labels.agent(&agent),
            by: labels.actor(&by),
            uri,
        },
        native::Event::MetadataSet { agent, key, value } => Event::MetadataSet {
            agent: labels.agent(&agent),
            key,
            value: Bytes(value),
        },
        native::Event::AgentWalletSet { agent, wallet } => Event::AgentWalletSet {
            agent: labels.agent(&agent),
            wallet: wallet.map(|it| labels.actor(&it)),
        },
        native::Event::ApprovalSet { .. }
        | native::Event::OperatorSet { .. }
        | native::Event::FeedbackAuthoritySet { .. }
        | native::Event::AuthSchemesSet { .. }
        | native::Event::ProgramInitialized { .. }
        | native::Event::RegistryAuthorityProposed { .. }
        | native::Event::RegistryAuthorityAccepted { .. }
        | native::Event::PaymentTokenListed { .. }
        | native::Event::FacilitatorListed { .. } => return Ok(None),
        other => feedback_event(other, timestamp, labels)?,
    }))
}

fn feedback_event(
    event: native::Event,
    timestamp: Option<i64>,
    labels: &impl Labels,
) -> Result<Event, StepFault> {
    Ok(match event {
        native::Event::AuthorizedFeedback {
            agent,
            client,
            index,
            score,
            tag1,
            tag2,
            uri,
            hash,
            ..
        } => Event::AuthorizedFeedback {
            agent: labels.agent(&agent),
            client: labels.actor(&client),
            index,
            score,
            tag1: PaddedTag(tag1),
            tag2: PaddedTag(tag2),
            uri,
            hash: Bytes32(hash),
            time: labels.seconds(timestamp)?,
        },
        native::Event::OpenFeedback {
            agent,
            client,
            index,
            value,
            decimals,
            tag1,
            tag2,
            endpoint,
            uri,
            hash,
        } => Event::OpenFeedback {
            agent: labels.agent(&agent),
            client: labels.actor(&client),
            index,
            value: Integer(value),
            decimals,
            tag1,
            tag2,
            endpoint,
            uri,
            hash: Bytes32(hash),
        },
        native::Event::FeedbackRevoked {
            profile,
            agent,
            client,
            index,
        } => Event::FeedbackRevoked {
            profile: profile_of(profile),
            agent: labels.agent(&agent),
            client: labels.actor(&client),
            index,
        },
        native::Event::ResponseAppended {
            profile,
            agent,
            client,
            index,
            responder,
            uri,
            hash,
        } => Event::ResponseAppended {
            profile: profile_of(profile),
            agent: labels.agent(&agent),
            client: labels.actor(&client),
            index,
            responder: labels.actor(&responder),
            uri,
            hash: Bytes32(hash),
        },
        native::Event::PaymentProven {
            agent,
            client,
            index,
            payee,
            token,
            amount,
            paid_at,
            ..
        } => Event::PaymentProven {
            agent: labels.agent(&agent),
            client: labels.actor(&client),
            index,
            payee: labels.actor(&payee),
            token: labels.actor(&token),
            amount,
            paid_at: paid_at.saturating_sub(labels.start()),
        },
        other => validation_event(other, labels)?,
    })
}

fn validation_event(event: native::Event, labels: &impl Labels) -> Result<Event, StepFault> {
    Ok(match event {
        native::Event::ValidationRequested {
            agent,
            validator,
            request,
            uri,
            ..
        } => Event::ValidationRequested {
            agent: labels.agent(&agent),
            validator: labels.actor(&validator),
            request: labels.request(request),
            uri,
        },
        native::Event::ValidationResponded {
            agent,
            validator,
            request,
            score,
            uri,
            hash,
            tag,
        } => Event::ValidationResponded {
            agent: labels.agent(&agent),
            validator: labels.actor(&validator),
            request: labels.request(request),
            score,
            uri,
            hash: Bytes32(hash),
            tag: match tag {
                ValidationTag::Bytes(tag) => PaddedTag(tag),
                ValidationTag::Text(tag) => padded(&tag).map_err(StepFault::UnexplainedEvent)?,
            },
        },
        // No scenario upgrades a registry.
        other => return Err(StepFault::UnexplainedEvent(format!("{other:?}"))),
    })
}

fn profile_of(profile: native::Profile) -> Profile {
    match profile {
        native::Profile::Authorized => Profile::Authorized,
        native::Profile::Open => Profile::Open,
    }
}

/// The 32 bytes of a tag that the contract holds as text (R14).
pub(super) fn padded(text: &str) -> Result<PaddedTag, String> {
    Tag::new(text)
        .map(|tag| PaddedTag(tag.padded()))
        .map_err(|fault| format!("tag: {fault}"))
}
