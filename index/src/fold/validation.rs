//! Validations (R20).
use super::{Fold, Loader, feedback::tag_text, read};
use crate::{
    StoreError,
    batch::IndexedEvent,
    table::{Answer, Validation, ValidationKey},
};
use concord_registry::{Event, event::ValidationTag};

impl<L: Loader> Fold<'_, L> {
    pub(super) fn validation_event(&mut self, indexed: &IndexedEvent) -> Result<(), StoreError> {
        let Some(key) = key_of(&indexed.event) else {
            return Ok(());
        };
        let known = read(&mut self.tables.validations, self.loader, &key)?;
        let changed = match (known, requested(indexed), answer(&indexed.event)) {
            (None, Some(requested), _) => requested,
            (Some(known), _, Some(answer)) => Validation {
                answer: Some(answer),
                updated_at: indexed.time,
                responses: known.responses.saturating_add(1),
                ..known
            },
            // R46: a request twice, or a response without a request.
            _ => return self.note_unexplained(key.agent, indexed),
        };
        self.tables.validations.put(key, changed);
        self.change_agent(key.agent, indexed, |_| ())
    }
}

pub(super) fn key_of(event: &Event) -> Option<ValidationKey> {
    match event {
        Event::ValidationRequested {
            agent,
            validator,
            request,
            ..
        }
        | Event::ValidationResponded {
            agent,
            validator,
            request,
            ..
        } => Some(ValidationKey {
            agent: *agent,
            request: *request,
            validator: *validator,
        }),
        _ => None,
    }
}

fn requested(indexed: &IndexedEvent) -> Option<Validation> {
    let Event::ValidationRequested { uri, tag, .. } = &indexed.event else {
        return None;
    };
    Some(Validation {
        uri: uri.clone(),
        tag: *tag,
        requested_at: indexed.time,
        place: indexed.place,
        updated_at: indexed.time,
        responses: 0,
        answer: None,
    })
}

fn answer(event: &Event) -> Option<Answer> {
    let Event::ValidationResponded {
        score,
        uri,
        hash,
        tag,
        ..
    } = event
    else {
        return None;
    };
    Some(Answer {
        score: *score,
        uri: uri.clone(),
        hash: *hash,
        tag: match tag {
            ValidationTag::Text(text) => text.clone(),
            ValidationTag::Bytes(bytes) => tag_text(bytes),
        },
    })
}
