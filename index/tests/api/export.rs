//! `concord-index export`.
use crate::api::server::Server;
use crate::worlds::database::argument;
use crate::worlds::given::{CHAINS, account, batch, blocks};
use concord_index::Place;
use concord_registry::{
    Event,
    event::{Position, TransactionId},
};
use concord_testkit::command::concord;
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::Path, process::Output};

fn export(server: &Server, options: &[&str]) -> Output {
    concord(&["index"])
        .args(["export", "--store", &argument(&server.database.location)])
        .args(options)
        .output()
        .unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = str::from_utf8(&output.stdout).unwrap();
    text.lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect()
}

fn cursor(line: &Value) -> &str {
    line["cursor"].as_str().unwrap()
}

#[test]
fn every_event_is_exported_in_order_and_an_export_goes_on_where_one_ended() {
    let server = Server::start();
    let all = lines(&export(&server, &["--unfinal"]));
    let given = [0, 1].map(|chain| blocks(chain).iter().map(|(_, it)| it.len()).sum::<usize>());
    assert_eq!(all.len(), given[0] + given[1]);
    let first = json!({
        "position": "000000000000000100000000000000000000000000000000",
        "cursor": "000000000000000100000000000000000000000000000000-1-0606060606060606",
        "chain": CHAINS[0],
        "identityRegistry": format!("0x{}", "ab".repeat(20)),
        "registry": format!("0x{}", "02".repeat(20)),
        "block": "1",
        "transaction": format!("0x{}", "06".repeat(32)),
        "time": 1_700_000_010,
        "event": "AgentRegistered",
        "fields": {
            "agent": "1",
            "owner": format!("0x{}", "65".repeat(20)),
            "uri": "ipfs://agent-1",
        },
    });
    assert_eq!(all[0], first);
    let of_chain = lines(&export(&server, &["--unfinal", "--chain", CHAINS[1]]));
    assert_eq!(of_chain, all[given[0]..]);
    let position = |line: &Value| line["position"].as_str().unwrap().to_owned();
    assert!(of_chain.iter().map(position).is_sorted());
    for ended in [0, 5, of_chain.len() - 1] {
        let rest = [
            "--unfinal",
            "--chain",
            CHAINS[1],
            "--after",
            cursor(&of_chain[ended]),
        ];
        assert_eq!(lines(&export(&server, &rest)), of_chain[ended + 1..]);
    }
}

#[test]
fn what_may_be_taken_back_is_not_exported_unasked() {
    let mut server = Server::start(); // its chains say nothing of finality
    assert_eq!(lines(&export(&server, &[])), Vec::<Value>::new());
    let number = blocks(0).last().unwrap().0 + 1;
    let batch = batch(0, number, vec![]);
    server
        .store
        .commit(server.ids[0], &batch, Some(3), 64)
        .unwrap();
    let last = lines(&export(&server, &[])).pop().unwrap();
    assert_eq!(last["block"], "3");
    assert_eq!(last["chain"], CHAINS[0]);
}

/// An event that changes no agent.
fn operator_set(owner: u8) -> Event {
    Event::OperatorSet {
        owner: account(owner),
        operator: account(9),
        approved: true,
    }
}

/// Exports what comes after a line of the first chain.
fn after(server: &Server, line: &Value) -> Output {
    let options = ["--unfinal", "--chain", CHAINS[0], "--after", cursor(line)];
    export(server, &options)
}

#[track_caller]
fn assert_changed(output: &Output, line: &Value) {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let named = format!("--after {}:", cursor(line));
    assert!(stderr.contains(&named), "{stderr}");
    assert!(stderr.contains("a repair found some"), "{stderr}");
}

/// IDX-54: an event at an earlier place would be in no line.
#[test]
fn r46_lines_do_not_go_on_after_a_place_before_which_a_repair_found_events() {
    let mut server = Server::start();
    let all = lines(&export(&server, &["--unfinal", "--chain", CHAINS[0]]));
    let (early, late, last) = (&all[2], &all[30], all.last().unwrap());
    let block = late["block"].as_str().unwrap().parse().unwrap();
    let mut missed = batch(0, block, vec![operator_set(7)]);
    missed.events[0].place = Place::new(block, 0, Position::Evm { log: 99 });
    assert_eq!(server.store.mend(server.ids[0], &missed).unwrap(), 1);
    assert_changed(&after(&server, last), last);
    // What was printed before the place is what it was.
    let rest = lines(&after(&server, early));
    let whole = lines(&export(&server, &["--unfinal", "--chain", CHAINS[0]]));
    assert_eq!((rest.len(), &rest[..]), (all.len() - 2, &whole[3..]));
    let last = whole.last().unwrap();
    assert_eq!(lines(&after(&server, last)), Vec::<Value>::new());
}

/// IDX-54: on Solana a repair may move what was printed, while as many events come before it.
#[test]
fn r46_lines_do_not_go_on_within_a_slot_that_was_replaced() {
    const SLOT: u64 = 400;
    let mut server = Server::start();
    let id = server.ids[0];
    let listed = |transactions: &[u8]| {
        let events = transactions.iter().map(|it| operator_set(*it));
        let mut batch = batch(0, SLOT, events.collect());
        for ((index, it), name) in (0..).zip(&mut batch.events).zip(transactions) {
            let (instruction, call, line) = (0, 1, 0);
            let position = Position::Svm {
                instruction,
                call,
                line,
            };
            it.place = Place::new(SLOT, index, position);
            it.transaction = TransactionId::Svm([*name; 64]);
        }
        batch
    };
    server.store.commit(id, &listed(&[2]), None, 64).unwrap();
    let exported = |server: &Server| {
        let options = ["--unfinal", "--chain", CHAINS[0]];
        lines(&export(server, &options))
    };
    let before = exported(&server).pop().unwrap();
    assert_eq!(lines(&after(&server, &before)), Vec::<Value>::new());
    server.store.mend(id, &listed(&[1, 2])).unwrap();
    let now = exported(&server);
    let at = &now[now.len() - 2];
    assert_eq!(at["position"], before["position"]);
    assert_changed(&after(&server, &before), &before);
    assert_eq!(lines(&after(&server, at)), now[now.len() - 1..]);
}

#[test]
fn what_was_taken_back_is_not_gone_on_after() {
    let mut server = Server::start();
    let id = server.ids[0];
    let all = lines(&export(&server, &["--unfinal", "--chain", CHAINS[0]]));
    let last = all.last().unwrap();
    let fork = batch(0, 20, vec![]).through;
    server.store.roll_back(id, &fork, 5).unwrap();
    assert_changed(&after(&server, last), last);
}

#[test]
fn a_cursor_needs_its_deployment() {
    let server = Server::start();
    let position = "00".repeat(24);
    let cursor = format!("{position}-1-{}", "06".repeat(8));
    for (options, words) in [
        (vec!["--after", &cursor], "--chain"),
        (vec!["--chain", "eip155:2"], "no such deployment"),
        (vec!["--after", "12"], "the `cursor`"),
        (vec!["--after", &position], "the `cursor`"),
        (vec!["--after", &cursor[..cursor.len() - 1]], "the `cursor`"),
        (vec!["--to", "csv"], "parquet"),
        (vec!["--to", "parquet"], "--out"),
        (vec!["--out", "."], "--to parquet"),
        (
            vec!["--to", "parquet", "--out", ".", "--unfinal"],
            "--unfinal",
        ),
        (
            vec!["--to", "parquet", "--out", ".", "--rows", "0"],
            "--rows",
        ),
    ] {
        let refused = export(&server, &options);
        assert_eq!(refused.status.code(), Some(2), "{options:?}");
        let stderr = String::from_utf8_lossy(&refused.stderr);
        assert!(stderr.contains(words), "{stderr}");
    }
}

/// Makes blocks of the first chain final.
fn make_final(server: &mut Server, last: u64) {
    let id = server.ids[0];
    let next = server.store.cursor(id).unwrap().unwrap().head.number + 1;
    let batch = batch(0, next, vec![]);
    server.store.commit(id, &batch, Some(last), 64).unwrap();
}

/// Exports files of 40 rows, and returns the line that was printed for the first chain.
fn files(server: &Server, out: &Path) -> Value {
    let options = ["--to", "parquet", "--rows", "40", "--out"];
    let options = [&options[..], &[out.to_str().unwrap()]].concat();
    lines(&export(server, &options)).remove(0)
}

/// The files of the first chain, and their bytes.
fn contents(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let folder = out.join(format!("eip155-31337-0x{}", "ab".repeat(20)));
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let files = entries.map(|it| (it.file_name().into_string().unwrap(), it.path()));
    let files = files.filter(|(name, _)| name != "manifest.lock");
    files
        .map(|(name, path)| (name, fs::read(path).unwrap()))
        .collect()
}

#[test]
fn a_folder_that_is_exported_in_steps_is_the_one_exported_at_once() {
    let mut server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let steps = folder.path().join("steps");
    assert_eq!(files(&server, &steps)["events"], 0); // nothing is final
    let heads = [30, 31, 100, 100, 180, 312];
    let mut before: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for head in heads {
        make_final(&mut server, head);
        let printed = files(&server, &steps);
        let events = lines(&export(&server, &["--chain", CHAINS[0]]));
        assert_eq!(printed["events"], events.len());
        assert_eq!(printed["position"], events.last().unwrap()["position"]);
        let at_once = folder.path().join(format!("at once {head}"));
        files(&server, &at_once);
        let now = contents(&steps);
        assert_eq!(now, contents(&at_once), "{head}");
        assert_eq!(now.len() - 1, events.len().div_ceil(40));
        // The file that was the last one may have grown; the others stay.
        let grown = before.iter().filter(|(name, bytes)| now[*name] != **bytes);
        let grown: Vec<_> = grown.map(|(name, _)| name).collect();
        let tail = before.keys().rev().nth(1).cloned(); // the manifest is last
        assert!(
            grown
                .iter()
                .all(|it| *it == "manifest.json" || Some(*it) == tail.as_ref()),
            "{grown:?}"
        );
        before = now;
    }
}

/// A process may end after any file, and within one: what is named is whole, and the next export writes the rest.
#[test]
fn what_an_ended_export_left_is_written_again() {
    let mut server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let [ended, whole] = ["ended", "whole"].map(|it| folder.path().join(it));
    make_final(&mut server, 100);
    files(&server, &ended);
    let manifest = contents(&ended).remove("manifest.json").unwrap();
    make_final(&mut server, 312);
    files(&server, &ended);
    files(&server, &whole);
    let place = ended.join(format!("eip155-31337-0x{}", "ab".repeat(20)));
    // The manifest is written after its file.
    fs::write(place.join("manifest.json"), &manifest).unwrap();
    let left = contents(&whole);
    for name in left.keys().filter(|it| it.ends_with(".parquet")).skip(4) {
        fs::write(
            place.join(format!("{name}.partial")),
            b"PAR1 and half a row",
        )
        .unwrap();
    }
    files(&server, &ended);
    assert_eq!(contents(&ended), left);
    let tail = left.keys().rev().nth(1).unwrap();
    fs::remove_file(place.join(tail)).unwrap();
    files(&server, &ended);
    assert_eq!(contents(&ended).get(tail), left.get(tail));
}

#[test]
fn a_folder_that_is_not_of_the_store_is_refused() {
    let mut server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    make_final(&mut server, 312);
    files(&server, &out);
    let place = out.join(format!("eip155-31337-0x{}", "ab".repeat(20)));
    let arguments = ["--to", "parquet", "--out", out.to_str().unwrap()];
    let refused = |rows: &str, code: i32, words: &str| {
        let output = export(&server, &[&arguments[..], &["--rows", rows]].concat());
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains(words), "{stderr}");
    };
    refused("41", 2, "pass --rows 40");
    let manifest = fs::read_to_string(place.join("manifest.json")).unwrap();
    // R46: as if a repair had found an event since.
    let mut repaired: Value = serde_json::from_str(&manifest).unwrap();
    let rows = repaired["files"][7]["rows"].as_u64().unwrap();
    repaired["files"][7]["rows"] = json!(rows - 1);
    fs::write(place.join("manifest.json"), repaired.to_string()).unwrap();
    refused("40", 2, "it was repaired, or is another one");
    fs::write(place.join("manifest.json"), &manifest).unwrap();
    let first = contents(&out).keys().next().cloned().unwrap();
    fs::write(place.join(&first), b"PAR1").unwrap();
    refused("40", 3, &first);
    fs::write(place.join("manifest.json"), "{}").unwrap();
    refused("40", 3, "manifest.json");
}
