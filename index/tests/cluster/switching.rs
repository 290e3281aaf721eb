//! A node whose first answers are changed: it follows a fork, and learns after some requests that another one has won.
use alloy::{
    rpc::json_rpc::{RequestPacket, Response, ResponsePacket, ResponsePayload, SerializedRequest},
    transports::{BoxTransport, IntoBoxTransport, TransportError, TransportFut, http::Http},
};
use serde_json::{Value, json};
use std::{
    sync::{Arc, Mutex},
    task::{Context, Poll},
};
use tower_service::Service;

/// Changes the result of a method that was asked with some parameters.
pub type Change = Arc<dyn Fn(&str, &Value, &mut Value) + Send + Sync>;

/// What the fork that loses does not have.
#[derive(Clone, Debug)]
pub struct Lost {
    pub signature: String,
    /// From this slot on its blocks are others.
    pub slot: u64,
}

impl Lost {
    /// The answers of a node that follows that fork.
    pub fn answers(self) -> Change {
        let Self { signature, slot } = self;
        Arc::new(move |method, params, result| match method {
            "getSignaturesForAddress" => {
                let listed = result.as_array_mut().unwrap();
                listed.retain(|it| it["signature"] != json!(signature));
            }
            "getTransaction" if params[0] == json!(signature) => *result = Value::Null,
            "getBlock" if !result.is_null() && params[0].as_u64().unwrap() >= slot => {
                result["blockhash"] = other(&result["blockhash"]);
                if params[0].as_u64().unwrap() > slot {
                    result["previousBlockhash"] = other(&result["previousBlockhash"]);
                }
                if let Some(listed) = result.get_mut("signatures").and_then(Value::as_array_mut) {
                    listed.retain(|it| it != &json!(signature));
                }
            }
            _ => (),
        })
    }
}

#[derive(Clone)]
pub struct Switching {
    inner: BoxTransport,
    change: Change,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    /// Requests until its answers are the cluster's own.
    left: usize,
    by_test: bool,
}

impl Switching {
    /// Changes the answers of so many requests.
    pub fn new(url: &str, change: Change, requests: usize) -> Self {
        Self {
            inner: Http::new(url.parse().unwrap()).into_box_transport(),
            change,
            state: Arc::new(Mutex::new(State {
                left: requests,
                by_test: false,
            })),
        }
    }

    pub fn has_switched(&self) -> bool {
        self.state.lock().unwrap().left == 0
    }

    pub fn switch(&self) {
        let mut state = self.state.lock().unwrap();
        state.by_test |= state.left > 0;
        state.left = 0;
    }

    pub fn was_switched_by_the_test(&self) -> bool {
        self.state.lock().unwrap().by_test
    }

    fn is_changed(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        let is_left = state.left > 0;
        state.left = state.left.saturating_sub(1);
        is_left
    }

    async fn serve(mut self, request: SerializedRequest) -> Result<ResponsePacket, TransportError> {
        let method = request.method().to_owned();
        let params: Value =
            (request.params()).map_or(Value::Null, |it| serde_json::from_str(it.get()).unwrap());
        let is_changed = self.is_changed();
        let packet = Service::call(&mut self.inner, request.into()).await?;
        let ResponsePacket::Single(answer) = packet else {
            return Ok(packet);
        };
        let ResponsePayload::Success(raw) = &answer.payload else {
            return Ok(ResponsePacket::Single(answer));
        };
        if !is_changed {
            return Ok(ResponsePacket::Single(answer));
        }
        let mut result: Value = serde_json::from_str(raw.get()).unwrap();
        (self.change)(&method, &params, &mut result);
        Ok(ResponsePacket::Single(Response {
            id: answer.id,
            payload: ResponsePayload::Success(serde_json::value::to_raw_value(&result).unwrap()),
        }))
    }
}

/// The hash of another block.
fn other(hash: &Value) -> Value {
    let mut bytes = bs58::decode(hash.as_str().unwrap()).into_vec().unwrap();
    bytes[0] ^= 0xff;
    json!(bs58::encode(bytes).into_string())
}

impl Service<RequestPacket> for Switching {
    type Response = ResponsePacket;
    type Error = TransportError;
    type Future = TransportFut<'static>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: RequestPacket) -> Self::Future {
        let node = self.clone();
        Box::pin(async move {
            match request {
                RequestPacket::Single(request) => node.serve(request).await,
                RequestPacket::Batch(_) => panic!("the index makes single requests"),
            }
        })
    }
}
