//! Keypair files that are none, and nothing secret in what is said of them.
use crate::svm::{
    cluster::{Cluster, deployer},
    workplace::{Workplace, write_keypair},
};
use serde_json::json;
use solana_keypair::Keypair;
use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
};

#[test]
fn refuses_keypair_files_that_are_none() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    let path = workplace.file("deployer.json");
    let good = deployer().to_bytes();
    let mut wrong = good.to_vec();
    wrong[63] ^= 1;
    for (text, words) in [
        (json!(good[..63]).to_string(), "has 63 bytes, not 64"),
        (
            json!(wrong).to_string(),
            "its second half is not the public key of its first",
        ),
        (
            json!(vec![300; 64]).to_string(),
            "not a JSON array of 64 bytes",
        ),
        (
            "7 words of a mnemonic".to_owned(),
            "not a JSON array of 64 bytes",
        ),
        (String::new(), "not a JSON array of 64 bytes"),
    ] {
        fs::write(&path, text).unwrap();
        workplace.apply(&[]).assert_refused(2, words);
    }
    fs::remove_file(&path).unwrap();
    workplace.apply(&[]).assert_refused(2, "No such file");
    cluster.assert_nothing_was_sent();
}

#[test]
fn a_keypair_that_others_can_read_is_reported() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    let plan = ["plan", "--upgrade-authority", "keep"];
    assert_eq!(workplace.run(&plan).assert_done().stderr, "");
    let path = workplace.file("deployer.json");
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    let reported = workplace.run(&plan);
    let words = "deployer.json can be read by other users of this machine: chmod 600";
    assert!(
        reported.assert_done().stderr.contains(words),
        "{}",
        reported.stderr
    );
}

#[test]
fn refuses_to_go_without_a_keypair_or_with_another_than_named() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    let run = |arguments: &[&str]| {
        let mut command = workplace.command(arguments);
        command.env_remove("CONCORD_SOLANA_KEYPAIR");
        crate::shared::process::answer(command.spawn().unwrap())
    };
    let plan = ["plan", "--upgrade-authority", "keep"];
    run(&plan).assert_refused(2, "give --keypair or set CONCORD_SOLANA_KEYPAIR, or --from");
    let apply = ["apply", "--yes", "--upgrade-authority", "keep"];
    run(&apply).assert_refused(2, "give --keypair or set CONCORD_SOLANA_KEYPAIR");
    let other = "SysvarC1ock11111111111111111111111111111111";
    workplace
        .run(&[&plan[..], &["--from", other]].concat())
        .assert_refused(2, "the key belongs to");
    run(&[&plan[..], &["--from", "0x12"]].concat())
        .assert_refused(2, "--from 0x12: not a public key of 32 bytes in base58");

    let mut command = workplace.command(&apply);
    command.env_remove("CONCORD_PROGRAM_KEYPAIR");
    let stopped = crate::shared::process::answer(command.spawn().unwrap());
    stopped.assert_refused(2, "give --program-keypair or set CONCORD_PROGRAM_KEYPAIR");
    write_keypair(
        &workplace.file("program.json"),
        &Keypair::new_from_array([9; 32]),
    );
    workplace
        .apply(&[])
        .assert_refused(2, "the program's keypair is for");
    cluster.assert_nothing_was_sent();
}

/// A whole run, and one that stops: no byte of either secret key in any form.
#[test]
fn no_secret_is_printed_or_written() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    let secrets: Vec<String> = [deployer(), crate::svm::cluster::program_key()]
        .iter()
        .flat_map(|key| {
            let secret = key.secret_bytes();
            let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
            [
                hex,
                json!(secret).to_string(),
                key.to_base58_string(),
                format!("{secret:?}"),
            ]
        })
        .collect();
    let assert_clean = |text: &str| {
        for secret in &secrets {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    };
    let runs: [&[&str]; 5] = [
        &["plan", "--upgrade-authority", "keep"],
        &["apply", "--yes", "--upgrade-authority", "keep"],
        &["verify"],
        &["status"],
        &["resume", "--yes"],
    ];
    for arguments in runs {
        let answer = workplace.run(arguments);
        assert_clean(&answer.stdout);
        assert_clean(&answer.stderr);
    }
    assert_clean(&fs::read_to_string(workplace.run_file()).unwrap());
    assert_clean(&workplace.recorded().to_string());
}
