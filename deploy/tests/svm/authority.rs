//! Who can replace the program once it stands.
use crate::{
    cluster::{Cluster, deployer},
    workplace::Workplace,
};
use solana_keypair::Keypair;
use solana_signer::Signer;

fn apply(workplace: &Workplace, authority: &str, more: &[&str]) -> crate::process::Answer {
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
    let words = "with --yes say --make-final";
    let refused = apply(&workplace, "none", &[]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains(words), "{}", refused.stderr);
    cluster.assert_nothing_was_sent();

    let applied = apply(&workplace, "none", &["--make-final"]);
    assert!(
        applied
            .assert_done()
            .stdout
            .contains("nobody will be able to replace the program")
    );
    assert_eq!(cluster.program().1, None);
    let verified = workplace.run(&["verify"]);
    assert!(verified.assert_done().stdout.contains("nobody"));
    let words = format!("is nobody, not the deployer {}", deployer().pubkey());
    apply(&workplace, "keep", &[]).assert_refused(2, &words);
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
