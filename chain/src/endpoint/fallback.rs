//! Several URLs of one chain. Alloy's `FallbackLayer` sends a request to the fastest of them, or to all at once unless the
//! method is in its list. Two related requests, such as the newest slot and the block of that slot, could then reach two nodes.
use alloy::{
    rpc::json_rpc::{RequestPacket, ResponsePacket},
    transports::{BoxTransport, TransportError, TransportErrorKind, TransportFut},
};
use std::{
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};
use tower_service::Service;

/// One is asked for everything until it fails, then the next; after the last one, the first.
#[derive(Clone, Debug)]
pub(super) struct Fallback {
    transports: Arc<[BoxTransport]>,
    /// The index of the one that is asked.
    current: Arc<AtomicUsize>,
}

impl Fallback {
    pub(crate) fn new(transports: Vec<BoxTransport>) -> Self {
        Self {
            transports: transports.into(),
            current: Arc::default(),
        }
    }

    async fn ask(self, packet: RequestPacket) -> Result<ResponsePacket, TransportError> {
        let current = self.current.load(Ordering::Relaxed);
        let (before, from_current) = self.transports.split_at(current);
        let mut last = Err(TransportErrorKind::backend_gone()); // the options have one URL at least
        for (turn, transport) in from_current.iter().chain(before).enumerate() {
            last = ask_one(transport.clone(), packet.clone()).await;
            if last.is_ok() {
                let answering = (current + turn) % self.transports.len();
                // It is asked from now on, unless another request has moved on from the same one.
                let (set, get) = (Ordering::Relaxed, Ordering::Relaxed);
                let _ = self.current.compare_exchange(current, answering, set, get);
                break;
            }
        }
        last
    }
}

async fn ask_one(
    mut transport: BoxTransport,
    packet: RequestPacket,
) -> Result<ResponsePacket, TransportError> {
    poll_fn(|context| transport.poll_ready(context)).await?;
    transport.call(packet).await
}

impl Service<RequestPacket> for Fallback {
    type Response = ResponsePacket;
    type Error = TransportError;
    type Future = TransportFut<'static>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, packet: RequestPacket) -> Self::Future {
        Box::pin(self.clone().ask(packet))
    }
}
