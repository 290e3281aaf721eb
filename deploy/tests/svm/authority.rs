//! Who can replace the program once it is deployed.
use crate::shared::process::answer;
use crate::svm::{
    cluster::{Cluster, deployer, program_data, program_key, registry},
    workplace::{Workplace, write_keypair},
};
use concord_local_cluster::Options;
use solana_account::Account;
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::{io::Write, process::Stdio};

/// Squads' program, version 4, and the start of its account `Multisig` (its published IDL).
const SQUADS: &str = "SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf";
const MULTISIG: [u8; 8] = [224, 116, 121, 186, 68, 161, 79, 236];

fn apply(workplace: &Workplace, authority: &str, more: &[&str]) -> crate::shared::process::Answer {
    let apply = [
        "apply",
        "--yes",
        "--poll",
        "40",
        "--upgrade-authority",
        authority,
    ];
    workplace.run(&[&apply[..], more].concat())
}

#[test]
fn it_is_never_guessed() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    workplace
        .run(&["apply", "--yes"])
        .assert_refused(2, "--upgrade-authority is missing");
    let words = "--upgrade-authority somebody: not `keep`, `none` or a public key in base58";
    apply(&workplace, "somebody", &[]).assert_refused(2, words);
    cluster.assert_nothing_was_sent();
}

#[test]
fn handed_to_another_key_it_is_out_of_the_deployer_s_hands() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    let other = Keypair::new_from_array([8; 32]).pubkey();
    apply(&workplace, &other.to_string(), &[]).assert_done();
    assert_eq!(cluster.program().1, Some(other));
    workplace.run(&["verify"]).assert_done();
    let again = apply(&workplace, &other.to_string(), &[]);
    assert!(again.assert_done().stderr.contains("nothing was sent"));
    let words = format!("is {other}, not the deployer {}", deployer().pubkey());
    apply(&workplace, "keep", &[]).assert_refused(2, &words);
}

#[test]
fn none_is_confirmed_apart_and_for_ever() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    let words = "pass --make-final with --yes";
    let refused = apply(&workplace, "none", &[]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains(words), "{}", refused.stderr);
    cluster.assert_nothing_was_sent();

    let applied = apply(&workplace, "none", &["--make-final"]);
    assert!(
        applied
            .assert_done()
            .stdout
            .contains("the program can never be replaced")
    );
    assert_eq!(cluster.program().1, None);
    let verified = workplace.run(&["verify"]);
    assert!(verified.assert_done().stdout.contains("none"));
    let words = format!("is none, not the deployer {}", deployer().pubkey());
    apply(&workplace, "keep", &[]).assert_refused(2, &words);
}

/// It was handed over behind the address book's back.
#[test]
fn verify_sees_that_it_is_another_than_on_record() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    apply(&workplace, "keep", &[]).assert_done();
    let other = Keypair::new_from_array([8; 32]).pubkey();
    apply(&Workplace::at(&cluster), &other.to_string(), &[]).assert_done();
    let verified = workplace.run(&["verify"]);
    assert_eq!(verified.code, Some(1), "{}", verified.stdout);
    let words = format!("DIFFERS  {other}, expected {}", deployer().pubkey());
    assert!(verified.stdout.contains(&words), "{}", verified.stdout);
}

/// Deployed with `keep`, handed over later: only that is sent.
#[test]
fn it_can_be_handed_over_later() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    apply(&workplace, "keep", &[]).assert_done();
    let sent = cluster.signatures().len();
    let other = Keypair::new_from_array([8; 32]).pubkey();
    apply(&workplace, &other.to_string(), &[]).assert_done();
    assert_eq!(cluster.signatures().len(), sent + 1);
    assert_eq!(cluster.program().1, Some(other));
    workplace.run(&["verify"]).assert_done();
}

/// The system program was accepted once, which made the program final.
#[test]
fn refuses_keys_that_can_never_sign() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    let token = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";
    for (key, words) in [
        (
            "11111111111111111111111111111111".to_owned(),
            "one of Solana's own programs",
        ),
        (
            "BPFLoaderUpgradeab1e11111111111111111111111".to_owned(),
            "one of Solana's own programs",
        ),
        (token.to_owned(), "a program, which cannot sign"),
        (
            "SysvarC1ock11111111111111111111111111111111".to_owned(),
            "a sysvar",
        ),
        (
            program_key().pubkey().to_string(),
            "an account of the program itself",
        ),
        (
            program_data().to_string(),
            "an account of the program itself",
        ),
        (registry().to_string(), "an account of the program itself"),
        (
            vault(1, 0).to_string(),
            "no secret key belongs to it (it is off the curve)",
        ),
    ] {
        let expected = format!("--upgrade-authority {key}: {words}");
        apply(&workplace, &key, &[]).assert_refused(2, &expected);
    }
    cluster.assert_nothing_was_sent();
}

fn multisig(number: u8) -> Address {
    Address::new_from_array([number; 32])
}

/// Squads' documentation: the seeds of a vault.
fn vault(number: u8, index: u8) -> Address {
    let multisig = multisig(number);
    let seeds: [&[u8]; 4] = [b"multisig", multisig.as_ref(), b"vault", &[index]];
    Address::find_program_address(&seeds, &SQUADS.parse().unwrap()).0
}

fn cluster_with_multisigs() -> Cluster {
    let account = |owner: &str, data: &[u8]| Account {
        lamports: 10_000_000,
        data: data.to_vec(),
        owner: owner.parse().unwrap(),
        ..Account::default()
    };
    let other = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";
    Cluster::with(Options {
        accounts: vec![
            (
                multisig(1),
                account(SQUADS, &[&MULTISIG[..], &[0; 100]].concat()),
            ),
            (multisig(2), account(SQUADS, &[1; 108])),
            (
                multisig(3),
                account(other, &[&MULTISIG[..], &[0; 100]].concat()),
            ),
        ],
        ..Cluster::options()
    })
}

#[test]
fn a_squads_vault_is_verified() {
    let cluster = cluster_with_multisigs();
    let workplace = Workplace::at(&cluster);
    let run = |vault: Address, number: u8| {
        let multisig = multisig(number).to_string();
        apply(
            &workplace,
            &vault.to_string(),
            &["--squads-multisig", &multisig],
        )
    };
    run(vault(1, 16), 1).assert_refused(2, "none of the first 16 vaults of multisig");
    run(vault(2, 0), 1).assert_refused(2, "none of the first 16 vaults of multisig");
    for number in [2, 3, 4] {
        run(vault(number, 0), number).assert_refused(2, "is not a Squads multisig");
    }
    cluster.assert_nothing_was_sent();
    run(vault(1, 3), 1).assert_done();
    assert_eq!(cluster.program().1, Some(vault(1, 3)));
    workplace.run(&["verify"]).assert_done();
}

/// `SetAuthorityChecked`: an authority that no key controls cannot sign it.
#[test]
fn the_next_authority_may_sign_the_hand_over() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    let next = Keypair::new_from_array([8; 32]);
    let file = workplace.file("next.json");
    write_keypair(&file, &next);
    let file = file.to_str().unwrap();
    let another = deployer().pubkey().to_string();
    apply(&workplace, &another, &["--upgrade-authority-keypair", file])
        .assert_refused(2, "the key belongs to");
    let named = next.pubkey().to_string();
    apply(&workplace, &named, &["--upgrade-authority-keypair", file]).assert_done();
    assert_eq!(cluster.program().1, Some(next.pubkey()));
    let hand_over = cluster.signatures()[0]["signature"].clone();
    let sent = cluster.ask(
        "getTransaction",
        serde_json::json!([hand_over, {"encoding": "base64"}]),
    );
    let raw = crate::svm::cluster::decoded(&sent["transaction"][0]);
    assert_eq!(raw[0], 2, "signatures");
}

/// On a terminal the key is asked for once more; util-linux's `script` is one.
#[test]
fn on_a_terminal_the_key_is_asked_for_again() {
    let next = Keypair::new_from_array([8; 32]).pubkey();
    for (typed, is_sent) in [(deployer().pubkey(), false), (next, true)] {
        let cluster = Cluster::start();
        let workplace = Workplace::at(&cluster);
        let next = next.to_string();
        let arguments = ["apply", "--poll", "40", "--upgrade-authority", &next];
        let command = workplace.command(&arguments);
        let words: Vec<String> = std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| format!("'{}'", word.to_str().unwrap()))
            .collect();
        let mut terminal = workplace.command(&[]);
        terminal = {
            let mut script = std::process::Command::new("script");
            script.args(["-qec", &words.join(" "), "/dev/null"]);
            for (name, value) in terminal.get_envs() {
                script.env(name, value.unwrap());
            }
            script.current_dir(crate::shared::process::clone_root());
            script
        };
        terminal
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = terminal.spawn().expect("script, of util-linux");
        let mut stdin = child.stdin.take().unwrap();
        write!(stdin, "y\n{typed}\n").unwrap();
        let answered = answer(child);
        drop(stdin);
        assert!(
            answered.stdout.contains("next upgrade authority, to go on"),
            "{}",
            answered.stdout
        );
        if is_sent {
            assert_eq!(
                cluster.program().1,
                Some(Keypair::new_from_array([8; 32]).pubkey())
            )
        } else {
            assert!(
                answered.stdout.contains("not confirmed"),
                "{}",
                answered.stdout
            );
            cluster.assert_nothing_was_sent();
        }
    }
}
