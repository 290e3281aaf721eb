//! The registry's authority, payment tokens and facilitators.
use crate::shared::fault_proxy::{FaultAction, FaultProxy, Question};
use crate::shared::process::{Answer, answer, clone_root};
use crate::svm::{
    cluster::{Cluster, deployer, registry},
    unsigned::instruction,
    workplace::{Workplace, write_keypair},
};
use concord_local_cluster::Options;
use serde_json::{Value, json};
use solana_account::Account;
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::{fs, path::PathBuf};

const TOKEN_2022: &str = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";

fn next() -> Keypair {
    Keypair::new_from_array([8; 32])
}

fn mint(number: u8) -> Address {
    Address::new_from_array([100 + number; 32])
}

/// R13: eight tokens count at a time.
const TOKENS: u8 = 8;

/// A cluster with a deployed registry, nine mints, and what is none.
fn deployed() -> (Cluster, Workplace) {
    let account = |data: Vec<u8>| Account {
        lamports: 10_000_000,
        data,
        owner: TOKEN_2022.parse().unwrap(),
        ..Account::default()
    };
    // SPL's Mint: 82 bytes, the 46th is 1 if it is initialized.
    let initialized: Vec<u8> = (0..82).map(|at| u8::from(at == 45)).collect();
    let mints = (0..=TOKENS).map(|number| (mint(number), account(initialized.clone())));
    let others = [
        (mint(20), account(vec![0; 82])),
        (
            mint(21),
            account([&initialized[..], &[0; 83], &[1]].concat()),
        ),
        // A multisig: m, n, initialized, 11 keys that spell the rest, 1 for a mint at byte 165.
        (
            mint(22),
            account(
                [
                    &[1, 11, 1][..],
                    &initialized[3..],
                    &[0; 83],
                    &[1],
                    &[0; 189],
                ]
                .concat(),
            ),
        ),
    ];
    let cluster = Cluster::with(Options {
        accounts: mints.chain(others).collect(),
        funded: vec![
            (deployer().pubkey(), 100_000_000_000),
            (next().pubkey(), 1_000_000_000),
        ],
        ..Cluster::options()
    });
    let workplace = Workplace::at(&cluster);
    workplace.apply(&[]).assert_done();
    write_keypair(&workplace.file("next.json"), &next());
    (cluster, workplace)
}

fn change(workplace: &Workplace, arguments: &[&str]) -> Answer {
    workplace.run(&[&["registry"], arguments, &["--yes", "--poll", "40"]].concat())
}

/// As [`change`], with the other key.
fn change_by_next(workplace: &Workplace, arguments: &[&str]) -> Answer {
    let key = workplace.file("next.json");
    change(
        workplace,
        &[arguments, &["--keypair", key.to_str().unwrap()]].concat(),
    )
}

fn shown(workplace: &Workplace) -> Value {
    let shown = workplace.run(&["registry", "show", "--json"]);
    shown.assert_done().json()
}

fn record(workplace: &Workplace) -> PathBuf {
    let runs = workplace.deployments().join("runs");
    runs.join("registry-solana-localnet.json")
}

/// The registry is as the book has it, and the four parts are these.
fn assert_settings(workplace: &Workplace, expected: &Value) {
    let shown = shown(workplace);
    assert_eq!(shown["registry"], registry().to_string());
    for name in [
        "authority",
        "proposedAuthority",
        "paymentTokens",
        "facilitators",
    ] {
        assert_eq!(shown[name], expected[name], "{name}");
    }
    assert_eq!(workplace.recorded()["registry"], *expected);
    for command in ["verify", "status"] {
        workplace.run(&[command]).assert_done();
    }
    assert!(!record(workplace).exists());
    let schema = clone_root().join("deployments/addresses.schema.json");
    let schema = jsonschema::draft202012::new(&crate::shared::process::json_file(&schema)).unwrap();
    let book = workplace.deployments().join("addresses.json");
    schema
        .validate(&crate::shared::process::json_file(&book))
        .unwrap();
}

#[test]
fn the_authority_is_handed_over_when_the_next_one_accepts() {
    let (cluster, workplace) = deployed();
    let (first, second) = (deployer().pubkey().to_string(), next().pubkey().to_string());
    let settings = |authority: &str, proposed: Option<&str>| {
        let mut settings =
            json!({ "authority": authority, "paymentTokens": [], "facilitators": [] });
        if let Some(proposed) = proposed {
            settings["proposedAuthority"] = json!(proposed);
        }
        settings
    };
    assert_settings(&workplace, &settings(&first, None));
    change_by_next(&workplace, &["accept"]).assert_refused(2, "no next authority of registry");
    change_by_next(&workplace, &["propose", &second])
        .assert_refused(2, &format!("is {first}, not {second}"));
    change(&workplace, &["propose", "11111111111111111111111111111111"])
        .assert_refused(2, "say none to withdraw");

    change(&workplace, &["propose", &second]).assert_done();
    assert_settings(&workplace, &settings(&first, Some(&second)));
    change(&workplace, &["propose", "none"]).assert_done();
    assert_settings(&workplace, &settings(&first, None));
    change(&workplace, &["propose", &second]).assert_done();
    change(&workplace, &["accept"]).assert_refused(2, &format!("is to be {second}, not {first}"));
    let sent = cluster.signatures().len();
    let again = change(&workplace, &["propose", &second]);
    assert!(again.assert_done().stderr.contains("nothing was sent"));
    assert_eq!(cluster.signatures().len(), sent);

    let accepted = change_by_next(&workplace, &["accept", "--json"]);
    let accepted = accepted.assert_done().json();
    assert_eq!(accepted["signer"], second);
    assert_eq!(accepted["landing"]["cost"], "5000"); // lamports for one signature
    assert_settings(&workplace, &settings(&second, None));
    change(&workplace, &["propose", "none"]).assert_done(); // it is done
    change(&workplace, &["propose", &first])
        .assert_refused(2, &format!("is {second}, not {first}"));
}

#[test]
fn tokens_and_facilitators_come_and_go() {
    let (cluster, workplace) = deployed();
    let sent = cluster.signatures().len();
    let key = next().pubkey().to_string();
    let off_curve = registry().to_string();
    for (arguments, words) in [
        (["add-token", &key], "no mint of a token program"),
        (
            ["add-token", &mint(20).to_string()],
            "no mint of a token program",
        ),
        (
            ["add-token", &mint(22).to_string()],
            "no mint of a token program",
        ),
        (["add-token", "wrong"], "not a public key"),
        (["add-facilitator", &off_curve], "it can sign no proof"),
        (["remove-facilitator", "wrong"], "not a public key"),
    ] {
        change(&workplace, &arguments).assert_refused(2, words);
    }
    let absent = change(&workplace, &["remove-token", &mint(0).to_string()]);
    assert!(absent.assert_done().stderr.contains("nothing was sent"));
    assert_eq!(cluster.signatures().len(), sent);
    assert!(!record(&workplace).exists());

    let tokens: Vec<String> = (0..TOKENS).map(|number| mint(number).to_string()).collect();
    for token in &tokens {
        change(&workplace, &["add-token", token]).assert_done();
    }
    let ninth = mint(TOKENS).to_string();
    change(&workplace, &["add-token", &ninth])
        .assert_refused(2, "8 payment tokens already, which is the limit (R13)");
    change(&workplace, &["remove-token", &tokens[0]]).assert_done();
    let with_extensions = mint(21).to_string();
    change(&workplace, &["add-token", &with_extensions]).assert_done();
    change(&workplace, &["add-facilitator", &key]).assert_done();
    let left: Vec<&String> = tokens[1..].iter().chain([&with_extensions]).collect();
    let authority = deployer().pubkey().to_string();
    let mut expected =
        json!({ "authority": authority, "paymentTokens": left, "facilitators": [key] });
    assert_settings(&workplace, &expected);
    change(&workplace, &["remove-facilitator", &key]).assert_done();
    expected["facilitators"] = json!([]);
    assert_settings(&workplace, &expected);
}

/// A multisig, or whoever else has the key, sends what is printed.
#[test]
fn another_signer_can_send_the_instruction() {
    let (cluster, workplace) = deployed();
    let sent = cluster.signatures().len();
    let key = next().pubkey().to_string();
    let arguments = ["registry", "add-facilitator", &key, "--unsigned", "--json"];
    let mut command = workplace.command(&arguments);
    command.env_remove("CONCORD_SOLANA_KEYPAIR");
    let plan = answer(command.spawn().unwrap()).assert_done().json();
    assert_eq!(plan["deployer"], deployer().pubkey().to_string());
    assert_eq!(cluster.signatures().len(), sent);
    assert!(!record(&workplace).exists());
    let text = workplace.run(&["registry", "add-facilitator", &key, "--unsigned"]);
    assert!(
        text.assert_done().stdout.contains("\"instructions\""),
        "{}",
        text.stdout
    );

    let instructions = plan["steps"][0]["transaction"]["instructions"].clone();
    let instructions: Vec<_> = instructions
        .as_array()
        .unwrap()
        .iter()
        .map(instruction)
        .collect();
    cluster.carry_out(&instructions, &[]);
    assert_eq!(shown(&workplace)["facilitators"], json!([key]));

    // The book does not know it yet.
    let verified = workplace.run(&["verify"]);
    assert_eq!(verified.code, Some(1));
    let words = format!("DIFFERS  {key}, expected none");
    assert!(verified.stdout.contains(&words), "{}", verified.stdout);
    let status = workplace.run(&["status"]);
    assert_eq!(status.code, Some(1));
    let words = "other facilitators than on record";
    assert!(status.stdout.contains(words), "{}", status.stdout);
    let entered = change(&workplace, &["add-facilitator", &key]);
    assert!(entered.assert_done().stderr.contains("nothing was sent"));
    workplace.run(&["verify"]).assert_done();
}

const SEND: &str = "sendTransaction";

/// Kills the command when `kills` says so, and gives back the workplace with the chain's own port.
fn killed(
    cluster: &Cluster,
    workplace: Workplace,
    arguments: &[&str],
    kills: impl Fn(&Question) -> FaultAction + Send + 'static,
) -> Workplace {
    let proxy = FaultProxy::start(cluster.port(), move |question| kills(question));
    let workplace = workplace.to(&proxy.url());
    let arguments = [&["registry"], arguments, &["--yes", "--poll", "40"]].concat();
    let child = workplace.command(&arguments).spawn().unwrap();
    proxy.set_victim(child.id());
    assert_eq!(answer(child).code, None, "not killed");
    workplace.to(&cluster.url())
}

/// Around the one transaction: signed and not sent, sent and not answered, landed and not recorded
/// as final.
#[test]
fn killed_at_any_line_a_change_lands_once() {
    let (cluster, mut workplace) = deployed();
    let boundaries: [fn(&Question) -> FaultAction; 3] = [
        |question| {
            if question.method == SEND {
                FaultAction::Kill
            } else {
                FaultAction::Forward
            }
        },
        |question| {
            if question.method == SEND {
                FaultAction::ForwardThenKill
            } else {
                FaultAction::Forward
            }
        },
        |question| {
            if question.receipt_seen {
                FaultAction::Kill
            } else {
                FaultAction::Forward
            }
        },
    ];
    for (number, kills) in boundaries.into_iter().enumerate() {
        let key = Keypair::new_from_array([40 + number as u8; 32])
            .pubkey()
            .to_string();
        let sent = cluster.signatures().len();
        workplace = killed(&cluster, workplace, &["add-facilitator", &key], kills);
        let unfinished: Value = crate::shared::process::json_file(&record(&workplace));
        let name = format!("add-facilitator {key}");
        let signed = unfinished[&name]["transactions"]
            .as_array()
            .unwrap()
            .clone();
        assert_eq!(signed.len(), 1, "{unfinished}");
        change(
            &workplace,
            &["remove-facilitator", &next().pubkey().to_string()],
        )
        .assert_refused(2, &format!("has an unfinished change, {name}"));

        change(&workplace, &["add-facilitator", &key]).assert_done();
        assert!(!record(&workplace).exists());
        let facilitators = shown(&workplace)["facilitators"].clone();
        assert_eq!(facilitators.as_array().unwrap().last(), Some(&json!(key)));
        assert_eq!(cluster.signatures().len(), sent + 1, "boundary {number}");
        workplace.run(&["verify"]).assert_done();
    }
}

/// The address book becomes a folder while the transaction is pending: the error is not a refusal.
#[test]
fn a_change_that_the_book_does_not_take_is_continued() {
    let (cluster, workplace) = deployed();
    let (sent, key) = (cluster.signatures().len(), next().pubkey().to_string());
    let book = workplace.deployments().join("addresses.json");
    let kept = workplace.file("kept.json");
    let (from, to) = (book.clone(), kept.clone());
    let proxy = FaultProxy::start(cluster.port(), move |question| {
        if question.method == SEND && !from.is_dir() {
            fs::rename(&from, &to).unwrap();
            fs::create_dir(&from).unwrap();
        }
        FaultAction::Forward
    });
    let workplace = workplace.to(&proxy.url());
    let stopped = change(&workplace, &["add-facilitator", &key]);
    assert_eq!(stopped.code, Some(3), "{}", stopped.stderr);
    let last = stopped.stderr.lines().last().unwrap();
    assert!(last.contains("addresses.json"), "{last}");
    assert!(
        last.ends_with("; the same command continues from here"),
        "{last}"
    );
    assert!(record(&workplace).exists());

    fs::remove_dir(&book).unwrap();
    fs::rename(&kept, &book).unwrap();
    let workplace = workplace.to(&cluster.url());
    change(&workplace, &["add-facilitator", &key]).assert_done();
    assert!(!record(&workplace).exists());
    assert_eq!(cluster.signatures().len(), sent + 1);
    assert_eq!(shown(&workplace)["facilitators"], json!([key]));
    workplace.run(&["verify"]).assert_done();
}

/// The block hash that was signed for is too old when the command continues.
#[test]
fn a_change_that_expired_is_signed_again_and_a_foreign_one_is_refused() {
    let (cluster, workplace) = deployed();
    let key = next().pubkey().to_string();
    let before_send = |question: &Question| {
        if question.method == SEND {
            FaultAction::Kill
        } else {
            FaultAction::Forward
        }
    };
    let workplace = killed(&cluster, workplace, &["add-facilitator", &key], before_send);
    let path = record(&workplace);
    let good = fs::read_to_string(&path).unwrap();
    // Another's transaction under this change's name.
    let workplace = {
        fs::remove_file(&path).unwrap();
        killed(&cluster, workplace, &["propose", &key], before_send)
    };
    let foreign = crate::shared::process::json_file(&path)[format!("propose {key}")].clone();
    fs::write(
        &path,
        json!({ format!("add-facilitator {key}"): foreign }).to_string(),
    )
    .unwrap();
    let refused = change(&workplace, &["add-facilitator", &key]);
    refused.assert_refused(2, "is not this change, or not by this key");
    fs::write(&path, &good).unwrap();
    let refused = change_by_next(&workplace, &["add-facilitator", &key]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);

    let sent = cluster.signatures().len();
    cluster.ask("local_expire_blockhashes", json!([]));
    cluster.ask("local_advance", json!([64])); // and that is final
    let done = change(&workplace, &["add-facilitator", &key, "--json"]);
    assert_eq!(done.assert_done().json()["attempts"], 2);
    assert_eq!(cluster.signatures().len(), sent + 1);
    assert_eq!(shown(&workplace)["facilitators"], json!([key]));
}
