//! Feedback of both profiles, revocations, responses and payment proofs (R8, R13, R15, R16, R19).
use super::{Fold, Loader, read};
use crate::{
    StoreError,
    batch::IndexedEvent,
    table::{Client, ClientKey, Feedback, FeedbackKey, Payment, Response, ResponseKey},
};
use concord_canonical::tag;
use concord_registry::{Event, event::Profile};

impl<L: Loader> Fold<'_, L> {
    pub(super) fn feedback_event(&mut self, indexed: &IndexedEvent) -> Result<(), StoreError> {
        let Some(key) = key_of(&indexed.event) else {
            return Ok(());
        };
        if let Some(given) = given(indexed) {
            return self.give(key, given, indexed);
        }
        let Some(mut feedback) = self.feedback(&key)? else {
            return self.note_unexplained(key.agent, indexed);
        };
        match &indexed.event {
            Event::FeedbackRevoked { .. } => {
                if feedback.revoked_at.replace(indexed.time).is_some() {
                    return self.note_unexplained(key.agent, indexed);
                }
                self.take_out(&key, &feedback)?;
            }
            Event::ResponseAppended { .. } => self.respond(&key, &mut feedback, indexed),
            Event::PaymentProven { .. } => self.prove(&key, &mut feedback, indexed)?,
            _ => (),
        }
        self.tables.feedbacks.put(key, feedback);
        self.change_agent(key.agent, indexed, |_| ())
    }

    fn feedback(&mut self, key: &FeedbackKey) -> Result<Option<Feedback>, StoreError> {
        read(&mut self.tables.feedbacks, self.loader, key)
    }

    fn give(
        &mut self,
        key: FeedbackKey,
        given: Feedback,
        indexed: &IndexedEvent,
    ) -> Result<(), StoreError> {
        let last = self.last_index(&key.client())?;
        if key.index <= last && self.feedback(&key)?.is_some() {
            return self.note_unexplained(key.agent, indexed); // R46: an index twice
        }
        let is_first = last == 0;
        self.change_agent(key.agent, indexed, |it| {
            it.feedback_count = it.feedback_count.saturating_add(1);
            match key.index.checked_sub(last) {
                // R46: what is between the two was not seen.
                Some(step @ 1..) => it.missing = it.missing.saturating_add(step - 1),
                _ => it.missing = it.missing.saturating_sub(1),
            }
            if is_first {
                let clients = match key.profile {
                    Profile::Authorized => &mut it.authorized_clients,
                    Profile::Open => &mut it.open_clients,
                };
                *clients = clients.saturating_add(1);
            }
        })?;
        self.note_client(&key, last)?;
        self.put_in(&key, &given)?;
        self.tables.feedbacks.put(key, given);
        Ok(())
    }

    /// R44: 0 if the client never gave feedback.
    fn last_index(&mut self, key: &ClientKey) -> Result<u64, StoreError> {
        let client = read(&mut self.tables.clients, self.loader, key)?;
        Ok(client.map_or(0, |it| it.last_index))
    }

    /// The agent's row counts this client already.
    fn note_client(&mut self, key: &FeedbackKey, last: u64) -> Result<(), StoreError> {
        let client_key = key.client();
        let known = read(&mut self.tables.clients, self.loader, &client_key)?;
        let known = match known {
            Some(client) => client,
            None => Client {
                ordinal: self.clients_of(key)?,
                last_index: 0,
                count: 0,
                paid: 0,
            },
        };
        let client = Client {
            last_index: key.index.max(last),
            ..known
        };
        self.tables.clients.put(client_key, client);
        Ok(())
    }

    fn clients_of(&mut self, key: &FeedbackKey) -> Result<u64, StoreError> {
        let agent = crate::table::AgentKey { agent: key.agent };
        let row = read(&mut self.tables.agents, self.loader, &agent)?;
        Ok(row.map_or(0, |it| match key.profile {
            Profile::Authorized => it.authorized_clients,
            Profile::Open => it.open_clients,
        }))
    }

    fn respond(&mut self, key: &FeedbackKey, feedback: &mut Feedback, indexed: &IndexedEvent) {
        let Event::ResponseAppended {
            responder,
            uri,
            hash,
            ..
        } = &indexed.event
        else {
            return;
        };
        feedback.responses = feedback.responses.saturating_add(1);
        let key = ResponseKey {
            feedback: *key,
            number: feedback.responses,
        };
        let response = Response {
            responder: *responder,
            uri: uri.clone(),
            hash: *hash,
            at: indexed.time,
            place: indexed.place,
            transaction: indexed.transaction.into(),
        };
        self.tables.responses.put(key, response);
    }

    /// R13: the feedback counts among the verified ones from now on.
    fn prove(
        &mut self,
        key: &FeedbackKey,
        feedback: &mut Feedback,
        indexed: &IndexedEvent,
    ) -> Result<(), StoreError> {
        let Some(payment) = payment(indexed) else {
            return Ok(());
        };
        if feedback.revoked_at.is_none() {
            self.take_out(key, feedback)?;
        }
        feedback.is_paid = true;
        if feedback.revoked_at.is_none() {
            self.put_in(key, feedback)?;
        }
        self.tables.payments.put(*key, payment);
        Ok(())
    }
}

fn payment(indexed: &IndexedEvent) -> Option<Payment> {
    let Event::PaymentProven {
        payee,
        token,
        amount,
        task_ref_hash,
        paid_at,
        expiry,
        facilitator,
        signature,
        ..
    } = &indexed.event
    else {
        return None;
    };
    Some(Payment {
        payee: *payee,
        token: *token,
        amount: *amount,
        task_ref_hash: *task_ref_hash,
        paid_at: *paid_at,
        expiry: *expiry,
        facilitator: *facilitator,
        signature: signature.to_vec(),
        at: indexed.time,
        place: indexed.place,
    })
}

pub(super) fn key_of(event: &Event) -> Option<FeedbackKey> {
    let (profile, agent, client, index) = match event {
        Event::AuthorizedFeedback {
            agent,
            client,
            index,
            ..
        }
        | Event::PaymentProven {
            agent,
            client,
            index,
            ..
        } => (Profile::Authorized, agent, client, index),
        Event::OpenFeedback {
            agent,
            client,
            index,
            ..
        } => (Profile::Open, agent, client, index),
        Event::FeedbackRevoked {
            profile,
            agent,
            client,
            index,
        }
        | Event::ResponseAppended {
            profile,
            agent,
            client,
            index,
            ..
        } => (*profile, agent, client, index),
        _ => return None,
    };
    Some(FeedbackKey {
        profile,
        agent: *agent,
        client: *client,
        index: *index,
    })
}

/// The feedback that an event gives.
pub(super) fn given(indexed: &IndexedEvent) -> Option<Feedback> {
    let at = |value, decimals, uri: &String, hash: &[u8; 32]| Feedback {
        value,
        decimals,
        tag1: String::new(),
        tag2: String::new(),
        endpoint: String::new(),
        uri: uri.clone(),
        hash: *hash,
        scheme: None,
        signature: None,
        at: indexed.time,
        place: indexed.place,
        transaction: indexed.transaction.into(),
        revoked_at: None,
        responses: 0,
        is_paid: false,
    };
    match &indexed.event {
        Event::AuthorizedFeedback {
            score,
            tag1,
            tag2,
            uri,
            hash,
            authorized_by,
            ..
        } => Some(Feedback {
            tag1: tag_text(tag1),
            tag2: tag_text(tag2),
            scheme: authorized_by.map(|it| it.scheme),
            signature: authorized_by.map(|it| it.signature.to_vec()),
            ..at(i128::from(*score), 0, uri, hash)
        }),
        Event::OpenFeedback {
            value,
            decimals,
            tag1,
            tag2,
            endpoint,
            uri,
            hash,
            ..
        } => Some(Feedback {
            tag1: tag1.clone(),
            tag2: tag2.clone(),
            endpoint: endpoint.clone(),
            ..at(*value, *decimals, uri, hash)
        }),
        _ => None,
    }
}

/// R14: the text of a 32-byte tag; 0x and hex digits if it is not text. No text of 32 bytes is as
/// long as that.
pub(super) fn tag_text(tag: &[u8; 32]) -> String {
    match tag::decode_padded(tag) {
        Ok(tag) => tag.to_string(),
        Err(_) => format!("0x{}", hex::encode(tag)),
    }
}
