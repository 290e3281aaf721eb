//! `concord-index serve`.
use crate::api::server::Server;
use crate::worlds::database::argument;
use concord_testkit::command::concord;
use concord_testkit::http::get;
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

fn concord_index() -> Command {
    concord(&["index"])
}

#[test]
fn a_store_is_served_while_it_is_written_until_a_signal_ends_it() {
    // The writer's connection stays open.
    let server = Server::start();
    let mut child = concord_index()
        .args(["serve", "--listen", "127.0.0.1:0", "--store"])
        .arg(argument(&server.database.location))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let address = first.strip_prefix("listening on http://").unwrap();
    let ready = get(address, "/readyz");
    assert!(ready.starts_with("HTTP/1.1 200 OK\r\n"), "{ready}");
    assert!(ready.contains("\"ready\":true"), "{ready}");
    let ended = Command::new("kill").arg(child.id().to_string()).status();
    assert!(ended.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_file_that_is_not_the_page_that_verifies_bundles_is_refused_before_anything_is_served() {
    let server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    std::fs::write(&page, "<script>alert(1)</script>").unwrap();
    for (file, words) in [
        (page.clone(), "it has no Content-Security-Policy"),
        (folder.path().join("none.html"), "No such file"),
    ] {
        let mut serve = concord_index();
        serve.args(["serve", "--listen", "127.0.0.1:0", "--store"]);
        serve.arg(argument(&server.database.location));
        let ended = serve.arg("--explain-page").arg(&file).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(2), "{said}");
        let expected = format!("--explain-page {}: {words}", file.display());
        assert!(said.contains(&expected), "{said}");
    }
}

#[test]
fn a_store_that_is_not_there_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("none.sqlite");
    let serve = concord_index()
        .arg("serve")
        .arg("--store")
        .arg(&file)
        .output();
    let serve = serve.unwrap();
    assert_eq!(serve.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&serve.stderr).contains("use run"));
    assert!(!file.exists());
}
