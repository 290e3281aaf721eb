use std::{io, sync::Arc};

use alloy::{
    primitives::{B128, hex},
    transports::http::reqwest,
};
use async_trait::async_trait;
use bytes::Bytes;
use concord_chain::Svm;
use futures_util::stream;
use http_body::Frame;
use http_body_util::StreamBody;
use reqwest_middleware::{Error, Middleware, Next};

use super::{
    Asked, Buyer, BuyerReads, EvidenceFolder, EvmPayer, HttpLimits, Money, PayError, PayFault,
    Payers, Purchase, Request, Response, Terms,
};
use crate::{
    quote::FetchedFiles,
    verify::{Chains, Report},
};

/// A middleware of reqwest that pays what is within the buyer's terms, as [`Buyer`] does.
///
/// The paid request is sent by the buyer itself, to the same URL, without following redirects and without
/// other middlewares: those might send it twice. It has the request's own headers, and none that the client
/// adds by default. A request whose body is a stream is never paid for. If a check before the payment fails,
/// or there is no answer, the error is a [`super::PayError`].
pub struct BuyerMiddleware {
    /// Pays on EVM chains.
    pub evm: Option<Arc<dyn EvmPayer>>,
    /// Pays on Solana.
    pub svm: Option<Arc<dyn concord_chain::Signer<Svm>>>,
    /// Reads agents and payments.
    pub chains: Arc<Chains>,
    /// Reads registration files.
    pub files: Arc<FetchedFiles>,
    /// Where evidence is kept.
    pub evidence: EvidenceFolder,
    /// The buyer's conditions.
    pub terms: Terms,
    /// Of the paid request.
    pub limits: HttpLimits,
}

/// Names the purchase of a request, in its extensions; without it the name is random. A request whose purchase has begun is
/// not sent: the error is [`PayFault::AlreadyBegun`], and says whether money moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurchaseId(pub String);

/// What was bought, in the extensions of the response.
#[derive(Clone, Debug)]
pub struct Bought {
    /// The purchase's id, under which its evidence is kept.
    pub id: String,
    /// Steps S1 to S11.
    pub report: Report,
    /// Whether money moved, as the chain says.
    pub money: Money,
    /// Why the answer is not in the evidence; `None` if it is.
    pub unrecorded: Option<Arc<PayFault>>,
}

#[async_trait]
impl Middleware for BuyerMiddleware {
    async fn handle(
        &self,
        request: reqwest::Request,
        extensions: &mut http::Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<reqwest::Response> {
        // what the server says now is about another request than the one that was paid
        if let Some(PurchaseId(id)) = extensions.get().cloned() {
            self.require_new(&id).await.map_err(Error::middleware)?;
        }
        let Some(unpaid) = request.try_clone() else {
            return next.run(request, extensions).await; // its body can be sent only once
        };
        let response = next.run(unpaid, extensions).await?;
        if response.status() != http::StatusCode::PAYMENT_REQUIRED {
            return Ok(response);
        }
        // kept there: a middleware outside that repeats the request gets the same purchase, which is not paid twice
        let random = || PurchaseId(hex::encode(B128::random()));
        let PurchaseId(id) = extensions.get_or_insert_with(random).clone();
        let bought = self.buy(&id, request, &response).await;
        bought.map_err(Error::middleware)
    }
}

impl BuyerMiddleware {
    async fn require_new(&self, id: &str) -> Result<(), PayError> {
        let buyer = self.buyer().map_err(|fault| {
            let money = self.evidence.money(id).unwrap_or(Money::NotSent);
            PayError { fault, money }
        })?;
        buyer.require_new(id).await
    }

    async fn buy(
        &self,
        id: &str,
        request: reqwest::Request,
        unpaid: &reqwest::Response,
    ) -> Result<reqwest::Response, PayError> {
        let is_redirected = unpaid.url() != request.url();
        let request = wanted(&request).map_err(PayFault::not_sent)?;
        let buyer = self.buyer().map_err(PayFault::not_sent)?;
        let offered = match is_redirected {
            false => buyer.check(request, unpaid.headers()).await?,
            // the offer is another URL's: what the request itself gets counts
            true => match buyer.quote(request).await? {
                Asked::Free(response) => return Ok(answer(response)),
                Asked::Offered(offered) => *offered,
            },
        };
        let Purchase {
            id,
            response,
            report,
            money,
            unrecorded,
        } = buyer.pay(id, offered).await?;
        let mut response = answer(response);
        response.extensions_mut().insert(Bought {
            id,
            report,
            money,
            unrecorded: unrecorded.map(Arc::new),
        });
        Ok(response)
    }

    fn buyer(&self) -> Result<Buyer<'_>, PayFault> {
        let payers = Payers {
            evm: self.evm.as_deref(),
            svm: self.svm.as_deref(),
        };
        let (chains, files) = (&*self.chains, &*self.files);
        let reads = BuyerReads {
            registries: chains,
            files,
            origins: files,
            payments: chains,
            authorizations: chains,
        };
        let (evidence, terms) = (self.evidence.clone(), self.terms.clone());
        Buyer::new(payers, reads, evidence, terms, self.limits)
    }
}

fn wanted(request: &reqwest::Request) -> Result<Request, PayFault> {
    let body = request.body().and_then(reqwest::Body::as_bytes);
    Ok(Request::new(
        request.method().clone(),
        request.url().as_str(),
        request.headers().clone(),
        Bytes::copy_from_slice(body.unwrap_or_default()),
    )?)
}

/// A body that broke off breaks off again.
fn answer(response: Response) -> reqwest::Response {
    let Response {
        status,
        headers,
        body,
        is_complete,
    } = response;
    let body = if is_complete {
        reqwest::Body::from(body)
    } else {
        let broken = io::Error::other("the answer broke off");
        let pieces = [Ok(Frame::data(body)), Err(broken)];
        reqwest::Body::wrap(StreamBody::new(stream::iter(pieces)))
    };
    let mut answer = http::Response::new(body);
    *answer.status_mut() = status;
    *answer.headers_mut() = headers;
    answer.into()
}
