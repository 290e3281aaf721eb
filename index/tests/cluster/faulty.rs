//! A node of a cluster that fails in a way of its own at some requests.
use crate::worlds::proxy::{Answered, Between, Coin, Node, ended, params, refusal, with_params};
use alloy::rpc::json_rpc::SerializedRequest;
use serde_json::{Value, json};

/// What a node does to some of its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// None.
    None,
    /// Signatures that are there are left out, all of them: of a list, or of a block.
    Empty,
    /// Each signature comes twice.
    Doubled,
    /// The connection ends in the middle.
    Truncated,
    /// The node is some slots behind.
    Lagging,
    /// Too many requests were made.
    RateLimited,
    /// A list has two signatures at most, whatever is asked for.
    Short,
    /// And each list begins with the newest signature.
    Repeating,
}

impl Fault {
    /// Those that pass.
    pub const ALL: [Self; 6] = [
        Self::Empty,
        Self::Doubled,
        Self::Short,
        Self::Truncated,
        Self::Lagging,
        Self::RateLimited,
    ];
}

/// So many slots a lagging node is behind.
const LAG: u64 = 5;
/// So many signatures are in a short list.
const FEW: usize = 2;
const LIST: &str = "getSignaturesForAddress";

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

    pub fn faults(&self) -> u64 {
        self.coin.faults()
    }

    /// How often the order of a block's transactions was asked for.
    pub fn orders_asked(&self) -> u64 {
        let is_of_order = |it: &str| it.starts_with("getBlock ") && it.contains("\"signatures\"");
        self.coin.asked(is_of_order)
    }

    /// What the node would have answered some slots ago.
    async fn lag(mut self, request: SerializedRequest) -> Answered {
        let processed = json!([{ "commitment": "processed" }]);
        let newest = self.node.ask("getSlot", processed).await?;
        let seen = newest.as_u64().unwrap() - LAG;
        let (method, params) = (request.method().to_owned(), params(&request));
        let wanted = match &*method {
            "getBlock" => params[0].as_u64(),
            LIST => params[1]["minContextSlot"].as_u64(),
            _ => None,
        };
        if wanted > Some(seen) {
            self.coin.note();
            let (code, words) = match &*method {
                LIST => (-32_016, "Minimum context slot has not been reached"),
                _ => (-32_004, "Block not available for slot"),
            };
            return Ok(refusal(&request, code, words));
        }
        let coin = self.coin.clone();
        let lagging = |result: Value| {
            let lagged = match &*method {
                "getSlot" => json!(result.as_u64().unwrap() - LAG),
                LIST => kept(&result, |it| it["slot"].as_u64() <= Some(seen)),
                "getTransaction" if result["slot"].as_u64() > Some(seen) => Value::Null,
                _ => result.clone(),
            };
            if lagged != result {
                coin.note();
            }
            lagged
        };
        self.node.pass_changed(request, lagging).await
    }
}

fn kept(list: &Value, is_kept: impl Fn(&Value) -> bool) -> Value {
    let list = list.as_array().unwrap().iter();
    list.filter(|it| is_kept(it)).cloned().collect()
}

fn is_filled(list: &Value) -> bool {
    list.as_array().is_some_and(|it| !it.is_empty())
}

impl Between for Faulty {
    async fn serve(mut self, request: SerializedRequest) -> Answered {
        let (method, params) = (request.method().to_owned(), params(&request));
        let is_list = method == LIST;
        let asked = format!("{method} {params}");
        let is_due = match self.fault {
            Fault::Lagging => self.coin.is_due(&asked, 4), // a batch takes several answers of one state
            _ => self.coin.is_due_once(&asked),
        };
        let coin = self.coin.clone();
        match self.fault {
            Fault::RateLimited if is_due => {
                coin.note();
                Ok(refusal(&request, 429, "too many requests"))
            }
            Fault::Truncated if is_due => {
                coin.note();
                Err(ended())
            }
            Fault::Lagging if is_due => self.lag(request).await,
            Fault::Empty if is_due => {
                let empty = |mut result: Value| {
                    let of_block = result.get_mut("signatures");
                    if let Some(list) = of_block.filter(|it| is_filled(it)) {
                        coin.note();
                        *list = json!([]);
                    } else if is_list && is_filled(&result) {
                        coin.note();
                        result = json!([]);
                    }
                    result
                };
                self.node.pass_changed(request, empty).await
            }
            Fault::Doubled if is_list => {
                let doubled = |result: Value| {
                    coin.note();
                    let list = result.as_array().unwrap().iter();
                    list.flat_map(|it| [it.clone(), it.clone()]).collect()
                };
                self.node.pass_changed(request, doubled).await
            }
            Fault::Short | Fault::Repeating if is_list => {
                let mut params = params;
                if self.fault == Fault::Repeating {
                    params[1]["before"].take();
                }
                let short = |mut result: Value| {
                    let list = result.as_array_mut().unwrap();
                    if list.len() > FEW {
                        coin.note();
                        list.truncate(FEW);
                    }
                    result
                };
                let request = with_params(&request, &params);
                self.node.pass_changed(request, short).await
            }
            _ => self.node.pass(request).await,
        }
    }
}
