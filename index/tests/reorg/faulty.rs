//! An endpoint that fails in a way of its own at some requests.
use crate::worlds::proxy::{Answered, Between, Coin, Node, ended, params, refusal};
use alloy::{
    hex,
    rpc::json_rpc::{Response, ResponsePacket, ResponsePayload, SerializedRequest},
    sol_types::SolCall,
    transports::TransportError,
};
use concord_registry::evm::abi::Feedback::{getClientCountCall, getClientsCall};
use serde_json::{Value, json};

/// What an endpoint does to some of its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Logs that are there are left out, all of them.
    Empty,
    /// Each log comes twice.
    Doubled,
    /// The connection ends in the middle.
    Truncated,
    /// The node is some blocks behind.
    Lagging,
    /// Too many logs were asked for.
    Limited,
    /// Too many requests were made.
    RateLimited,
    /// Blocks have more logs than are given at once.
    Crowded,
    /// And receipts are not given.
    Closed,
    /// No lists of logs are given.
    Silent,
    /// A contract that does not count its clients, and lists more of them than a call may cost.
    OutOfGas,
}

impl Fault {
    /// Those that pass.
    pub const ALL: [Self; 7] = [
        Self::Empty,
        Self::Doubled,
        Self::Truncated,
        Self::Lagging,
        Self::Limited,
        Self::RateLimited,
        Self::Crowded,
    ];
}

/// So many blocks a lagging node is behind.
const LAG: u64 = 5;
/// So many blocks a limited node answers for.
const LIMIT: u64 = 3;

#[derive(Clone)]
pub struct Faulty {
    node: Node,
    fault: Fault,
    coin: Coin,
}

impl Faulty {
    pub fn new(url: &str, fault: Fault) -> Self {
        Self {
            node: Node::new(url),
            fault,
            coin: Coin::default(),
        }
    }

    /// How often logs were asked for from a block on.
    pub fn logs_asked_from(&self, block: u64) -> u64 {
        let from = format!("\"fromBlock\":\"{block:#x}\"");
        let is_of_logs = |it: &str| it.starts_with("eth_getLogs") && it.contains(&from);
        self.coin.asked(is_of_logs)
    }

    pub fn faults(&self) -> u64 {
        self.coin.faults()
    }

    fn note(&self) {
        self.coin.note();
    }
}

fn selector<C: SolCall>() -> String {
    hex::encode_prefixed(C::SELECTOR)
}

fn answered(answer: Response, result: &Value) -> ResponsePacket {
    let raw = serde_json::value::to_raw_value(result).unwrap();
    ResponsePacket::Single(Response {
        id: answer.id,
        payload: ResponsePayload::Success(raw),
    })
}

fn number(value: &Value) -> Option<u64> {
    u64::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok()
}

impl Between for Faulty {
    async fn serve(mut self, request: SerializedRequest) -> Answered {
        let method = request.method().to_owned();
        let params = params(&request);
        let is_logs = method == "eth_getLogs";
        let asked = format!("{method} {params}");
        let is_due = match self.fault {
            Fault::Lagging => self.coin.is_due(&asked, 2),
            _ => self.coin.is_due_once(&asked),
        };
        if let (Fault::Limited, true) = (self.fault, is_logs) {
            let bounds = (
                number(&params[0]["fromBlock"]),
                number(&params[0]["toBlock"]),
            );
            if let (Some(from), Some(to)) = bounds
                && to - from >= LIMIT
            {
                self.note();
                return Ok(refusal(
                    &request,
                    -32005,
                    "query returned more than 3 results",
                ));
            }
        }
        if self.fault == Fault::Silent && is_logs
            || self.fault == Fault::Closed && method == "eth_getTransactionReceipt"
        {
            return Ok(refusal(&request, -32000, "not here"));
        }
        if self.fault == Fault::OutOfGas && method == "eth_call" {
            let input = params[0]["input"].as_str().unwrap();
            if input.starts_with(&selector::<getClientCountCall>()) {
                return Ok(refusal(&request, 3, "execution reverted"));
            }
            if input.starts_with(&selector::<getClientsCall>()) {
                self.note();
                return Ok(refusal(&request, -32000, "out of gas"));
            }
        }
        if let (Fault::RateLimited, true) = (self.fault, is_due) {
            self.note();
            return Ok(refusal(&request, 429, "too many requests"));
        }
        if let (Fault::Truncated, true) = (self.fault, is_due) {
            self.note();
            return Err(ended());
        }
        let too_many = refusal(&request, -32602, "too many logs");
        let packet = self.node.pass(request).await?;
        let ResponsePacket::Single(answer) = packet else {
            return Ok(packet);
        };
        let ResponsePayload::Success(raw) = &answer.payload else {
            return Ok(ResponsePacket::Single(answer));
        };
        let result: Value = serde_json::from_str(raw.get()).unwrap();
        match (self.fault, &result) {
            (Fault::Crowded | Fault::Closed, Value::Array(logs)) if is_logs && !logs.is_empty() => {
                self.note();
                Ok(too_many)
            }
            (Fault::Empty, Value::Array(logs)) if is_logs && is_due && !logs.is_empty() => {
                self.note();
                Ok(answered(answer, &json!([])))
            }
            (Fault::Doubled, Value::Array(logs)) if is_logs && !logs.is_empty() => {
                self.note();
                let doubled: Vec<_> = logs.iter().chain(logs).cloned().collect();
                Ok(answered(answer, &Value::Array(doubled)))
            }
            (Fault::Lagging, _) if is_due => self.lag(answer, &method, &params, &result).await,
            _ => Ok(ResponsePacket::Single(answer)),
        }
    }
}

impl Faulty {
    /// What the node would have answered some blocks ago.
    async fn lag(
        mut self,
        answer: Response,
        method: &str,
        params: &Value,
        result: &Value,
    ) -> Result<ResponsePacket, TransportError> {
        let head: Value = self.node.ask("eth_blockNumber", json!([])).await?;
        let seen = number(&head).unwrap_or_default().saturating_sub(LAG);
        let of_block = |number: u64| json!([format!("{number:#x}"), false]);
        let lagged = match method {
            "eth_getBlockByNumber" if params[0] == "latest" => {
                self.node
                    .ask("eth_getBlockByNumber", of_block(seen))
                    .await?
            }
            "eth_getBlockByNumber" if number(&params[0]) > Some(seen) => Value::Null,
            "eth_getLogs" => {
                let logs = result.as_array().cloned().unwrap_or_default();
                let is_seen = |log: &Value| number(&log["blockNumber"]) <= Some(seen);
                if logs.iter().any(|log| !is_seen(log)) && params[0]["blockHash"].is_string() {
                    self.note();
                    let message = "unknown block";
                    let no = json!({ "code": -32000, "message": message });
                    return Ok(ResponsePacket::Single(Response {
                        id: answer.id,
                        payload: ResponsePayload::Failure(serde_json::from_value(no).unwrap()),
                    }));
                }
                logs.into_iter().filter(is_seen).collect()
            }
            _ => result.clone(),
        };
        if lagged != *result {
            self.note();
        }
        Ok(answered(answer, &lagged))
    }
}
