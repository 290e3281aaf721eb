//! As much of HTTP/1.1 as clients of JSON-RPC use: requests with a length, connections kept open.
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// In bytes. Nodes take less.
const BODY_LIMIT: usize = 4 * 1024 * 1024;
const HEAD_LIMIT: u64 = 64 * 1024;

pub struct Request {
    pub method: String,
    pub path: String,
    pub body: Vec<u8>,
    /// Whether the client may ask again on this connection.
    pub keep_alive: bool,
}

/// Why a request could not be read.
pub enum Unread {
    /// The client has gone.
    Gone,
    /// An answer in HTTP's own terms; the connection ends.
    Refused(&'static str),
}

impl From<io::Error> for Unread {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

struct Head {
    length: Option<usize>,
    keep_alive: bool,
    expects_continue: bool,
}

pub fn read(reader: &mut BufReader<&TcpStream>) -> Result<Request, Unread> {
    let first = line(reader)?;
    let mut words = first.split_whitespace();
    let (Some(method), Some(path), Some(version)) = (words.next(), words.next(), words.next())
    else {
        return Err(Unread::Refused("400 Bad Request"));
    };
    let (method, path) = (method.to_owned(), path.to_owned());
    let head = read_head(reader, version == "HTTP/1.1")?;
    let length = match (head.length, method.as_str()) {
        (Some(length), _) if length > BODY_LIMIT => {
            return Err(Unread::Refused("413 Content Too Large"));
        }
        (Some(length), _) => length,
        (None, "POST") => return Err(Unread::Refused("411 Length Required")),
        (None, _) => 0,
    };
    if head.expects_continue {
        reader
            .get_mut()
            .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Request {
        method,
        path,
        body,
        keep_alive: head.keep_alive,
    })
}

fn read_head(reader: &mut BufReader<&TcpStream>, is_new: bool) -> Result<Head, Unread> {
    let mut head = Head {
        length: None,
        keep_alive: is_new,
        expects_continue: false,
    };
    loop {
        let line = line(reader)?.to_ascii_lowercase();
        let Some((name, value)) = line.split_once(':') else {
            if line.is_empty() {
                return Ok(head);
            } else {
                return Err(Unread::Refused("400 Bad Request"));
            }
        };
        let value = value.trim();
        match name {
            "content-length" => {
                let length = value.parse().ok();
                head.length = Some(length.ok_or(Unread::Refused("400 Bad Request"))?);
            }
            "connection" => head.keep_alive = value != "close" && (is_new || value == "keep-alive"),
            "expect" => head.expects_continue = value == "100-continue",
            _ => {}
        }
    }
}

/// Without its end.
fn line(reader: &mut BufReader<&TcpStream>) -> Result<String, Unread> {
    let mut line = String::new();
    let read = reader.by_ref().take(HEAD_LIMIT).read_line(&mut line)?;
    if read > 0 && line.ends_with('\n') {
        Ok(line.trim_end().to_owned())
    } else {
        Err(Unread::Gone)
    }
}

pub fn reply(mut stream: &TcpStream, status: &str, body: &[u8], keep: bool) -> io::Result<()> {
    let connection = if keep { "keep-alive" } else { "close" };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: {connection}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body].concat())
}
