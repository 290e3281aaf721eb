use crate::svm_backend::world::{ACTORS, START, World, program, read, text};
use concord_harness::{
    backend::{Backend, StepFault, svm::SvmLitesvm},
    model::Actor,
};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::{fs, path::Path};

fn refusal(file: &Path) -> String {
    match SvmLitesvm::start(file) {
        Ok(_) => panic!("{} starts", file.display()),
        Err(fault) => fault.to_string(),
    }
}

#[test]
fn a_program_that_cannot_be_used_is_one_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let file = folder.path().join(name);
        fs::write(&file, bytes).unwrap();
        file
    };
    let missing = folder.path().join("missing.so");
    assert_eq!(
        refusal(&missing),
        format!(
            "program {} not found: run scripts/build, or name the file with --program",
            missing.display()
        )
    );
    let unusable = |file: &Path, reason: &str| {
        let expected = format!("program {} does not load: {reason}", file.display());
        let refusal = refusal(file);
        assert!(refusal.starts_with(&expected), "{refusal}");
    };
    unusable(&file("text.so", b"hello"), "it is not an ELF file");
    unusable(&file("empty.so", b""), "it is not an ELF file");
    let sound = fs::read(program()).unwrap();
    let cut = file("cut.so", &sound[..sound.len() / 2]);
    let note = folder.path().join("cut.build.json");
    unusable(&cut, &format!("{} not found", note.display()));
    let digest = Sha256::digest(&sound[..sound.len() / 2]);
    let note = json!({
        "programId": "4dqu3YHQaBRRG7MPP4KRapDWK2XoAcHuAjTRwTuZCxbB",
        "sha256": hex::encode(digest),
        "toolchain": "none",
    });
    file("cut.build.json", note.to_string().as_bytes());
    unusable(&cut, "the VM refuses it: ");
    unusable(folder.path(), "");
}

#[test]
fn a_program_whose_registry_cannot_be_initialized_is_one_clear_error() {
    // another program of this workspace, which knows no such instruction
    let other = program().with_file_name("canonical_probe.so");
    let refusal = refusal(&other);
    assert!(
        refusal.starts_with("the registries cannot be set up on svm-litesvm: initialize: "),
        "{refusal}"
    );
}

#[test]
fn what_the_chain_does_not_have_is_not_supported() {
    let mut backend = SvmLitesvm::start(&program()).unwrap();
    backend.reset(START, &ACTORS.map(Actor::from)).unwrap();
    for absent in [
        json!({"approve": {"agent": "bot", "by": "alice", "operator": "bob"}}),
        json!({"set_operator": {"by": "alice", "operator": "bob", "approved": true}}),
    ] {
        let absent = read(absent);
        assert!(!backend.supports(&absent));
        let fault = backend.execute(&absent, 1).unwrap_err();
        assert!(matches!(fault, StepFault::Inexpressible(_)), "{fault}");
    }
}

#[test]
fn a_transaction_that_no_packet_holds_is_not_sent() {
    let mut world = World::new();
    let long = json!({"register": {"agent": "bot", "by": "alice", "uri": text(1000)}});
    let fault = world.backend.execute(&read(long), 1).unwrap_err();
    assert!(
        matches!(&fault, StepFault::Inexpressible(reason) if reason.ends_with("does not fit a packet of 1232")),
        "{fault}"
    );
    assert_eq!(world.backend.state().unwrap().agents.len(), 0);
}

#[test]
fn a_reset_forgets_everything() {
    let mut world = World::with_agent();
    world.accepts(json!({"burn": {"agent": "bot", "by": "alice"}}));
    world.accepts(json!({"propose_registry_authority": {"by": "deployer", "successor": "bob"}}));
    world.accepts(json!({"accept_registry_authority": {"by": "bob"}}));
    world.reset();
    world.check_state();
    world.accepts(json!({"register": {"agent": "bot", "by": "bob", "uri": ""}}));
    world.accepts(
        json!({"list_payment_token": {"by": "deployer", "token": "usdc", "listed": true}}),
    );
}
