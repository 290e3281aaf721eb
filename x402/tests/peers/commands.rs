//! `concord x402`, `concord feedback` and their exit codes, as processes: a service that `x402 serve` sells on
//! both chains behind a proxy, with grants, and a buyer who pays and rates.
use crate::peers::{
    cluster::NETWORK,
    entrance::{Entrance, PREFIX},
    shop::ANSWER,
    world::{ED25519_SEED, EVM_NETWORK, PRICE, Registered, SECP256K1_SECRET, TOKENS, Token, World},
};
use alloy::{
    primitives::{hex, keccak256},
    signers::{k256::elliptic_curve::rand_core::OsRng, local::PrivateKeySigner},
    transports::http::reqwest,
};
use axum::{Router, http::header::CONTENT_TYPE, routing::get};
use concord_canonical::{caip, payment::PaymentProof, sign::ed25519_sign};
use concord_chain::{EndpointOptions, evm::Node};
use concord_registry::{
    evm::{RegistryAddresses, abi::Feedback},
    svm::{Address, accounts::AgentIdentity},
};
use concord_testkit::gate::Fault;
use serde_json::{Value, json};
use solana_keypair::{Keypair, Signer};
use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
};
use tokio::sync::mpsc;

const PASSWORD: &str = "testpassword";
const SOL: u64 = 1_000_000_000;
const FACILITATOR: [u8; 32] = [31; 32];

/// Where the built `concord` is: beside the folder of this test's binary. `cargo test --workspace` builds it; so
/// does `--test integration`.
fn concord() -> Command {
    let test = env::current_exe().unwrap();
    let concord = test.parent().unwrap().with_file_name("concord");
    assert!(concord.is_file(), "{} is not built", concord.display());
    let mut command = Command::new(concord);
    for (name, _) in env::vars().filter(|(name, _)| name.starts_with("CONCORD_")) {
        command.env_remove(name);
    }
    command
}

pub fn write(path: PathBuf, content: &Value) -> PathBuf {
    fs::write(&path, content.to_string()).unwrap();
    path
}

fn keypair_file(folder: &Path, name: &str, key: &Keypair) -> PathBuf {
    write(folder.join(name), &json!(key.to_bytes().to_vec()))
}

/// `concord x402 serve`, which ends when this is dropped.
pub struct Served {
    pub child: Child,
    metrics: String,
    pub log: mpsc::UnboundedReceiver<String>,
}

impl Served {
    /// Lets it read its keys again, and waits until it says so.
    async fn hang_up(&mut self) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-HUP", &id]).status().unwrap();
        assert!(sent.success());
        loop {
            let line = self.log.recv().await.expect("it still runs");
            assert!(!line.contains("stay as they were"), "{line}");
            if line.contains("the signing keys were read again") {
                return;
            }
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The service behind the paywall, which knows nothing of payments.
async fn upstream() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let json = get(async || ([(CONTENT_TYPE, "application/json")], ANSWER));
    let router = Router::new().route("/weather", json);
    tokio::spawn(async move { axum::serve(listener, router).await });
    origin
}

fn offer(world: &World, token: Token) -> Value {
    let extra = match token {
        Token::Usdc => json!({ "name": "USDC", "version": "2" }),
        // the command asks the facilitator who pays the fee
        _ => json!({}),
    };
    json!({
        "scheme": "exact", "network": token.network(), "amount": PRICE.to_string(), "payTo": world.pay_to(token),
        "maxTimeoutSeconds": 60, "asset": world.asset(token), "extra": extra,
    })
}

/// The server's configuration. The owner signs grants on both chains.
pub async fn shop(
    world: &World,
    registries: &RegistryAddresses,
    folder: &Path,
    entrance: &Entrance,
) -> Value {
    let owner = world.evm.owner.to_bytes();
    let keystore = Some("owner.keystore");
    PrivateKeySigner::encrypt_keystore(folder, &mut OsRng, owner, PASSWORD, keystore).unwrap();
    let password = folder.join("password");
    fs::write(&password, PASSWORD).unwrap();
    let signer = Keypair::new_from_array(ED25519_SEED);
    json!({
        "listen": "127.0.0.1:0",
        "metricsListen": "127.0.0.1:0",
        "publicUrl": entrance.origin,
        "externalPrefix": PREFIX,
        "facilitator": world.facilitator.url,
        "upstream": upstream().await,
        "offers": TOKENS.map(|token| offer(world, token)),
        "registrations": world.registrations(Registered::Both),
        // the first one is in the environment
        "signers": [{ "validFrom": 1 }, { "keypair": keypair_file(folder, "signer.json", &signer), "validFrom": 1 }],
        "grants": {
            EVM_NETWORK: {
                "rpc": world.evm.url,
                "identity": registries.identity,
                "authorizedReputation": registries.authorized_reputation,
                "keystore": folder.join("owner.keystore"),
                "passwordFile": password,
                "days": 30,
            },
            NETWORK: {
                "rpc": world.solana.url,
                "program": world.solana.program.id().to_string(),
                "keypair": keypair_file(folder, "owner.json", &world.solana.owner),
            },
        },
    })
}

fn serve(config: &Path) -> Command {
    let mut command = concord();
    command.args(["x402", "serve", "--config"]).arg(config);
    command.env("CONCORD_EVM_PRIVATE_KEY", hex::encode(SECP256K1_SECRET));
    command
}

/// Starts the command, and lets the entrance lead to it.
pub async fn open(config: &Path, entrance: &Entrance) -> Served {
    let mut command = serve(config);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let (lines, log) = mpsc::unbounded_channel();
    thread::spawn(move || {
        for line in stderr.lines().map_while(Result::ok) {
            let _ = lines.send(line); // the test may have ended
        }
    });
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let reading = tokio::task::spawn_blocking(|| {
        let lines: Vec<String> = stdout.lines().take(2).map(Result::unwrap).collect();
        lines
    });
    let lines = reading.await.unwrap();
    let served = Served {
        child,
        metrics: lines[0].strip_prefix("metrics on ").unwrap().to_owned(),
        log,
    };
    let said = format!("serving {}/ on ", entrance.origin);
    entrance.lead_to(lines[1].strip_prefix(&said).unwrap());
    served
}

/// A buyer, with a key on each chain.
pub struct Buyer<'a> {
    pub world: &'a World,
    pub registries: RegistryAddresses,
    pub folder: &'a Path,
}

pub struct Answer {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Answer {
    #[track_caller]
    pub fn json(&self, code: i32) -> Value {
        assert_eq!(self.code, code, "{}{}", self.stdout, self.stderr);
        serde_json::from_str(&self.stdout).unwrap()
    }

    #[track_caller]
    pub fn refused(&self, code: i32, words: &str) {
        assert_eq!(self.code, code, "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "", "stdout has results only");
        assert!(self.stderr.contains(words), "{}", self.stderr);
    }
}

impl Buyer<'_> {
    /// A configuration that may spend one token.
    pub fn config(&self, token: Token, edit: impl FnOnce(&mut Value)) -> PathBuf {
        let world = self.world;
        let mut config = json!({
            "chains": {
                EVM_NETWORK: {
                    "rpc": world.evm.url,
                    "identity": self.registries.identity,
                    "reputation": self.registries.open_reputation,
                    "authorizedReputation": self.registries.authorized_reputation,
                },
                NETWORK: { "rpc": world.solana.url, "program": world.solana.program.id().to_string() },
            },
            "trust": [world.evm.registry_account(), world.solana.registry_account()],
            "allow": [{ "network": token.network(), "asset": world.asset(token), "amountMax": PRICE.to_string() }],
            "fetch": { "allowHttp": true, "allowPrivate": true },
        });
        edit(&mut config);
        write(self.folder.join("buyer.json"), &config)
    }

    /// The buyer's command, with what it works with.
    pub fn command(&self, config: PathBuf, arguments: &[&str]) -> Command {
        let mut command = concord();
        command
            .args(arguments)
            .arg("--config")
            .arg(config)
            .arg("--evidence")
            .arg(self.folder.join("purchases"));
        if !arguments.contains(&"verify") {
            let keypair = keypair_file(self.folder, "payer.json", &self.world.solana.payer);
            command.arg("--keypair").arg(keypair);
            let payer = hex::encode(self.world.evm.payer.to_bytes());
            command.env("CONCORD_EVM_PRIVATE_KEY", payer);
        }
        command
    }

    pub async fn run(&self, config: PathBuf, arguments: &[&str]) -> Answer {
        let mut command = self.command(config, arguments);
        command.arg("--json");
        let payer = hex::encode(self.world.evm.payer.to_bytes());
        let running = tokio::task::spawn_blocking(move || command.output().unwrap());
        let Output {
            status,
            stdout,
            stderr,
        } = running.await.unwrap();
        let [stdout, stderr] = [stdout, stderr].map(|it| String::from_utf8(it).unwrap());
        for text in [&stdout, &stderr] {
            assert!(!text.contains(&payer), "a key is printed");
        }
        let code = status.code().unwrap();
        Answer {
            code,
            stdout,
            stderr,
        }
    }

    pub async fn pay(&self, token: Token, arguments: &[&str]) -> Answer {
        let arguments = [&["x402", "pay"], arguments].concat();
        self.run(self.config(token, |_| ()), &arguments).await
    }

    pub async fn verify(&self, id: &str, edit: impl FnOnce(&mut Value)) -> Answer {
        let config = self.config(Token::Usdc, edit);
        self.run(config, &["x402", "verify", "--id", id]).await
    }

    async fn rate(&self, id: &str, chain: &str, arguments: &[&str]) -> Answer {
        let files = self.folder.join("files").display().to_string();
        let given = [
            "feedback", "give", "--id", id, "--chain", chain, "--files", &files,
        ];
        let arguments = [&given, arguments].concat();
        self.run(self.config(Token::Usdc, |_| ()), &arguments).await
    }

    pub async fn last_index(&self, registry: Option<alloy::primitives::Address>) -> u64 {
        let agent = self.world.registrations(Registered::Both)[0]["agentId"].clone();
        let call = Feedback::getLastIndexCall {
            agentId: agent.as_str().unwrap().parse().unwrap(),
            clientAddress: self.world.evm.payer.address(),
        };
        let node = Node::new(&EndpointOptions::new(&self.world.evm.url)).unwrap();
        node.read(registry.unwrap(), &call).await.unwrap().unwrap()
    }

    fn mint(&self) -> Address {
        let agent = self.world.registrations(Registered::Both)[1]["agentId"].clone();
        agent.as_str().unwrap().parse().unwrap()
    }

    /// Proven and unproven scores of the agent on Solana (R13).
    async fn scores(&self) -> (u64, u64) {
        let solana = &self.world.solana;
        let place = solana.program.agent(&self.mint()).to_string();
        let config = json!({ "encoding": "base64", "commitment": "processed" });
        let found = solana.ask("getAccountInfo", json!([place, config]));
        let data = found["value"]["data"][0].as_str().unwrap();
        let data = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, data);
        let owner = solana.program.id();
        let agent: AgentIdentity = solana.program.decode(&owner, &data.unwrap()).unwrap();
        (agent.verified_score_sum, agent.unverified_score_sum)
    }

    /// The program's authority lists a facilitator and both tokens.
    fn list(&self) {
        let solana = &self.world.solana;
        let (program, authority) = (&solana.program, solana.owner.pubkey());
        let facilitator = Keypair::new_from_array(FACILITATOR).pubkey();
        let listed = [
            program.set_payment_token(authority, solana.spl, true),
            program.set_payment_token(authority, solana.token_2022, true),
            program.set_facilitator(authority, facilitator, true),
        ];
        solana.send(&[], &listed);
    }

    /// A facilitator's proof of a payment (R13), in a file.
    fn proof(&self, transaction: &str, token: Token) -> PathBuf {
        let (solana, key) = (&self.world.solana, Keypair::new_from_array(FACILITATOR));
        let asset: Address = self.world.asset(token).parse().unwrap();
        let task_ref = format!("{NETWORK}:{transaction}");
        let (paid_at, expiry) = (1, u64::from(u32::MAX));
        let message = PaymentProof {
            agent_mint: self.mint().to_bytes(),
            payer: solana.payer.pubkey().to_bytes(),
            payee: solana.owner.pubkey().to_bytes(),
            token: asset.to_bytes(),
            amount: PRICE,
            task_ref_hash: caip::TaskRef::parse(&task_ref).unwrap().dedupe_key().hash(),
            paid_at,
            expiry,
            chain: caip::ChainId::parse(NETWORK).unwrap().hash(),
            program_id: solana.program.id().to_bytes(),
            facilitator: key.pubkey().to_bytes(),
        }
        .message();
        let proof = json!({
            "taskRef": task_ref,
            "payee": solana.owner.pubkey().to_string(),
            "token": asset.to_string(),
            "amount": PRICE.to_string(),
            "paidAt": paid_at,
            "expiry": expiry,
            "facilitator": key.pubkey().to_string(),
            "signature": format!("0x{}", hex::encode(ed25519_sign(&FACILITATOR, &message))),
        });
        write(self.folder.join("proof.json"), &proof)
    }
}

/// What the steps of a report were refuted with.
fn classes(report: &Value) -> Vec<&str> {
    let steps = report["steps"].as_array().unwrap().iter();
    steps.filter_map(|it| it["class"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_served_answer_is_paid_verified_and_rated_on_both_chains() {
    let world = World::start().await;
    let registries = world.evm.deploy_reputation().await;
    let folder = tempfile::tempdir().unwrap();
    let entrance = Entrance::start().await;
    let config = shop(&world, &registries, folder.path(), &entrance).await;
    let shop = write(folder.path().join("shop.json"), &config);
    let mut served = open(&shop, &entrance).await;
    let buyer = Buyer {
        world: &world,
        registries,
        folder: folder.path(),
    };
    let url = format!("{}{PREFIX}/weather?city=London", entrance.origin);

    // 1: what a check refutes before anything is signed
    let distrusting = buyer.config(Token::Usdc, |it| it["trust"] = json!([]));
    let quote = ["x402", "pay", &url, "--id", "usdc", "--quote"];
    let refused = buyer.run(distrusting, &quote).await.json(1);
    assert_eq!(refused["class"], "RegistryUnknown");
    assert_eq!(refused["money"], json!({ "state": "not-sent" }));

    // 0: paid through the served command, one purchase for each token
    let mut transactions = Vec::new();
    for (token, id) in TOKENS.into_iter().zip(["usdc", "spl", "token-2022"]) {
        let paid = buyer.pay(token, &[&url, "--id", id]).await.json(0);
        assert_eq!(paid["state"], "verified", "{paid}");
        assert_eq!(paid["money"]["state"], "settled");
        assert_eq!(
            fs::read(paid["body"].as_str().unwrap()).unwrap(),
            ANSWER.as_bytes()
        );
        assert_eq!(world.received(token).await, PRICE, "{token:?}");
        transactions.push(paid["money"]["transaction"].as_str().unwrap().to_owned());
        buyer.verify(id, |_| ()).await.json(0);
    }

    // 4: the answer is lost, and the payment may still settle
    entrance.gate.set(Fault::DropBefore);
    let lost = buyer.pay(Token::Usdc, &[&url, "--id", "lost"]).await;
    lost.refused(4, "the payment may settle until");
    let evidence = fs::read_to_string(folder.path().join("purchases/lost.json")).unwrap();
    let evidence: Value = serde_json::from_str(&evidence).unwrap();
    let payment = evidence["payment"].as_str().unwrap();
    assert!(
        !lost.stderr.contains(payment),
        "who has the bytes can use them"
    );
    entrance.gate.set(Fault::None);
    let resumed = buyer.pay(Token::Usdc, &["--resume", "--id", "lost"]).await;
    resumed.json(0);
    // 4: the server has the bytes, and asks again
    entrance.gate.set(Fault::Ignore);
    let asked_again = buyer.pay(Token::Usdc, &[&url, "--id", "asked-again"]).await;
    let asked_again = asked_again.json(4);
    assert_eq!(asked_again["money"]["state"], "unknown");
    assert_eq!(asked_again["money"].get("payment"), None);
    entrance.gate.set(Fault::None);
    assert_eq!(world.received(Token::Usdc).await, 2 * PRICE, "paid once");

    // metrics: four paid answers were signed
    let metrics = reqwest::get(format!("http://{}/metrics", served.metrics)).await;
    let metrics = metrics.unwrap().text().await.unwrap();
    assert!(
        metrics.contains("x402_interactions_signed_total 4"),
        "{metrics}"
    );
    assert!(
        metrics.contains("x402_announcements_total{outcome=\"added\"}"),
        "{metrics}"
    );

    // R30: other keys without a restart. This one is not published, which the buyer finds
    let mut rotated = config.clone();
    let other = keypair_file(
        folder.path(),
        "other.json",
        &Keypair::new_from_array([77; 32]),
    );
    rotated["signers"] = json!([{ "keypair": other, "validFrom": 1 }]);
    write(shop.clone(), &rotated);
    served.hang_up().await;
    let paid = buyer
        .pay(Token::Spl, &[&url, "--id", "rotated"])
        .await
        .json(1);
    assert_eq!(classes(&paid), ["SignerUnknown"]);
    write(shop, &config);
    served.hang_up().await;
    let paid = buyer.pay(Token::Spl, &[&url, "--id", "back"]).await;
    paid.json(0);

    // R41: by the grant of the settled response, on EVM
    let authorized = ["--value", "95", "--authorized"];
    let given = buyer.rate("usdc", EVM_NETWORK, &authorized).await.json(0);
    assert_eq!(
        (&given["index"], &given["hasPaymentProof"]),
        (&json!(1), &json!(false))
    );
    assert_eq!(buyer.last_index(registries.authorized_reputation).await, 1);
    let again = buyer.rate("usdc", EVM_NETWORK, &authorized).await;
    again.refused(2, "has begun: resume it");
    buyer.rate("usdc", EVM_NETWORK, &["--resume"]).await.json(0);
    assert_eq!(buyer.last_index(registries.authorized_reputation).await, 1);

    // R13: on Solana, with a facilitator's proof of the payment
    world.solana.fund(&world.solana.payer.pubkey(), SOL);
    buyer.list();
    let other = buyer
        .proof(&transactions[2], Token::Token2022)
        .display()
        .to_string();
    let authorized = ["--value", "90", "--authorized", "--payment-proof", &other];
    let refused = buyer.rate("spl", NETWORK, &authorized).await;
    refused.refused(2, "the payment attestation's taskRef");
    assert_eq!(buyer.scores().await, (0, 0), "nothing was sent");
    let proof = buyer
        .proof(&transactions[1], Token::Spl)
        .display()
        .to_string();
    let authorized = ["--value", "90", "--authorized", "--payment-proof", &proof];
    let resumed = ["--resume", "--payment-proof", &proof];
    for arguments in [&authorized[..], &resumed] {
        let given = buyer.rate("spl", NETWORK, arguments).await.json(0);
        assert_eq!(
            (&given["index"], &given["hasPaymentProof"]),
            (&json!(1), &json!(true))
        );
    }
    assert_eq!(buyer.scores().await, (90, 0), "proven");

    // paid on Solana, rated on EVM (R38)
    let given = buyer
        .rate("token-2022", EVM_NETWORK, &["--value", "80"])
        .await;
    let given = given.json(0);
    assert_eq!(buyer.last_index(registries.open_reputation).await, 1);
    let file = fs::read(given["file"].as_str().unwrap()).unwrap();
    assert_eq!(given["feedbackHash"], keccak256(&file).to_string());
    let file: Value = serde_json::from_slice(&file).unwrap();
    let proof = &file["proofOfParticipation"];
    let (client, reviewer) = (world.evm.payer.address(), world.solana.payer.pubkey());
    assert_eq!(file["clientAddress"], format!("{EVM_NETWORK}:{client}"));
    assert_eq!(proof["reviewerAddress"], format!("{NETWORK}:{reviewer}"));
    assert_eq!(proof["reviewerSignatureAlgorithm"], "ed25519");

    // 3: a node that cannot be asked
    let unreachable =
        |it: &mut Value| it["chains"][EVM_NETWORK]["rpc"] = json!("http://127.0.0.1:1");
    buyer
        .verify("usdc", unreachable)
        .await
        .refused(3, "127.0.0.1");

    // 1: what is no longer so. Solana keeps no history
    let unset = world
        .solana
        .program
        .unset_agent_wallet(world.solana.owner.pubkey(), buyer.mint());
    world.solana.send(&[], &[unset]);
    world.solana.ask("local_advance", json!([2]));
    let refuted = buyer.verify("spl", |_| ()).await.json(1);
    assert_eq!(refuted["state"], "refuted");
    assert_eq!(classes(&refuted), ["PaymentMismatch"]);
    assert_eq!(refuted["money"]["state"], "settled");
}

/// An error names the file, the field, what was found and what was expected.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_malformed_configuration_is_named_by_its_field() {
    let world = World::start().await;
    let registries = world.evm.deploy_reputation().await;
    let folder = tempfile::tempdir().unwrap();
    let entrance = Entrance::start().await;
    let config = shop(&world, &registries, folder.path(), &entrance).await;
    let field = format!("/grants/{}", EVM_NETWORK);
    for (pointer, value, words) in [
        (
            "/offers".to_owned(),
            json!([]),
            "offers: at least one is needed",
        ),
        (
            "/externalPrefix".to_owned(),
            json!("shop/"),
            "externalPrefix: ",
        ),
        (
            "/signers/1/keypair".to_owned(),
            json!("/nowhere"),
            "signers[1]: ",
        ),
        (
            format!("{field}/days"),
            json!(31),
            "grants.eip155:84532.days: 31 is not within 1 and 30",
        ),
        (
            format!("{field}/keystore"),
            Value::Null,
            "grants.eip155:84532.keystore: is missing",
        ),
        (
            format!("/grants/{NETWORK}/program"),
            json!("0x"),
            "program: expected an address in base58",
        ),
        ("/listen".to_owned(), json!("here"), "listen: "),
    ] {
        let mut config = config.clone();
        *config.pointer_mut(&pointer).unwrap() = value;
        let path = write(folder.path().join("malformed.json"), &config);
        let refused = serve(&path).output().unwrap();
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{pointer}: {stderr}");
        assert!(
            stderr.contains("malformed.json") && stderr.contains(words),
            "{stderr}"
        );
    }
}
