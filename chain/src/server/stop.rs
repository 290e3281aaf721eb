use std::pin::pin;
use tokio::signal;

/// Waits for SIGINT or SIGTERM.
pub async fn asked_to_stop() {
    let interrupted = pin!(signal::ctrl_c());
    #[cfg(unix)]
    if let Ok(mut terminated) = signal::unix::signal(signal::unix::SignalKind::terminate()) {
        let terminated = pin!(terminated.recv());
        futures_util::future::select(interrupted, terminated).await;
        return;
    }
    let _ = interrupted.await; // without handlers, signals end the process
}
