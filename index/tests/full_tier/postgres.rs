//! The tests of the store and of what reads it, on the other engine.
use crate::worlds::database::SERVER;
use concord_testkit::postgres::Server;
use std::{env, process::Command};

#[test]
fn the_same_on_postgres() {
    let server = Server::start();
    let mut tests = Command::new(env::current_exe().unwrap());
    tests.args(["api::", "files::", "replay::", "search::", "store::"]);
    tests.args(["--skip", "full_tier::"]);
    let output = tests.env(SERVER, server.address()).output().unwrap();
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "on Postgres: {words}");
    assert!(!words.contains("running 0 tests"), "{words}");
}
