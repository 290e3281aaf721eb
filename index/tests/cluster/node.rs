//! A local cluster of the test's own, in which slots pass only when the test says so.
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use concord_chain::{Blocking, EndpointOptions, svm};
use concord_local_cluster::{LocalCluster, Options, Server};
use concord_registry::svm::{AccountMeta, Address, Instruction, Program};
use serde_json::{Value, json};
use solana_keypair::Keypair;
use solana_loader_v3_interface::instruction as loader;
use solana_message::{Message, VersionedMessage};
use solana_signer::Signer;
use solana_transaction::versioned::VersionedTransaction;
use std::{fs, path::Path, time::Duration};

/// What a transaction leaves for a write to a buffer.
const PIECE: usize = 900;
const BUFFER_HEAD: usize = 37;
const PROGRAM_SPACE: usize = 36;

pub struct Cluster {
    server: Server,
    blocking: Blocking,
    rpc: svm::Cluster,
}

impl Cluster {
    pub fn start(funded: &[Address]) -> Self {
        let options = Options {
            slot_duration: Duration::from_secs(36_000),
            funded: funded.iter().map(|it| (*it, 100_000_000_000)).collect(),
            ..Options::default()
        };
        let server = Server::start(LocalCluster::new(options), 0).unwrap();
        let url = format!("http://127.0.0.1:{}", server.port());
        Self {
            rpc: svm::Cluster::new(&EndpointOptions::new(url)).unwrap(),
            blocking: Blocking::new().unwrap(),
            server,
        }
    }

    /// A new connection.
    pub fn rpc(&self) -> svm::Cluster {
        let url = format!("http://127.0.0.1:{}", self.server.port());
        svm::Cluster::new(&EndpointOptions::new(url)).unwrap()
    }

    /// Deploys the program that `scripts/build-program` left, and initializes its registry.
    pub fn deploy_program(&mut self, payer: &Keypair, chain: &str) -> Program {
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/deploy");
        let elf = fs::read(target.join("agent_registry.so")).unwrap();
        let (buffer, from) = (Keypair::new(), payer.pubkey());
        let rent = self.rent(BUFFER_HEAD + elf.len());
        let open = loader::create_buffer(&from, &buffer.pubkey(), &from, rent, elf.len()).unwrap();
        self.send(&[payer, &buffer], &open);
        for (at, piece) in (0..).step_by(PIECE).zip(elf.chunks(PIECE)) {
            let write = loader::write(&buffer.pubkey(), &from, at, piece.to_vec());
            self.send(&[payer], &[write]);
        }
        let key = Keypair::new_from_array(concord_canonical::hash::sha256(SEED));
        let rent = self.rent(PROGRAM_SPACE);
        let (program, buffer) = (key.pubkey(), buffer.pubkey());
        let length = elf.len();
        let deploy = loader::deploy_with_max_program_len(
            &from, &program, &buffer, &from, rent, length, true,
        );
        self.send(&[payer, &key], &deploy.unwrap());
        self.advance(1);
        let program = Program::new(program);
        self.send(&[payer], &[program.initialize(from, chain)]);
        self.advance(1);
        program
    }

    /// Sends a transaction, paid by the first signer. It must succeed.
    pub fn send(&mut self, signers: &[&Keypair], instructions: &[Instruction]) {
        let processed = json!([{ "commitment": "processed" }]);
        let recent = self.ask("getLatestBlockhash", processed);
        let recent = recent["value"]["blockhash"].as_str().unwrap();
        let payer = signers[0].pubkey();
        let recent = recent.parse().unwrap();
        let message = Message::new_with_blockhash(instructions, Some(&payer), &recent);
        let message = VersionedMessage::Legacy(message);
        let sent = VersionedTransaction::try_new(message, signers).unwrap();
        let raw = BASE64.encode(wincode::serialize(&sent).unwrap());
        let config = json!({ "encoding": "base64", "preflightCommitment": "processed" });
        self.ask("sendTransaction", json!([raw, config])); // a preflight refuses what would fail
    }

    /// Gives an account what it needs.
    pub fn fund(&mut self, payer: &Keypair, account: Address) {
        let lamports = 10_000_000_000u64.to_le_bytes();
        let data = [&[2, 0, 0, 0][..], &lamports].concat(); // the system program's Transfer
        let transfer = Instruction {
            program_id: Address::default(),
            accounts: vec![
                AccountMeta::new(payer.pubkey(), true),
                AccountMeta::new(account, false),
            ],
            data,
        };
        self.send(&[payer], &[transfer]);
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.server.port())
    }

    pub fn slot(&self) -> u64 {
        let slot = self.ask("getSlot", json!([{ "commitment": "processed" }]));
        slot.as_u64().unwrap()
    }

    /// So many slots pass.
    pub fn advance(&self, slots: u64) {
        self.ask("local_advance", json!([slots]));
    }

    fn rent(&self, bytes: usize) -> u64 {
        let rent = self.ask("getMinimumBalanceForRentExemption", json!([bytes]));
        rent.as_u64().unwrap()
    }

    pub fn ask(&self, method: &'static str, params: Value) -> Value {
        let answer = self.rpc.endpoint().request(method, params);
        self.blocking.wait(answer).unwrap().unwrap()
    }
}

/// Whose SHA-256 is the secret of the program's development id.
const SEED: &[u8] = b"concord localnet program";
