//! What may go wrong between a buyer and the paywall.
use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header::CONTENT_ENCODING},
    middleware::Next,
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use flate2::{Compression, write::GzEncoder};
use futures_util::{StreamExt, stream};
use std::{
    future::pending,
    io::Write,
    panic::resume_unwind,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};
use tokio::sync::Notify;

#[derive(Clone, Debug, Default)]
pub enum Fault {
    #[default]
    None,
    /// The paid request never reaches the paywall.
    HoldBefore,
    /// It is settled, and the answer never leaves.
    HoldAfter,
    /// As the two above, with a closed connection.
    DropBefore,
    DropAfter,
    /// The payment is ignored: 402 again.
    Ignore,
    /// 307 to another place.
    Redirect(String),
    /// It is settled, and the answer is 503.
    Broken,
    /// It is settled, and the connection ends in the middle of the body.
    CutBody,
    /// It is settled, and a proxy compresses the answer, unasked.
    Compress,
    /// It is settled, and a proxy writes this as the body's encoding.
    Encoding(&'static str),
    /// It is settled, and a proxy adds a line break to the body.
    Append,
    /// It is settled, and the answer has this `PAYMENT-RESPONSE`.
    Replay(HeaderValue),
    /// It is settled, and this changes what `PAYMENT-RESPONSE` says.
    Forge(fn(&mut serde_json::Value)),
    /// It is not settled, and the answer has this `PAYMENT-RESPONSE`.
    ReplayUnpaid(HeaderValue),
}

#[derive(Default)]
pub struct Gate {
    fault: Mutex<Fault>,
    paid: AtomicUsize,
    /// A paid request is held.
    pub held: Notify,
}

impl Gate {
    pub fn set(&self, fault: Fault) {
        *self.fault.lock().unwrap() = fault;
    }

    /// How many paid requests arrived.
    pub fn paid(&self) -> usize {
        self.paid.load(Ordering::SeqCst)
    }
}

pub async fn pass(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Response {
    if !request.headers().contains_key("payment-signature") {
        return next.run(request).await;
    }
    gate.paid.fetch_add(1, Ordering::SeqCst);
    let fault = gate.fault.lock().unwrap().clone();
    match fault {
        Fault::None => next.run(request).await,
        Fault::HoldBefore => {
            gate.held.notify_one();
            pending().await
        }
        Fault::HoldAfter => {
            next.run(request).await;
            gate.held.notify_one();
            pending().await
        }
        Fault::DropBefore => resume_unwind(Box::new("dropped")),
        Fault::DropAfter => {
            next.run(request).await;
            resume_unwind(Box::new("dropped"))
        }
        Fault::Ignore => {
            request.headers_mut().remove("payment-signature");
            next.run(request).await
        }
        Fault::Redirect(to) => (StatusCode::TEMPORARY_REDIRECT, [("location", to)]).into_response(),
        Fault::Compress => {
            let (mut parts, body) = next.run(request).await.into_parts();
            let body = to_bytes(body, usize::MAX).await.unwrap();
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(&body).unwrap();
            let gzip = HeaderValue::from_static("gzip");
            parts.headers.insert(CONTENT_ENCODING, gzip);
            parts.headers.remove("content-length");
            Response::from_parts(parts, encoder.finish().unwrap().into())
        }
        Fault::Encoding(name) => {
            let mut response = next.run(request).await;
            let name = HeaderValue::from_static(name);
            response.headers_mut().insert(CONTENT_ENCODING, name);
            response
        }
        Fault::Append => {
            let (mut parts, body) = next.run(request).await.into_parts();
            let body = to_bytes(body, usize::MAX).await.unwrap();
            parts.headers.remove("content-length");
            Response::from_parts(parts, [&body[..], b"\n"].concat().into())
        }
        Fault::Replay(header) => {
            let mut response = next.run(request).await;
            response.headers_mut().insert("payment-response", header);
            response
        }
        Fault::Forge(change) => {
            let mut response = next.run(request).await;
            let said = response.headers()["payment-response"].as_bytes();
            let mut said = serde_json::from_slice(&BASE64.decode(said).unwrap()).unwrap();
            change(&mut said);
            let forged = BASE64.encode(said.to_string()).parse().unwrap();
            response.headers_mut().insert("payment-response", forged);
            response
        }
        Fault::ReplayUnpaid(header) => {
            ([("payment-response", header)], r#"{"tempC":11}"#).into_response()
        }
        Fault::Broken => {
            let mut response = next.run(request).await;
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            response
        }
        Fault::CutBody => {
            let (parts, _) = next.run(request).await.into_parts();
            let cut = async {
                tokio::task::yield_now().await; // the first piece leaves
                Err(std::io::Error::other("cut"))
            };
            let pieces = stream::iter([Ok("{\"te")]).chain(stream::once(cut));
            Response::from_parts(parts, Body::from_stream(pieces))
        }
    }
}
