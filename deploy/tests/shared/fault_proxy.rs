//! Stands between the program and a chain, and does to questions and answers what networks do.
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::{self, BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
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
    /// Whether the receipt of the last one has been answered.
    pub receipt_seen: bool,
}

/// By which a transaction is sent, and by which what became of it is read: EVM, Solana.
const SENDING: [&str; 2] = ["eth_sendRawTransaction", "sendTransaction"];
const RECEIPT: [&str; 2] = ["eth_getTransactionReceipt", "getTransaction"];

type Policy = Box<dyn FnMut(&Question) -> FaultAction + Send>;

struct State {
    policy: Policy,
    times: BTreeMap<String, usize>,
    sends: usize,
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

/// One question a connection. A client that goes away is no concern of ours.
fn serve(stream: TcpStream, chain: u16, state: &Mutex<State>, victim: &AtomicU32) {
    let Ok(body) = read_request(&stream) else {
        return;
    };
    let request: Value = serde_json::from_slice(&body).unwrap();
    let action = judge(&request, state);
    let forward = || {
        let answer = post(chain, &body);
        note_receipt(&request, &answer, state);
        answer
    };
    match action {
        FaultAction::Forward => reply(&stream, "200 OK", &forward()),
        FaultAction::HangUp => {}
        FaultAction::ForwardThenHangUp => drop(forward()),
        FaultAction::Hold => wait_until_gone(stream),
        FaultAction::TooManyRequests => reply(&stream, "429 Too Many Requests", b"slow down"),
        FaultAction::Answer(result) => {
            let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
            reply(&stream, "200 OK", answer.to_string().as_bytes());
        }
        FaultAction::Refuse(code, message) => {
            let error = json!({"code": code, "message": message});
            let answer = json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
            reply(&stream, "200 OK", answer.to_string().as_bytes());
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
    let question = Question {
        method,
        params: request["params"].clone(),
        times,
        sends: state.sends,
        receipt_seen: state.receipt_seen,
    };
    (state.policy)(&question)
}

fn note_receipt(request: &Value, answer: &[u8], state: &Mutex<State>) {
    if RECEIPT.contains(&request["method"].as_str().unwrap()) {
        let answer: Value = serde_json::from_slice(answer).unwrap();
        state.lock().unwrap().receipt_seen |= !answer["result"].is_null();
    }
}

fn read_request(stream: &TcpStream) -> io::Result<Vec<u8>> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(body)
}

fn reply(mut stream: &TcpStream, status: &str, body: &[u8]) {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(&[head.as_bytes(), body].concat());
}

fn wait_until_gone(mut stream: TcpStream) {
    let _ = stream.read(&mut [0]); // returns when the client hangs up
}

fn kill(victim: &AtomicU32) {
    let process = victim.load(Ordering::SeqCst).to_string();
    let killed = Command::new("kill").args(["-KILL", &process]).status();
    assert!(killed.unwrap().success());
}

/// The body of the answer. HTTP/1.0, so that it ends where the connection does.
pub fn post(port: u16, body: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let head = format!(
        "POST / HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap();
    answer.split_off(end + 4)
}
