//! a cluster with the deployed program, and runs of the built command on it.
use crate::invocation::{Answer, answer, clone_root, concord};
use crate::live::recorder::Recorder;
use concord_local_cluster::{LocalCluster, Options, Server};
use concord_testkit::http::ask;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};
use tempfile::TempDir;

pub const CHAIN: &str = "solana:localnet";
pub const SOL: u64 = 1_000_000_000;
const SLOT: Duration = Duration::from_millis(20);
/// Of slots, worth more than a second of the cluster's clock.
const LEAP: u64 = 3;
const BETWEEN_LEAPS: Duration = Duration::from_millis(60);

/// It ends when it is dropped.
pub struct Deployed {
    server: Arc<Server>,
    leaping: Option<Leaping>,
    folder: TempDir,
    pub recorder: Recorder,
}

/// The cluster's clock runs quicker than the test's until this is dropped.
pub struct Leaping {
    stopped: Arc<AtomicBool>,
}

impl Drop for Leaping {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
    }
}

/// Pays for the runs: known to nobody else on a cluster of the test's own.
pub fn funder() -> Keypair {
    Keypair::new_from_array([9; 32])
}

/// The key that deploys.
pub fn deployer() -> Keypair {
    Keypair::new_from_array([7; 32])
}

/// A program of `scripts/build`, and the key that it was built for.
#[derive(Clone, Copy)]
pub struct Build {
    file: &'static str,
    seed: &'static [u8],
}

impl Build {
    /// For the development id of `programs/agent-registry/build.rs`.
    pub const FIRST: Self = Self {
        file: "target/deploy/agent_registry.so",
        seed: b"concord localnet program",
    };
    /// For another id.
    pub const SECOND: Self = Self {
        file: "target/deploy/second_id/agent_registry.so",
        seed: b"concord second program",
    };

    pub fn file(self) -> String {
        clone_root().join(self.file).display().to_string()
    }

    pub fn key(self) -> Keypair {
        Keypair::new_from_array(Sha256::digest(self.seed).into())
    }
}

/// As solana-keygen writes it: the secret's 32 bytes, then the public key's.
fn write_keypair(path: &Path, key: &Keypair) {
    fs::write(path, json!(key.to_bytes().to_vec()).to_string()).unwrap();
}

impl Deployed {
    /// As [`Self::of`], with the program for the development id.
    pub fn start() -> Self {
        Self::of(Build::FIRST)
    }

    /// As [`Self::at_rest`], with a clock that runs quicker than the test's from then on.
    pub fn of(build: Build) -> Self {
        let mut deployed = Self::at_rest(build, SLOT);
        deployed.leaping = Some(deployed.leap());
        deployed
    }

    /// A cluster with the program as `deploy apply` leaves it, and a clock of this pace.
    pub fn at_rest(build: Build, slot_duration: Duration) -> Self {
        let options = Options {
            slot_duration,
            funded: vec![
                (deployer().pubkey(), 100 * SOL),
                (funder().pubkey(), 5 * SOL),
            ],
            ..Options::default()
        };
        let server = Arc::new(Server::start(LocalCluster::new(options), 0).unwrap());
        let deployed = Self {
            leaping: None,
            folder: tempfile::tempdir().unwrap(),
            recorder: Recorder::start(server.port()),
            server,
        };
        write_keypair(&deployed.file("funder.json"), &funder());
        write_keypair(&deployed.file("deployer.json"), &deployer());
        write_keypair(&deployed.file("program.json"), &build.key());
        deployed.apply(build);
        deployed
    }

    fn apply(&self, build: Build) {
        let arguments = ["deploy", "apply", "--chain", CHAIN, "--yes", "--poll", "40"];
        let applied = answer(
            self.command(&arguments)
                .args(["--upgrade-authority", "keep", "--program", &build.file()])
                .env("CONCORD_RPC_URL", self.server.url())
                .env("CONCORD_SOLANA_KEYPAIR", self.file("deployer.json"))
                .env("CONCORD_PROGRAM_KEYPAIR", self.file("program.json")),
        );
        assert_eq!(applied.code, 0, "{}", applied.stderr);
    }

    pub fn leap(&self) -> Leaping {
        let (server, stopped) = (self.server.clone(), Arc::<AtomicBool>::default());
        let leaping = Leaping {
            stopped: stopped.clone(),
        };
        thread::spawn(move || {
            while !stopped.load(Ordering::SeqCst) {
                server.answer("local_advance", &json!([LEAP])).unwrap();
                thread::sleep(BETWEEN_LEAPS);
            }
        });
        leaping
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = concord(arguments);
        command
            .env("CONCORD_RPC_URL", self.recorder.url())
            .env("CONCORD_DEPLOYMENTS", self.folder.path())
            .env("CONCORD_SOLANA_KEYPAIR", self.file("funder.json"))
            .env_remove("CONCORD_PROGRAM_KEYPAIR")
            .env_remove("CONCORD_EVM_PRIVATE_KEY")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Answer {
        answer(&mut self.command(arguments))
    }

    /// `conform --live` with these arguments.
    pub fn live(&self, arguments: &[&str]) -> Answer {
        self.run(&[LIVE, arguments].concat())
    }

    /// Lamports.
    pub fn balance(&self, account: &Address) -> u64 {
        let answer = ask(
            self.server.port(),
            "getBalance",
            json!([account.to_string()]),
        );
        answer["value"].as_u64().unwrap()
    }

    /// The cluster has this transaction, and it succeeded.
    pub fn assert_landed(&self, signature: &str) {
        let statuses = ask(
            self.server.port(),
            "getSignatureStatuses",
            json!([[signature], {"searchTransactionHistory": true}]),
        );
        let status = &statuses["value"][0];
        assert!(status.is_object() && status["err"].is_null(), "{statuses}");
    }

    /// The record of a run that has not ended.
    pub fn record(&self) -> PathBuf {
        self.file("runs/live-solana-localnet.json")
    }

    /// The node's own port, past the recorder.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    pub fn book(&self) -> Value {
        serde_json::from_slice(&fs::read(self.file("addresses.json")).unwrap()).unwrap()
    }

    pub fn write_book(&self, book: &Value) {
        fs::write(self.file("addresses.json"), book.to_string()).unwrap();
    }
}

pub const LIVE: &[&str] = &["conform", "--live", "--chain", CHAIN, "--yes"];

/// Neither the key, in any usual form, nor the endpoint's path is anywhere in it.
pub fn assert_nothing_secret(text: &str) {
    let secret = funder().to_bytes();
    let base58 = bs58::encode(secret).into_string();
    for known in ["9,9,9,9", "9, 9, 9, 9", "0909090909", &base58[..16]] {
        assert!(!text.contains(known), "{text}");
    }
    assert!(!text.contains("secret-of-the-endpoint"), "{text}");
}
