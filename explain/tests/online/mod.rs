//! Chains that run, read by the reader of bundles. Needs anvil and what `scripts/build` makes.
mod anvil;
mod authorized;
mod cluster;
mod cluster_word;
mod command;
mod encoded;
mod evm;
pub(crate) mod flips;
mod found_on_base;
mod paid;
mod payment_proof;
mod reputation;
mod signed;
mod svm;
mod svm_paid;

use concord_chain::fetch::{FetchOptions, Fetcher};
use concord_explain::{Bundle, Report, State, Step, Trust, explain};
use std::{
    io::{Read, Write},
    net::TcpListener,
    thread,
};

fn fetcher() -> Fetcher {
    Fetcher::new(FetchOptions::default()).expect("a fetcher")
}

/// One that may ask this machine.
fn local_fetcher() -> Fetcher {
    let options = FetchOptions {
        allow_http: true,
        allow_private: true,
        ..FetchOptions::default()
    };
    Fetcher::new(options).expect("a fetcher")
}

/// A host on this machine that has one file, and its URL.
fn serve(file: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut request = [0; 4096];
            let _ = stream.read(&mut request); // whatever is asked for
            let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length:";
            let answer = format!("{head} {}\r\n\r\n{file}", file.len());
            stream.write_all(answer.as_bytes()).expect("it is read");
        }
    });
    format!("http://{address}/feedback.json")
}

/// The bundle as a file, read again without a network.
fn offline(bundle: &Bundle, trust: &Trust) -> Report {
    let text = bundle.to_canonical().expect("JSON");
    let again = Bundle::parse(&text).expect("a bundle");
    let explained = explain(&again, trust).expect("it names a feedback");
    assert!(explained.needs.is_empty(), "{:?}", explained.needs);
    explained.report
}

fn steps_in(report: &Report, state: State) -> Vec<Step> {
    let found = report.findings.iter().filter(|it| it.state == state);
    found.map(|it| it.step).collect()
}
