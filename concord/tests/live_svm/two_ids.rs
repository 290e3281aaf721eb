//! One built command for programs of any id: the id is in the note beside the program, and in the
//! address book.
use crate::invocation::{answer, concord};
use crate::live_svm::deployed::{Build, CHAIN, Deployed};
use solana_signer::Signer;
use std::process::Stdio;

/// Played on a cluster that others use too.
const LIVE_SCENARIO: &str = "authorized/revoke";

fn checked_in_process(build: Build) {
    let filter = ["--filter", "authorized/feedback", "--program"];
    let checked = answer(
        concord(&["conform", "--backend", "svm-litesvm"])
            .args(filter)
            .arg(build.file())
            .stdin(Stdio::null()),
    );
    assert_eq!(checked.code, 0, "{}{}", checked.stdout, checked.stderr);
}

fn deployed_and_checked(build: Build) -> String {
    let deployed = Deployed::of(build);
    let book = deployed.book();
    let address = &book["chains"][CHAIN]["contracts"]["AgentRegistry"]["address"];
    assert_eq!(*address, build.key().pubkey().to_string());
    let played = deployed.live(&["--filter", LIVE_SCENARIO]);
    assert_eq!(played.code, 0, "{}{}", played.stdout, played.stderr);
    let verify = ["deploy", "verify", "--chain", CHAIN, "--program"];
    let verified = deployed.run(&[&verify[..], &[&build.file()]].concat());
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
    address.to_string()
}

#[test]
fn one_command_deploys_and_judges_programs_of_two_ids() {
    let addresses = [Build::FIRST, Build::SECOND].map(|build| {
        checked_in_process(build);
        deployed_and_checked(build)
    });
    assert_ne!(addresses[0], addresses[1]);
}
