//! A folder of deployments, keypair files and a program of the test's own.
use crate::shared::process::{Answer, answer, clone_root, json_file};
use crate::svm::cluster::{Cluster, LOCALNET, deployer, program_data, program_key, registry};
use concord_testkit::command::concord;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tempfile::TempDir;

pub struct Workplace {
    folder: TempDir,
    url: String,
    chain: String,
    /// Another program than the built one.
    program: Option<PathBuf>,
}

/// What every `apply` and `resume` says.
pub const APPLY: &[&str] = &[
    "apply",
    "--yes",
    "--poll",
    "40",
    "--upgrade-authority",
    "keep",
];

impl Workplace {
    pub fn at(cluster: &Cluster) -> Self {
        Self::at_url(&cluster.url())
    }

    pub fn at_url(url: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write_keypair(&folder.path().join("deployer.json"), &deployer());
        write_keypair(&folder.path().join("program.json"), &program_key());
        Self {
            folder,
            url: url.to_owned(),
            chain: LOCALNET.to_owned(),
            program: None,
        }
    }

    /// The same files, another endpoint.
    pub fn to(self, url: &str) -> Self {
        Self {
            url: url.to_owned(),
            ..self
        }
    }

    pub fn of_chain(self, chain: &str) -> Self {
        Self {
            chain: chain.to_owned(),
            ..self
        }
    }

    /// With these bytes for a program, said to be built for `id`.
    pub fn with_program(mut self, name: &str, elf: &[u8], id: &str) -> Self {
        let path = self.file(name).with_extension("so");
        fs::write(&path, elf).unwrap();
        let sha256: String = Sha256::digest(elf)
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        let build = json!({ "programId": id, "sha256": sha256, "toolchain": "none" });
        fs::write(path.with_extension("build.json"), build.to_string()).unwrap();
        self.program = Some(path);
        self
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn deployments(&self) -> PathBuf {
        self.file("deployments")
    }

    pub fn run_file(&self) -> PathBuf {
        let name = format!("{}.json", self.chain.replace(':', "-"));
        self.deployments().join("runs").join(name)
    }

    /// `concord deploy`, or `concord registry`, with these arguments, the keypairs in the environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let group: &[&str] = match arguments.first() {
            Some(&"registry") => &[],
            _ => &["deploy"],
        };
        let mut command = concord(group);
        command
            .args(arguments)
            .args(["--chain", &self.chain, "--deployments"])
            .arg(self.deployments())
            .current_dir(clone_root())
            .env("CONCORD_RPC_URL", &self.url)
            .env("CONCORD_SOLANA_KEYPAIR", self.file("deployer.json"))
            .env("CONCORD_PROGRAM_KEYPAIR", self.file("program.json"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(program) = &self.program {
            command.arg("--program").arg(program);
        }
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Answer {
        answer(self.command(arguments).spawn().unwrap())
    }

    /// For an address: no key.
    pub fn plan(&self, arguments: &[&str]) -> Answer {
        let from = deployer().pubkey().to_string();
        let plan = ["plan", "--upgrade-authority", "keep", "--from", &from];
        self.run(&[&plan[..], arguments].concat())
    }

    pub fn apply(&self, arguments: &[&str]) -> Answer {
        self.run(&[APPLY, arguments].concat())
    }

    pub fn resume(&self, arguments: &[&str]) -> Answer {
        self.run(&[&["resume", "--yes", "--poll", "40"], arguments].concat())
    }

    pub fn recorded(&self) -> Value {
        let book = json_file(&self.deployments().join("addresses.json"));
        book["chains"][&self.chain].clone()
    }

    pub fn run_record(&self) -> Value {
        json_file(&self.run_file())
    }
}

/// As solana-keygen writes it: the secret's 32 bytes, then the public key's.
pub fn write_keypair(path: &Path, key: &Keypair) {
    let bytes = key.to_bytes().to_vec();
    fs::write(path, json!(bytes).to_string()).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
}

/// The program that scripts/build-program left.
pub fn built() -> Vec<u8> {
    fs::read(built_path()).unwrap()
}

pub fn built_path() -> PathBuf {
    clone_root().join("target/deploy/agent_registry.so")
}

/// Everything stands, every transaction of the run landed once, and the address book knows it.
pub fn assert_deployed(cluster: &Cluster, workplace: &Workplace) {
    let (content, authority) = cluster.program();
    assert!(content == built(), "other bytes on chain");
    assert_eq!(authority, Some(deployer().pubkey()));
    assert!(cluster.account(&registry()).is_some());
    assert_ne!(cluster.balance(&program_data()), 0);

    let run = workplace.run_record();
    assert_eq!(run["finished"], true);
    let steps = run["steps"].as_array().unwrap();
    let mut landed = 0;
    for step in steps {
        let transaction = &step["landing"]["transaction"];
        let attempts = step["attempts"].as_array().unwrap();
        let names: Vec<&Value> = attempts.iter().map(|it| &it["transaction"]).collect();
        assert!(names.contains(&transaction), "{step}");
        landed += 1;
    }
    // Each step's landing is one transaction on chain, and there is no other.
    assert_eq!(cluster.signatures().len(), landed);
    let record = workplace.recorded()["contracts"]["AgentRegistry"].clone();
    assert_eq!(record["address"], program_key().pubkey().to_string());
    let program = steps.iter().find(|step| step["id"] == "program").unwrap();
    assert_eq!(record["transaction"], program["landing"]["transaction"]);

    workplace.run(&["verify"]).assert_done();
    workplace.run(&["status"]).assert_done();
    let again = workplace.apply(&[]);
    assert!(again.assert_done().stderr.contains("nothing was sent"));
    assert_eq!(cluster.signatures().len(), landed);
}
