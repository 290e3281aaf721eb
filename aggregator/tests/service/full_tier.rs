//! What takes long: `scripts/test full` runs it, and `scripts/test` does not.
use concord_testkit::postgres::Server;
use std::{env, process::Command};

/// The same tests, by the same SQL.
#[test]
fn the_same_on_postgres() {
    let server = Server::start();
    let tests = [
        "policy::r5",
        "lanes::r36",
        "lanes::r53_what",
        "lanes::r55",
        "neutral::the_decisions",
        "end_to_end::",
        "overtaken::",
        "restarts::what_the_registry",
        "respond::r5",
        "revoke::r58",
        "revenues::",
        "sponsored::",
    ];
    let output = Command::new(env::current_exe().unwrap())
        .args(tests)
        .args(["--skip", "older_version"]) // there was none
        .args(["--skip", "wherever_it_is_killed"]) // each start would wait for the lease of the one before
        .env("CONCORD_TEST_POSTGRES", server.address())
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "on Postgres: {words}");
    for test in [
        "r52_budgets_are_of_an_agent",
        "r58_only_the_reviewer",
        "r36_what_a_node",
        "r53_what_failed",
        "r53_what_is_begun",
        "r55_nothing_is_signed",
        "r57_what_was_overtaken",
        "r58_only_the_agent",
        "r59_what_expires",
        "r60_",
    ] {
        assert!(words.contains(test), "{words}");
    }
}
