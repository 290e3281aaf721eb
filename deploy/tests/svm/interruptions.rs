//! Killed at every boundary of every step that is not a write, and of the first, second, middle
//! and last write; and resumed.
use crate::{
    cluster::Cluster,
    fault_proxy::{Deed, FaultProxy, Question},
    process::answer,
    workplace::{APPLY, Workplace, assert_deployed, built},
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, thread};

/// Where, around one transaction, the program is killed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Boundary {
    /// It is signed and on record; the cluster has not seen it.
    BeforeSend,
    /// The cluster has it; the program has not seen the answer.
    AfterSend,
    /// The program has read what it came to and is about to go on.
    AfterReceipt,
}

const SEND: &str = "sendTransaction";

/// Transactions by number, from 1, and the step that each is for.
fn places() -> Vec<(usize, String)> {
    let writes = built().len().div_ceil(960);
    let write = |number: usize| (1 + number, format!("buffer-write-{number:04}"));
    vec![
        (1, "buffer".to_owned()),
        write(1),
        write(2),
        write(writes / 2),
        write(writes),
        (writes + 2, "program".to_owned()),
        (writes + 3, "registry".to_owned()),
    ]
}

/// What is done with a question when `sent` different transactions have been seen, the one in it
/// among them.
fn deed(question: &Question, sent: usize, place: usize, boundary: Boundary) -> Deed {
    let sends_it = question.method == SEND && sent == place;
    match boundary {
        Boundary::BeforeSend if sends_it => Deed::Kill,
        Boundary::AfterSend if sends_it => Deed::ForwardThenKill,
        // Writes go together: the one after the last of them is not sent yet.
        Boundary::AfterReceipt if sent >= place && question.receipt_seen => Deed::Kill,
        _ => Deed::Forward,
    }
}

fn apply_until(cluster: &Cluster, place: usize, boundary: Boundary) -> Workplace {
    let mut seen = BTreeSet::new();
    let proxy = FaultProxy::start(cluster.port(), move |question| {
        if question.method == SEND {
            seen.insert(question.params[0].to_string());
        }
        deed(question, seen.len(), place, boundary)
    });
    let workplace = Workplace::at_url(&proxy.url());
    let child = workplace.command(APPLY).spawn().unwrap();
    proxy.set_victim(child.id());
    assert_eq!(answer(child).code, None, "{place} {boundary:?}: not killed");
    workplace
}

fn record_of<'a>(run: &'a Value, step: &str) -> &'a Value {
    let steps = run["steps"].as_array().unwrap();
    steps.iter().find(|record| record["id"] == step).unwrap()
}

/// Whether the transaction that was signed before is the one that landed.
fn interrupt_and_resume(place: usize, step: &str, boundary: Boundary) -> bool {
    let cluster = Cluster::start_slow();
    let workplace = apply_until(&cluster, place, boundary).to(&cluster.url());
    let run = workplace.run_record();
    let record = record_of(&run, step);
    assert_eq!(run["finished"], false);
    assert_eq!(record["attempts"].as_array().unwrap().len(), 1, "{record}");
    let signed = record["attempts"][0]["transaction"].clone();

    workplace
        .apply(&[])
        .assert_refused(2, "an unfinished run is on record");
    workplace.resume(&[]).assert_done();
    let run = workplace.run_record();
    let record = record_of(&run, step);
    assert_eq!(record["attempts"][0]["transaction"], signed);
    let is_the_first = record["landing"]["transaction"] == signed;
    let signed_anew = record["attempts"].as_array().unwrap().len() > 1;
    // Only a machine that is slow enough for the block hash to expire signs another.
    assert_ne!(is_the_first, signed_anew, "{step} {boundary:?}");
    assert_deployed(&cluster, &workplace);
    workplace
        .resume(&[])
        .assert_refused(2, "there is nothing to resume");
    is_the_first
}

fn at_every_place(boundary: Boundary) {
    let places = places();
    let kept: Vec<bool> = thread::scope(|scope| {
        let run = |(place, step): &(usize, String)| interrupt_and_resume(*place, step, boundary);
        let started: Vec<_> = places
            .iter()
            .map(|place| scope.spawn(move || run(place)))
            .collect();
        started
            .into_iter()
            .map(|place| place.join().unwrap())
            .collect()
    });
    assert!(kept.contains(&true), "every transaction was signed anew");
}

#[test]
fn killed_before_any_send_it_goes_on() {
    at_every_place(Boundary::BeforeSend);
}

#[test]
fn killed_after_any_send_it_goes_on() {
    at_every_place(Boundary::AfterSend);
}

#[test]
fn killed_after_any_receipt_it_goes_on() {
    at_every_place(Boundary::AfterReceipt);
}

/// The block hash that was signed for is too old when the run goes on.
#[test]
fn a_block_hash_that_expired_is_replaced() {
    let cluster = Cluster::start();
    let workplace = apply_until(&cluster, 1, Boundary::BeforeSend).to(&cluster.url());
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
    let workplace = apply_until(&cluster, 3, Boundary::BeforeSend).to(&cluster.url());
    let mut other = built();
    *other.last_mut().unwrap() ^= 1;
    let id = solana_signer::Signer::pubkey(&crate::cluster::program_key()).to_string();
    let workplace = workplace.with_program("other", &other, &id);
    workplace
        .resume(&[])
        .assert_refused(2, "the unfinished run has buffer at");
}
