//! What both profiles share: revocation (R8) and responses (R19).
use super::{
    Actor, Agent, Event, Model, Profile, Response, authorized, open,
    registry::{Done, Refusal},
};
use concord_canonical::{ErrorClass, limits};

/// The part of an entry that both profiles have.
struct Entry<'a> {
    revoked: &'a mut bool,
    responses: &'a mut u64,
}

impl Model {
    /// R8: the entry leaves the summary, never the client's index. Only the reviewer's own
    /// entries are reachable.
    pub(super) fn revoke(
        &mut self,
        profile: Profile,
        agent: &Agent,
        by: &Actor,
        index: u64,
    ) -> Done {
        let entry = self.entry(profile, agent, by, index)?;
        if *entry.revoked {
            return Err(ErrorClass::AlreadyRevoked);
        }
        *entry.revoked = true;
        let record = self.agent_mut(agent)?;
        match profile {
            Profile::Authorized => authorized::recount(&mut record.authorized),
            Profile::Open => open::recount(&mut record.open),
        }
        Ok(vec![Event::FeedbackRevoked {
            profile,
            agent: agent.clone(),
            client: by.clone(),
            index,
        }])
    }

    /// R19: anyone, to any entry, revoked or not.
    pub(super) fn append_response(&mut self, profile: Profile, response: &Response) -> Done {
        if response.index == 0 {
            return Err(ErrorClass::FeedbackNotFound);
        }
        if response.uri.is_empty() {
            return Err(ErrorClass::EmptyUri);
        }
        self.entry(profile, &response.agent, &response.client, response.index)?;
        self.check_portable(&response.uri, limits::URI_MAX)?; // R17
        let entry = self.entry(profile, &response.agent, &response.client, response.index)?;
        *entry.responses = entry
            .responses
            .checked_add(1)
            .ok_or(ErrorClass::CounterExhausted)?;
        Ok(vec![Event::ResponseAppended {
            profile,
            agent: response.agent.clone(),
            client: response.client.clone(),
            index: response.index,
            responder: response.by.clone(),
            uri: response.uri.clone(),
            hash: response.hash,
        }])
    }

    /// `FeedbackNotFound`: index 0, beyond the last, no such client, no such agent.
    fn entry(
        &mut self,
        profile: Profile,
        agent: &Agent,
        client: &Actor,
        index: u64,
    ) -> Result<Entry<'_>, Refusal> {
        let place = index
            .checked_sub(1)
            .and_then(|place| usize::try_from(place).ok())
            .ok_or(ErrorClass::FeedbackNotFound)?;
        let record = self.state.agents.get_mut(agent);
        let found = record.and_then(|record| match profile {
            Profile::Authorized => {
                let entry = record.authorized.entries.get_mut(client)?.get_mut(place)?;
                Some(Entry {
                    revoked: &mut entry.revoked,
                    responses: &mut entry.responses,
                })
            }
            Profile::Open => {
                let entry = record.open.entries.get_mut(client)?.get_mut(place)?;
                Some(Entry {
                    revoked: &mut entry.revoked,
                    responses: &mut entry.responses,
                })
            }
        });
        found.ok_or(ErrorClass::FeedbackNotFound)
    }
}
