use super::{Api, router};
use crate::store::Engine;
use std::{future::Future, io, sync::Arc};
use tokio::net::TcpListener;

/// Answers requests until `end` is ready; then those that have begun are answered, and no more.
///
/// # Errors
/// The socket's own.
pub async fn serve<E: Engine + 'static>(
    listener: TcpListener,
    api: Arc<Api<E>>,
    end: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    axum::serve(listener, router(api))
        .with_graceful_shutdown(end)
        .await
}
