//! Buffers that were left over keep lamports: they are found, and taken back when asked for.
use crate::{
    cluster::{Cluster, deployer},
    fault_proxy::{Deed, FaultProxy},
    workplace::{APPLY, Workplace, built},
};
use solana_signer::Signer;

/// A run of another program that is given up in the middle of its writes.
fn leave_a_buffer(cluster: &Cluster) {
    let mut other = built();
    *other.last_mut().unwrap() ^= 1;
    let proxy = FaultProxy::start(cluster.port(), |question| match question.sends {
        0..100 => Deed::Forward,
        _ => Deed::Kill,
    });
    let id = crate::cluster::program_key().pubkey().to_string();
    let workplace = Workplace::at_url(&proxy.url()).with_program("other", &other, &id);
    let child = workplace.command(APPLY).spawn().unwrap();
    proxy.set_victim(child.id());
    assert_eq!(crate::process::answer(child).code, None);
}

#[test]
fn they_are_named_and_left_alone_unless_asked_for() {
    let cluster = Cluster::start();
    leave_a_buffer(&cluster);
    let workplace = Workplace::at(&cluster);
    let plan = workplace.plan(&[]);
    let words =
        "1 other buffers of the deployer keep 2.981420400 SOL: --reclaim-buffers closes them";
    assert!(plan.assert_done().stdout.contains(words), "{}", plan.stdout);
    workplace.apply(&[]).assert_done();
    let after = workplace.plan(&[]);
    assert!(
        after.assert_done().stdout.contains(words),
        "{}",
        after.stdout
    );
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
        before + 2_981_420_400 - FEE
    );
    let plan = workplace.plan(&["--reclaim-buffers"]);
    assert!(
        !plan.assert_done().stdout.contains("reclaim-"),
        "{}",
        plan.stdout
    );
}
