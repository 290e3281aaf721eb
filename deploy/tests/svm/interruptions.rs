//! Killed at every boundary of every step that is not a write, and of the first, second, middle
//! and last write; and resumed. The steps are those of the plans: a first deployment, an upgrade
//! that needs room and is handed over, buffers that are taken back, both authorities handed over, and
//! an upgrade that another key sends.
use crate::shared::fault_proxy::{FaultAction, FaultProxy, Question};
use crate::shared::process::answer;
use crate::svm::{
    cluster::{Cluster, deployer, program_key, registry},
    scene::{Scene, run, successor},
    unsigned::instruction,
    workplace::{Workplace, assert_deployed, built},
};
use serde_json::{Value, json};
use solana_signer::Signer;
use std::{collections::BTreeSet, thread};

/// Where, around one transaction, the program is killed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Boundary {
    /// It is signed and on record; the cluster has not seen it.
    BeforeSend,
    /// The cluster has it; the program has not seen the answer.
    AfterSend,
    /// The program has read its result and is about to go on.
    AfterReceipt,
}

const SEND: &str = "sendTransaction";
const WRITE: &str = "buffer-write-";

/// Transactions by number, from 1, and the step that each is for.
fn places(plan: &Value) -> Vec<(usize, String)> {
    let steps = plan["steps"].as_array().unwrap().iter();
    let is_sent = |step: &&Value| step["action"] != "exists" && step["action"] != "otherSigner";
    let sending = steps.filter(is_sent);
    let numbered: Vec<(usize, String)> = (1..)
        .zip(sending.map(|step| step["id"].as_str().unwrap().to_owned()))
        .collect();
    let (writes, mut places): (Vec<_>, Vec<_>) = numbered
        .into_iter()
        .partition(|(_, step)| step.starts_with(WRITE));
    if let Some(last) = writes.len().checked_sub(1) {
        let few = [0, 1, writes.len() / 2, last];
        places.extend(few.map(|number| writes[number].clone()));
    }
    places.sort();
    places
}

/// What is done with a question when `sent` different transactions have been seen, the one in it
/// among them.
fn action(question: &Question, sent: usize, place: usize, boundary: Boundary) -> FaultAction {
    let sends_it = question.method == SEND && sent == place;
    match boundary {
        Boundary::BeforeSend if sends_it => FaultAction::Kill,
        Boundary::AfterSend if sends_it => FaultAction::ForwardThenKill,
        // Writes go together: the one after the last of them is not sent yet.
        Boundary::AfterReceipt if sent >= place && question.receipt_seen => FaultAction::Kill,
        _ => FaultAction::Forward,
    }
}

fn apply_until(scene: Scene, cluster: &Cluster, place: usize, boundary: Boundary) -> Workplace {
    let mut seen = BTreeSet::new();
    let proxy = FaultProxy::start(cluster.port(), move |question| {
        if question.method == SEND {
            seen.insert(question.params[0].to_string());
        }
        action(question, seen.len(), place, boundary)
    });
    let workplace = scene.workplace(&proxy.url());
    let arguments = scene.apply();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let child = workplace.command(&arguments).spawn().unwrap();
    proxy.set_victim(child.id());
    assert_eq!(answer(child).code, None, "{place} {boundary:?}: not killed");
    workplace
}

fn record_of<'a>(run: &'a Value, step: &str) -> &'a Value {
    let steps = run["steps"].as_array().unwrap();
    steps.iter().find(|record| record["id"] == step).unwrap()
}

/// What the cluster has of the transactions that were signed for a step.
fn landed(record: &Value, on_chain: &[Value]) -> Vec<Value> {
    let attempts = record["attempts"].as_array().unwrap().iter();
    attempts
        .map(|attempt| attempt["transaction"].clone())
        .filter(|name| on_chain.iter().any(|it| it["signature"] == *name))
        .collect()
}

/// Each step that was sent landed once, after so many transactions `before`, and nothing else did.
/// The run was `killed` at a step: one that is resumed does not look back at what its plan no
/// longer has.
fn assert_landed_once(run: &Value, on_chain: &[Value], before: usize, killed: Option<&str>) {
    let mut count = 0;
    for record in run["steps"].as_array().unwrap() {
        let is_sent = record["attempts"] != json!([]);
        let landed = landed(record, on_chain);
        assert_eq!(landed.len(), usize::from(is_sent), "{record}");
        count += landed.len();
        let may_be_unknown = killed.is_some_and(|step| record["id"] == step);
        match &record["landing"] {
            Value::Null if may_be_unknown || !is_sent => {}
            landing => assert_eq!(landed, [landing["transaction"].clone()]),
        }
    }
    assert_eq!(on_chain.len(), before + count);
}

/// The plan stands, nothing was sent twice, no buffer is left, and all of it is on record.
fn assert_carried_out(
    scene: Scene,
    cluster: &Cluster,
    workplace: &Workplace,
    before: usize,
    killed: Option<&str>,
) {
    let on_chain = cluster.signatures();
    let finished = workplace.run_record();
    assert_eq!(finished["finished"], true);
    assert_landed_once(&finished, &on_chain, before, killed);
    if scene == Scene::UpgradeByOther {
        upgrade_by_other(scene, cluster, workplace);
    }
    let (content, authority) = cluster.program();
    let (program, rest) = content.split_at(scene.program().len());
    assert!(program == scene.program(), "other bytes on chain");
    assert!(rest.iter().all(|byte| *byte == 0));
    assert_eq!(authority, Some(scene.authority()));
    assert!(cluster.account(&registry()).is_some());
    let proposed = workplace.recorded()["registry"]["proposedAuthority"].clone();
    match scene {
        Scene::HandOver => assert_eq!(proposed, scene.authority().to_string()),
        _ => assert_eq!(proposed, Value::Null),
    }
    if scene == Scene::First {
        assert_deployed(cluster, workplace);
    }
    let book = workplace.recorded()["contracts"]["AgentRegistry"].clone();
    let program = record_of(&finished, "program");
    assert_eq!(book["transaction"], program["landing"]["transaction"]);

    for command in ["verify", "status"] {
        workplace.run(&[command]).assert_done();
    }
    let on_chain = cluster.signatures();
    let again = run(workplace, &scene.apply());
    assert!(again.assert_done().stderr.contains("nothing was sent"));
    assert!(!again.stdout.contains("buffers"), "{}", again.stdout);
    assert_eq!(cluster.signatures().len(), on_chain.len());
}

/// What the run prepared is sent by the other key; then the address book learns of it.
fn upgrade_by_other(scene: Scene, cluster: &Cluster, workplace: &Workplace) {
    let plan = run(workplace, &scene.arguments(&["plan", "--json"]));
    let plan = plan.assert_done().json();
    let upgrade = plan["steps"].as_array().unwrap().last().unwrap();
    assert_eq!(upgrade["action"], "otherSigner");
    let instructions = upgrade["transaction"]["instructions"].as_array().unwrap();
    let instructions: Vec<_> = instructions.iter().map(instruction).collect();
    cluster.carry_out(&instructions, &[&successor()]);
    cluster.ask("local_advance", json!([64])); // and that is final
    let entered = run(workplace, &scene.apply());
    assert!(entered.assert_done().stderr.contains("nothing was sent"));
}

/// The places of the scene's plan, and what carrying it out costs where nothing goes wrong.
fn undisturbed(scene: Scene) -> (Vec<(usize, String)>, i128) {
    let cluster = scene.cluster();
    let workplace = scene.workplace(&cluster.url());
    let plan = run(&workplace, &scene.arguments(&["plan", "--json"]));
    let (before, sent) = (balance(&cluster), cluster.signatures().len());
    run(&workplace, &scene.apply()).assert_done();
    let cost = before - balance(&cluster);
    assert_carried_out(scene, &cluster, &workplace, sent, None);
    (places(&plan.assert_done().json()), cost)
}

fn balance(cluster: &Cluster) -> i128 {
    cluster.balance(&deployer().pubkey()).into()
}

/// Whether the transaction that was signed before is the one that landed.
fn interrupt_and_resume(
    scene: Scene,
    place: usize,
    step: &str,
    boundary: Boundary,
    cost: i128,
) -> bool {
    let cluster = scene.cluster();
    let (before, sent) = (balance(&cluster), cluster.signatures().len());
    let workplace = apply_until(scene, &cluster, place, boundary).to(&cluster.url());
    let unfinished = workplace.run_record();
    let record = record_of(&unfinished, step);
    assert_eq!(unfinished["finished"], false);
    assert_eq!(record["attempts"].as_array().unwrap().len(), 1, "{record}");
    let signed = record["attempts"][0]["transaction"].clone();

    run(&workplace, &scene.apply()).assert_refused(2, "an unfinished run is on record");
    workplace.resume(&[]).assert_done();
    let spent = before - balance(&cluster);
    assert_carried_out(scene, &cluster, &workplace, sent, Some(step));
    let finished = workplace.run_record();
    let steps = finished["steps"].as_array().unwrap();
    let is_signed_anew = |record: &Value| record["attempts"].as_array().unwrap().len() > 1;
    // What is signed again may pay more.
    assert!(steps.iter().any(is_signed_anew) || spent == cost, "{spent}");
    let record = record_of(&finished, step);
    assert_eq!(record["attempts"][0]["transaction"], signed);
    let is_the_first = landed(record, &cluster.signatures()) == [signed];
    // Only a machine that is slow enough for the block hash to expire signs another.
    assert_ne!(is_the_first, is_signed_anew(record), "{step} {boundary:?}");
    workplace
        .resume(&[])
        .assert_refused(2, "there is nothing to resume");
    is_the_first
}

/// The steps, without the writes.
fn at_every_place(scene: Scene, boundaries: &[Boundary]) -> Vec<String> {
    let (mut places, cost) = undisturbed(scene);
    places.retain(|(_, step)| scene.interrupts(step));
    let kept: Vec<bool> = thread::scope(|scope| {
        let started: Vec<_> = boundaries
            .iter()
            .flat_map(|boundary| places.iter().map(move |place| (place, *boundary)))
            .map(|((place, step), boundary)| {
                scope.spawn(move || interrupt_and_resume(scene, *place, step, boundary, cost))
            })
            .collect();
        started
            .into_iter()
            .map(|place| place.join().unwrap())
            .collect()
    });
    assert!(kept.contains(&true), "every transaction was signed anew");
    let steps = places.into_iter().map(|(_, step)| step);
    steps.filter(|step| !step.starts_with(WRITE)).collect()
}

const FIRST: [&str; 3] = ["buffer", "program", "registry"];

#[test]
fn killed_before_any_send_it_goes_on() {
    assert_eq!(at_every_place(Scene::First, &[Boundary::BeforeSend]), FIRST);
}

#[test]
fn killed_after_any_send_it_goes_on() {
    assert_eq!(at_every_place(Scene::First, &[Boundary::AfterSend]), FIRST);
}

#[test]
fn killed_after_any_receipt_it_goes_on() {
    assert_eq!(
        at_every_place(Scene::First, &[Boundary::AfterReceipt]),
        FIRST
    );
}

const UPGRADE: [&str; 4] = ["buffer", "program-room", "program", "upgrade-authority"];

/// Once it is handed over the deployer can change nothing: there is nothing left to do then.
#[test]
fn killed_after_any_send_an_upgrade_and_a_handover_go_on() {
    assert_eq!(
        at_every_place(Scene::Upgrade, &[Boundary::AfterSend]),
        UPGRADE
    );
}

#[test]
fn killed_around_any_send_buffers_are_taken_back() {
    let steps = at_every_place(Scene::Reclaim, &AROUND);
    assert_eq!(steps.len(), 2);
    assert!(steps.iter().all(|step| step.starts_with("reclaim-")));
}

const AROUND: [Boundary; 3] = [
    Boundary::BeforeSend,
    Boundary::AfterSend,
    Boundary::AfterReceipt,
];

/// The registry's authority is proposed first: the deployer signs both.
#[test]
fn killed_around_any_send_both_authorities_are_handed_over() {
    let steps = ["registry-authority", "upgrade-authority"];
    assert_eq!(at_every_place(Scene::HandOver, &AROUND), steps);
}

#[test]
fn killed_around_the_send_a_buffer_is_handed_over_for_an_upgrade_by_another_key() {
    let steps = ["buffer-authority"];
    assert_eq!(at_every_place(Scene::UpgradeByOther, &AROUND), steps);
}

/// The block hash that was signed for is too old when the run goes on.
#[test]
fn a_block_hash_that_expired_is_replaced() {
    let cluster = Cluster::start();
    let workplace = apply_until(Scene::First, &cluster, 1, Boundary::BeforeSend).to(&cluster.url());
    cluster.ask("local_expire_blockhashes", json!([]));
    cluster.ask("local_advance", json!([64])); // and that is final
    workplace.resume(&[]).assert_done();
    let run = workplace.run_record();
    let attempts = record_of(&run, "buffer")["attempts"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(attempts.len(), 2);
    let landed = &record_of(&run, "buffer")["landing"]["transaction"];
    assert_eq!(*landed, attempts[1]["transaction"]);
    assert_deployed(&cluster, &workplace);
}

/// Nobody can go on with a run but the one who began it, with the same program.
#[test]
fn refuses_to_resume_another_run() {
    let cluster = Cluster::start();
    let workplace = apply_until(Scene::First, &cluster, 3, Boundary::BeforeSend).to(&cluster.url());
    let mut other = built();
    *other.last_mut().unwrap() ^= 1;
    let id = program_key().pubkey().to_string();
    let workplace = workplace.with_program("other", &other, &id);
    workplace
        .resume(&[])
        .assert_refused(2, "the unfinished run has build 0x");
}
