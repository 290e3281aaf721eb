//! Stands between the program and a chain as a public endpoint does: it takes so many requests of one
//! method and in total within ten seconds, refuses the others, and closes connections at times.
use concord_testkit::http::{post, read_request, reply};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, VecDeque},
    io::{self, BufReader},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

const WINDOW: Duration = Duration::from_secs(10);
/// A connection is closed after so many answers, without a word.
const ANSWERS: usize = 30;

/// How a request above the limit is refused.
pub struct Refusal {
    pub status: &'static str,
    pub code: i64,
    pub message: &'static str,
    /// Whether `Retry-After` says in how many seconds there is room again.
    pub says_when: bool,
}

pub struct Limits {
    pub per_method: usize,
    pub in_total: usize,
    /// Of so many requests, one is not answered: the connection is closed.
    pub unanswered: usize,
    /// They take turns.
    pub refusals: &'static [Refusal],
}

/// What was asked.
#[derive(Clone, Debug, Default)]
pub struct Count {
    pub taken: BTreeMap<String, usize>,
    pub refused: usize,
    pub unanswered: usize,
    /// The longest series of refusals without a request that was taken in between.
    pub refused_in_a_row: usize,
}

impl Count {
    pub fn total(&self) -> usize {
        self.taken.values().sum()
    }

    /// The time that the limits require for these requests, however fast the chain is.
    pub fn required(&self, limits: &Limits) -> Duration {
        let full = |count: usize, limit: usize| count.saturating_sub(1) / limit;
        let methods = self.taken.values().map(|it| full(*it, limits.per_method));
        let windows = methods.max().unwrap_or(0);
        WINDOW * windows.max(full(self.total(), limits.in_total)) as u32
    }
}

#[derive(Default)]
struct State {
    requests: usize,
    /// When the requests within the window were taken.
    all: VecDeque<Instant>,
    methods: BTreeMap<String, VecDeque<Instant>>,
    in_a_row: usize,
    count: Count,
}

/// What is done with one request.
enum Decision {
    Take,
    Refuse(Duration),
    /// The chain may have seen it or not.
    Close {
        forward: bool,
    },
}

/// It ends when it is dropped.
pub struct LimitingProxy {
    port: u16,
    stopped: Arc<AtomicBool>,
    state: Arc<Mutex<State>>,
}

impl LimitingProxy {
    /// In front of the chain's port.
    pub fn start(chain: u16, limits: &'static Limits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Self {
            port: listener.local_addr().unwrap().port(),
            stopped: Arc::default(),
            state: Arc::default(),
        };
        let (stopped, state) = (proxy.stopped.clone(), proxy.state.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let state = state.clone();
                thread::spawn(move || serve(&stream.unwrap(), chain, limits, &state));
            }
        });
        proxy
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn count(&self) -> Count {
        self.state.lock().unwrap().count.clone()
    }
}

impl Drop for LimitingProxy {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port)); // wakes the listener
    }
}

/// A client that disconnects does not matter.
fn serve(stream: &TcpStream, chain: u16, limits: &Limits, state: &Mutex<State>) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream);
    for _ in 0..ANSWERS {
        let body = read_request(&mut reader).ok()?;
        let request: Value = serde_json::from_slice(&body).unwrap();
        let decision = decide(request["method"].as_str().unwrap(), limits, state);
        match decision {
            Decision::Take => reply(stream, "200 OK", "", &post(chain, &body)),
            Decision::Refuse(wait) => refuse(stream, &request["id"], wait, limits, state),
            Decision::Close { forward } => {
                if forward {
                    post(chain, &body);
                }
                return None;
            }
        }
        .ok()?;
    }
    None
}

fn decide(method: &str, limits: &Limits, state: &Mutex<State>) -> Decision {
    let state = &mut *state.lock().unwrap();
    let now = Instant::now();
    let of_method = state.methods.entry(method.to_owned()).or_default();
    let wait =
        wait(&mut state.all, limits.in_total, now).max(wait(of_method, limits.per_method, now));
    if let Some(wait) = wait {
        state.count.refused += 1;
        state.in_a_row += 1;
        let most = &mut state.count.refused_in_a_row;
        *most = state.in_a_row.max(*most);
        return Decision::Refuse(wait);
    }
    state.in_a_row = 0;
    state.all.push_back(now);
    of_method.push_back(now);
    *state.count.taken.entry(method.to_owned()).or_default() += 1;
    state.requests += 1;
    match state.requests % limits.unanswered {
        0 => {
            state.count.unanswered += 1;
            let forward = state.count.unanswered.is_multiple_of(2);
            Decision::Close { forward }
        }
        _ => Decision::Take,
    }
}

/// How long until there is room; `None`: there is.
fn wait(taken: &mut VecDeque<Instant>, limit: usize, now: Instant) -> Option<Duration> {
    while taken.front().is_some_and(|at| now - *at >= WINDOW) {
        taken.pop_front();
    }
    let oldest = *taken.front()?;
    (taken.len() >= limit).then(|| WINDOW - (now - oldest))
}

fn refuse(
    stream: &TcpStream,
    id: &Value,
    wait: Duration,
    limits: &Limits,
    state: &Mutex<State>,
) -> io::Result<()> {
    let refused = state.lock().unwrap().count.refused;
    let refusal = &limits.refusals[refused % limits.refusals.len()];
    let header = if refusal.says_when {
        format!("Retry-After: {}\r\n", wait.as_secs() + 1)
    } else {
        String::new()
    };
    let error = json!({"code": refusal.code, "message": refusal.message});
    let answer = json!({"jsonrpc": "2.0", "error": error, "id": id});
    reply(
        stream,
        refusal.status,
        &header,
        answer.to_string().as_bytes(),
    )
}
