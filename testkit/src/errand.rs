//! Processes that do an errand and are killed at a point of it. The suites of other crates use it too.
use serde_json::Value;
use std::{
    env,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    thread,
};
use tokio::sync::Notify;

/// The child's environment has its errand.
const ERRAND: &str = "CONCORD_TEST_ERRAND";
const REACHED: &str = "reached";
const ENDED: &str = "ended";

/// The errand, in a child.
pub fn errand() -> Option<Value> {
    let text = env::var(ERRAND).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

/// Starts a child that runs one test with an errand, and kills it when it is at its point or is held. Whether
/// it came there before it ended.
pub async fn kill(test: &str, errand: &Value, held: &Notify) -> bool {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(ERRAND, errand.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said = first_word(&mut child);
    let has_reached = tokio::select! {
        said = said => said == REACHED,
        () = held.notified() => true,
    };
    child.kill().unwrap(); // SIGKILL
    child.wait().unwrap();
    has_reached
}

/// The first of the two words that the child prints.
async fn first_word(child: &mut Child) -> &'static str {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let found = tokio::task::spawn_blocking(|| {
        lines.map_while(Result::ok).find_map(|line| {
            [REACHED, ENDED]
                .into_iter()
                .find(|word| line.ends_with(word))
        })
    });
    found.await.unwrap().expect("the child ends without a word")
}

/// The child is at its point, and waits to be killed.
pub fn stop() -> ! {
    println!("{REACHED}");
    loop {
        thread::park();
    }
}

/// The child has done its errand. The test's own last words have no reader.
pub fn end() -> ! {
    println!("{ENDED}");
    std::process::exit(0)
}
