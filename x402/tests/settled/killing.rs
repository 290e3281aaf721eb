//! Processes that do an errand and are killed at a point of it.
use crate::gate::Fault;
use concord_x402::pay::{Authorization, EvidenceFolder, Money, PayError, PayFault, Purchase};
use serde_json::Value;
use std::{
    env,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
};
use tokio::sync::Notify;

/// The child's environment has its errand.
const ERRAND: &str = "CONCORD_TEST_ERRAND";
const REACHED: &str = "reached";
const ENDED: &str = "ended";

/// Where a buyer is killed: after its evidence has a state; when it has signed and nothing of it is on disk;
/// and while the server has the request, before and after the payment settles.
pub const POINTS: [&str; 8] = [
    "Quoted",
    "Signing",
    "Signed",
    "Sent",
    "BeforeSettlement",
    "AfterSettlement",
    "Answered",
    "Verified",
];

/// What holds the request at a point.
pub fn fault(point: &str) -> Fault {
    match point {
        "BeforeSettlement" => Fault::HoldBefore,
        "AfterSettlement" => Fault::HoldAfter,
        _ => Fault::None,
    }
}

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

/// What the evidence of one purchase had after each kill.
#[derive(Default)]
pub struct Signed(Vec<(Authorization, Option<String>)>);

impl Signed {
    pub fn read(&mut self, folder: &Path, id: &str) {
        let evidence = EvidenceFolder::open(folder).unwrap().load(id);
        let evidence = evidence.unwrap().unwrap();
        self.0.push((evidence.authorization, evidence.payment));
    }

    /// Nothing is authorized or signed twice.
    pub fn assert_one(&self, pair: &str) {
        for (earlier, later) in self.0.iter().zip(&self.0[1..]) {
            assert_eq!(earlier.0, later.0, "{pair}: one authorization");
            let is_same = earlier.1.is_none() || earlier.1 == later.1;
            assert!(is_same, "{pair}: one signature");
        }
    }
}

/// After the kills a purchase is resumed: the payment settled, and only its answer may be lost.
pub fn assert_settled(resumed: Result<Purchase, PayError>, points: [&str; 2]) {
    match resumed {
        Ok(purchase) => {
            assert_eq!(crate::states(&purchase.report), [], "{points:?}");
            assert!(
                matches!(purchase.money, Money::Settled { .. }),
                "{points:?}"
            );
        }
        Err(error) => {
            let is_lost = matches!(error.fault, PayFault::AnswerLost);
            assert!(is_lost, "{points:?}: {error}");
            assert!(matches!(error.money, Money::Settled { .. }), "{points:?}");
            assert!(points.contains(&"AfterSettlement"), "{points:?}");
        }
    }
}
