//! A local cluster with quick slots, and what a test asks it.
use base64::{Engine, engine::general_purpose::STANDARD};
use concord_local_cluster::{LocalCluster, Options, Server};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_message::Message;
use solana_sdk_ids::bpf_loader_upgradeable;
use solana_signer::Signer;
use solana_transaction::Transaction;
use std::time::Duration;

pub const LOCALNET: &str = "solana:localnet";
pub const DEVNET: &str = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
pub const DEVNET_GENESIS: &str = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG";
const SLOT: Duration = Duration::from_millis(20);
const SOL: u64 = 1_000_000_000;

/// The key that deploys.
pub fn deployer() -> Keypair {
    Keypair::new_from_array([7; 32])
}

/// The key of `programs/agent-registry/build.rs`.
pub fn program_key() -> Keypair {
    Keypair::new_from_array(Sha256::digest(b"concord localnet program").into())
}

pub fn program_data() -> Address {
    let program = program_key().pubkey();
    Address::find_program_address(&[program.as_ref()], &bpf_loader_upgradeable::ID).0
}

pub fn registry() -> Address {
    Address::find_program_address(&[b"registry"], &program_key().pubkey()).0
}

pub struct Cluster {
    server: Server,
}

impl Cluster {
    /// The deployer has 100 SOL.
    pub fn start() -> Self {
        Self::with(Self::options())
    }

    /// Slower, so that what was signed is still good when a run is resumed.
    pub fn start_slow() -> Self {
        Self::with(Options {
            slot_duration: 4 * SLOT,
            ..Self::options()
        })
    }

    pub fn options() -> Options {
        Options {
            slot_duration: SLOT,
            funded: vec![(deployer().pubkey(), 100 * SOL)],
            ..Options::default()
        }
    }

    pub fn with(options: Options) -> Self {
        let server = Server::start(LocalCluster::new(options), 0).unwrap();
        Self { server }
    }

    pub fn port(&self) -> u16 {
        self.server.port()
    }

    pub fn url(&self) -> String {
        self.server.url()
    }

    pub fn ask(&self, method: &str, params: Value) -> Value {
        self.server.answer(method, &params).unwrap()
    }

    /// Lamports.
    pub fn balance(&self, address: &Address) -> u64 {
        let answer = self.ask("getBalance", json!([address.to_string()]));
        answer["value"].as_u64().unwrap()
    }

    /// Owner and bytes.
    pub fn account(&self, address: &Address) -> Option<(String, Vec<u8>)> {
        let params = json!([address.to_string(), { "encoding": "base64" }]);
        let account = self.ask("getAccountInfo", params)["value"].clone();
        let owner = account["owner"].as_str()?.to_owned();
        Some((owner, decoded(&account["data"][0])))
    }

    /// The program's bytes with the zeros behind them, and its upgrade authority.
    pub fn program(&self) -> (Vec<u8>, Option<Address>) {
        let (_, data) = self.account(&program_data()).unwrap();
        let authority = (data[12] == 1).then(|| Address::try_from(&data[13..45]).unwrap());
        (data[45..].to_vec(), authority)
    }

    /// Every transaction that the deployer paid for and that was carried out, the newest first.
    pub fn signatures(&self) -> Vec<Value> {
        let params =
            json!([deployer().pubkey().to_string(), { "limit": 1000, "commitment": "confirmed" }]);
        let answer = self.ask("getSignaturesForAddress", params);
        answer.as_array().unwrap().clone()
    }

    pub fn assert_nothing_was_sent(&self) {
        assert_eq!(self.signatures(), Vec::<Value>::new());
        assert_eq!(self.balance(&deployer().pubkey()), 100 * SOL);
    }
}

impl Cluster {
    /// A transaction that the deployer pays for, signed by `others` too.
    pub fn carry_out(&self, instructions: &[Instruction], others: &[&Keypair]) {
        let recent = self.ask("getLatestBlockhash", json!([]))["value"]["blockhash"].clone();
        let recent = recent.as_str().unwrap().parse().unwrap();
        let payer = deployer();
        let signers = [&[&payer], others].concat();
        let message = Message::new_with_blockhash(instructions, Some(&payer.pubkey()), &recent);
        let transaction = Transaction::new(&signers, message, recent);
        let mut raw = vec![transaction.signatures.len() as u8];
        transaction
            .signatures
            .iter()
            .for_each(|it| raw.extend(it.as_ref()));
        raw.extend(transaction.message.serialize());
        let params = json!([STANDARD.encode(raw), { "encoding": "base64" }]);
        self.ask("sendTransaction", params);
    }

    /// Lamports that keep an account of so many bytes for ever.
    pub fn rent(&self, bytes: usize) -> u64 {
        let rent = self.ask("getMinimumBalanceForRentExemption", json!([bytes]));
        rent.as_u64().unwrap()
    }
}

pub fn decoded(base64: &Value) -> Vec<u8> {
    STANDARD.decode(base64.as_str().unwrap()).unwrap()
}
