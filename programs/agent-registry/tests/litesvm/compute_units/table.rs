//! The tables of `docs/COMPUTE-UNITS.md`, each between two comments that name it.

use super::flow::Flow;
use std::collections::BTreeMap;

fn path() -> String {
    format!("{}/../../docs/COMPUTE-UNITS.md", env!("CARGO_MANIFEST_DIR"))
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let text: Vec<&str> = groups.map(|it| std::str::from_utf8(it).unwrap()).collect();
    text.join(",")
}

fn is_blessing() -> bool {
    std::env::var_os("CONCORD_BLESS").is_some()
}

/// Whether the document speaks of a program built by `toolchain`, or shall from now on.
pub fn is_for(toolchain: &str) -> bool {
    let document = std::fs::read_to_string(path()).expect("docs/COMPUTE-UNITS.md is there");
    is_blessing() || document.contains(toolchain)
}

/// Holds `content` against the document, or writes it there where `CONCORD_BLESS` is set.
#[track_caller]
pub fn assert_written(name: &str, content: &str) {
    let document = std::fs::read_to_string(path()).expect("docs/COMPUTE-UNITS.md is there");
    let (begin, end) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end of {name} -->"),
    );
    let (before, rest) = document.split_once(&begin).expect("the table begins");
    let (written, after) = rest.split_once(&end).expect("the table ends");
    if is_blessing() {
        std::fs::write(path(), [before, &begin, content, &end, after].concat()).unwrap();
    } else {
        assert_eq!(
            written, content,
            "docs/COMPUTE-UNITS.md says otherwise: CONCORD_BLESS=1 writes it anew"
        );
    }
}

/// Of each row of the written table: the units at bump 255, and how they changed.
fn written_units() -> BTreeMap<String, (u64, String)> {
    let document = std::fs::read_to_string(path()).expect("docs/COMPUTE-UNITS.md is there");
    let cells = |line: &str| -> Vec<String> {
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    document
        .lines()
        .map(cells)
        .filter_map(|row| {
            let units = row.get(2)?.replace(',', "").parse().ok()?;
            Some((row[1].clone(), (units, row.get(3)?.clone())))
        })
        .collect()
}

/// The change is against the last figure that differed.
fn change(written: Option<&(u64, String)>, now: u64) -> String {
    match written {
        None => "new".to_owned(),
        Some((before, change)) if *before == now => change.clone(),
        Some((before, _)) if *before < now => format!("+{}", grouped(now - before)),
        Some((before, _)) => format!("−{}", grouped(before - now)),
    }
}

pub fn units(flows: &[Flow], bytes: &BTreeMap<&str, usize>) -> String {
    let written = written_units();
    let mut table = String::from(
        "| instruction | at 255 | change | median | most | bar | bytes |\n|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for flow in flows {
        let name = match flow.variant {
            "" => flow.instruction.to_owned(),
            variant => format!("{}, {variant}", flow.instruction),
        };
        let median_bar = flow.bars.1.map(|bar| format!("; median {}", grouped(bar)));
        table.push_str(&format!(
            "| {name} | {} | {} | {} | {} | {}{} | {} |\n",
            grouped(flow.at_255()),
            change(written.get(&name), flow.at_255()),
            grouped(flow.median()),
            grouped(flow.max()),
            grouped(flow.bars.0),
            median_bar.unwrap_or_default(),
            grouped(bytes[flow.instruction] as u64),
        ));
    }
    table
}

/// Name, bytes and lamports of rent.
pub fn accounts(accounts: &[(&str, u64, u64)]) -> String {
    let mut table = String::from("| account | bytes | lamports |\n|---|---:|---:|\n");
    for (name, bytes, lamports) in accounts {
        table.push_str(&format!(
            "| {name} | {} | {} |\n",
            grouped(*bytes),
            grouped(*lamports)
        ));
    }
    table
}

/// The ELF, what it costs to deploy, and what built it.
pub fn program(bytes: u64, lamports: u64, toolchain: &str) -> String {
    format!(
        "The ELF has {} bytes; its rent is {} lamports. It was built by {}.\n",
        grouped(bytes),
        grouped(lamports),
        toolchain,
    )
}
