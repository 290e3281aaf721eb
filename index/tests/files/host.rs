//! A host with files, on this machine.
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener},
    sync::{Arc, Mutex},
    thread,
};

type Files = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

pub struct Host {
    address: SocketAddr,
    files: Files,
}

impl Host {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let files = Files::default();
        let served = Arc::clone(&files);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let first = lines.next().unwrap().unwrap();
                lines
                    .by_ref()
                    .find(|line| line.as_ref().unwrap().is_empty());
                let path = first.split(' ').nth(1).unwrap().to_owned();
                let found = served.lock().unwrap().get(&path).cloned();
                let (status, body) = match found {
                    Some(body) => ("200 OK", body),
                    None => ("503 Service Unavailable", vec![]),
                };
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
                );
                let _ = stream.write_all(&[head.as_bytes(), &body].concat());
            }
        });
        Self { address, files }
    }

    /// Serves a file, and returns its URL.
    pub fn put(&self, path: &str, content: &str) -> String {
        let mut files = self.files.lock().unwrap();
        files.insert(path.to_owned(), content.as_bytes().to_vec());
        self.url(path)
    }

    pub fn remove(&self, path: &str) {
        self.files.lock().unwrap().remove(path);
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}
