//! Buffers that were left over keep lamports: they are found, and taken back when asked for.
use crate::shared::fault_proxy::{FaultAction, FaultProxy};
use crate::svm::{
    cluster::{Cluster, deployer},
    workplace::{APPLY, Workplace, built},
};
use solana_keypair::Keypair;
use solana_loader_v3_interface::instruction as loader;
use solana_signer::Signer;

/// What its rent is: of the account's own 128 bytes, the loader's 37, and the program.
fn buffer_rent() -> u64 {
    6_960 * (128 + 37 + built().len() as u64)
}

/// A run of another program that is given up in the middle of its writes.
fn leave_a_buffer(cluster: &Cluster) {
    let mut other = built();
    *other.last_mut().unwrap() ^= 1;
    let proxy = FaultProxy::start(cluster.port(), |question| match question.sends {
        0..100 => FaultAction::Forward,
        _ => FaultAction::Kill,
    });
    let id = crate::svm::cluster::program_key().pubkey().to_string();
    let workplace = Workplace::at_url(&proxy.url()).with_program("other", &other, &id);
    let child = workplace.command(APPLY).spawn().unwrap();
    proxy.set_victim(child.id());
    assert_eq!(crate::shared::process::answer(child).code, None);
}

#[test]
fn they_are_named_and_left_alone_unless_asked_for() {
    let cluster = Cluster::start();
    leave_a_buffer(&cluster);
    let workplace = Workplace::at(&cluster);
    let plan = workplace.plan(&[]);
    let (sol, lamports) = (buffer_rent() / 1_000_000_000, buffer_rent() % 1_000_000_000);
    let words = format!(
        "1 other buffers of the deployer keep {sol}.{lamports:09} SOL: --reclaim-buffers closes them"
    );
    assert!(
        plan.assert_done().stdout.contains(&words),
        "{}",
        plan.stdout
    );
    workplace.apply(&[]).assert_done();
    let after = workplace.plan(&[]);
    assert!(
        after.assert_done().stdout.contains(&words),
        "{}",
        after.stdout
    );
}

/// The buffer of this very build: only the deployer could have opened it, and may have
/// given it away since.
#[test]
fn refuses_a_buffer_that_was_handed_to_another_key() {
    let cluster = Cluster::start();
    let proxy = FaultProxy::start(cluster.port(), |question| match question.sends {
        0..=100 => FaultAction::Forward,
        _ => FaultAction::Kill,
    });
    let workplace = Workplace::at_url(&proxy.url());
    let child = workplace.command(APPLY).spawn().unwrap();
    proxy.set_victim(child.id());
    assert_eq!(crate::shared::process::answer(child).code, None);
    let workplace = workplace.to(&cluster.url());
    let buffer = workplace.run_record()["steps"][0]["address"].clone();
    let buffer = buffer.as_str().unwrap().parse().unwrap();
    let other = Keypair::new_from_array([8; 32]).pubkey();
    let give = loader::set_buffer_authority(&buffer, &deployer().pubkey(), &other);
    cluster.carry_out(&[give], &[]);
    let words = format!("buffer {buffer} belongs to {other}");
    workplace.resume(&[]).assert_refused(2, &words);
}

/// Looking through all of a program's accounts is dear: not every endpoint does it.
#[test]
fn where_they_cannot_be_listed_only_reclaiming_is_refused() {
    let cluster = Cluster::start();
    let proxy = FaultProxy::start(cluster.port(), |question| match &*question.method {
        "getProgramAccounts" => FaultAction::Refuse(-32_601, "not for free"),
        _ => FaultAction::Forward,
    });
    let workplace = Workplace::at_url(&proxy.url());
    let plan = workplace.plan(&[]);
    let words = "buffers that were left over are not known: not for free";
    assert!(plan.assert_done().stdout.contains(words), "{}", plan.stdout);
    let words = "--reclaim-buffers: the endpoint does not look for buffers: not for free";
    workplace
        .plan(&["--reclaim-buffers"])
        .assert_refused(2, words);
}

#[test]
fn they_are_closed_when_asked_for_and_their_lamports_come_back() {
    let cluster = Cluster::start();
    leave_a_buffer(&cluster);
    let workplace = Workplace::at(&cluster);
    workplace.apply(&[]).assert_done();
    let before = cluster.balance(&deployer().pubkey());
    let sent = cluster.signatures().len();
    let reclaimed = workplace.apply(&["--reclaim-buffers"]);
    assert!(
        reclaimed.assert_done().stderr.contains("reclaim-"),
        "{}",
        reclaimed.stderr
    );
    assert_eq!(cluster.signatures().len(), sent + 1);
    const FEE: u64 = 5_000;
    assert_eq!(
        cluster.balance(&deployer().pubkey()),
        before + buffer_rent() - FEE
    );
    let plan = workplace.plan(&["--reclaim-buffers"]);
    assert!(
        !plan.assert_done().stdout.contains("reclaim-"),
        "{}",
        plan.stdout
    );
}
