//! What `concord x402` says of money if a command is repeated, cannot write, or loses its buyer.
use crate::peers::{
    cluster::NETWORK,
    commands::{Buyer, Served, open, shop, write},
    entrance::{Entrance, PREFIX},
    shop::ANSWER,
    world::{PRICE, Token, World},
};
use axum::{Router, http::header::CONTENT_TYPE, routing::get};
use base64::{Engine, engine::general_purpose::STANDARD};
use concord_testkit::gate::Fault;
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};

const SETTLED: &str = "has begun: resume it; the payment settled in 0x";
const OPEN: &str = "has begun: resume it; the payment may settle until";
/// Longer than a connection takes to be seen as closed.
const A_WHILE: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(20);

async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    origin
}

async fn output(mut command: Command) -> Output {
    let running = tokio::task::spawn_blocking(move || command.output().unwrap());
    running.await.unwrap()
}

/// A service that is sold, and the folder of its buyer.
struct Sale {
    world: World,
    registries: concord_registry::evm::RegistryAddresses,
    folder: tempfile::TempDir,
    entrance: Entrance,
    url: String,
}

impl Sale {
    async fn start() -> Self {
        let world = World::start().await;
        let entrance = Entrance::start().await;
        Self {
            registries: world.evm.deploy_reputation().await,
            world,
            folder: tempfile::tempdir().unwrap(),
            url: format!("{}{PREFIX}/weather?city=London", entrance.origin),
            entrance,
        }
    }

    async fn open(&self, edit: impl FnOnce(&mut Value)) -> Served {
        let (world, folder) = (&self.world, self.folder.path());
        let mut config = shop(world, &self.registries, folder, &self.entrance).await;
        edit(&mut config);
        let config = write(folder.join("shop.json"), &config);
        open(&config, &self.entrance).await
    }

    fn buyer(&self) -> Buyer<'_> {
        Buyer {
            world: &self.world,
            registries: self.registries,
            folder: self.folder.path(),
        }
    }

    fn purchase(&self, id: &str) -> PathBuf {
        self.folder.path().join("purchases").join(id)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purchase_that_has_begun_is_not_said_to_be_unpaid() {
    let sale = Sale::start().await;
    let served = sale.open(|_| ()).await;
    let (buyer, url) = (sale.buyer(), &*sale.url);
    sale.entrance.gate.set(Fault::DropAfter);
    let lost = buyer.pay(Token::Usdc, &[url, "--id", "settled"]).await;
    lost.refused(3, "did not answer; the payment settled in 0x");
    sale.entrance.gate.set(Fault::DropBefore);
    let lost = buyer.pay(Token::Usdc, &[url, "--id", "open"]).await;
    lost.refused(4, "did not answer; the payment may settle until");
    sale.entrance.gate.set(Fault::None);

    // the seller asks for no payment, refuses what it is asked, or is gone: the purchase is what it was
    let free = serve(Router::new().fallback(get(async || ANSWER))).await;
    for (id, code, words) in [("settled", 3, SETTLED), ("open", 4, OPEN)] {
        let again = [&*free, "--id", id];
        buyer.pay(Token::Usdc, &again).await.refused(code, words);
        let quote = [url, "--id", id, "--quote"];
        buyer.pay(Token::Usdc, &quote).await.refused(code, words);
        let distrusting = buyer.config(Token::Usdc, |it| it["trust"] = json!([]));
        let again = ["x402", "pay", url, "--id", id];
        buyer.run(distrusting, &again).await.refused(code, words);
    }
    drop(served);
    for (id, code, words) in [("settled", 3, SETTLED), ("open", 4, OPEN)] {
        let again = [url, "--id", id];
        buyer.pay(Token::Usdc, &again).await.refused(code, words);
    }
    // a new purchase is new
    let unreachable = buyer.pay(Token::Usdc, &[url, "--id", "new"]).await;
    unreachable.refused(3, "; no payment was sent");

    // what fails before the payment chain can be asked says what is on record: both were sent
    let dead = |it: &mut Value| it["chains"][NETWORK]["rpc"] = json!("http://127.0.0.1:1");
    let nowhere = sale.folder.path().join("nowhere").display().to_string();
    for id in ["settled", "open"] {
        let resume = ["x402", "pay", "--resume", "--id", id];
        let config = buyer.config(Token::Usdc, dead);
        let refused = buyer.run(config, &resume).await;
        refused.refused(4, "; the payment may settle until");
        assert!(refused.stderr.contains("127.0.0.1"), "{}", refused.stderr);
        for other in [["--keystore", &nowhere], ["--header", "no header"]] {
            let arguments = [&resume[..], &other].concat();
            let config = buyer.config(Token::Usdc, |_| ());
            let refused = buyer.run(config, &arguments).await;
            refused.refused(4, "; the payment may settle until");
        }
        let unverified = buyer.verify(id, |_| ()).await;
        unverified.refused(4, "; the payment may settle until");
    }
    let resumed = buyer
        .pay(Token::Usdc, &["--resume", "--id", "settled"])
        .await;
    resumed.refused(3, "the answer was lost; the payment settled in 0x");
    let config = buyer.config(Token::Usdc, dead);
    let resume = ["x402", "pay", "--resume", "--id", "settled"];
    let refused = buyer.run(config, &resume).await;
    refused.refused(3, "; the payment settled in 0x");
    assert_eq!(sale.world.received(Token::Usdc).await, PRICE, "paid once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paid_answer_that_cannot_be_written_is_not_lost() {
    let sale = Sale::start().await;
    let _served = sale.open(|_| ()).await;
    let (buyer, url) = (sale.buyer(), &*sale.url);

    // a folder with something in it cannot be replaced by a file
    for id in ["json", "text"] {
        let place = sale.purchase(&format!("{id}.response"));
        fs::create_dir_all(place.join("taken")).unwrap();
    }
    let paid = buyer.pay(Token::Usdc, &[url, "--id", "json"]).await;
    let paid = paid.json(3);
    assert_eq!(paid["state"], "verified", "{paid}");
    assert_eq!(paid["money"]["state"], "settled");
    assert_eq!(paid["body"], Value::Null);
    let body = STANDARD.decode(paid["bodyBase64"].as_str().unwrap());
    assert_eq!(body.unwrap(), ANSWER.as_bytes());
    let unrecorded = paid["unrecorded"].as_str().unwrap();
    assert!(unrecorded.contains("json.response"), "{unrecorded}");

    let config = || buyer.config(Token::Usdc, |_| ());
    let arguments = ["x402", "pay", url, "--id", "text"];
    let paid = output(buyer.command(config(), &arguments)).await;
    let text = String::from_utf8(paid.stdout).unwrap();
    assert_eq!(paid.status.code(), Some(3), "{text}");
    let (words, body) = text.split_at(text.len() - ANSWER.len());
    assert_eq!(body, ANSWER, "{text}");
    assert!(words.contains("text.response") && words.contains("the payment settled in"));
    assert!(words.ends_with(&format!("{} bytes follow\n", ANSWER.len())));

    // beside it, an answer that is on disk
    let paid = buyer.pay(Token::Usdc, &[url, "--id", "kept"]).await.json(0);
    assert_eq!(
        (&paid["bodyBase64"], &paid["unrecorded"]),
        (&Value::Null, &Value::Null)
    );
    let place = sale.purchase("kept.response");
    assert_eq!(Path::new(paid["body"].as_str().unwrap()), place);

    // a full disk under stdout
    let mut purchases = 3;
    if Path::new("/dev/full").exists() {
        purchases += 1;
        let arguments = ["x402", "pay", url, "--id", "full"];
        let mut command = buyer.command(config(), &arguments);
        let full = File::options().write(true).open("/dev/full").unwrap();
        command.stdout(full).stderr(Stdio::piped());
        let running = tokio::task::spawn_blocking(move || {
            let child = command.spawn().unwrap();
            child.wait_with_output().unwrap()
        });
        let paid = running.await.unwrap();
        let stderr = String::from_utf8(paid.stderr).unwrap();
        assert_eq!(paid.status.code(), Some(3), "{stderr}");
        assert!(
            stderr.contains("the purchase full has an answer"),
            "{stderr}"
        );
        assert!(stderr.contains("; the payment settled in 0x"), "{stderr}");
        assert_eq!(
            fs::read(sale.purchase("full.response")).unwrap(),
            ANSWER.as_bytes()
        );
    }
    let received = sale.world.received(Token::Usdc).await;
    assert_eq!(received, purchases * PRICE, "each is paid once");
}

/// Waits until the agent's wallet has received so much.
async fn received(world: &World, amount: u64) {
    let waiting = async {
        while world.received(Token::Usdc).await != amount {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, waiting)
        .await
        .expect("the payment settles");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_buyer_who_hangs_up_pays_for_what_the_upstream_has_done() {
    let sale = Sale::start().await;
    let (arrived, released) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let slow = {
        let (arrived, released) = (arrived.clone(), released.clone());
        async move || {
            arrived.notify_one();
            released.notified().await;
            ([(CONTENT_TYPE, "application/json")], ANSWER)
        }
    };
    let upstream = serve(Router::new().route("/weather", get(slow))).await;
    let mut served = sale.open(|it| it["upstream"] = json!(upstream)).await;
    let buyer = sale.buyer();
    let hang_up = async |id: &str| {
        let config = buyer.config(Token::Usdc, |_| ());
        let arguments = ["x402", "pay", &sale.url, "--id", id];
        let mut command = buyer.command(config, &arguments);
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        timeout(PATIENCE, arrived.notified()).await.unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        sleep(A_WHILE).await;
    };

    hang_up("first").await;
    assert_eq!(sale.world.received(Token::Usdc).await, 0);
    released.notify_one();
    received(&sale.world, PRICE).await;
    let logged = async { while !served.log.recv().await.unwrap().contains("was not taken") {} };
    timeout(PATIENCE, logged).await.unwrap();
    let again = buyer.pay(Token::Usdc, &[&sale.url, "--id", "first"]).await;
    again.refused(3, SETTLED);

    // a server that is asked to end waits for it
    hang_up("second").await;
    let id = served.child.id().to_string();
    assert!(Command::new("kill").arg(id).status().unwrap().success());
    sleep(A_WHILE).await;
    assert_eq!(served.child.try_wait().unwrap(), None, "it waits");
    released.notify_one();
    received(&sale.world, 2 * PRICE).await;
    let ended = async {
        loop {
            if let Some(status) = served.child.try_wait().unwrap() {
                return status;
            }
            sleep(Duration::from_millis(50)).await;
        }
    };
    assert!(timeout(PATIENCE, ended).await.unwrap().success());
    let resumed = buyer
        .pay(Token::Usdc, &["--resume", "--id", "second"])
        .await;
    resumed.refused(3, "the answer was lost; the payment settled in 0x");
    assert_eq!(sale.world.received(Token::Usdc).await, 2 * PRICE);
}
