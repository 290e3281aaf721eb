//! Several URLs of one chain. Alloy's `FallbackLayer` asks the fastest one, and for methods that it was not told of all
//! at once: two questions that belong together, such as a node's newest slot and that slot's block, would be answered by
//! two nodes.
use alloy::{
    rpc::json_rpc::{RequestPacket, ResponsePacket},
    transports::{BoxTransport, TransportError, TransportFut},
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
    first: BoxTransport,
    others: Arc<[BoxTransport]>,
    /// Which one is asked; 0 is the first.
    current: Arc<AtomicUsize>,
}

impl Fallback {
    pub(crate) fn new(first: BoxTransport, others: Vec<BoxTransport>) -> Self {
        Self {
            first,
            others: others.into(),
            current: Arc::default(),
        }
    }

    async fn ask(self, packet: RequestPacket) -> Result<ResponsePacket, TransportError> {
        let count = self.others.len() + 1;
        let current = self.current.load(Ordering::Relaxed);
        let mut answer = self.ask_one(current, packet.clone()).await;
        for turn in 1..count {
            if answer.is_ok() {
                break;
            }
            let next = (current + turn) % count;
            answer = self.ask_one(next, packet.clone()).await;
            if answer.is_ok() {
                // It is asked from now on, unless another question has moved on from the same one.
                let (set, get) = (Ordering::Relaxed, Ordering::Relaxed);
                let _ = self.current.compare_exchange(current, next, set, get);
            }
        }
        answer
    }

    async fn ask_one(
        &self,
        number: usize,
        packet: RequestPacket,
    ) -> Result<ResponsePacket, TransportError> {
        let other = number.checked_sub(1).and_then(|it| self.others.get(it));
        let mut transport = other.unwrap_or(&self.first).clone();
        poll_fn(|context| transport.poll_ready(context)).await?;
        transport.call(packet).await
    }
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
