//! What stands between the index and a node, and changes some of its answers.
use alloy::{
    rpc::json_rpc::{
        Request, RequestPacket, Response, ResponsePacket, ResponsePayload, SerializedRequest,
    },
    transports::{
        BoxTransport, IntoBoxTransport, TransportError, TransportErrorKind, TransportFut,
        http::Http,
    },
};
use concord_chain::Endpoint;
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};
use tower_service::Service;

pub type Answered = Result<ResponsePacket, TransportError>;

pub trait Between: Clone + Send + Sync + 'static {
    /// Answers a request, as the node does or otherwise.
    fn serve(self, request: SerializedRequest) -> impl Future<Output = Answered> + Send;

    fn endpoint(&self, name: &str) -> Endpoint {
        Endpoint::over(Proxy(self.clone()), name)
    }
}

#[derive(Clone)]
struct Proxy<B>(B);

impl<B: Between> Service<RequestPacket> for Proxy<B> {
    type Response = ResponsePacket;
    type Error = TransportError;
    type Future = TransportFut<'static>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: RequestPacket) -> Self::Future {
        let between = self.0.clone();
        Box::pin(async move {
            match request {
                RequestPacket::Single(request) => between.serve(request).await,
                RequestPacket::Batch(_) => panic!("the index makes single requests"),
            }
        })
    }
}

/// The node itself.
#[derive(Clone)]
pub struct Node(BoxTransport);

impl Node {
    pub fn new(url: &str) -> Self {
        Self(Http::new(url.parse().unwrap()).into_box_transport())
    }

    pub async fn pass(&mut self, request: SerializedRequest) -> Answered {
        Service::call(&mut self.0, request.into()).await
    }

    /// Passes a request on, and its result through `change`. A refusal stays what it is.
    pub async fn pass_changed(
        &mut self,
        request: SerializedRequest,
        change: impl FnOnce(Value) -> Value,
    ) -> Answered {
        Ok(match self.pass(request).await? {
            ResponsePacket::Single(Response {
                id,
                payload: ResponsePayload::Success(raw),
            }) => {
                let changed = change(serde_json::from_str(raw.get()).unwrap());
                let raw = serde_json::value::to_raw_value(&changed).unwrap();
                let payload = ResponsePayload::Success(raw);
                ResponsePacket::Single(Response { id, payload })
            }
            refused => refused,
        })
    }

    /// Asks what the node does not refuse.
    pub async fn ask(
        &mut self,
        method: &'static str,
        params: Value,
    ) -> Result<Value, TransportError> {
        let request = Request::new(method, 0.into(), params);
        let packet = self.pass(request.try_into().unwrap()).await?;
        let ResponsePacket::Single(Response {
            payload: ResponsePayload::Success(raw),
            ..
        }) = packet
        else {
            panic!("{method}");
        };
        Ok(serde_json::from_str(raw.get()).unwrap())
    }
}

pub fn params(request: &SerializedRequest) -> Value {
    let params = request.params();
    params.map_or(Value::Null, |it| serde_json::from_str(it.get()).unwrap())
}

pub fn with_params(request: &SerializedRequest, params: &Value) -> SerializedRequest {
    let method = request.method().to_owned();
    let changed = Request::new(method, request.id().clone(), params);
    changed.try_into().unwrap()
}

pub fn refusal(request: &SerializedRequest, code: i64, message: &str) -> ResponsePacket {
    let answer = json!({
        "jsonrpc": "2.0", "id": request.id(), "error": { "code": code, "message": message },
    });
    ResponsePacket::Single(serde_json::from_value(answer).unwrap())
}

pub fn ended() -> TransportError {
    TransportErrorKind::custom_str("connection closed before message completed")
}

/// Says which requests are answered otherwise, and counts them.
#[derive(Clone, Default)]
pub struct Coin(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    requests: u64,
    /// How often each request was made.
    asked: HashMap<String, u64>,
    /// How many answers were changed.
    faults: u64,
}

impl Coin {
    /// About every second request is served as it should be, and each that is made again, so that trying again is worth it.
    pub fn is_due_once(&self, request: &str) -> bool {
        let (mixed, is_new) = self.toss(request);
        mixed >> 63 == 1 && is_new
    }

    /// One request of `among`, a power of two, is not served as it should be, whether or not it was made before.
    pub fn is_due(&self, request: &str, among: u64) -> bool {
        let (mixed, _) = self.toss(request);
        mixed >> (64 - among.ilog2()) == among - 1
    }

    fn toss(&self, request: &str) -> (u64, bool) {
        let mut state = self.0.lock().unwrap();
        state.requests += 1;
        let times = state.asked.entry(request.to_owned()).or_default();
        *times += 1;
        let is_new = *times == 1;
        // SplitMix64: as good as a coin, and the same in every run.
        let mut mixed = state.requests.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed, is_new)
    }

    pub fn note(&self) {
        self.0.lock().unwrap().faults += 1;
    }

    pub fn faults(&self) -> u64 {
        self.0.lock().unwrap().faults
    }

    /// How often requests were made that `matches` finds.
    pub fn asked(&self, matches: impl Fn(&str) -> bool) -> u64 {
        let state = self.0.lock().unwrap();
        let found = state.asked.iter().filter(|(it, _)| matches(it));
        found.map(|(_, times)| times).sum()
    }
}
