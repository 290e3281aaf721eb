//! Devnet's documented limits: 40 requests of one method and 100 in total within ten seconds.
use crate::shared::limiting_proxy::{Count, LimitingProxy, Limits, Refusal};
use crate::svm::{
    cluster::Cluster,
    workplace::{Workplace, assert_deployed},
};
use std::{
    thread,
    time::{Duration, Instant},
};

const SEND: &str = "sendTransaction";
const TOO_MANY: &str = "429 Too Many Requests";

const DEVNET: Limits = Limits {
    per_method: 40,
    in_total: 100,
    unanswered: 97,
    refusals: &[
        Refusal {
            status: TOO_MANY,
            code: 429,
            message: "Too many requests for a specific RPC call",
            says_when: true,
        },
        // nothing in the body says that it is a limit
        Refusal {
            status: TOO_MANY,
            code: -32_603,
            message: "Internal error",
            says_when: false,
        },
    ],
};

/// A cluster with the slots of a real one: block hashes are valid for a minute.
fn deploys(arguments: &[&str]) -> Count {
    let cluster = Cluster::with(concord_local_cluster::Options {
        slot_duration: Duration::from_millis(400),
        ..Cluster::options()
    });
    let proxy = LimitingProxy::start(cluster.port(), &DEVNET);
    let workplace = Workplace::at_url(&proxy.url());
    let apply = ["apply", "--yes", "--upgrade-authority", "keep"];
    let begun = Instant::now();
    workplace.run(&[&apply, arguments].concat()).assert_done();
    let (took, count) = (begun.elapsed(), proxy.count());
    let required = count.required(&DEVNET);
    println!("{arguments:?}: {took:.0?}, the limits require {required:.0?}; {count:?}");
    let workplace = workplace.to(&cluster.url());
    let run = workplace.run_record();
    let steps = run["steps"].as_array().unwrap().len();
    // Each transaction was sent once, but for those that the endpoint did not answer.
    assert!(count.taken[SEND] >= steps, "{count:?}");
    assert!(count.taken[SEND] <= steps + count.unanswered, "{count:?}");
    // Not half as many more for everything else.
    assert!(count.total() <= 3 * steps / 2, "{count:?}");
    assert!(count.unanswered >= 5, "{count:?}");
    assert_deployed(&cluster, &workplace);
    count
}

#[test]
fn one_run_deploys_within_the_limits_of_a_public_endpoint() {
    let stated = thread::spawn(|| deploys(&["--rpc-limit", "40/100"]));
    let learned = deploys(&[]);
    let stated = stated.join().unwrap();
    assert_eq!(stated.refused, 0, "{stated:?}");
    // Found out by being refused, and not asked for again and again.
    assert!(learned.refused >= 2, "{learned:?}");
    assert!(learned.refused <= learned.total() / 20, "{learned:?}");
    // Eight on their way together, and then one at a time.
    assert!(learned.refused_in_a_row <= 14, "{learned:?}");
}
