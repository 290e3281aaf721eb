//! Time-outs, rate limits, lost answers, block hashes that expire, forks that are dropped: nothing
//! is deployed twice and nothing is lost.
use crate::shared::fault_proxy::{FaultAction, FaultProxy, Question};
use crate::svm::{
    cluster::{Cluster, program_key},
    workplace::{Workplace, assert_deployed, built},
};
use concord_testkit::http::post;
use serde_json::{Value, json};
use solana_signer::Signer;
use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

const SEND: &str = "sendTransaction";

/// Deploys through a proxy that does this, and looks at the outcome without it.
fn deploys_through(
    policy: impl FnMut(&Question) -> FaultAction + Send + 'static,
) -> (Cluster, Workplace) {
    let cluster = Cluster::start();
    let proxy = FaultProxy::start(cluster.port(), policy);
    let workplace = Workplace::at_url(&proxy.url());
    workplace.apply(&["--timeout", "1"]).assert_done();
    let workplace = workplace.to(&cluster.url());
    assert_deployed(&cluster, &workplace);
    (cluster, workplace)
}

fn local(port: u16, method: &str) {
    let question = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": []});
    let answer: Value =
        serde_json::from_slice(&post(port, question.to_string().as_bytes())).unwrap();
    assert!(answer.get("error").is_none(), "{answer}");
}

#[test]
fn every_method_may_time_out_once() {
    deploys_through(|question| match question.times {
        1 => FaultAction::Hold,
        _ => FaultAction::Forward,
    });
}

#[test]
fn every_method_may_be_rate_limited_three_times() {
    deploys_through(|question| match question.times {
        1 | 3 => FaultAction::TooManyRequests,
        2 => FaultAction::Refuse(-32_005, "daily request count exceeded"),
        _ => FaultAction::Forward,
    });
}

#[test]
fn the_answer_to_every_transaction_may_be_lost() {
    let mut seen = BTreeSet::new();
    deploys_through(move |question| {
        let is_new = question.method == SEND && seen.insert(question.params.to_string());
        if is_new && question.sends % 16 == 1 {
            FaultAction::ForwardThenHangUp
        } else {
            FaultAction::Forward
        }
    });
}

/// The cluster says that it took them, and drops every tenth.
#[test]
fn transactions_may_be_dropped_on_their_way() {
    let mut seen = BTreeSet::new();
    deploys_through(move |question| {
        let is_new = question.method == SEND && seen.insert(question.params.to_string());
        if is_new && question.sends % 10 == 1 {
            FaultAction::Answer(json!("1".repeat(64)))
        } else {
            FaultAction::Forward
        }
    });
}

/// All hashes known so far expire with some of the writes on their way.
#[test]
fn block_hashes_may_expire_at_any_time() {
    let cluster = Cluster::start();
    let port = cluster.port();
    let mut done = BTreeSet::new();
    let proxy = FaultProxy::start(port, move |question| {
        let is_place = [1, 40, 300, 430].contains(&question.sends);
        if question.method == SEND && is_place && done.insert(question.sends) {
            local(port, "local_expire_blockhashes");
        }
        FaultAction::Forward
    });
    let workplace = Workplace::at_url(&proxy.url());
    workplace.apply(&[]).assert_done();
    let workplace = workplace.to(&cluster.url());
    let run = workplace.run_record();
    let steps = run["steps"].as_array().unwrap();
    let again = steps
        .iter()
        .filter(|step| step["attempts"].as_array().unwrap().len() > 1);
    assert!(again.count() >= 2, "no transaction was replaced");
    assert_deployed(&cluster, &workplace);
}

/// A fork that was dropped had them fail: that was never confirmed, and says nothing.
#[test]
fn what_only_one_fork_says_is_waited_out() {
    deploys_through(|question| {
        if question.method != "getSignatureStatuses" || question.times != 2 {
            return FaultAction::Forward;
        }
        let asked = question.params[0].as_array().unwrap().len();
        let failed = json!({
            "slot": 1,
            "confirmations": 0,
            "err": { "InstructionError": [0, "InvalidArgument"] },
            "status": { "Err": { "InstructionError": [0, "InvalidArgument"] } },
            "confirmationStatus": "processed",
        });
        FaultAction::Answer(json!({ "context": { "slot": 1 }, "value": vec![failed; asked] }))
    });
}

/// The fork with the step's transaction is dropped as soon as the program has seen it land.
fn deploys_where_a_fork_is_dropped(place: usize) {
    let cluster = Cluster::start();
    let port = cluster.port();
    let (mut kept, is_dropped) = (false, Arc::new(AtomicBool::new(false)));
    let dropped = is_dropped.clone();
    let proxy = FaultProxy::start(port, move |question| {
        if !kept && question.method == SEND && question.sends == place {
            kept = true;
            local(port, "local_checkpoint");
        }
        if kept && question.receipt_seen && !dropped.swap(true, Ordering::SeqCst) {
            local(port, "local_rollback");
        }
        FaultAction::Forward
    });
    let workplace = Workplace::at_url(&proxy.url());
    workplace.apply(&["--give-up-after", "120"]).assert_done();
    assert!(is_dropped.load(Ordering::SeqCst));
    assert_deployed(&cluster, &workplace.to(&cluster.url()));
}

#[test]
fn a_fork_may_be_dropped_with_the_buffer_with_writes_and_with_the_last_step() {
    let writes = built().len().div_ceil(960);
    let last = 1 + writes + 2; // the buffer, its writes, the program, the registry
    [1, 200, last]
        .into_iter()
        .for_each(deploys_where_a_fork_is_dropped);
}

/// DEP-64: the plan is made with the cluster's rent, and what is signed later with another: lamports cannot
/// leave a program's account.
#[test]
fn a_rent_that_rises_behind_the_plan_is_not_paid() {
    let cluster = Cluster::start();
    let proxy = FaultProxy::start(cluster.port(), |question| {
        let asks = question.method == "getMinimumBalanceForRentExemption";
        match asks && question.sends > 0 {
            true => FaultAction::Answer(json!(90_000_000_000_u64)), // 90 SOL
            false => FaultAction::Forward,
        }
    });
    let workplace = Workplace::at_url(&proxy.url());
    let stopped = workplace.apply(&[]);
    assert_eq!(stopped.code, Some(3), "{}", stopped.stderr);
    let last = stopped.stderr.lines().last().unwrap();
    assert!(
        last.starts_with("concord: program: costs up to 90.0"),
        "{last}"
    );
    assert!(last.contains("the plan said at most 0.0"), "{last}");
    assert_eq!(cluster.balance(&program_key().pubkey()), 0);
    let workplace = workplace.to(&cluster.url());
    workplace.resume(&[]).assert_done();
    assert_deployed(&cluster, &workplace);
}

/// DEP-25: the last look at the accounts is for the address book.
#[test]
fn a_node_that_lags_does_not_get_its_program_into_the_address_book() {
    const LOOK: &str = "getMultipleAccounts";
    let cluster = Cluster::start();
    let first = Workplace::at(&cluster);
    first.apply(&[]).assert_done();
    let proxy = FaultProxy::start(cluster.port(), |_| FaultAction::Forward);
    let second = Workplace::at_url(&proxy.url());
    second.apply(&[]).assert_done();
    let looks = proxy.times(LOOK);
    let (second, commit) = (second.recorded(), "/contracts/AgentRegistry/commit");
    assert_eq!(second["registry"], first.recorded()["registry"]);
    assert_eq!(second.pointer(commit), first.recorded().pointer(commit));

    for (count, code) in [(2, 0), (100, 3)] {
        let proxy = FaultProxy::start(cluster.port(), move |question| {
            let lags = (looks..looks + count).contains(&question.times);
            if lags && question.method == LOOK {
                FaultAction::Answer(
                    json!({ "context": { "slot": 1 }, "value": [null, null, null, null] }),
                )
            } else {
                FaultAction::Forward
            }
        });
        let anew = Workplace::at_url(&proxy.url());
        let done = anew.apply(&[]);
        assert_eq!(done.code, Some(code), "{}", done.stderr);
        let book = anew.deployments().join("addresses.json");
        match code {
            0 => assert_eq!(anew.recorded(), second),
            _ => assert!(
                !book.exists() && done.stderr.contains("does not answer"),
                "{}",
                done.stderr
            ),
        }
    }
}

#[test]
fn an_endpoint_that_stays_silent_is_exit_code_3_and_the_run_can_be_resumed() {
    let cluster = Cluster::start();
    let proxy = FaultProxy::start(cluster.port(), |question| match question.sends {
        0..=100 => FaultAction::Forward,
        _ => FaultAction::HangUp,
    });
    let workplace = Workplace::at_url(&proxy.url());
    let stopped = workplace.apply(&[]);
    assert_eq!(stopped.code, Some(3), "{}", stopped.stderr);
    let last = stopped.stderr.lines().last().unwrap();
    assert!(last.contains("does not answer"), "{last}");
    assert!(last.contains("concord deploy resume"), "{last}");
    let workplace = workplace.to(&cluster.url());
    workplace.resume(&[]).assert_done();
    assert_deployed(&cluster, &workplace);
}

#[test]
fn an_endpoint_that_is_not_there_is_exit_code_3() {
    let workplace = Workplace::at_url("http://127.0.0.1:1");
    let words =
        "the RPC endpoint 127.0.0.1:1 does not answer getGenesisHash: there is no connection";
    workplace.plan(&[]).assert_refused(3, words);
}

#[test]
fn an_answer_of_another_form_is_exit_code_3() {
    let cluster = Cluster::start();
    for method in [
        "getGenesisHash",
        "getMultipleAccounts",
        "getProgramAccounts",
        "getBalance",
    ] {
        let proxy = FaultProxy::start(cluster.port(), move |question| {
            if question.method == method {
                FaultAction::Answer(json!({ "value": 7.5 }))
            } else {
                FaultAction::Forward
            }
        });
        let words = format!("does not answer {method}: the answer is not of the form");
        Workplace::at_url(&proxy.url())
            .plan(&[])
            .assert_refused(3, &words);
    }
}
