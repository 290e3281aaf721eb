//! The steps of a purchase, each from the state that is on disk.

use http::HeaderValue;

use super::{
    AuthorizationState, Buyer, Deadline, Evidence, Money, PayError, PayFault, Purchase,
    PurchaseState, RecordedAnswer, Request, Response, content_encoding::decoded, now,
};
use crate::{
    account::is_same_address,
    verify::{self, Class, PaidExchange, Report, State, Step, StepResult, Unavailable},
    wire::{PAYMENT_RESPONSE, Settlement, find},
};

impl Buyer<'_> {
    /// Continues after an interruption. The chain is asked before anything is sent.
    pub(super) async fn proceed_again(
        &self,
        mut evidence: Evidence,
        request: &Request,
    ) -> Result<Purchase, PayError> {
        if evidence.answer.is_some() {
            return self.proceed(evidence, request).await;
        }
        let state = match self.state(&evidence).await {
            Ok(state) => state,
            Err(error) => {
                let money = evidence.money_unasked();
                return Err(PayError {
                    fault: error.into(),
                    money,
                });
            }
        };
        let money = evidence.money_in(&state);
        let is_settled = money.has_moved() == Some(true); // also if only an earlier look saw it
        let fault = match state {
            AuthorizationState::Unused if !is_settled => {
                return self.proceed(evidence, request).await;
            }
            AuthorizationState::Expired if !is_settled => {
                PayFault::Expired(evidence.authorization.deadline())
            }
            AuthorizationState::Cancelled => PayFault::Cancelled,
            AuthorizationState::Failed { transaction } => PayFault::TransactionFailed(transaction),
            AuthorizationState::Used { .. }
            | AuthorizationState::Unused
            | AuthorizationState::Expired => PayFault::AnswerLost,
        };
        evidence.money = Some(money.clone());
        let saved = self.save(&evidence).err();
        Err(PayError {
            fault: saved.unwrap_or(fault),
            money,
        })
    }

    /// Signs, sends, and verifies, from the state that the purchase has.
    pub(super) async fn proceed(
        &self,
        mut evidence: Evidence,
        request: &Request,
    ) -> Result<Purchase, PayError> {
        if evidence.payment.is_none() {
            let signed = self.sign(&mut evidence).await;
            signed.map_err(PayFault::not_sent)?;
        }
        let recorded = evidence.response(&self.evidence);
        let fault = match recorded {
            Ok(Some(response)) => return Ok(self.finish(evidence, request, response, None).await),
            Ok(None) => match self.send(&mut evidence, request).await {
                Ok(response) => {
                    let unrecorded = self.answered(&mut evidence, &response).err();
                    return Ok(self.finish(evidence, request, response, unrecorded).await);
                }
                Err(fault) => fault,
            },
            Err(fault) => fault,
        };
        let money = self.money(&evidence).await;
        Err(PayError { fault, money })
    }

    /// Quoted → signed. The authorization is the one on disk, however often this is called.
    async fn sign(&self, evidence: &mut Evidence) -> Result<(), PayFault> {
        let malformed = "the offer is not one of the 402 message";
        let (required, offer) =
            (evidence.quote.restore()).ok_or_else(|| evidence.malformed(malformed))?;
        self.require_policy(&offer)?;
        let authorization = &evidence.authorization;
        let is_payer = self.payers.address_for(&offer)? == authorization.payer();
        if !is_payer || !authorization.pays(&offer, evidence.quote.at)? {
            return Err(evidence.malformed("its authorization does not pay its offer"));
        }
        let deadline = authorization.deadline();
        if matches!(deadline, Deadline::Time(time) if time <= now()) {
            return Err(PayFault::Expired(deadline));
        }
        let payload = self.payers.sign(authorization).await?;
        let payload = payload.ok_or_else(|| evidence.malformed("the payload is not JSON"))?;
        let header = required.payment(&offer, payload).to_header()?;
        let header = header.to_str().map(str::to_owned);
        evidence.payment = Some(header.map_err(|_| evidence.malformed("no header"))?);
        evidence.state = PurchaseState::Signed;
        self.save(evidence)
    }

    /// Signed → sent. It is on disk that the bytes may leave before they do.
    async fn send(&self, evidence: &mut Evidence, request: &Request) -> Result<Response, PayFault> {
        let payment = evidence.payment.as_deref().unwrap_or_default();
        let payment = HeaderValue::try_from(payment);
        let payment = payment.map_err(|_| evidence.malformed("the payment is not a header"))?;
        let before = evidence.state;
        // X402-66: what was seen of the payment before says nothing about bytes that leave now
        let seen = evidence.money.take();
        if before != PurchaseState::Sent || seen.is_some() {
            evidence.state = PurchaseState::Sent;
            if let Err(fault) = self.save(evidence) {
                evidence.state = before;
                return Err(fault);
            }
        }
        let sent = self.http.send(request, Some(&payment)).await;
        if matches!(sent, Err(PayFault::Unreachable { .. })) && before != PurchaseState::Sent {
            evidence.state = before; // no connection, so nothing has left
            self.save(evidence)?;
        }
        sent
    }

    /// Sent → answered.
    fn answered(&self, evidence: &mut Evidence, response: &Response) -> Result<(), PayFault> {
        let body = self
            .evidence
            .save_body(&evidence.id, "response", &response.body)?;
        evidence.answer = Some(RecordedAnswer::of(response, body, now()));
        evidence.state = PurchaseState::Answered;
        self.save(evidence)
    }

    /// Answered → verified. Nothing that is found here withholds the answer or pays again.
    async fn finish(
        &self,
        mut evidence: Evidence,
        request: &Request,
        response: Response,
        unrecorded: Option<PayFault>,
    ) -> Purchase {
        let mut report = self.verify(&evidence, request, &response).await;
        // asked again: an unknown payment may have settled; what was known is not forgotten (R36)
        let known = evidence.money.clone();
        let known = known.filter(Money::is_settled_or_void);
        let state = self.state(&evidence).await;
        require_own_payment(&mut report, &evidence, &response, &state);
        keep_refuted_payment(&mut report, &evidence);
        let money = match state {
            Ok(state) => evidence.money_in(&state),
            Err(_) => known.unwrap_or_else(|| evidence.money_unsettled()),
        };
        evidence.money = Some(money.clone());
        evidence.report = serde_json::value::to_raw_value(&report.steps).ok();
        evidence.state = PurchaseState::Verified;
        let unrecorded = unrecorded.or_else(|| self.save(&evidence).err());
        Purchase {
            id: evidence.id,
            response,
            report,
            money,
            unrecorded,
        }
    }

    /// S1 to S11.
    async fn verify(&self, evidence: &Evidence, request: &Request, response: &Response) -> Report {
        let restored = evidence.quote.restore();
        let agent = evidence.quote.registration();
        let (Some((required, offer)), Ok(agent)) = (restored, agent) else {
            let why = "the evidence has no offer, or no agent";
            let cannot = |step| StepResult::cannot_check(step, why);
            let steps = Step::ALL.map(cannot).to_vec();
            return Report {
                steps,
                profile: None,
            };
        };
        let decoded = decoded(response, self.http.limits.body_max);
        let exchange = PaidExchange {
            target: &request.target(),
            request_body: &request.body,
            response_body: decoded.as_deref().unwrap_or(&response.body),
            headers: &response.headers,
            offer: &offer,
            payer: &evidence.authorization.payer(),
            announced: &required.reputation().unwrap_or_default(),
            agent: &agent,
        };
        // R30: a signer must be valid when the answer came
        let live = evidence.answer.as_ref().map_or_else(now, |it| it.at);
        let mut report = verify::verify(&exchange, self.reads.after(), Some(live)).await;
        let unhashed = match (response.is_complete, decoded) {
            (false, _) => Some("not all of the answer's body arrived".to_owned()),
            (true, decoded) => decoded.err(),
        };
        if let Some(why) = unhashed {
            report.replace(StepResult::cannot_check(Step::S7, why));
        }
        report
    }

    /// Asks the payment chain whether money moved.
    pub(super) async fn ask_chain(&self, evidence: &Evidence) -> Result<Money, Unavailable> {
        Ok(evidence.money_in(&self.state(evidence).await?))
    }

    async fn state(&self, evidence: &Evidence) -> Result<AuthorizationState, Unavailable> {
        let authorizations = self.reads.authorizations;
        let state = authorizations.state(&evidence.authorization, evidence.since_block);
        state.await
    }
}

/// S11: the payment that the answer names is this purchase's own. A server could answer with the header of an
/// earlier purchase of the same payer. If the chain does not say which payment is the purchase's, S11 is not verified (R36).
fn require_own_payment(
    report: &mut Report,
    evidence: &Evidence,
    response: &Response,
    state: &Result<AuthorizationState, Unavailable>,
) {
    const STEP: Step = Step::S11;
    let has_passed = |it: &StepResult| matches!(it.state, State::Verified | State::Claimed);
    let named = find(&response.headers, PAYMENT_RESPONSE).ok();
    let named = named.and_then(|it| Settlement::from_header(it.as_bytes()).ok());
    let (Some(named), true) = (named, report.step(STEP).is_some_and(has_passed)) else {
        return;
    };
    let network = evidence.authorization.network();
    if let Some(result) = own_payment(STEP, &network, &named.transaction, state) {
        report.replace(result);
    }
}

/// Why the named transaction is not the purchase's payment, or cannot be compared with it.
fn own_payment(
    step: Step,
    network: &str,
    named: &str,
    state: &Result<AuthorizationState, Unavailable>,
) -> Option<StepResult> {
    let found = match state {
        Ok(AuthorizationState::Used {
            transaction: Some(own),
        }) if is_same_address(network, own, named) => return None,
        Ok(AuthorizationState::Used {
            transaction: Some(own),
        }) => format!("the answer names the transaction {named}, the purchase was paid in {own}"),
        Ok(AuthorizationState::Used { transaction: None }) => {
            let why = "the node does not say in which transaction the purchase was paid";
            return Some(StepResult::cannot_check(step, why));
        }
        Ok(AuthorizationState::Unused) => {
            let why = format!("the answer names {named}, and this purchase is not paid so far");
            return Some(StepResult::cannot_check(step, why));
        }
        Ok(_) => format!("the answer names {named}, and this purchase was never paid"),
        Err(Unavailable(why)) => {
            let why = format!("whether {named} paid this purchase: {why}");
            return Some(StepResult::cannot_check(step, why));
        }
    };
    Some(StepResult::refuted(step, Class::PaymentMismatch, found))
}

/// A payment that was refuted before stays so until the chain says which transaction paid (R36).
fn keep_refuted_payment(report: &mut Report, evidence: &Evidence) {
    let is = |it: &StepResult, state| it.step == Step::S11 && it.state == state;
    if !report.steps.iter().any(|it| is(it, State::CannotCheck)) {
        return;
    }
    let earlier = evidence.report.as_ref().map(|it| it.get());
    let earlier = earlier.and_then(|it| serde_json::from_str::<Vec<StepResult>>(it).ok());
    let mut earlier = earlier.unwrap_or_default().into_iter();
    if let Some(refuted) = earlier.find(|it| is(it, State::Refuted)) {
        report.replace(refuted);
    }
}
