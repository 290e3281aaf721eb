//! A tool or a built file that is not there, or is something else.
use super::{assert_sentence, conform, folder_with, text};
use crate::invocation::answer;
use std::{fs, os::unix::fs::PermissionsExt, path::Path};

#[test]
fn a_missing_anvil_is_exit_code_3() {
    let mut bare = conform(&["--backend", "evm-anvil"]);
    bare.env("PATH", "/nonexistent").env_remove("CONCORD_ANVIL");
    assert_sentence(
        &answer(&mut bare),
        3,
        "anvil not found on PATH: run scripts/bootstrap",
    );
    let mut named = conform(&["--backend", "evm-anvil", "--anvil", "/nonexistent/anvil"]);
    assert_sentence(
        &answer(&mut named),
        3,
        "anvil not found at /nonexistent/anvil",
    );
    let mut by_variable = conform(&["--backend", "evm-anvil"]);
    by_variable.env("CONCORD_ANVIL", "/nonexistent/other");
    assert_sentence(
        &answer(&mut by_variable),
        3,
        "anvil not found at /nonexistent/other",
    );
}

#[test]
fn a_script_in_anvil_s_place_is_exit_code_3() {
    let (_folder, script) = folder_with("anvil", b"#!/bin/sh\nexit 0\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = conform(&["--backend", "evm-anvil", "--anvil", text(&script)]);
    assert_sentence(&answer(&mut command), 3, "is a script, not anvil itself");
}

#[test]
fn a_missing_or_unreadable_artifact_is_exit_code_3() {
    let (folder, file) = folder_with("IdentityRegistry.sol/IdentityRegistry.json", b"{}");
    let with = |path: &Path| {
        answer(&mut conform(&[
            "--backend",
            "evm-anvil",
            "--artifacts",
            text(path),
        ]))
    };
    assert_sentence(
        &with(folder.path()),
        3,
        "bytecode.object is not text; run scripts/build",
    );
    fs::remove_file(&file).unwrap();
    let missing = with(folder.path());
    assert_sentence(
        &missing,
        3,
        "IdentityRegistry.json not found: run scripts/build",
    );
}

#[test]
fn a_missing_or_unusable_program_is_exit_code_3() {
    let (folder, file) = folder_with("agent_registry.so", b"not an ELF");
    let with = |path: &Path| {
        answer(&mut conform(&[
            "--backend",
            "svm-litesvm",
            "--program",
            text(path),
        ]))
    };
    assert_sentence(&with(&file), 3, "agent_registry.so does not load");
    let missing = with(&folder.path().join("none.so"));
    assert_sentence(&missing, 3, "none.so not found: run scripts/build");
}
