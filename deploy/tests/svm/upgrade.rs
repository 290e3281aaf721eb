//! Another program at the address, put there on purpose.
use crate::{
    cluster::{Cluster, program_key, registry},
    workplace::{Workplace, built},
};
use solana_signer::Signer;

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
        .assert_refused(2, "say --upgrade to replace it");
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
    workplace.run(&["smoke", "--yes"]).assert_done();
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
    workplace.run(&["verify"]).assert_done();
    workplace.run(&["smoke", "--yes"]).assert_done();
    let smaller = with(workplace, "small", &built());
    smaller.apply(&["--upgrade"]).assert_done();
    smaller.run(&["verify"]).assert_done();
}
