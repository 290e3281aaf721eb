//! The built program says where to report a vulnerability, as explorers and researchers read it.

use solana_security_txt::{Contact, find_and_parse};
use std::{fs, path::Path};

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The `repository` of the workspace's manifest.
fn repository() -> String {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let value = manifest
        .lines()
        .find_map(|line| line.strip_prefix("repository = "));
    value.unwrap().trim_matches('"').to_owned()
}

#[test]
fn the_built_program_names_the_private_report_and_the_policy() {
    let elf = fs::read(root().join("target/deploy/agent_registry.so")).unwrap();
    let read = find_and_parse(&elf).unwrap();
    let repository = repository();
    assert_eq!(read.project_url, repository);
    assert_eq!(read.source_code.as_ref(), Some(&repository));
    let [Contact::Link(report)] = &read.contacts[..] else {
        panic!("one link: {read}");
    };
    // what SECURITY.md describes
    assert_eq!(*report, format!("{repository}/security/advisories/new"));
    let file = read
        .policy
        .strip_prefix(&format!("{repository}/blob/main/"))
        .unwrap();
    let policy = fs::read_to_string(root().join(file)).unwrap();
    assert!(policy.contains("## Reporting a vulnerability"));
}
