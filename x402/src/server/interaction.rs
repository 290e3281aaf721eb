//! What is hashed and signed of one request and its response.

use std::time::{Duration, Instant};

use axum::extract::OriginalUri;
use bytes::Bytes;
use concord_canonical::{
    Error as CanonicalError, Word,
    interaction::{DataHasher, interaction_hash},
    sign::{PublicKey, low_s},
};
use concord_files::{
    Algorithm, Bytes as FileBytes, HexWord, InteractionData, RegistrationId, SignedInteraction,
    X402Profile,
};
use http::{
    HeaderMap, HeaderValue, Method, Request, StatusCode,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
    response,
};
use http_body::Body;
use tracing::warn;

use super::{
    grant::{FEEDBACK_AUTH_EXTENSION, GRANT_EXPIRY_MAX, GrantRequest},
    layer::{Options, Shared},
    replay_body::{ReadAhead, ReplayBody},
    signing_keys::SigningKey,
    unsigned::Unsigned,
};
use crate::wire::{
    PAYMENT_RESPONSE, PAYMENT_SIGNATURE, Settlement, X_PAYMENT, decode, find,
    insert_extensions_of_checked, request_target,
};

/// Bytes of an Ed25519 signature.
const ED25519_SIGNATURE: usize = 64;

/// The parts of a request that are hashed.
pub(super) struct RequestSeen {
    is_head: bool,
    target: String,
    body: Result<Vec<Bytes>, Unsigned>,
}

/// The parts of a response that are hashed.
pub(super) struct ResponseSeen(Result<Vec<Bytes>, Unsigned>);

impl RequestSeen {
    /// Keeps a request's body if it carries a payment. Without one, nothing can have settled.
    pub(super) async fn of<B>(
        request: Request<B>,
        options: &Options,
    ) -> (Request<ReplayBody<B>>, Self)
    where
        B: Body<Data = Bytes> + Unpin,
    {
        // R33: nested routers see a shorter path than the operator's outermost hop did
        let original = request.extensions().get::<OriginalUri>();
        let uri = original.map_or(request.uri(), |original| &original.0);
        let target = request_target(&options.external_prefix, uri);
        let is_head = request.method() == Method::HEAD;
        let (parts, body) = request.into_parts();
        let is_paid = [PAYMENT_SIGNATURE, X_PAYMENT]
            .iter()
            .any(|name| parts.headers.contains_key(*name));
        let (body, kept) = if is_paid {
            keep("request", &parts.headers, body, options).await
        } else {
            (ReplayBody::untouched(body), Err(Unsigned::RequestNotKept))
        };
        let seen = Self {
            is_head,
            target,
            body: kept,
        };
        (Request::from_parts(parts, body), seen)
    }
}

impl ResponseSeen {
    /// Reads a response's body ahead unless it cannot be signed anyway (R34).
    pub(super) async fn of<B>(
        parts: &response::Parts,
        body: B,
        request: &RequestSeen,
        options: &Options,
    ) -> (ReplayBody<B>, Self)
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let is_empty = matches!(
            parts.status,
            StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED
        );
        // R33: the client receives no body, whatever the handler returned
        if request.is_head || is_empty {
            return (ReplayBody::untouched(body), Self(Ok(Vec::new())));
        }
        if is_event_stream(&parts.headers) {
            return (
                ReplayBody::untouched(body),
                Self(Err(Unsigned::EventStream)),
            );
        }
        let (body, kept) = keep("response", &parts.headers, body, options).await;
        (body, Self(kept))
    }
}

/// R34: streams are not signed.
fn is_event_stream(headers: &HeaderMap) -> bool {
    const EVENT_STREAM: &[u8] = b"text/event-stream";
    let value = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let start = value.and_then(|value| value.get(..EVENT_STREAM.len()));
    start.is_some_and(|start| start.eq_ignore_ascii_case(EVENT_STREAM))
}

/// Reads a body ahead, within the limits.
async fn keep<B: Body<Data = Bytes> + Unpin>(
    part: &'static str,
    headers: &HeaderMap,
    body: B,
    options: &Options,
) -> (ReplayBody<B>, Result<Vec<Bytes>, Unsigned>) {
    if let Some(encoding) = encoding(headers) {
        let refused = Unsigned::Encoded { part, encoding };
        return (ReplayBody::untouched(body), Err(refused));
    }
    let limit = options.body_limit;
    let (body, outcome) = ReplayBody::read_ahead(body, limit, options.body_timeout).await;
    let kept = match outcome {
        ReadAhead::Complete => Ok(body.pieces().cloned().collect()),
        ReadAhead::TooLong if part == "request" => Err(Unsigned::RequestTooLong { limit }),
        ReadAhead::TooLong => Err(Unsigned::ResponseTooLong { limit }),
        ReadAhead::Slow => Err(Unsigned::Slow { part }),
        ReadAhead::Broken => Err(Unsigned::Broken { part }),
    };
    (body, kept)
}

fn encoding(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_ENCODING)?;
    let is_identity = value.as_bytes().eq_ignore_ascii_case(b"identity");
    (!is_identity).then(|| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// The data hash of X402 §1, over the pieces as they are.
fn data_hash(request: &RequestSeen, response: &[Bytes]) -> Result<Word, Unsigned> {
    let body = request.body.as_deref().map_err(Clone::clone)?;
    let length: usize = body.iter().map(Bytes::len).sum();
    let target = request.target.as_bytes();
    // X402 §1: the target is hashed if the request has no body
    let hashed: Vec<&[u8]> = match length {
        0 => vec![target],
        _ => body.iter().map(AsRef::as_ref).collect(),
    };
    let length: usize = hashed.iter().map(|piece| piece.len()).sum();
    let mut hasher = DataHasher::new(length as u64)?;
    for piece in hashed {
        hasher.request(piece)?;
    }
    for piece in response {
        hasher.response(piece)?;
    }
    Ok(hasher.finish()?)
}

/// R23: a KMS may return a high s or Ethereum's v. The first is repaired, the second refused.
fn normal_form(signature: &[u8]) -> Result<Vec<u8>, Unsigned> {
    let length = signature.len();
    let limit = 65;
    let signature: &[u8; 65] =
        (signature.try_into()).map_err(|_| CanonicalError::SignatureLength { length, limit })?;
    Ok(low_s(signature)?.to_vec())
}

impl Shared {
    /// The paywall's header with the signed interaction data in it, the payment's reference, and the time
    /// that hashing and signing took.
    pub(super) async fn sign(
        &self,
        request: &RequestSeen,
        ResponseSeen(response): ResponseSeen,
        headers: &HeaderMap,
    ) -> Result<(HeaderValue, String, Duration), Unsigned> {
        let value = find(headers, PAYMENT_RESPONSE)?;
        let text = decode(PAYMENT_RESPONSE, value.as_bytes())?;
        let settlement = Settlement::parse(&text)?;
        if !settlement.success {
            return Err(Unsigned::NotSettled); // R34
        }
        let task_ref = settlement.task_ref()?;
        let begun = Instant::now();
        let data_hash = data_hash(request, &response?)?;
        let mut members = Vec::new();
        for profile in self.agent.profiles() {
            let data = self
                .interaction(*profile, &settlement, &task_ref, data_hash)
                .await?;
            members.push((profile.extension_key(), data));
        }
        let took = begun.elapsed();
        if let Some(grant) = self.grant(&settlement).await {
            members.push((FEEDBACK_AUTH_EXTENSION, grant));
        }
        let members: Vec<_> = members.iter().map(|(key, text)| (*key, &**text)).collect();
        // `Settlement::parse` has read the text
        let header = insert_extensions_of_checked(PAYMENT_RESPONSE, &text, &members)?;
        Ok((header, task_ref, took))
    }

    /// The interaction data of one profile, as JSON.
    async fn interaction(
        &self,
        profile: X402Profile,
        settlement: &Settlement,
        task_ref: &str,
        data_hash: Word,
    ) -> Result<String, Unsigned> {
        let unix_seconds = (self.options.clock)();
        let agent = self.registration(settlement);
        let namespace = agent.agent_registry.split(':').next().unwrap_or_default();
        let key = self
            .keys
            .at(unix_seconds, Algorithm::of_namespace(namespace));
        let key = key.ok_or(Unsigned::NoKey { unix_seconds })?;
        let hash = interaction_hash(profile.hash_profile(), task_ref, &data_hash)?;
        let signature = self.signature(&key, &hash).await?;
        let public_key = key.signer.public_key();
        let data = InteractionData {
            agent,
            signed: SignedInteraction {
                task_ref: task_ref.to_owned(),
                data_hash: HexWord(data_hash),
                agent_signer_public_key: public_key,
                agent_signature: FileBytes(signature),
                agent_signature_algorithm: Algorithm::of_key(&public_key),
            },
            interaction_hash: HexWord(hash),
            extra: Default::default(),
        };
        // checked: the reference is the settlement's, the key has signed a trial, and `signature` refuses other forms
        let text = data.to_canonical_of_checked();
        text.map_err(|error| super::SignerError(error.to_string()).into())
    }

    fn registration(&self, settlement: &Settlement) -> RegistrationId {
        let found = self.agent.registration_for(&settlement.network);
        // an agent has at least one registration: its info was read
        found
            .cloned()
            .unwrap_or_else(|| self.agent.info().registrations[0].clone())
    }

    async fn signature(&self, key: &SigningKey, hash: &Word) -> Result<Vec<u8>, Unsigned> {
        let limit = self.options.signing_timeout;
        let signing = tokio::time::timeout(limit, key.signer.sign(hash)).await;
        let milliseconds = limit.as_millis();
        let signature = signing.map_err(|_| Unsigned::SignerSlow { milliseconds })??;
        match key.signer.public_key() {
            PublicKey::Secp256k1(_) => normal_form(&signature),
            PublicKey::Ed25519(_) => match signature.len() {
                ED25519_SIGNATURE => Ok(signature),
                length => Err(CanonicalError::SignatureLength {
                    length,
                    limit: ED25519_SIGNATURE,
                }
                .into()),
            },
        }
    }

    /// R41: a grant that fails is left out.
    async fn grant(&self, settlement: &Settlement) -> Option<String> {
        let issuer = self.options.grants.as_ref()?;
        let registration = self.registration(settlement);
        let request = GrantRequest {
            registration: &registration,
            network: &settlement.network,
            payer: settlement.payer.as_deref()?,
            expiry_max: (self.options.clock)().saturating_add(GRANT_EXPIRY_MAX),
        };
        let issuing = tokio::time::timeout(self.options.signing_timeout, issuer.issue(request));
        let issued = match issuing.await {
            Ok(Ok(Some(grant))) => grant.to_extension(&request),
            Ok(Ok(None)) => return None,
            Ok(Err(error)) => Err(error),
            Err(_) => Err(super::SignerError("no answer in time".to_owned())),
        };
        match issued {
            Ok(grant) => Some(grant.as_str().to_owned()),
            Err(error) => {
                warn!(%error, "returned a paid response without a feedback grant");
                None
            }
        }
    }
}
