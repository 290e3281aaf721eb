//! Another program at the address, put there on purpose.
use crate::shared::fault_proxy::{FaultAction, FaultProxy};
use crate::shared::process::answer;
use crate::svm::{
    cluster::{Cluster, program_key, registry},
    workplace::{APPLY, Workplace, built},
};
use serde_json::{Value, json};
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::fs;

/// A program that does the same, other in one letter of a panic's text.
fn changed() -> Vec<u8> {
    let mut elf = built();
    let path = b"/rust/library";
    let at = elf.windows(path.len()).position(|it| it == path).unwrap();
    elf[at + 1] = b'R';
    elf
}

fn with(workplace: Workplace, name: &str, elf: &[u8]) -> Workplace {
    workplace.with_program(name, elf, &program_key().pubkey().to_string())
}

#[test]
fn only_what_is_asked_for_is_replaced() {
    let cluster = Cluster::start();
    let workplace = with(Workplace::at(&cluster), "first", &changed());
    workplace.apply(&[]).assert_done();
    let before = cluster.account(&registry()).unwrap();
    let sent = cluster.signatures().len();

    let workplace = with(workplace, "second", &built());
    workplace
        .apply(&[])
        .assert_refused(2, "pass --upgrade to replace it");
    assert_eq!(workplace.run(&["verify"]).code, Some(1));
    let status = workplace.run(&["status"]);
    assert_eq!(status.code, Some(1));
    assert!(
        status.stdout.contains("the build has changed"),
        "{}",
        status.stdout
    );
    assert_eq!(cluster.signatures().len(), sent);

    workplace.apply(&["--upgrade"]).assert_done();
    assert!(cluster.program().0 == built());
    // A buffer, its writes and the upgrade; the registry stays as it is.
    assert_eq!(cluster.signatures().len(), 2 * sent - 1);
    assert_eq!(cluster.account(&registry()).unwrap(), before);
    for command in ["verify", "status"] {
        workplace.run(&[command]).assert_done();
    }
}

/// SIMD-0431: never by less than 10,240 bytes.
#[test]
fn a_larger_program_is_given_room_first() {
    let cluster = Cluster::start();
    let workplace = with(Workplace::at(&cluster), "small", &built());
    workplace.apply(&[]).assert_done();
    let larger = [&built()[..], &[0xaa; 100]].concat();
    let workplace = with(workplace, "large", &larger);
    let plan = workplace.plan(&["--upgrade"]);
    assert!(
        plan.assert_done().stdout.contains("program-room"),
        "{}",
        plan.stdout
    );
    workplace.apply(&["--upgrade"]).assert_done();
    let (content, _) = cluster.program();
    assert_eq!(content.len(), built().len() + 10_240);
    assert!(content.starts_with(&larger));
    for command in ["verify", "status"] {
        workplace.run(&[command]).assert_done();
    }
    let smaller = with(workplace, "small", &built());
    smaller.apply(&["--upgrade"]).assert_done();
    smaller.run(&["verify"]).assert_done();
}

/// A run with a handover was begun with one program. With another, which is deployed already, resuming
/// it would give the authority away and replace nothing.
#[test]
fn refuses_to_go_on_with_another_program_than_the_run_s() {
    let cluster = Cluster::start();
    let workplace = with(Workplace::at(&cluster), "first", &built());
    workplace.apply(&[]).assert_done();
    let (_, authority) = cluster.program();

    let sent = cluster.signatures().len();
    let proxy = FaultProxy::start(cluster.port(), |question| match question.sends {
        0..4 => FaultAction::Forward,
        _ => FaultAction::Kill,
    });
    let second = with(workplace.to(&proxy.url()), "second", &changed());
    let heir = Keypair::new_from_array([8; 32]).pubkey().to_string();
    let child = second
        .command(&["apply", "--yes", "--poll", "40", "--upgrade"])
        .args(["--upgrade-authority", &heir])
        .spawn()
        .unwrap();
    proxy.set_victim(child.id());
    assert_eq!(answer(child).code, None);
    assert!(cluster.signatures().len() > sent);

    let first = with(second.to(&cluster.url()), "first", &built());
    let words = "the unfinished run has build 0x";
    first.resume(&[]).assert_refused(2, words);
    assert_eq!(cluster.program().1, authority);
    with(first, "second", &changed()).resume(&[]).assert_done();
    assert!(cluster.program().0 == changed());
    assert_eq!(cluster.program().1.unwrap().to_string(), heir);
}

/// Whoever can write to the run file does not choose what is sent.
#[test]
fn refuses_a_transaction_in_the_run_file_that_is_not_the_step_s() {
    let cluster = Cluster::start();
    let proxy = FaultProxy::start(cluster.port(), |question| match question.sends {
        0..4 => FaultAction::Forward,
        _ => FaultAction::Kill,
    });
    let workplace = Workplace::at_url(&proxy.url());
    let child = workplace.command(APPLY).spawn().unwrap();
    proxy.set_victim(child.id());
    assert_eq!(answer(child).code, None);
    let workplace = workplace.to(&cluster.url());
    let run: Value = serde_json::from_slice(&fs::read(workplace.run_file()).unwrap()).unwrap();
    let of_buffer = run["steps"][0]["attempts"][0].clone();
    let mut tampered = run.clone();
    tampered["steps"][300]["attempts"] = json!([of_buffer]);
    fs::write(workplace.run_file(), tampered.to_string()).unwrap();
    let refused = workplace.resume(&[]);
    refused.assert_refused(2, "is not what the step sends");
    fs::write(workplace.run_file(), run.to_string()).unwrap();
    workplace.resume(&[]).assert_done();
}
