//! `concord-index export`.
use crate::{
    database::argument,
    given::{CHAINS, blocks},
    server::Server,
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Output},
};

fn export(server: &Server, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_concord-index"))
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

#[test]
fn every_event_is_exported_in_order_and_an_export_goes_on_where_one_ended() {
    let server = Server::start();
    let all = lines(&export(&server, &["--unfinal"]));
    let given = [0, 1].map(|chain| blocks(chain).iter().map(|(_, it)| it.len()).sum::<usize>());
    assert_eq!(all.len(), given[0] + given[1]);
    let first = json!({
        "position": "000000000000000100000000000000000000000000000000",
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
        let after = position(&of_chain[ended]);
        let rest = ["--unfinal", "--chain", CHAINS[1], "--after", &after];
        assert_eq!(lines(&export(&server, &rest)), of_chain[ended + 1..]);
    }
}

#[test]
fn what_may_be_taken_back_is_not_exported_unasked() {
    let mut server = Server::start(); // its chains say nothing of finality
    assert_eq!(lines(&export(&server, &[])), Vec::<Value>::new());
    let number = blocks(0).last().unwrap().0 + 1;
    let batch = crate::given::batch(0, number, vec![]);
    server
        .store
        .commit(server.ids[0], &batch, Some(3), 64)
        .unwrap();
    let last = lines(&export(&server, &[])).pop().unwrap();
    assert_eq!(last["block"], "3");
    assert_eq!(last["chain"], CHAINS[0]);
}

#[test]
fn a_position_needs_its_deployment() {
    let server = Server::start();
    let position = "00".repeat(24);
    for (options, words) in [
        (vec!["--after", &position], "--chain"),
        (vec!["--chain", "eip155:2"], "no such deployment"),
        (vec!["--after", "12"], "48 hex digits"),
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
    let batch = crate::given::batch(0, next, vec![]);
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
