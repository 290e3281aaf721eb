//! One connection to a cluster, kept open, and the transactions of one payer.
use base64::{Engine, engine::general_purpose::STANDARD};
use concord_local_cluster::{LocalCluster, Options, Server};
use serde_json::{Value, json};
use solana_address::Address;
use solana_hash::Hash;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_message::{Message, VersionedMessage};
use solana_signer::Signer;
use solana_transaction::versioned::VersionedTransaction;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

pub const SOL: u64 = 1_000_000_000;

pub struct Client {
    pub server: Server,
    pub payer: Keypair,
    connection: BufReader<TcpStream>,
}

/// A cluster in which slots pass only when a test says so.
pub fn still() -> Options {
    Options {
        slot_duration: Duration::from_secs(3600),
        ..Options::default()
    }
}

impl Client {
    pub fn new(options: Options) -> Self {
        let payer = Keypair::new_from_array([7; 32]);
        let funded = vec![(payer.pubkey(), 100 * SOL)];
        let server = Server::start(LocalCluster::new(Options { funded, ..options }), 0).unwrap();
        let connection = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        connection.set_nodelay(true).unwrap();
        Self {
            server,
            payer,
            connection: BufReader::new(connection),
        }
    }

    /// The body of the answer, whatever the question.
    pub fn post(&mut self, body: &str) -> Value {
        let head = format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let stream = self.connection.get_mut();
        stream
            .write_all(&[head.as_bytes(), body.as_bytes()].concat())
            .unwrap();
        let mut length = None;
        loop {
            let mut line = String::new();
            assert_ne!(self.connection.read_line(&mut line).unwrap(), 0);
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = Some(value.trim().parse().unwrap());
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length.unwrap()];
        self.connection.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 41, "method": method, "params": params});
        let answer = self.post(&request.to_string());
        assert_eq!(answer["jsonrpc"], "2.0");
        assert_eq!(answer["id"], 41);
        answer
    }

    pub fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, &params);
        assert!(answer.get("error").is_none(), "{method} {params}: {answer}");
        answer["result"].take()
    }

    pub fn error(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, &params);
        assert!(
            answer.get("result").is_none(),
            "{method} {params}: {answer}"
        );
        answer["error"].take()
    }

    pub fn value(&mut self, method: &str, params: Value) -> Value {
        self.result(method, params)["value"].take()
    }

    pub fn advance(&mut self, slots: u64) {
        self.result("local_advance", json!([slots]));
    }

    pub fn block_hash(&mut self) -> Hash {
        let params = json!([{"commitment": "processed"}]);
        let value = self.value("getLatestBlockhash", params);
        value["blockhash"].as_str().unwrap().parse().unwrap()
    }

    pub fn signed(&mut self, signers: &[&Keypair], calls: &[Instruction]) -> VersionedTransaction {
        let hash = self.block_hash();
        let message = Message::new_with_blockhash(calls, Some(&self.payer.pubkey()), &hash);
        let signers: Vec<_> = [&[&self.payer], signers].concat();
        VersionedTransaction::try_new(VersionedMessage::Legacy(message), &signers).unwrap()
    }

    /// Its signature; preflight has passed.
    pub fn send(&mut self, transaction: &VersionedTransaction) -> String {
        let sent = self.result("sendTransaction", sending(transaction, false));
        let signature = transaction.signatures[0].to_string();
        assert_eq!(sent, json!(signature));
        signature
    }

    /// Carried out without an error.
    pub fn carry_out(&mut self, signers: &[&Keypair], calls: &[Instruction]) -> String {
        let transaction = self.signed(signers, calls);
        let signature = self.send(&transaction);
        let status = self.status(&signature);
        assert_eq!(status["err"], Value::Null, "{status}");
        assert!(status["slot"].is_u64(), "{status}");
        signature
    }

    /// Refused by the preflight: the error's data.
    pub fn refused(&mut self, signers: &[&Keypair], calls: &[Instruction]) -> Value {
        let transaction = self.signed(signers, calls);
        let mut error = self.error("sendTransaction", sending(&transaction, false));
        assert_eq!(error["code"], -32002, "{error}");
        error["data"].take()
    }

    pub fn status(&mut self, signature: &str) -> Value {
        let params = json!([[signature], {"searchTransactionHistory": true}]);
        self.value("getSignatureStatuses", params)[0].take()
    }

    pub fn balance(&mut self, address: &Address) -> u64 {
        let value = self.value("getBalance", json!([address.to_string()]));
        value.as_u64().unwrap()
    }

    pub fn account(&mut self, address: &Address) -> Value {
        let params = json!([address.to_string(), {"encoding": "base64"}]);
        self.value("getAccountInfo", params)
    }

    pub fn data(&mut self, address: &Address) -> Vec<u8> {
        let account = self.account(address);
        assert_eq!(account["data"][1], "base64", "{account}");
        STANDARD
            .decode(account["data"][0].as_str().unwrap())
            .unwrap()
    }
}

/// The parameters that send a transaction, judged by the newest bank.
pub fn sending(transaction: &VersionedTransaction, skip_preflight: bool) -> Value {
    json!([written(transaction), {
        "encoding": "base64",
        "preflightCommitment": "processed",
        "skipPreflight": skip_preflight,
    }])
}

pub fn written(transaction: &VersionedTransaction) -> String {
    STANDARD.encode(wincode::serialize(transaction).unwrap())
}
