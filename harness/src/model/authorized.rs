//! The authorized profile (R5 to R12, R15, R18).
use super::{
    Agent, Authorization, AuthorizedState, Event, Feedback, FeedbackState, Form, Model, Summary,
    Tamper, Totals,
    identity::{BOUNDED, X84},
    registry::{Done, Refusal},
};
use concord_canonical::{ErrorClass, limits};

impl Model {
    /// The checks of §3a, in its order.
    pub(super) fn give_feedback(&mut self, feedback: &Feedback) -> Done {
        if let Some(sent) = &feedback.authorization {
            self.check_precompile(&sent.signer, sent.tamper.as_ref())?; // variance 1
        }
        if feedback.score > limits::SCORE_MAX {
            return Err(ErrorClass::ScoreOutOfRange);
        }
        self.check_is_no_insider(&feedback.agent, &feedback.by)?; // R18
        self.check_portable(&feedback.uri, limits::URI_MAX)?; // R17
        let record = self.agent(&feedback.agent)?;
        let last_index = record.authorized.last_index(&feedback.by);
        self.check_explicit_index(feedback.index, last_index)?; // R12
        self.check_authorization(feedback, last_index)?;
        Ok(vec![self.record_feedback(feedback)?])
    }

    fn check_authorization(&self, feedback: &Feedback, last_index: u64) -> Result<(), Refusal> {
        let sent = feedback
            .authorization
            .as_ref()
            .ok_or(ErrorClass::AuthMissing)?;
        self.check_form(&sent.signer, sent.tamper.as_ref())?; // R6, R11
        let granted = match sent.form {
            Form::X84 => self.accepts_scheme(&feedback.agent, X84), // R10
            Form::Bounded | Form::DraftV1 => {
                if self.state.time >= sent.expiry {
                    return Err(ErrorClass::AuthExpired); // R8
                }
                if last_index >= sent.index_limit {
                    return Err(ErrorClass::AuthIndexLimit); // R8
                }
                // R5: what X84's message does not say
                let is_elsewhere = matches!(
                    sent.tamper,
                    Some(Tamper::WrongChain | Tamper::WrongRegistry)
                );
                self.accepts_scheme(&feedback.agent, BOUNDED) && !is_elsewhere // R10
            }
        };
        (granted && self.is_granted_by_signer(feedback, sent)?)
            .then_some(())
            .ok_or(ErrorClass::AuthNotGranted)
    }

    fn is_granted_by_signer(
        &self,
        feedback: &Feedback,
        sent: &Authorization,
    ) -> Result<bool, Refusal> {
        let owner = &self.agent(&feedback.agent)?.owner;
        let tamper = sent.tamper.as_ref();
        // R6: what a contract was asked about instead of 65 bytes. No other signer gets here.
        let has_other_length = matches!(tamper, Some(Tamper::Truncated | Tamper::Extended));
        Ok(sent.agent == feedback.agent // R5
            && sent.client == feedback.by
            && sent.signer == *self.authorization_signer(&feedback.agent, owner) // R7
            && !has_other_length
            && !tamper.is_some_and(|tamper| tamper.breaks_signature(&sent.signer)))
    }

    fn record_feedback(&mut self, feedback: &Feedback) -> Result<Event, Refusal> {
        let time = self.state.time;
        if self.is_stranger(&feedback.agent, &feedback.by)? {
            self.note_stranger(&feedback.agent, &feedback.by)?; // R13
        }
        let authorized = &mut self.agent_mut(&feedback.agent)?.authorized;
        let index = authorized
            .last_index(&feedback.by)
            .checked_add(1)
            .ok_or(ErrorClass::CounterExhausted)?; // R8
        if index == 1 {
            authorized.clients.push(feedback.by.clone());
        }
        let entries = authorized.entries.entry(feedback.by.clone()).or_default();
        entries.push(FeedbackState {
            score: feedback.score,
            tag1: feedback.tag1,
            tag2: feedback.tag2,
            time,
            revoked: false,
            responses: 0,
            payment: None,
        });
        recount(authorized);
        Ok(Event::AuthorizedFeedback {
            agent: feedback.agent.clone(),
            client: feedback.by.clone(),
            index,
            score: feedback.score,
            tag1: feedback.tag1,
            tag2: feedback.tag2,
            uri: feedback.uri.clone(),
            hash: feedback.hash,
            time,
        })
    }

    /// R15; an unknown agent has no feedback.
    pub(super) fn summary(&self, agent: &Agent) -> Summary {
        let authorized = self
            .state
            .agents
            .get(agent)
            .map(|record| &record.authorized);
        Summary::Authorized {
            count: authorized.map_or(0, |authorized| authorized.count),
            average: authorized.map_or(0, |authorized| authorized.average),
        }
    }
}

/// R15: count, sum and floor average over what is not revoked; R13: the same over what is paid.
pub(super) fn recount(authorized: &mut AuthorizedState) {
    let standing = || {
        let entries = authorized.entries.values().flatten();
        entries.filter(|entry| !entry.revoked)
    };
    let all = totals(standing());
    let verified = totals(standing().filter(|entry| entry.payment.is_some()));
    authorized.count = all.count;
    authorized.sum = all.sum;
    authorized.average = all
        .sum
        .checked_div(all.count)
        .map_or(0, |average| u8::try_from(average).unwrap_or(u8::MAX));
    authorized.verified = (verified.count > 0).then_some(verified);
}

fn totals<'a>(entries: impl Iterator<Item = &'a FeedbackState>) -> Totals {
    entries.fold(Totals::default(), |totals, entry| Totals {
        count: totals.count + 1,
        sum: totals.sum + u64::from(entry.score),
    })
}
