use http::{HeaderMap, StatusCode};

use super::{
    Authorizations, Budget, Evidence, EvidenceFolder, HttpLimits, Money, PayError, PayFault,
    Payers, Prepared, Purchase, PurchaseState, RecordedQuote, RecordedRequest, Request, Response,
    evidence::VERSION, http::Http, now,
};
use crate::{
    quote::{self, KnownRegistries, OriginProofs, Quote, QuoteReads, SpendPolicy},
    verify::{Payments, Reads, RegistrationFiles, Registries},
    wire::Offer,
};

/// What a [`Buyer`] reads.
#[derive(Clone, Copy)]
pub struct BuyerReads<'a> {
    /// Identity registries.
    pub registries: &'a dyn Registries,
    /// Registration files.
    pub files: &'a dyn RegistrationFiles,
    /// Proofs of origins.
    pub origins: &'a dyn OriginProofs,
    /// Payments.
    pub payments: &'a dyn Payments,
    /// Authorizations.
    pub authorizations: &'a dyn Authorizations,
}

impl<'a> BuyerReads<'a> {
    pub(super) fn after(&self) -> Reads<'a> {
        Reads {
            registries: self.registries,
            files: self.files,
            payments: self.payments,
        }
    }

    /// What is read of agents, their files and origins.
    #[must_use]
    pub fn before(&self) -> QuoteReads<'a> {
        QuoteReads {
            registries: self.registries,
            files: self.files,
            origins: self.origins,
        }
    }
}

/// The buyer's conditions.
#[derive(Clone, Debug)]
pub struct Terms {
    /// What one purchase may cost.
    pub policy: SpendPolicy,
    /// What may be spent in a period.
    pub budgets: Vec<Budget>,
    /// The registries that count.
    pub registries: KnownRegistries,
    /// Whether an origin that is not bound to the agent is refused (P10).
    pub require_bound_origin: bool,
}

/// What a server says to a request without a payment.
#[derive(Clone, Debug)]
pub enum Asked {
    /// It asks for no payment.
    Free(Response),
    /// It asks for a payment, and every check before it holds.
    Offered(Box<Offered>),
}

/// A request and the offer that was checked for it.
#[derive(Clone, Debug)]
pub struct Offered {
    request: Request,
    quote: Quote,
}

impl Offered {
    /// The offer.
    #[must_use]
    pub fn quote(&self) -> &Quote {
        &self.quote
    }
}

/// Buys over x402, one payment for each purchase.
pub struct Buyer<'a> {
    pub(super) payers: Payers<'a>,
    pub(super) reads: BuyerReads<'a>,
    pub(super) evidence: EvidenceFolder,
    pub(super) terms: Terms,
    pub(super) http: Http,
    on_change: Option<&'a (dyn Fn(&Evidence) + Send + Sync)>,
}

impl<'a> Buyer<'a> {
    /// Makes a buyer. Nothing is read or sent yet.
    ///
    /// # Errors
    /// [`PayFault::Request`] if no HTTP client can be made.
    pub fn new(
        payers: Payers<'a>,
        reads: BuyerReads<'a>,
        evidence: EvidenceFolder,
        terms: Terms,
        limits: HttpLimits,
    ) -> Result<Self, PayFault> {
        Ok(Self {
            payers,
            reads,
            evidence,
            terms,
            http: Http::new(limits)?,
            on_change: None,
        })
    }

    /// Calls a function after each change of a purchase is on disk.
    #[must_use]
    pub fn on_change(mut self, call: &'a (dyn Fn(&Evidence) + Send + Sync)) -> Self {
        self.on_change = Some(call);
        self
    }

    /// Asks without a payment, and checks the offer: P1 to P10.
    ///
    /// # Errors
    /// The first check that fails. Nothing has been signed.
    pub async fn quote(&self, request: Request) -> Result<Asked, PayError> {
        let response = self.http.send(&request, None).await;
        let response = response.map_err(PayFault::not_sent)?;
        if response.status != StatusCode::PAYMENT_REQUIRED {
            return Ok(Asked::Free(response));
        }
        let offered = self.check(request, &response.headers).await?;
        Ok(Asked::Offered(Box::new(offered)))
    }

    /// Checks the offer of a 402 answer: P1 to P10.
    ///
    /// # Errors
    /// The first check that fails. Nothing has been signed.
    pub async fn check(&self, request: Request, headers: &HeaderMap) -> Result<Offered, PayError> {
        let asked = quote::Asked {
            url: request.url.as_str(),
            headers,
            policy: &self.terms.policy,
            registries: &self.terms.registries,
            require_bound_origin: self.terms.require_bound_origin,
        };
        let quote = quote::quote(&asked, self.reads.before()).await;
        let quote = quote.map_err(|refusal| PayFault::Refused(refusal).not_sent())?;
        Ok(Offered { request, quote })
    }

    /// Requires that no purchase of this name has begun. Ask before the server: what it answers to a request without a
    /// payment says nothing about one that was sent.
    ///
    /// # Errors
    /// [`PayFault::AlreadyBegun`], and whether money moved; evidence that cannot be read.
    pub async fn require_new(&self, id: &str) -> Result<(), PayError> {
        let Some(begun) = self.read(id)? else {
            return Ok(());
        };
        let fault = PayFault::AlreadyBegun(id.to_owned());
        let money = self.money(&begun).await;
        Err(PayError { fault, money })
    }

    /// Pays an offer once, and verifies the answer. `id` names the purchase.
    ///
    /// # Errors
    /// [`PayError`], which says whether money moved.
    pub async fn pay(&self, id: &str, offered: Offered) -> Result<Purchase, PayError> {
        let lock = self.evidence.lock(id);
        let begun = self.read(id)?;
        let fault = match (lock, begun.is_some()) {
            (Ok(_lock), false) => return self.begin_and_pay(id, &offered).await,
            (Ok(_), true) => PayFault::AlreadyBegun(id.to_owned()),
            (Err(fault), _) => fault,
        };
        let money = match &begun {
            Some(begun) => self.money(begun).await,
            None => Money::NotSent,
        };
        Err(PayError { fault, money })
    }

    async fn begin_and_pay(&self, id: &str, offered: &Offered) -> Result<Purchase, PayError> {
        let evidence = self.begin(id, offered).await.map_err(PayFault::not_sent)?;
        self.proceed(evidence, &offered.request).await
    }

    /// Continues a purchase that was interrupted, with the same bytes. `secrets` has the headers of the
    /// request that evidence withholds, which are needed if the request may have to be sent again.
    ///
    /// # Errors
    /// As [`Self::pay`].
    pub async fn resume(&self, id: &str, secrets: &HeaderMap) -> Result<Purchase, PayError> {
        let found = self.read(id)?;
        let lock = self.evidence.lock(id);
        let evidence = match lock.is_ok() {
            true => self.read(id)?, // another process may have carried on meanwhile
            false => found,
        };
        let Some(evidence) = evidence else {
            return Err(PayFault::UnknownPurchase(id.to_owned()).not_sent());
        };
        let prepared = lock.and_then(|lock| {
            let body = self.evidence.body(&evidence, &evidence.request.body)?;
            let mut request = evidence.request.restore(body)?;
            if evidence.answer.is_none() {
                evidence.request.add_withheld(&mut request, secrets)?;
            }
            Ok((lock, request))
        });
        match prepared {
            Ok((_lock, request)) => self.proceed_again(evidence, &request).await,
            Err(fault) => {
                let money = self.money(&evidence).await;
                Err(PayError { fault, money })
            }
        }
    }

    /// Evidence that cannot be read says nothing about money.
    fn read(&self, id: &str) -> Result<Option<Evidence>, PayError> {
        self.evidence.load(id).map_err(|fault| {
            let money = fault.unread();
            PayError { fault, money }
        })
    }

    /// Everything but the signature, on disk.
    async fn begin(&self, id: &str, offered: &Offered) -> Result<Evidence, PayFault> {
        let Offered { request, quote } = offered;
        let at = now();
        // the quote may have been changed, or made under other terms
        self.require_policy(&quote.offer)?;
        let payer = self.payers.address_for(&quote.offer)?;
        let authorizations = self.reads.authorizations;
        let prepared = authorizations.prepare(&quote.offer, &payer, at).await?;
        let Prepared {
            authorization,
            since_block,
        } = prepared;
        let body = self.evidence.save_body(id, "request", &request.body)?;
        let recorded = RecordedQuote::of(quote, at);
        let evidence = Evidence {
            version: VERSION,
            id: id.to_owned(),
            state: PurchaseState::Quoted,
            request: RecordedRequest::of(request, body),
            quote: recorded.map_err(|error| PayFault::EvidenceMalformed {
                id: id.to_owned(),
                reason: error.to_string(),
            })?,
            authorization,
            since_block,
            payment: None,
            answer: None,
            money: None,
            report: None,
        };
        self.evidence.begin(&evidence, &self.terms.budgets, at)?;
        self.changed(&evidence);
        Ok(evidence)
    }

    pub(super) fn require_policy(&self, offer: &Offer) -> Result<(), PayFault> {
        let objection = self.terms.policy.objection(offer);
        objection.map_or(Ok(()), |reason| Err(PayFault::Policy(reason)))
    }

    /// Writes a change, and reports it.
    pub(super) fn save(&self, evidence: &Evidence) -> Result<(), PayFault> {
        self.evidence.save(evidence)?;
        self.changed(evidence);
        Ok(())
    }

    fn changed(&self, evidence: &Evidence) {
        tracing::info!(purchase = evidence.id, state = ?evidence.state, "purchase");
        if let Some(call) = self.on_change {
            call(evidence);
        }
    }

    /// Whether money moved, as the chain says; if it cannot be asked, as the evidence does.
    pub(super) async fn money(&self, evidence: &Evidence) -> Money {
        let money = evidence.money_unasked();
        match money {
            Money::Unknown { .. } => self.ask_chain(evidence).await.unwrap_or(money),
            known => known,
        }
    }
}
