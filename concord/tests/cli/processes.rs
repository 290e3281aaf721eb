//! What a run starts ends with it, however the run ends.
use crate::invocation::concord;
use std::{
    fs,
    io::{BufRead, BufReader, Read},
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Child, ChildStderr, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

const SIGNALS: [(&str, i32); 3] = [("-TERM", 15), ("-INT", 2), ("-HUP", 1)];
/// Introduces itself, and then neither answers nor notices that nobody asks any more.
const DEAF_ADAPTER: &str = r#"sh -c "read -r asked; echo '{\"id\":1,\"ok\":{\"protocol\":1,\"name\":\"deaf\",\"operations\":[\"register\"]}}'; exec sleep 600""#;

/// What `parent` has started, on whichever of its threads.
fn children(parent: &Child) -> Vec<String> {
    let threads = format!("/proc/{}/task", parent.id());
    let lists = fs::read_dir(threads).into_iter().flatten().map(|thread| {
        let list = thread.unwrap().path().join("children");
        fs::read_to_string(list).unwrap_or_default()
    });
    let lists: String = lists.collect();
    lists.split_whitespace().map(str::to_owned).collect()
}

fn runs(process: &str) -> bool {
    let status = fs::read_to_string(Path::new("/proc").join(process).join("stat"));
    status.is_ok_and(|status| !status.contains(") Z "))
}

/// Sends `signal` to a run, `pause` after it started its first process.
fn stop_a_run(arguments: &[&str], signal: &str, pause: Duration) -> (ExitStatus, Vec<String>) {
    let mut run = concord(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut started = children(&run);
    while started.is_empty() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(2));
        started = children(&run);
    }
    assert!(!started.is_empty(), "nothing was started");
    thread::sleep(pause);
    let sent = Command::new("kill")
        .args([signal, &run.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    (run.wait().unwrap(), started)
}

fn assert_ends_with_its_run(arguments: &[&str]) {
    for (signal, number) in SIGNALS {
        for pause in [0, 400] {
            let (status, started) = stop_a_run(arguments, signal, Duration::from_millis(pause));
            assert_eq!(status.signal(), Some(number), "{status}");
            for process in started {
                assert!(!runs(&process), "{signal} leaves process {process} behind");
            }
        }
    }
}

#[test]
fn anvil_ends_with_the_run() {
    assert_ends_with_its_run(&["conform", "--backend", "evm-anvil"]);
}

#[test]
fn an_adapter_ends_with_the_run() {
    let adapter = ["--adapter", DEAF_ADAPTER, "--adapter-chain", "evm"];
    assert_ends_with_its_run(&[&["conform", "--backend", "none"][..], &adapter].concat());
}

/// A run on anvil that has played its first scenario, and the process ids of what it started.
fn started_on_anvil() -> (Child, BufReader<ChildStderr>, Vec<String>) {
    let mut run = concord(&["conform", "--backend", "evm-anvil", "--filter", "open/"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut progress = BufReader::new(run.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("evm-anvil") {
        line.clear();
        let read = progress.read_line(&mut line).unwrap();
        assert_ne!(read, 0, "the run ended early");
    }
    let started = children(&run);
    assert!(!started.is_empty());
    (run, progress, started)
}

#[test]
fn an_anvil_that_dies_in_mid_run_is_started_again_and_leaves_the_report() {
    let (run, mut progress, started) = started_on_anvil();
    for process in started {
        let kill = Command::new("kill").args(["-KILL", &process]).status();
        assert!(kill.unwrap().success());
    }
    let mut rest = String::new();
    progress.read_to_string(&mut rest).unwrap();
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{rest}");
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.contains("inconclusive: no answer"), "{report}");
    assert!(
        report.ends_with("did not answer: evm-anvil; everything else agrees\n"),
        "{report}"
    );
    let words = "concord: evm-anvil stopped answering in scenario ";
    let told = rest.lines().filter(|line| line.starts_with(words));
    assert_eq!(told.count(), 1, "{rest}");
}

#[test]
fn a_run_leaves_no_process_behind() {
    let (run, mut progress, started) = started_on_anvil();
    progress.read_to_string(&mut String::new()).unwrap();
    assert_eq!(run.wait_with_output().unwrap().status.code(), Some(0));
    for process in started {
        assert!(!Path::new("/proc").join(&process).exists(), "{process}");
    }
}
