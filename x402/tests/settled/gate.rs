//! What may go wrong between a buyer and the paywall.
use axum::{
    body::Body,
    extract::{Request, State},
    http::StatusCode,
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures_util::{StreamExt, stream};
use std::{
    future::pending,
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
    /// It is settled, and the connection ends in the middle of the body.
    CutBody,
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
