use serde_json::{Value, json};

/// An error of JSON-RPC, with the codes that Solana's nodes use.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    pub data: Option<Value>,
}

impl RpcError {
    pub const PARSE: i64 = -32700;
    pub const REQUEST: i64 = -32600;
    pub const METHOD: i64 = -32601;
    pub const PARAMS: i64 = -32602;
    pub const PREFLIGHT: i64 = -32002;
    pub const SIGNATURE: i64 = -32003;
    pub const BLOCK_NOT_AVAILABLE: i64 = -32004;
    pub const TRANSACTION_VERSION: i64 = -32015;
    pub const MIN_CONTEXT_SLOT: i64 = -32016;

    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// A parameter that cannot be read: which, and why.
    pub fn params(field: &str, reason: impl std::fmt::Display) -> Self {
        Self::new(Self::PARAMS, format!("Invalid params: {field}: {reason}."))
    }

    pub fn with_data(self, data: Value) -> Self {
        Self {
            data: Some(data),
            ..self
        }
    }

    /// The `error` member of an answer.
    pub fn to_json(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        error
    }
}
