use concord_registry::event::{AccountId, AgentId, Event, Profile};
use serde_json::value::RawValue;

use super::{Audit, AuditError, Entry, Finding, Found, ProblemKind, problem};
use crate::{ResponseForm, ResponseRequest, admission::is_same_account};

/// The feedback that a response is to, as the registry names it.
type Target = (AgentId, AccountId, u64);

impl Audit {
    /// Whether the transaction is the response that the receipt is of (R57). What the request has is what the receipt's digest
    /// covers, so a feedback that is withheld cannot be passed off as a response. `feedback`: the entry of the same payment.
    pub(super) async fn response_finding(
        &self,
        (entry, request): (&Entry, &RawValue),
        found: &Found<'_>,
        feedback: Option<&Entry>,
        now: u64,
    ) -> Result<Finding, AuditError> {
        let differs = |reason: String| Ok(problem(ProblemKind::Differs, reason));
        let form = match signed(entry, request) {
            Ok(form) => form,
            Err(reason) => return differs(reason),
        };
        let Some(feedback) = feedback else {
            return differs(format!("{} has no receipt of a feedback", form.key));
        };
        let answered = match self.locate(feedback, now).await? {
            Ok(answered) => answered,
            Err(Finding::Unknown(reason)) => return Ok(Finding::Unknown(reason)),
            Err(_) => return differs("the feedback is not on chain".to_owned()),
        };
        match target(&form, feedback, &answered).and_then(|it| require_response(&form, &it, found))
        {
            Ok(()) => Ok(Finding::Responded),
            Err(reason) => differs(reason),
        }
    }
}

/// Client and index of the feedback whose file the agent's request names: the agent signed nothing about any other. The same
/// transaction may give another feedback with that hash, whose URI is not the entry's.
fn target(form: &ResponseForm, entry: &Entry, found: &Found<'_>) -> Result<Target, String> {
    let request = &form.request;
    require_registry(form, found)?;
    let is_own = |event: &Event| match event {
        Event::OpenFeedback {
            agent,
            client,
            index,
            uri,
            hash,
            ..
        } if *hash == form.feedback_hash
            && *uri == entry.feedback_uri
            && agent.to_string() == request.agent_id =>
        {
            Some((*agent, *client, *index))
        }
        _ => None,
    };
    let found = found.events.iter().find_map(is_own);
    found.ok_or_else(|| {
        let hash = &request.feedback_hash;
        format!("the payment's feedback at the entry's URI does not have the hash {hash}")
    })
}

fn require_response(form: &ResponseForm, target: &Target, found: &Found<'_>) -> Result<(), String> {
    let request = &form.request;
    require_registry(form, found)?;
    let response = request.response_word().map_err(|error| error.to_string())?;
    let is_own = |it: &&Event| {
        matches!(it, Event::ResponseAppended { profile: Profile::Open, agent, client, index, uri, hash, .. }
            if (*agent, *client, *index) == *target && *uri == request.response_uri && *hash == response)
    };
    let event = found.events.iter().find(is_own);
    event.map(|_| ()).ok_or_else(|| {
        let (_, client, index) = target;
        format!("the transaction has no such response to feedback {index} of {client}")
    })
}

fn require_registry(form: &ResponseForm, found: &Found<'_>) -> Result<(), String> {
    let registry = &form.request.agent_registry;
    if is_same_account(registry, &found.identity) {
        Ok(())
    } else {
        Err(format!("the agent is registered at {registry}"))
    }
}

/// The request, if the receipt is of it.
fn signed(entry: &Entry, request: &RawValue) -> Result<ResponseForm, String> {
    let form = ResponseRequest::read(request.get().as_bytes());
    let form = form.map_err(|refusal| refusal.to_string())?;
    let digest = format!("0x{}", hex::encode(form.digest));
    let receipt = &entry.receipt;
    if receipt.payload_digest == digest && receipt.key == form.key {
        Ok(form)
    } else {
        Err(format!(
            "the receipt is of {} with digest {}, the request of {} with {digest}",
            receipt.key, receipt.payload_digest, form.key
        ))
    }
}
