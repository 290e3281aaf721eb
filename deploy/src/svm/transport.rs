//! How questions reach a cluster.
use crate::{Fault, endpoint::Endpoint, http};
use alloy::rpc::client::RpcClient;
use serde_json::Value;
use std::time::Duration;

/// A way to a Solana cluster: its JSON-RPC methods, wherever they are answered.
pub trait Transport {
    /// The answer's `result`, or the cluster's no. What fails for a passing reason is asked again.
    ///
    /// # Errors
    /// [`Fault::Unreachable`].
    fn ask(&self, method: &str, params: Value) -> Result<Result<Value, Refusal>, Fault>;

    /// What errors call it; never more of a URL than its host.
    fn host(&self) -> &str;
}

/// JSON-RPC's `error`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub code: i64,
    pub message: String,
    pub data: Option<Value>,
}

/// A cluster behind a URL.
pub struct Http {
    endpoint: Endpoint,
    client: RpcClient,
}

impl Http {
    /// No request is made yet. `timeout`: for one answer.
    ///
    /// # Errors
    /// [`Fault::RpcUrlMalformed`].
    pub fn new(url: &str, timeout: Duration) -> Result<Self, Fault> {
        let (endpoint, url) = Endpoint::new(url, timeout)?;
        Ok(Self {
            endpoint,
            client: http::client(url),
        })
    }
}

impl Transport for Http {
    fn ask(&self, method: &str, params: Value) -> Result<Result<Value, Refusal>, Fault> {
        let request = || {
            let name = method.to_owned();
            self.client.request::<&Value, Value>(name, &params)
        };
        let answer = self.endpoint.ask(method, request)?;
        Ok(answer.map_err(|no| Refusal {
            code: no.code,
            message: no.message.into_owned(),
            data: no
                .data
                .and_then(|data| serde_json::from_str(data.get()).ok()),
        }))
    }

    fn host(&self) -> &str {
        self.endpoint.host()
    }
}
