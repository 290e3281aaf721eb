//! Killed at every boundary of every step, and resumed.
use crate::{
    fault_proxy::{Deed, FaultProxy, Question},
    local_chain::{BASE_SEPOLIA, LocalChain, deployer},
    process::answer,
    program::{SENDING, Workplace, assert_deployed},
};
use alloy::{
    consensus::{TxEip1559, TxEnvelope},
    eips::Decodable2718,
    primitives::Bytes,
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
    let chain = LocalChain::start_with(BASE_SEPOLIA, &["--disable-default-create2-deployer"]);
    // The proxy's own transaction pays 100 gwei of gas price, which the node then takes for usual.
    chain.fund(deployer().address(), 2 * 10u128.pow(18));
    chain
}

fn deed(question: &Question, step: usize, boundary: Boundary) -> Deed {
    let at_step = question.sends == step + 1;
    let sending = question.method == "eth_sendRawTransaction";
    match boundary {
        Boundary::BeforeSend if at_step && sending => Deed::Kill,
        Boundary::AfterSend if at_step && sending => Deed::ForwardThenKill,
        Boundary::AfterReceipt if at_step && question.receipt_seen => Deed::Kill,
        _ => Deed::Forward,
    }
}

/// Runs `apply` until it is killed there.
fn apply_until(chain: &LocalChain, step: usize, boundary: Boundary) -> Workplace {
    let proxy = FaultProxy::start(chain.port(), move |question| deed(question, step, boundary));
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

/// The transaction of an attempt, from its raw bytes.
pub fn decoded(attempt: &Value) -> TxEip1559 {
    let raw: Bytes = serde_json::from_value(attempt["raw"].clone()).unwrap();
    match TxEnvelope::decode_2718_exact(&raw).unwrap() {
        TxEnvelope::Eip1559(signed) => signed.strip_signature(),
        other => panic!("{other:?} is no EIP-1559 transaction"),
    }
}
