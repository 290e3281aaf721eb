//! A local cluster with Concord's program, in which slots pass only when the test says so.
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use concord_chain::{ChainId, EndpointOptions, svm::Cluster};
use concord_explain::online::SvmReader;
use concord_local_cluster::{LocalCluster, Options, Server};
use concord_registry::svm::{Address, Instruction, Program};
use serde_json::{Value, json};
use solana_account::Account;
use solana_keypair::Keypair;
use solana_loader_v3_interface::instruction as loader;
use solana_message::{Message, VersionedMessage};
use solana_signer::Signer;
use solana_transaction::versioned::VersionedTransaction;
use std::{fs, path::Path, time::Duration};

pub const CHAIN: &str = "solana:localnet";
/// What a transaction leaves for a write to a buffer.
const PIECE: usize = 900;
const BUFFER_HEAD: usize = 37;
const PROGRAM_SPACE: usize = 36;
/// Whose SHA-256 is the secret of the program's development id.
const SEED: &[u8] = b"concord localnet program";

pub struct World {
    server: Server,
    rpc: Cluster,
}

impl World {
    pub fn start(funded: &[Address]) -> Self {
        Self::start_with(funded, Vec::new())
    }

    /// With these accounts, too.
    pub fn start_with(funded: &[Address], accounts: Vec<(Address, Account)>) -> Self {
        let options = Options {
            slot_duration: Duration::from_secs(36_000),
            funded: funded.iter().map(|it| (*it, 100_000_000_000)).collect(),
            accounts,
            ..Options::default()
        };
        let server = Server::start(LocalCluster::new(options), 0).expect("a server");
        let url = format!("http://127.0.0.1:{}", server.port());
        let rpc = Cluster::new(&EndpointOptions::new(url)).expect("a URL");
        Self { server, rpc }
    }

    pub async fn reader(&self) -> SvmReader {
        let url = format!("http://127.0.0.1:{}", self.server.port());
        let cluster = Cluster::new(&EndpointOptions::new(url)).expect("a URL");
        let chain = ChainId::parse(CHAIN).expect("a chain");
        SvmReader::new(cluster, &chain).await.expect("it answers")
    }

    /// Deploys the program that `scripts/build` left, and initializes its registry.
    pub async fn deploy(&self, payer: &Keypair) -> Program {
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/deploy");
        let elf = fs::read(target.join("agent_registry.so")).expect("the program");
        let (buffer, from) = (Keypair::new(), payer.pubkey());
        let rent = self.rent(BUFFER_HEAD + elf.len()).await;
        let open = loader::create_buffer(&from, &buffer.pubkey(), &from, rent, elf.len());
        self.send(&[payer, &buffer], &open.expect("instructions"))
            .await;
        for (at, piece) in (0..).step_by(PIECE).zip(elf.chunks(PIECE)) {
            let write = loader::write(&buffer.pubkey(), &from, at, piece.to_vec());
            self.send(&[payer], &[write]).await;
        }
        let key = Keypair::new_from_array(concord_canonical::hash::sha256(SEED));
        let rent = self.rent(PROGRAM_SPACE).await;
        let (program, buffer) = (key.pubkey(), buffer.pubkey());
        let deploy = loader::deploy_with_max_program_len(
            &from,
            &program,
            &buffer,
            &from,
            rent,
            elf.len(),
            true,
        );
        self.send(&[payer, &key], &deploy.expect("instructions"))
            .await;
        self.advance(1).await;
        let program = Program::new(program);
        self.send(&[payer], &[program.initialize(from, CHAIN)])
            .await;
        self.advance(1).await;
        program
    }

    /// A transaction that nobody sent, paid by the first signer: its signature and its bytes.
    pub async fn signed(
        &self,
        signers: &[&Keypair],
        instructions: &[Instruction],
    ) -> (String, Vec<u8>) {
        let processed = json!([{ "commitment": "processed" }]);
        let recent = self.ask("getLatestBlockhash", processed).await;
        let recent = recent["value"]["blockhash"].as_str().expect("a hash");
        let recent = recent.parse().expect("a hash");
        let payer = signers[0].pubkey();
        let message = Message::new_with_blockhash(instructions, Some(&payer), &recent);
        let message = VersionedMessage::Legacy(message);
        let sent = VersionedTransaction::try_new(message, signers).expect("signatures");
        let raw = wincode::serialize(&sent).expect("bytes");
        (sent.signatures[0].to_string(), raw)
    }

    /// Sends a transaction, paid by the first signer, and returns its signature. It must succeed.
    pub async fn send(&self, signers: &[&Keypair], instructions: &[Instruction]) -> String {
        let (_, raw) = self.signed(signers, instructions).await;
        let raw = BASE64.encode(raw);
        let config = json!({ "encoding": "base64", "preflightCommitment": "processed" });
        // a preflight refuses what would fail
        let signature = self.ask("sendTransaction", json!([raw, config])).await;
        signature.as_str().expect("a signature").to_owned()
    }

    /// So many slots pass.
    pub async fn advance(&self, slots: u64) {
        self.ask("local_advance", json!([slots])).await;
    }

    async fn rent(&self, bytes: usize) -> u64 {
        let rent = self
            .ask("getMinimumBalanceForRentExemption", json!([bytes]))
            .await;
        rent.as_u64().expect("lamports")
    }

    async fn ask(&self, method: &'static str, params: Value) -> Value {
        let answer = self.rpc.endpoint().request(method, params).await;
        answer.expect("it answers").expect("it does not refuse")
    }
}
