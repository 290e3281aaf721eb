use crate::{
    LocalCluster, RpcError,
    http::{self, Request, Unread},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::{self, BufReader},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

/// A cluster behind HTTP on 127.0.0.1, with a thread for each connection. It ends when it is
/// dropped.
pub struct Server {
    port: u16,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

struct Shared {
    cluster: Mutex<LocalCluster>,
    stopped: AtomicBool,
    open: Mutex<BTreeMap<u64, TcpStream>>,
}

impl Server {
    /// On this port, or on any if it is 0.
    ///
    /// # Errors
    /// The port is taken.
    pub fn start(cluster: LocalCluster, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            cluster: Mutex::new(cluster),
            stopped: AtomicBool::new(false),
            open: Mutex::default(),
        });
        let listening = {
            let shared = shared.clone();
            thread::spawn(move || listen(&listener, &shared))
        };
        Ok(Self {
            port,
            shared,
            listening: Some(listening),
        })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Asks the same cluster without HTTP.
    ///
    /// # Errors
    /// Those of [`LocalCluster::answer`].
    pub fn answer(&self, method: &str, params: &Value) -> Result<Value, RpcError> {
        lock(&self.shared.cluster).answer(method, params)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port)); // wakes the listener
        if let Some(listening) = self.listening.take() {
            let _ = listening.join();
        }
        for stream in lock(&self.shared.open).values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// A thread that panicked has answered nothing; the others go on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    for (number, stream) in (0..).zip(listener.incoming()) {
        if shared.stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        if let Ok(handle) = stream.try_clone() {
            lock(&shared.open).insert(number, handle);
        }
        let shared = shared.clone();
        thread::spawn(move || {
            let _ = serve(&stream, &shared); // a client that disconnects does not matter
            let _ = stream.shutdown(Shutdown::Both);
            lock(&shared.open).remove(&number);
        });
    }
}

fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    loop {
        let request = match http::read(&mut reader) {
            Ok(request) => request,
            Err(Unread::Gone) => return Ok(()),
            Err(Unread::Refused(status)) => return http::reply(stream, status, b"", false),
        };
        let keep = request.keep_alive;
        let (status, body) = respond(&request, shared);
        http::reply(stream, status, &body, keep)?;
        if !keep {
            return Ok(());
        }
    }
}

fn respond(request: &Request, shared: &Shared) -> (&'static str, Vec<u8>) {
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/health") => ("200 OK", b"ok".to_vec()),
        ("POST", _) => match answer(&request.body, shared) {
            Some(answer) => ("200 OK", answer.to_string().into_bytes()),
            None => ("204 No Content", Vec::new()),
        },
        _ => ("405 Method Not Allowed", Vec::new()),
    }
}

/// None if nothing but notifications was asked.
fn answer(body: &[u8], shared: &Shared) -> Option<Value> {
    let mut cluster = lock(&shared.cluster);
    match serde_json::from_slice(body) {
        Err(fault) => {
            let error = RpcError::new(RpcError::PARSE, format!("Parse error: {fault}"));
            Some(envelope(&Value::Null, &Err(error)))
        }
        Ok(Value::Array(batch)) if !batch.is_empty() => {
            let answers = batch.iter().filter_map(|one| answer_one(one, &mut cluster));
            Some(answers.collect::<Vec<_>>())
                .filter(|answers| !answers.is_empty())
                .map(Value::Array)
        }
        Ok(one) => answer_one(&one, &mut cluster),
    }
}

fn answer_one(request: &Value, cluster: &mut LocalCluster) -> Option<Value> {
    let Some(method) = request["method"].as_str() else {
        let error = RpcError::new(RpcError::REQUEST, "Invalid request: method is not a string");
        return Some(envelope(&request["id"], &Err(error)));
    };
    let result = cluster.answer(method, &request["params"]);
    request.get("id").map(|id| envelope(id, &result))
}

fn envelope(id: &Value, result: &Result<Value, RpcError>) -> Value {
    match result {
        Ok(result) => json!({"jsonrpc": "2.0", "result": result, "id": id}),
        Err(error) => json!({"jsonrpc": "2.0", "error": error.to_json(), "id": id}),
    }
}
