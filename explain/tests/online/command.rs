//! `concord explain`, `explain agent` and `explain summary`, against a chain and then from the file alone.
use crate::online::anvil::{CHAIN, CLIENT, World};
use alloy::primitives::{B256, hex};
use clap::Parser;
use concord_explain::{
    cli::{Explain, execute},
    online::At,
};
use std::{fs, path::Path, thread};
use tempfile::TempDir;

#[derive(Debug, Parser)]
struct Command {
    #[command(flatten)]
    explain: Explain,
}

/// The exit code. The command has a runtime of its own.
fn run(arguments: &[&str]) -> u8 {
    let arguments = [&["explain"], arguments].concat();
    let command = Command::try_parse_from(arguments).unwrap_or_else(|error| panic!("{error}"));
    let running = thread::spawn(move || execute(&command.explain));
    running.join().expect("it does not panic")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

struct Files {
    _folder: TempDir,
    book: String,
    bundle: String,
}

async fn files(world: &World) -> Files {
    let folder = tempfile::tempdir().expect("a folder");
    let (book, bundle) = (
        folder.path().join("book.json"),
        folder.path().join("bundle.json"),
    );
    fs::write(&book, world.book().await).expect("it is written");
    Files {
        book: text(&book).to_owned(),
        bundle: text(&bundle).to_owned(),
        _folder: folder,
    }
}

/// The newest block, as `--block` takes it.
async fn newest(world: &World) -> String {
    let reader = world.reader(Some(At::Latest)).await;
    let (chain, _, hash) = reader.anchor();
    format!("{chain}=0x{}", hex::encode(hash))
}

#[tokio::test(flavor = "multi_thread")]
async fn one_command_writes_a_bundle_and_another_verifies_it_offline() {
    let world = World::start().await;
    let (uri, hash) = world.file(87);
    let sent = world
        .send(CLIENT, world.open, world.give(87, &uri, hash))
        .await;
    let (files, block) = (files(&world).await, newest(&world).await);
    let (name, rpc) = (
        format!("{CHAIN}:{sent}"),
        format!("{CHAIN}={}", world.url()),
    );
    let online = [
        "--rpc",
        &rpc,
        "--address-book",
        &files.book,
        "--bundle",
        &files.bundle,
    ];
    assert_eq!(run(&[&[name.as_str()], &online[..]].concat()), 0);
    drop(world);
    let offline = ["--from", &files.bundle, "--address-book", &files.book];
    assert_eq!(run(&[&offline[..], &["--block", &block]].concat()), 0);
    assert_eq!(run(&offline), 4, "nobody said which block to trust");
    assert_eq!(
        run(&["--from", &files.bundle, "--block", &block]),
        1,
        "no registry counts"
    );
    assert_eq!(
        run(&[&[name.as_str()], &online[..]].concat()),
        3,
        "the chain is gone"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_is_explained_for_the_reviewers_that_are_named() {
    let world = World::start().await;
    let (uri, hash) = world.file(87);
    world
        .send(CLIENT, world.open, world.give(87, &uri, hash))
        .await;
    let unreachable = world.give(3, "https://127.0.0.1:1/file.json", B256::ZERO);
    world.send(2, world.open, unreachable).await;
    let (files, block) = (files(&world).await, newest(&world).await);
    let (agent, rpc) = (
        format!("{}:1", world.registry()),
        format!("{CHAIN}={}", world.url()),
    );
    let client = world.accounts[CLIENT].to_string();
    let online = [
        "--rpc",
        &rpc,
        "--address-book",
        &files.book,
        "--bundle",
        &files.bundle,
    ];
    let listed = ["summary", &agent, "--reviewer", &client];
    assert_eq!(run(&[&listed[..], &online[..]].concat()), 0);
    let offline = [
        "--from",
        &files.bundle,
        "--address-book",
        &files.book,
        "--block",
        &block,
    ];
    assert_eq!(run(&[&["summary"], &offline[..]].concat()), 0);
    // a list names the same reviewer, and one of another chain
    let list = |account: &str| {
        let reviewers = serde_json::json!([{ "account": account }, { "account": format!("eip155:1:{client}") }]);
        serde_json::json!({
            "type": "concord-reviewer-list-v1", "name": "ours", "created": "2026-11-23T00:00:00Z", "reviewers": reviewers,
        })
    };
    let path = format!("{}.reviewers", files.bundle);
    let by_list = ["summary", &agent, "--reviewers", &path];
    fs::write(&path, list(&format!("{CHAIN}:{client}")).to_string()).expect("it is written");
    assert_eq!(run(&[&by_list[..], &online[..]].concat()), 0);
    for wrong in [
        list("eip155:1:0x12").to_string(),
        list(&format!("eip155:2:{client}")).to_string(),
        client.clone(),
    ] {
        fs::write(&path, wrong).expect("it is written");
        assert_eq!(run(&[&by_list[..], &online[..]].concat()), 2, "R48");
    }
    // one of everyone's files cannot be had
    assert_eq!(run(&[&["agent", &agent], &online[..]].concat()), 4);
    assert_eq!(run(&[&["agent"], &offline[..]].concat()), 4);
    // R48: whose feedback counts has to be said
    let silent = Command::try_parse_from(["explain", "summary", &agent, "--rpc", &rpc]);
    let error = silent.expect_err("no reviewers").to_string();
    assert!(error.contains("--reviewers"), "{error}");
}

/// The commands that docs/EXPLAIN.md shows for verifying without trusting anyone, with the exit code of each.
fn walk_through() -> Vec<(String, u8)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/EXPLAIN.md");
    let page = fs::read_to_string(page).expect("the document");
    let (_, rest) = page
        .split_once("## Verifying without trusting anyone")
        .expect("its part");
    let (_, rest) = rest.split_once("```sh\n").expect("its commands");
    let (commands, _) = rest.split_once("```").expect("their end");
    let mut code = 0;
    let mut found = Vec::new();
    for line in commands.lines() {
        if let Some(comment) = line.strip_prefix('#') {
            let stated = comment.rsplit_once("exit code ");
            code = stated.map_or(0, |(_, code)| code.parse().expect("a code"));
        } else if let Some(arguments) = line.strip_prefix("concord explain ") {
            found.push((arguments.replace('"', ""), code));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_trusts_nobody_can_do_what_the_document_says() {
    let world = World::start().await;
    let (uri, hash) = world.file(87);
    let given = world.give(87, &uri, hash);
    world.send(CLIENT, world.open, given).await;
    let (files, block) = (files(&world).await, newest(&world).await);
    let (_, hash) = block.split_once('=').expect("CHAIN=HASH");
    let commands = walk_through();
    assert_eq!(commands.len(), 4);
    let mut world = Some(world);
    for (command, expected) in commands {
        if command.contains("--from") {
            world = None; // and its node with it
        }
        let (agent, rpc) = match &world {
            Some(world) => (format!("{}:1", world.registry()), world.url()),
            None => Default::default(),
        };
        let command = command
            .replace("eip155:84532", CHAIN)
            .replace("$AGENT", &agent)
            .replace("$RPC", &rpc)
            .replace("$HASH", hash)
            .replace("addresses.json", &files.book)
            .replace("reputation.json", &files.bundle);
        assert!(!command.contains('$'), "{command}");
        let arguments: Vec<&str> = command.split_whitespace().collect();
        assert_eq!(run(&arguments), expected, "{command}");
    }
}
