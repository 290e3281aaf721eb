//! Stands between the program and a chain, and does to questions and answers what networks do.
use concord_testkit::http::{post, read_request, reply};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::{BufReader, Read},
    net::{TcpListener, TcpStream},
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

/// What is done with one question.
pub enum FaultAction {
    Forward,
    /// The connection breaks, and the chain has not seen the question.
    HangUp,
    /// The connection breaks, and the chain has done what was asked.
    ForwardThenHangUp,
    /// No answer, for as long as the program waits.
    Hold,
    /// HTTP status 429.
    TooManyRequests,
    /// This answer instead of the chain's.
    Answer(Value),
    /// JSON-RPC's own no: code and message.
    Refuse(i64, &'static str),
    /// The program is killed, and the chain has not seen the question.
    Kill,
    /// The program is killed, and the chain has done what was asked.
    ForwardThenKill,
}

/// One question, and what went before it.
#[derive(Clone, Debug)]
pub struct Question {
    pub method: String,
    pub params: Value,
    /// How often this method was asked, this time included.
    pub times: usize,
    /// How many transactions the program has sent, this one included.
    pub sends: usize,
    /// Whether it has been answered that the last one landed, and this does not ask for its details.
    pub receipt_seen: bool,
}

/// By which a transaction is sent: EVM, Solana.
const SENDING: [&str; 2] = ["eth_sendRawTransaction", "sendTransaction"];
/// The method that reads its status.
const RECEIPT: &str = "eth_getTransactionReceipt";
const STATUSES: &str = "getSignatureStatuses";
/// Asked about some that landed, after their status.
const DETAILS: &str = "getTransaction";

/// No process has this number.
const KILLED: u32 = u32::MAX;

type Policy = Box<dyn FnMut(&Question) -> FaultAction + Send>;

struct State {
    policy: Policy,
    times: BTreeMap<String, usize>,
    sends: usize,
    /// The last transaction, once the chain has taken it.
    sent: Value,
    receipt_seen: bool,
}

/// It ends when it is dropped.
pub struct FaultProxy {
    port: u16,
    victim: Arc<AtomicU32>,
    stopped: Arc<AtomicBool>,
    state: Arc<Mutex<State>>,
}

impl FaultProxy {
    /// In front of the chain's port.
    pub fn start(
        chain: u16,
        policy: impl FnMut(&Question) -> FaultAction + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Self {
            port: listener.local_addr().unwrap().port(),
            victim: Arc::default(),
            stopped: Arc::default(),
            state: Arc::new(Mutex::new(State {
                policy: Box::new(policy),
                times: BTreeMap::new(),
                sends: 0,
                sent: Value::Null,
                receipt_seen: false,
            })),
        };
        let (victim, stopped) = (proxy.victim.clone(), proxy.stopped.clone());
        let state = proxy.state.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let (victim, state) = (victim.clone(), state.clone());
                thread::spawn(move || serve(stream.unwrap(), chain, &state, &victim));
            }
        });
        proxy
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Whom to kill when the policy says so.
    pub fn set_victim(&self, process: u32) {
        self.victim.store(process, Ordering::SeqCst);
    }

    /// How often a method was asked.
    pub fn times(&self, method: &str) -> usize {
        let state = self.state.lock().unwrap();
        state.times.get(method).copied().unwrap_or(0)
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port)); // wakes the listener
    }
}

/// One question a connection. A client that disconnects does not matter.
fn serve(stream: TcpStream, chain: u16, state: &Mutex<State>, victim: &AtomicU32) {
    let Ok(body) = read_request(&mut BufReader::new(&stream)) else {
        return;
    };
    let request: Value = serde_json::from_slice(&body).unwrap();
    let action = judge(&request, state);
    let forward = || {
        let answer = post(chain, &body);
        note_answer(&request, &answer, state);
        answer
    };
    let reply = |status: &str, body: &[u8]| {
        let _ = reply(&stream, status, "Connection: close\r\n", body);
    };
    match action {
        FaultAction::Forward => reply("200 OK", &forward()),
        FaultAction::HangUp => {}
        FaultAction::ForwardThenHangUp => drop(forward()),
        FaultAction::Hold => wait_until_gone(stream),
        FaultAction::TooManyRequests => reply("429 Too Many Requests", b"slow down"),
        FaultAction::Answer(result) => {
            let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
            reply("200 OK", answer.to_string().as_bytes());
        }
        FaultAction::Refuse(code, message) => {
            let error = json!({"code": code, "message": message});
            let answer = json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
            reply("200 OK", answer.to_string().as_bytes());
        }
        FaultAction::Kill => kill(victim),
        FaultAction::ForwardThenKill => {
            forward();
            kill(victim);
        }
    }
}

fn judge(request: &Value, state: &Mutex<State>) -> FaultAction {
    let mut state = state.lock().unwrap();
    let method = request["method"].as_str().unwrap().to_owned();
    let times = state.times.entry(method.clone()).or_default();
    *times += 1;
    let times = *times;
    if SENDING.contains(&&*method) {
        state.sends += 1;
        state.receipt_seen = false;
    }
    let receipt_seen = state.receipt_seen && method != DETAILS;
    let question = Question {
        method,
        params: request["params"].clone(),
        times,
        sends: state.sends,
        receipt_seen,
    };
    (state.policy)(&question)
}

fn note_answer(request: &Value, answer: &[u8], state: &Mutex<State>) {
    let method = request["method"].as_str().unwrap();
    let answer: Value = serde_json::from_slice(answer).unwrap();
    let mut state = state.lock().unwrap();
    if SENDING.contains(&method) {
        state.sent = answer["result"].clone();
    }
    state.receipt_seen |= match method {
        RECEIPT => !answer["result"].is_null(),
        STATUSES => has_landed(
            &state.sent,
            &request["params"][0],
            &answer["result"]["value"],
        ),
        _ => false,
    };
}

/// Of the statuses of several transactions, this one's says that it is part of the chain.
fn has_landed(sent: &Value, asked: &Value, statuses: &Value) -> bool {
    let asked = asked.as_array().unwrap().iter();
    let status = asked.zip(statuses.as_array().into_iter().flatten());
    let mut status = status.filter(|(name, _)| *name == sent);
    let landed = [json!("confirmed"), json!("finalized")];
    status.any(|(_, status)| landed.contains(&status["confirmationStatus"]))
}

fn wait_until_gone(mut stream: TcpStream) {
    let _ = stream.read(&mut [0]); // returns when the client hangs up
}

/// Once: other questions may be under way.
fn kill(victim: &AtomicU32) {
    let process = loop {
        match victim.load(Ordering::SeqCst) {
            0 => thread::sleep(Duration::from_millis(5)), // it asks before it is named
            process => break process,
        }
    };
    if victim.swap(KILLED, Ordering::SeqCst) != KILLED {
        let process = process.to_string();
        let killed = Command::new("kill").args(["-KILL", &process]).status();
        assert!(killed.unwrap().success());
    }
}
