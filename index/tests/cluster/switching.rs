//! A node whose first answers are changed: it follows a fork, and learns after some requests that another one has won.
use crate::worlds::proxy::{Answered, Between, Node, params};
use alloy::rpc::json_rpc::SerializedRequest;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

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
    node: Node,
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
            node: Node::new(url),
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
}

impl Between for Switching {
    async fn serve(mut self, request: SerializedRequest) -> Answered {
        let method = request.method().to_owned();
        let params = params(&request);
        if !self.is_changed() {
            return self.node.pass(request).await;
        }
        let change = |mut result| {
            (self.change)(&method, &params, &mut result);
            result
        };
        self.node.pass_changed(request, change).await
    }
}

/// The hash of another block.
fn other(hash: &Value) -> Value {
    let mut bytes = bs58::decode(hash.as_str().unwrap()).into_vec().unwrap();
    bytes[0] ^= 0xff;
    json!(bs58::encode(bytes).into_string())
}
