//! Two writers of one deployment.
use crate::store::world::{World, deployment};
use crate::worlds::database::fresh;
use concord_index::{
    StoreError,
    batch::Batch,
    store::{Database, Sqlite, Store},
};

fn world() -> World {
    World {
        blocks: 9,
        at_once: 9,
        fork: u64::MAX,
        name: 1,
    }
}

#[test]
fn a_second_writer_is_refused_until_the_first_one_ends() {
    let fresh = fresh();
    let open = || Store::open(fresh.location.open().unwrap()).unwrap();
    let mut first = open();
    first.claim(&deployment()).unwrap();
    let error = open().claim(&deployment()).unwrap_err();
    assert!(matches!(error, StoreError::SecondWriter { .. }), "{error}");
    // Another deployment has a writer of its own, and readers need no claim.
    let mut other = deployment();
    other.chain = "eip155:1".parse().unwrap();
    open().claim(&other).unwrap();
    assert!(open().find(&deployment()).unwrap().is_some());
    drop(first);
    open().claim(&deployment()).unwrap();
}

/// The lock is beside the file, which can have several names.
#[cfg(unix)]
#[test]
fn a_second_writer_is_refused_by_whatever_name_it_opens_the_file() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("data")).unwrap();
    symlink(at("data"), at("linked")).unwrap();
    symlink("data/i.sqlite", at("b.sqlite")).unwrap();
    let open = |name: &str| Store::open(Sqlite::open(&at(name)).unwrap()).unwrap();
    let names = ["data/i.sqlite", "linked/i.sqlite", "b.sqlite"];
    for (first, second) in names.iter().flat_map(|it| names.map(|other| (it, other))) {
        let mut held = open(first);
        held.claim(&deployment()).unwrap();
        let error = open(second).claim(&deployment()).unwrap_err();
        let is_refused = matches!(error, StoreError::SecondWriter { .. });
        assert!(is_refused, "{first}, {second}: {error}");
    }
}

/// Locks fail on some network file systems, and behind a pool of connections: each commit looks at the cursor.
#[test]
fn a_writer_that_another_one_overtook_writes_nothing() {
    let fresh = fresh();
    let open = || Store::open(fresh.location.open().unwrap()).unwrap();
    let batch = |world: &World, number: u64| Batch {
        through: world.header(number),
        parent: None,
        headers: vec![world.header(number)],
        events: world.events(number),
        undecoded: vec![],
        suspects: Vec::new(),
    };
    let (ours, theirs) = (world(), World { fork: 2, ..world() });
    let (mut first, mut second) = (open(), open());
    let id = first.claim(&deployment()).unwrap();
    for number in 1..=2 {
        first.commit(id, &batch(&ours, number), None, 64).unwrap();
    }
    assert_eq!(second.find(&deployment()).unwrap(), Some(id)); // and no lock holds it
    second.cursor(id).unwrap();
    let overtaken = |behind: &mut Store<Database>, ahead: &mut Store<Database>| {
        let before = (ahead.digest(id).unwrap(), ahead.cursor(id).unwrap());
        let committed = behind.commit(id, &batch(&theirs, 3), None, 64);
        let taken_back = behind.roll_back(id, &ours.header(1), 5);
        let repaired = behind.mend(id, &batch(&theirs, 2)).map(drop);
        for refused in [committed, taken_back, repaired] {
            let error = refused.unwrap_err();
            assert!(matches!(error, StoreError::CursorMoved { .. }), "{error}");
        }
        assert_eq!(
            (ahead.digest(id).unwrap(), ahead.cursor(id).unwrap()),
            before
        );
        // Whoever reads the cursor again goes on from there.
        assert_eq!(behind.cursor(id).unwrap(), before.1);
    };
    first.commit(id, &batch(&ours, 3), None, 64).unwrap();
    overtaken(&mut second, &mut first);
    second.roll_back(id, &ours.header(1), 5).unwrap();
    second.commit(id, &batch(&theirs, 2), None, 64).unwrap();
    overtaken(&mut first, &mut second);
    first.commit(id, &batch(&theirs, 3), None, 64).unwrap();
    let digest = first.digest(id).unwrap();
    assert_eq!(first.rebuild_digest(id).unwrap(), digest);
}
