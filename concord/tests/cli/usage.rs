//! A command line or a scenario file that is wrong.
use super::{assert_sentence, changed, folder_with, text};
use crate::invocation::{answer, concord};
use serde_json::json;

#[test]
fn a_malformed_scenario_is_exit_code_2_and_named_with_its_path() {
    let (_folder, file) = changed("register", "/steps/0/do/register/by", json!(7));
    let words = "changed.json: steps[0].do.register.by: invalid type: integer `7`";
    assert_sentence(
        &answer(&mut concord(&["conform", "--scenario", text(&file)])),
        2,
        words,
    );
    let (_folder, file) = folder_with("text.json", b"{ not json");
    let words = "text.json: ";
    assert_sentence(
        &answer(&mut concord(&["conform", "--scenario", text(&file)])),
        2,
        words,
    );
}

#[test]
fn an_unknown_scenario_backend_or_option_is_exit_code_2() {
    let unknown = answer(&mut concord(&["conform", "--scenario", "no-such-scenario"]));
    assert_sentence(&unknown, 2, "scenario no-such-scenario not found");
    for arguments in [
        &["conform", "--backend", "evm-besu"][..],
        &["conform", "--jsn"],
        &["conform", "--verbose", "--json"],
        &["conform", "--adapter", "true"],
        &["conform", "--adapter-chain", "evm"],
        &["conform", "--adapter", "true", "--adapter-chain", "near"],
        &["fill", "--json"],
        &["perform"],
        &[],
    ] {
        let answer = answer(&mut concord(arguments));
        assert_eq!(
            (answer.code, answer.stdout.as_str()),
            (2, ""),
            "{arguments:?}"
        );
        assert!(!answer.stderr.is_empty());
    }
}
