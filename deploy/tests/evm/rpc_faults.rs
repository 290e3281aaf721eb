//! Time-outs, rate limits, lost answers, stale answers, chains that go back: nothing is deployed
//! twice and nothing is lost.
use crate::evm::{
    local_chain::{BASE_SEPOLIA, LocalChain, deployer},
    program::{SENDING, Workplace, assert_deployed},
};
use crate::shared::fault_proxy::{FaultAction, FaultProxy, Question};
use crate::shared::process::answer;
use concord_deploy::evm::create2;
use serde_json::{Value, json};
use std::{collections::BTreeSet, fs, thread, time::Duration};

const SEND: &str = "eth_sendRawTransaction";

/// Deploys through a proxy that does this, and looks at the outcome without it.
fn deploys_through(
    policy: impl FnMut(&Question) -> FaultAction + Send + 'static,
) -> (LocalChain, Workplace) {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let proxy = FaultProxy::start(chain.port(), policy);
    let workplace = Workplace::at_url(&proxy.url());
    workplace.apply(&["--timeout", "1"]).assert_done();
    let workplace = workplace.to(&chain.url());
    assert_deployed(&chain, &workplace, 4);
    (chain, workplace)
}

#[test]
fn every_method_may_time_out_once() {
    deploys_through(|question| match question.times {
        1 => FaultAction::Hold,
        _ => FaultAction::Forward,
    });
}

#[test]
fn every_method_may_be_rate_limited_twice() {
    deploys_through(|question| match question.times {
        1 | 2 => FaultAction::TooManyRequests,
        _ => FaultAction::Forward,
    });
}

#[test]
fn a_rate_limit_may_come_as_a_json_rpc_error() {
    deploys_through(|question| match question.times {
        1 | 2 => FaultAction::Refuse(-32_005, "daily request count exceeded"),
        _ => FaultAction::Forward,
    });
}

#[test]
fn the_answer_to_every_transaction_may_be_lost() {
    let mut seen = BTreeSet::new();
    deploys_through(move |question| {
        let is_new = question.method == SEND && seen.insert(question.params.to_string());
        if is_new {
            FaultAction::ForwardThenHangUp
        } else {
            FaultAction::Forward
        }
    });
}

#[test]
fn a_node_may_lag_behind_with_the_nonce() {
    // From the second transaction on, the first three answers are those of before the first.
    let mut lies = 0;
    let (_, workplace) = deploys_through(move |question| {
        let asks = question.method == "eth_getTransactionCount";
        if asks && question.sends >= 1 && lies < 3 {
            lies += 1;
            return FaultAction::Answer(json!("0x0"));
        }
        FaultAction::Forward
    });
    let run = workplace.run_record();
    let landed = |step: &Value| step.get("landing").is_some();
    assert_eq!(
        run["steps"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|step| landed(step))
            .count(),
        4
    );
}

/// The block of the step's transaction is taken back as soon as its receipt has been seen.
fn deploys_on_a_chain_that_goes_back(after: usize) {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let port = chain.port();
    let mut done = false;
    let proxy = FaultProxy::start(port, move |question| {
        if !done && question.sends == after && question.receipt_seen {
            done = true;
            let reorg =
                json!({"jsonrpc": "2.0", "id": 1, "method": "anvil_reorg", "params": [1, []]});
            let answer = concord_testkit::http::post(port, reorg.to_string().as_bytes());
            assert!(!String::from_utf8(answer).unwrap().contains("error"));
        }
        FaultAction::Forward
    });
    let workplace = Workplace::at_url(&proxy.url());
    let applied = workplace.apply(&[]);
    let said = "the chain went back behind it";
    assert!(
        applied.assert_done().stderr.contains(said),
        "{}",
        applied.stderr
    );
    assert_deployed(&chain, &workplace.to(&chain.url()), 4);
}

#[test]
fn the_chain_may_go_back_after_any_step() {
    thread::scope(|scope| {
        for after in 1..=4 {
            scope.spawn(move || deploys_on_a_chain_that_goes_back(after));
        }
    });
}

/// The chain goes back two blocks, and the same transactions land again, both in the last: what
/// stands is not enough to know where it landed.
#[test]
fn a_transaction_may_move_to_another_block() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let port = chain.port();
    let mut sent: Vec<Value> = Vec::new();
    let mut done = false;
    let proxy = FaultProxy::start(port, move |question| {
        if question.method == SEND {
            sent.push(question.params[0].clone());
        }
        if !done && question.sends == 4 && question.receipt_seen {
            done = true;
            let again = json!([2, [[sent[2], 1], [sent[3], 1]]]);
            let reorg =
                json!({"jsonrpc": "2.0", "id": 1, "method": "anvil_reorg", "params": again});
            let answer = concord_testkit::http::post(port, reorg.to_string().as_bytes());
            let answer = String::from_utf8(answer).unwrap();
            assert!(!answer.contains("error"), "{answer}");
        }
        FaultAction::Forward
    });
    let workplace = Workplace::at_url(&proxy.url());
    let applied = workplace.apply(&["--give-up-after", "60"]);
    let said = "authorized-reputation-registry: the chain went back behind it";
    assert!(
        applied.assert_done().stderr.contains(said),
        "{}",
        applied.stderr
    );
    assert_deployed(&chain, &workplace.to(&chain.url()), 4);
}

/// An endpoint with many nodes asks one that does not have the block yet. That is not a reorganisation.
#[test]
fn a_node_that_lags_is_no_reorganisation() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let proxy = FaultProxy::start(chain.port(), |question| {
        let by_number = question.params[0]
            .as_str()
            .is_some_and(|it| it.starts_with("0x"));
        match &*question.method {
            "eth_getBlockByNumber" if by_number && question.times % 3 != 0 => {
                FaultAction::Answer(Value::Null)
            }
            _ => FaultAction::Forward,
        }
    });
    let workplace = Workplace::at_url(&proxy.url());
    let applied = workplace.apply(&[]);
    assert!(
        !applied.assert_done().stderr.contains("went back"),
        "{}",
        applied.stderr
    );
    assert_deployed(&chain, &workplace.to(&chain.url()), 4);
}

/// Asks for the code of a contract, of which there are others.
fn asks_for_code(question: &Question, address: &Value) -> bool {
    let [asked, address] = [&question.params[0], address].map(|it| it.as_str().unwrap_or_default());
    question.method == "eth_getCode" && asked.eq_ignore_ascii_case(address)
}

/// DEP-25: a node says that there is no code where there was some a moment before.
#[test]
fn a_node_that_lags_does_not_get_its_code_into_the_address_book() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let plan = Workplace::at(&chain).plan(&["--json"]).assert_done().json();
    let steps = plan["steps"].as_array().unwrap();
    let step = steps.iter().find(|it| it["id"] == "identity-registry");
    let address = step.unwrap()["address"].clone();
    // After the fourth registry is sent, its code is read once to check the deployment, and once for the address book.
    let lags = |count: usize, address: Value| {
        let mut asked = 0;
        move |question: &Question| {
            if question.sends < 4 || !asks_for_code(question, &address) {
                return FaultAction::Forward;
            }
            asked += 1;
            if (2..2 + count).contains(&asked) {
                FaultAction::Answer(json!("0x"))
            } else {
                FaultAction::Forward
            }
        }
    };
    let proxy = FaultProxy::start(chain.port(), lags(usize::MAX - 2, address.clone()));
    let workplace = Workplace::at_url(&proxy.url());
    let stopped = workplace.apply(&[]);
    assert_eq!(stopped.code, Some(3), "{}", stopped.stderr);
    let last = stopped.stderr.lines().last().unwrap();
    assert!(last.contains("does not answer eth_getCode"), "{last}");
    assert!(last.contains("concord deploy resume"), "{last}");
    assert!(!workplace.file("addresses.json").exists());
    let workplace = workplace.to(&chain.url());
    workplace.resume(&[]).assert_done();
    assert_deployed(&chain, &workplace, 4);

    let chain = LocalChain::start(BASE_SEPOLIA);
    let proxy = FaultProxy::start(chain.port(), lags(2, address));
    let workplace = Workplace::at_url(&proxy.url());
    workplace.apply(&[]).assert_done();
    assert_deployed(&chain, &workplace.to(&chain.url()), 4);
}

/// The same with everything deployed before: the code is read once for the plan, and once for the address book.
#[test]
fn a_node_that_lags_does_not_spoil_a_book_that_is_made_anew() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let first = Workplace::at(&chain);
    first.apply(&[]).assert_done();
    let address = first.recorded()["contracts"]["ValidationRegistry"]["address"].clone();
    let mut asked = 0;
    let proxy = FaultProxy::start(chain.port(), move |question| {
        asked += usize::from(asks_for_code(question, &address));
        if asks_for_code(question, &address) && (2..4).contains(&asked) {
            FaultAction::Answer(json!("0x"))
        } else {
            FaultAction::Forward
        }
    });
    let anew = Workplace::at_url(&proxy.url());
    anew.apply(&[]).assert_done();
    anew.to(&chain.url()).run(&["verify"]).assert_done();
}

/// The proxy's only transaction is in a block that another node has.
#[test]
fn a_node_that_lags_does_not_say_that_the_proxy_can_come_no_more() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    chain.ask("anvil_setNonce", json!([create2::PROXY_SIGNER, "0x1"]));
    let (mut asked, address) = (0, json!(create2::PROXY));
    let proxy = FaultProxy::start(chain.port(), move |question| {
        let is_asked = asks_for_code(question, &address);
        asked += usize::from(is_asked);
        if is_asked && asked <= 2 {
            FaultAction::Answer(json!("0x"))
        } else {
            FaultAction::Forward
        }
    });
    let plan = Workplace::at_url(&proxy.url()).plan(&["--json"]);
    let plan = plan.assert_done().json();
    let steps = plan["steps"].as_array().unwrap();
    let ids: Vec<_> = steps.iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 5, "{ids:?}: the proxy and four contracts");
    assert!(!ids.contains(&"create2-proxy-funds"), "{ids:?}");
    chain.assert_nothing_was_sent();
}

/// One in eight questions meets a fault, in an order that the seed decides.
#[test]
fn faults_may_come_in_any_order() {
    thread::scope(|scope| {
        for seed in 1..=4 {
            scope.spawn(move || deploys_through_faults(seed));
        }
    });
}

fn deploys_through_faults(seed: u64) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut in_a_row = 0;
    deploys_through(move |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let dice = (state >> 33) % 32;
        in_a_row = if dice < 4 { in_a_row + 1 } else { 0 };
        match dice {
            _ if in_a_row > 3 => FaultAction::Forward,
            0 => FaultAction::HangUp,
            1 => FaultAction::ForwardThenHangUp,
            2 => FaultAction::TooManyRequests,
            3 => FaultAction::Hold,
            _ => FaultAction::Forward,
        }
    });
}

#[test]
fn an_endpoint_that_stays_silent_is_exit_code_3_and_the_run_can_be_resumed() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let proxy = FaultProxy::start(chain.port(), |question| match question.sends {
        0 | 1 => FaultAction::Forward,
        _ => FaultAction::HangUp,
    });
    let workplace = Workplace::at_url(&proxy.url());
    let stopped = workplace.apply(&[]);
    assert_eq!(stopped.code, Some(3), "{}", stopped.stderr);
    let last = stopped.stderr.lines().last().unwrap();
    assert!(last.contains("does not answer"), "{last}");
    assert!(last.contains("concord deploy resume"), "{last}");
    let workplace = workplace.to(&chain.url());
    workplace.resume(&[]).assert_done();
    assert_deployed(&chain, &workplace, 4);
}

#[test]
fn an_endpoint_that_is_not_there_is_exit_code_3() {
    let workplace = Workplace::at_url("http://127.0.0.1:1");
    let words = "the RPC endpoint 127.0.0.1:1 does not answer eth_chainId: there is no connection";
    workplace.plan(&[]).assert_refused(3, words);
}

/// Nothing is mined until the fee of the first transaction has been raised.
#[test]
fn the_fee_of_a_pending_transaction_is_raised() {
    let chain = LocalChain::start_with(BASE_SEPOLIA, &["--no-mining"]);
    let workplace = Workplace::at(&chain);
    let child = workplace
        .command(&[&["apply", "--bump-after", "1"], SENDING].concat())
        .spawn()
        .unwrap();
    let attempts = || -> Vec<Value> {
        let run: Option<Value> = fs::read(workplace.run_file())
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok());
        let attempts = run.map(|run| run["steps"][1]["attempts"].clone());
        attempts
            .and_then(|list| list.as_array().cloned())
            .unwrap_or_default()
    };
    let sent = |list: &[Value]| {
        list.iter()
            .filter(|attempt| attempt["sent"] == true)
            .count()
    };
    while sent(&attempts()) < 2 {
        thread::sleep(Duration::from_millis(50));
    }
    chain.ask("evm_setAutomine", json!([true]));
    chain.ask("evm_mine", json!([]));
    answer(child).assert_done();
    assert_deployed(&chain, &workplace, 4);

    let attempts = attempts();
    let landed = workplace.run_record()["steps"][1]["landing"]["transaction"].clone();
    assert_ne!(landed, attempts[0]["transaction"]);
    let first = crate::evm::interruptions::decoded(&attempts[0]);
    let second = crate::evm::interruptions::decoded(&attempts[1]);
    assert_eq!(first.nonce, second.nonce);
    assert!(second.max_fee_per_gas * 8 >= first.max_fee_per_gas * 9);
    assert!(second.max_priority_fee_per_gas * 8 >= first.max_priority_fee_per_gas * 9);
    assert_eq!(chain.nonce(deployer().address()), 4);
}
