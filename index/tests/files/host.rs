//! A host with files, on this machine.
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Status, with what follows it in the head, and body of each path.
type Files = Arc<Mutex<BTreeMap<String, (String, Vec<u8>)>>>;

pub struct Host {
    address: SocketAddr,
    files: Files,
    asked: Arc<AtomicUsize>,
}

impl Host {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let files = Files::default();
        let asked = Arc::<AtomicUsize>::default();
        let (served, counted) = (Arc::clone(&files), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in listener.incoming() {
                counted.fetch_add(1, Ordering::SeqCst);
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let first = lines.next().unwrap().unwrap();
                lines
                    .by_ref()
                    .find(|line| line.as_ref().unwrap().is_empty());
                let path = first.split(' ').nth(1).unwrap().to_owned();
                let found = served.lock().unwrap().get(&path).cloned();
                let missing = || ("503 Service Unavailable".to_owned(), vec![]);
                let (status, body) = found.unwrap_or_else(missing);
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
                );
                let _ = stream.write_all(&[head.as_bytes(), &body].concat());
            }
        });
        Self {
            address,
            files,
            asked,
        }
    }

    /// Serves a file, and returns its URL.
    pub fn put(&self, path: &str, content: &str) -> String {
        self.answer(path, "200 OK".to_owned(), content)
    }

    /// Serves a file under an encoding's name, and returns its URL.
    pub fn encode(&self, path: &str, encoding: &str, content: &str) -> String {
        self.answer(
            path,
            format!("200 OK\r\ncontent-encoding: {encoding}"),
            content,
        )
    }

    /// Redirects a path, and returns its URL.
    pub fn redirect(&self, path: &str, to: &str) -> String {
        self.answer(path, format!("302 Found\r\nlocation: {to}"), "")
    }

    fn answer(&self, path: &str, status: String, body: &str) -> String {
        let mut files = self.files.lock().unwrap();
        files.insert(path.to_owned(), (status, body.as_bytes().to_vec()));
        self.url(path)
    }

    /// How many connections there were.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    pub fn remove(&self, path: &str) {
        self.files.lock().unwrap().remove(path);
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}
