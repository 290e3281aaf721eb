use super::{Api, router};
use crate::store::Engine;
use concord_chain::server::{self, ServerLimits};
use std::{future::Future, sync::Arc};
use tokio::net::TcpListener;

/// Answers requests until `end` is ready; then those that have begun are answered, and no more.
pub async fn serve<E: Engine + 'static>(
    listener: TcpListener,
    api: Arc<Api<E>>,
    limits: ServerLimits,
    end: impl Future<Output = ()>,
) {
    server::serve(listener, router(api), limits, end).await;
}
