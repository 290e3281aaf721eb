//! Stands between the program and a node: writes down what is asked, and ends the program in the
//! middle of a run, or refuses to send more.
use concord_testkit::http::post;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
    },
    thread,
};

#[derive(Default)]
struct State {
    methods: Mutex<BTreeSet<String>>,
    sends: AtomicUsize,
    /// The program is killed after so many transactions; never at 0.
    last_send: AtomicUsize,
    victim: AtomicU32,
    /// Transactions that the node gets to see, less one; all of them at 0.
    first_refused: AtomicUsize,
    /// The only account whose balance is not asked of a node that lags behind.
    known: Mutex<Option<String>>,
    stopped: AtomicBool,
}

/// It ends when it is dropped.
pub struct Recorder {
    port: u16,
    state: Arc<State>,
}

impl Recorder {
    /// In front of anvil's port.
    pub fn start(chain: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::<State>::default();
        let of_thread = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                if of_thread.stopped.load(Ordering::SeqCst) {
                    return;
                }
                let state = of_thread.clone();
                thread::spawn(move || serve(&stream.unwrap(), chain, &state));
            }
        });
        Self { port, state }
    }

    /// With a path that could be somebody's key.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v2/secret-of-the-endpoint", self.port)
    }

    /// Every method that was asked.
    pub fn methods(&self) -> BTreeSet<String> {
        self.state.methods.lock().unwrap().clone()
    }

    pub fn sends(&self) -> usize {
        self.state.sends.load(Ordering::SeqCst)
    }

    pub fn kill_after(&self, sends: usize, process: u32) {
        self.state.victim.store(process, Ordering::SeqCst);
        self.state.last_send.store(sends, Ordering::SeqCst);
    }

    /// The node takes no transaction after so many.
    pub fn refuse_after(&self, sends: usize) {
        let first_refused = &self.state.first_refused;
        first_refused.store(sends + 1, Ordering::SeqCst);
    }

    /// Balances on Solana are asked of a node that knows this account alone, and says so if it is asked for a slot; or,
    /// without an account, of the same node as everything.
    #[allow(dead_code, reason = "written for tests/live_svm")]
    pub fn let_balances_lag(&self, known: Option<String>) {
        *self.state.known.lock().unwrap() = known;
    }

    pub fn refuse_nothing(&self) {
        self.state.first_refused.store(0, Ordering::SeqCst);
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.state.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port)); // wakes the listener
    }
}

/// One request a connection. A client that disconnects does not matter.
fn serve(mut stream: &TcpStream, chain: u16, state: &State) {
    let Some(body) = read_request(stream) else {
        return;
    };
    let asked: Value = serde_json::from_slice(&body).unwrap();
    let all = asked.as_array().cloned().unwrap_or(vec![asked.clone()]);
    let mut sent = false;
    for one in &all {
        let method = one["method"].as_str().unwrap().to_owned();
        sent |= ["eth_sendRawTransaction", "sendTransaction"].contains(&&*method);
        state.methods.lock().unwrap().insert(method);
    }
    let sends = if sent {
        state.sends.fetch_add(1, Ordering::SeqCst) + 1
    } else {
        0
    };
    let first_refused = state.first_refused.load(Ordering::SeqCst);
    let is_refused = sent && first_refused > 0 && sends >= first_refused;
    let known = state.known.lock().unwrap().clone();
    let lags = asked["method"] == "getBalance" && known.is_some_and(|it| asked["params"][0] != it);
    let answer = match (is_refused, lags) {
        (true, _) => refusal(&asked, -32_000, "the node takes no transaction"),
        (_, true) => of_lagging_node(&asked),
        _ => post(chain, &body),
    };
    if sent && sends == state.last_send.load(Ordering::SeqCst) {
        let process = state.victim.load(Ordering::SeqCst).to_string();
        let killed = Command::new("kill").args(["-KILL", &process]).status();
        assert!(killed.unwrap().success());
    }
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        answer.len()
    );
    let _ = stream.write_all(&[head.as_bytes(), &answer].concat());
}

fn of_lagging_node(asked: &Value) -> Vec<u8> {
    if asked["params"][1]["minContextSlot"].is_u64() {
        return refusal(asked, -32_016, "Minimum context slot has not been reached");
    }
    let result = json!({"context": {"slot": 0}, "value": 0});
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
    answer.to_string().into_bytes()
}

fn refusal(asked: &Value, code: i64, message: &str) -> Vec<u8> {
    let error = json!({"code": code, "message": message});
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "error": error});
    answer.to_string().into_bytes()
}

fn read_request(stream: &TcpStream) -> Option<Vec<u8>> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
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
    reader.read_exact(&mut body).ok()?;
    Some(body)
}
