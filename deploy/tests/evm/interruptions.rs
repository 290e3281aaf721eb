//! Killed at every boundary of every step, and resumed.
use crate::evm::{
    local_chain::{BASE_SEPOLIA, LocalChain, deployer},
    program::{SENDING, Workplace, assert_deployed},
};
use crate::shared::fault_proxy::{FaultAction, FaultProxy, Question};
use crate::shared::process::answer;
use alloy::{
    consensus::{SignableTransaction, TxEip1559, TxEnvelope},
    eips::{Decodable2718, Encodable2718},
    network::TxSignerSync,
    primitives::{Bytes, TxKind, U256},
    signers::local::PrivateKeySigner,
};
use serde_json::{Value, json};

/// Where, around one transaction, the program is killed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Boundary {
    /// It is signed and on record; the chain has not seen it.
    BeforeSend,
    /// The chain has it; the program has not seen the answer.
    AfterSend,
    /// The program has seen the receipt and is about to go on.
    AfterReceipt,
}

/// With a chain on which the deployment proxy is missing too: its funds, itself, four registries.
const STEPS: [&str; 6] = [
    "create2-proxy-funds",
    "create2-proxy",
    "identity-registry",
    "reputation-registry",
    "authorized-reputation-registry",
    "validation-registry",
];
/// All but the proxy's own are the deployer's.
const OF_DEPLOYER: u64 = 5;

fn bare_chain() -> LocalChain {
    LocalChain::start_with(BASE_SEPOLIA, &["--disable-default-create2-deployer"])
}

fn action(question: &Question, step: usize, boundary: Boundary) -> FaultAction {
    let at_step = question.sends == step + 1;
    let sending = question.method == "eth_sendRawTransaction";
    match boundary {
        Boundary::BeforeSend if at_step && sending => FaultAction::Kill,
        Boundary::AfterSend if at_step && sending => FaultAction::ForwardThenKill,
        Boundary::AfterReceipt if at_step && question.receipt_seen => FaultAction::Kill,
        _ => FaultAction::Forward,
    }
}

/// Runs `apply` until it is killed there.
fn apply_until(chain: &LocalChain, step: usize, boundary: Boundary) -> Workplace {
    let proxy = FaultProxy::start(chain.port(), move |question| {
        action(question, step, boundary)
    });
    let workplace = Workplace::at_url(&proxy.url());
    let child = workplace
        .command(&[&["apply"], SENDING].concat())
        .spawn()
        .unwrap();
    proxy.set_victim(child.id());
    assert_eq!(answer(child).code, None, "{step} {boundary:?}: not killed");
    workplace
}

fn record_of<'a>(run: &'a Value, step: &str) -> &'a Value {
    let steps = run["steps"].as_array().unwrap();
    steps.iter().find(|record| record["id"] == step).unwrap()
}

fn interrupt_and_resume(step: usize, boundary: Boundary) {
    let chain = bare_chain();
    let workplace = apply_until(&chain, step, boundary).to(&chain.url());
    let run = workplace.run_record();
    let record = record_of(&run, STEPS[step]);
    assert_eq!(run["finished"], false);
    assert_eq!(record["attempts"].as_array().unwrap().len(), 1, "{record}");
    let has_landed = boundary == Boundary::AfterReceipt;
    assert_eq!(record.get("landing").is_some(), has_landed, "{record}");
    let signed = record["attempts"][0]["transaction"].clone();

    workplace
        .apply(&[])
        .assert_refused(2, "an unfinished run is on record");
    workplace.resume(&[]).assert_done();
    let run = workplace.run_record();
    let record = record_of(&run, STEPS[step]);
    assert_eq!(record["landing"]["transaction"], signed, "{boundary:?}");
    for step in STEPS {
        let record = record_of(&run, step);
        assert_eq!(record["attempts"].as_array().unwrap().len(), 1, "{record}");
    }
    assert_deployed(&chain, &workplace, OF_DEPLOYER);
    workplace
        .resume(&[])
        .assert_refused(2, "there is nothing to resume");
}

#[test]
fn killed_before_any_send_it_goes_on() {
    (0..STEPS.len()).for_each(|step| interrupt_and_resume(step, Boundary::BeforeSend));
}

#[test]
fn killed_after_any_send_it_goes_on() {
    (0..STEPS.len()).for_each(|step| interrupt_and_resume(step, Boundary::AfterSend));
}

#[test]
fn killed_after_any_receipt_it_goes_on() {
    (0..STEPS.len()).for_each(|step| interrupt_and_resume(step, Boundary::AfterReceipt));
}

/// The nonce that was signed for is used by another transaction in the meantime.
#[test]
fn a_nonce_that_expired_is_replaced() {
    let chain = bare_chain();
    let workplace = apply_until(&chain, 2, Boundary::BeforeSend).to(&chain.url());
    let from = deployer().address();
    chain.ask("anvil_impersonateAccount", json!([from]));
    chain.ask(
        "eth_sendTransaction",
        json!([{"from": from, "to": from, "value": "0x0"}]),
    );
    workplace.resume(&[]).assert_done();
    let run = workplace.run_record();
    let record = record_of(&run, "identity-registry");
    let attempts = record["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2, "{record}");
    assert_eq!(record["landing"]["transaction"], attempts[1]["transaction"]);
    assert_deployed(&chain, &workplace, OF_DEPLOYER + 1);
}

/// Nobody can go on with a run but the one who began it, with the same sources.
#[test]
fn refuses_to_resume_another_run() {
    let chain = bare_chain();
    let workplace = apply_until(&chain, 2, Boundary::BeforeSend).to(&chain.url());
    let sent = chain.nonce(deployer().address());
    let mut command = workplace.command(&[&["resume"], SENDING].concat());
    let other = "0x".to_owned() + &"42".repeat(32);
    command.env("CONCORD_EVM_PRIVATE_KEY", other);
    let words = "concord: the unfinished run has deployer 0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b, this one has 0x";
    answer(command.spawn().unwrap()).assert_refused(2, words);

    let mut run = workplace.run_record();
    run["steps"][2]["address"] = json!("0x1111111111111111111111111111111111111111");
    std::fs::write(workplace.run_file(), run.to_string()).unwrap();
    workplace.resume(&[]).assert_refused(
        2,
        "the unfinished run has identity-registry at 0x1111111111111111111111111111111111111111",
    );
    assert_eq!(chain.nonce(deployer().address()), sent);
}

/// What a killed run has sent may be pending for long: it is waited for, and outbid.
#[test]
fn a_run_that_was_killed_with_a_pending_transaction_goes_on() {
    let chain = LocalChain::start_with(BASE_SEPOLIA, &["--no-mining"]);
    let kill_after_send = |question: &Question| {
        if question.method == "eth_sendRawTransaction" {
            FaultAction::ForwardThenKill
        } else {
            FaultAction::Forward
        }
    };
    let proxy = FaultProxy::start(chain.port(), kill_after_send);
    let workplace = Workplace::at_url(&proxy.url());
    let apply = [&["apply"], SENDING].concat();
    let child = workplace.command(&apply).spawn().unwrap();
    proxy.set_victim(child.id());
    assert_eq!(answer(child).code, None);
    let pending = chain.ask("txpool_status", json!([]));
    assert_eq!(pending, json!({"pending": "0x1", "queued": "0x0"}));

    let workplace = workplace.to(&chain.url());
    let resume = [&["resume", "--bump-after", "1"], SENDING].concat();
    let mut child = workplace.command(&resume).spawn().unwrap();
    let attempts = || {
        let run = std::fs::read(workplace.run_file()).unwrap();
        let run: Value = serde_json::from_slice(&run).unwrap();
        run["steps"][1]["attempts"].as_array().unwrap().clone()
    };
    // The first was sent by the killed run, which did not see the answer; the second outbids it.
    while !attempts().iter().any(|it| it["sent"] == true) {
        if child.try_wait().unwrap().is_some() {
            panic!("{:?}", answer(child));
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    chain.ask("evm_setAutomine", json!([true]));
    chain.ask("evm_mine", json!([]));
    answer(child).assert_done();
    assert_deployed(&chain, &workplace, 4);
}

/// Signed under a higher limit, or by someone with write access to the run file: never sent.
#[test]
fn recorded_bytes_above_the_limit_are_replaced_under_their_nonce() {
    let chain = bare_chain();
    let workplace = apply_until(&chain, 2, Boundary::BeforeSend).to(&chain.url());
    let mut run = workplace.run_record();
    let own = decoded(&run["steps"][2]["attempts"][0]);
    let dear = TxEip1559 {
        max_fee_per_gas: 500_000_000_000,
        max_priority_fee_per_gas: 400_000_000_000,
        ..own.clone()
    };
    let dear = attempt(dear, &deployer());
    run["steps"][2]["attempts"] = json!([dear]);
    std::fs::write(workplace.run_file(), run.to_string()).unwrap();

    let planned = workplace.plan(&["--json"]).assert_done().json();
    workplace.resume(&[]).assert_done();
    let record = record_of(&workplace.run_record(), "identity-registry").clone();
    let attempts = record["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2, "{record}");
    assert_eq!(record["landing"]["transaction"], attempts[1]["transaction"]);
    let instead = decoded(&attempts[1]);
    assert_eq!(instead.nonce, own.nonce);
    assert_within_plan(&planned, "identity-registry", &instead);
    let found = chain.ask("eth_getTransactionByHash", json!([dear["transaction"]]));
    assert_eq!(found, Value::Null);
    assert_deployed(&chain, &workplace, OF_DEPLOYER);
}

/// What the signature offers at most is within the step's cost.
pub fn assert_within_plan(plan: &Value, step: &str, signed: &TxEip1559) {
    let steps = plan["steps"].as_array().unwrap();
    let step = steps.iter().find(|it| it["id"] == step).unwrap();
    let offered = U256::from(signed.max_fee_per_gas) * U256::from(signed.gas_limit) + signed.value;
    let planned: U256 = step["cost"].as_str().unwrap().parse().unwrap();
    assert!(offered <= planned, "{offered} of {planned}: {step}");
}

/// Whoever can write to the run file does not choose what is sent, or what is signed at a higher fee.
#[test]
fn refuses_a_transaction_in_the_run_file_that_is_not_the_step_s() {
    let chain = bare_chain();
    let workplace = apply_until(&chain, 2, Boundary::BeforeSend).to(&chain.url());
    let sent = chain.nonce(deployer().address());
    let run = workplace.run_record();
    let own = decoded(&run["steps"][2]["attempts"][0]);
    let elsewhere = TxEip1559 {
        to: TxKind::Call(
            "0x00000000000000000000000000000000deadbeef"
                .parse()
                .unwrap(),
        ),
        value: U256::from(1),
        input: Bytes::new(),
        ..own.clone()
    };
    let other = PrivateKeySigner::from_bytes(&[0x42; 32].into()).unwrap();
    let unnamed = |attempt: Value| {
        let mut attempt = attempt;
        attempt["transaction"] = json!(format!("0x{}", "11".repeat(32)));
        attempt
    };
    for (attempt, words) in [
        (
            attempt(elsewhere.clone(), &other),
            "is not what the step sends",
        ),
        (
            attempt(elsewhere, &deployer()),
            "is not what the step sends",
        ),
        (
            attempt(own.clone(), &other),
            "is not signed by the deployer",
        ),
        (
            unnamed(attempt(own, &deployer())),
            "is not the hash of its raw bytes",
        ),
    ] {
        let mut tampered = run.clone();
        tampered["steps"][2]["attempts"] = json!([attempt]);
        std::fs::write(workplace.run_file(), tampered.to_string()).unwrap();
        workplace.resume(&[]).assert_refused(2, words);
    }
    assert_eq!(chain.nonce(deployer().address()), sent);
}

fn attempt(transaction: TxEip1559, key: &PrivateKeySigner) -> Value {
    let mut transaction = transaction;
    let signature = key.sign_transaction_sync(&mut transaction).unwrap();
    let signed = TxEnvelope::from(transaction.into_signed(signature));
    let raw = Bytes::from(signed.encoded_2718());
    json!({"transaction": signed.tx_hash(), "raw": raw, "sent": false})
}

/// The transaction of an attempt, from its raw bytes.
pub fn decoded(attempt: &Value) -> TxEip1559 {
    let raw: Bytes = serde_json::from_value(attempt["raw"].clone()).unwrap();
    match TxEnvelope::decode_2718_exact(&raw).unwrap() {
        TxEnvelope::Eip1559(signed) => signed.strip_signature(),
        other => panic!("{other:?} is not an EIP-1559 transaction"),
    }
}
