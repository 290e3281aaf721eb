//! What the committed scenarios expect.
use concord_harness::scenario::{fill, find_files, load_document, store_document};
use std::{fs, path::Path};

#[test]
fn filling_changes_no_byte_of_a_committed_file() {
    let files =
        find_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios")).unwrap();
    assert!(files.len() >= 460);
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.json");
    for file in files {
        let mut document = load_document(&file).unwrap();
        fill(&mut document, &file).unwrap();
        store_document(&copy, &document).unwrap();
        let same = fs::read(&copy).unwrap() == fs::read(&file).unwrap();
        assert!(same, "{}: run concord fill", file.display());
    }
}
