//! JSON-RPC over HTTP, as alloy has it, but for an answer's length: one that has no end must not
//! fill the memory.
use alloy::{
    rpc::{
        client::RpcClient,
        json_rpc::{RequestPacket, ResponsePacket},
    },
    transports::{
        TransportError, TransportErrorKind, TransportFut, TransportResult,
        http::reqwest::{Client, Response, Url, header::RETRY_AFTER},
    },
};
use std::{
    task::{Context, Poll},
    time::Duration,
};
use tower_service::Service;

/// In bytes. The longest answers are a program's account and a page of accounts: some megabytes.
const ANSWER_MAX: usize = 64 << 20;

/// An answer that goes on after [`ANSWER_MAX`] bytes.
#[derive(Debug, thiserror::Error)]
#[error("an answer is longer than {ANSWER_MAX} bytes")]
pub(crate) struct AnswerTooLong;

/// A client of the endpoint at `url`. It asks nothing yet.
#[must_use]
pub fn client(url: Url) -> RpcClient {
    let http = Http {
        client: Client::new(),
        url,
    };
    RpcClient::new(http, false)
}

#[derive(Clone)]
struct Http {
    client: Client,
    url: Url,
}

impl Http {
    async fn post(self, packet: RequestPacket) -> TransportResult<ResponsePacket> {
        let request = self.client.post(self.url).headers(packet.headers());
        let sent = request.json(&packet).send().await;
        let response = sent.map_err(TransportErrorKind::custom)?;
        let status = response.status();
        let retry_after = retry_after(&response);
        let body = body(response).await?;
        let answer = serde_json::from_slice::<ResponsePacket>(&body);
        if !status.is_success() {
            if let Ok(refusal) = answer
                && refusal.is_error()
            {
                return Ok(refusal); // in the chain's own words
            }
            let words = String::from_utf8_lossy(&body).into_owned();
            return Err(TransportErrorKind::http_error_with_retry_after(
                status.as_u16(),
                words,
                retry_after,
            ));
        }
        answer.map_err(|fault| TransportError::deser_err(fault, String::from_utf8_lossy(&body)))
    }
}

fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    value.trim().parse().ok().map(Duration::from_secs)
}

async fn body(mut response: Response) -> TransportResult<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(TransportErrorKind::custom)? {
        if body.len() + chunk.len() > ANSWER_MAX {
            return Err(TransportErrorKind::custom(AnswerTooLong));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

impl Service<RequestPacket> for Http {
    type Response = ResponsePacket;
    type Error = TransportError;
    type Future = TransportFut<'static>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, packet: RequestPacket) -> Self::Future {
        Box::pin(self.clone().post(packet))
    }
}
