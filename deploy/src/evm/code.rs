//! Code on chain against the local build.
use super::contracts::Contract;
use alloy::primitives::B256;
use std::collections::BTreeSet;

/// How the code on chain differs from what the plan would put there; `None`: it does not.
///
/// Every byte outside the immutables must be the build's. The immutables must hold the plan's words:
/// each word of the plan in one immutable, and nothing else in any.
#[must_use]
pub fn difference(contract: &Contract, chain_id: u64, on_chain: &[u8]) -> Option<String> {
    let built = &contract.artifact.runtime_code;
    if built.len() != on_chain.len() {
        return Some(format!(
            "{} bytes, the build has {}",
            on_chain.len(),
            built.len()
        ));
    }
    let places: Vec<_> = contract.artifact.immutables.values().flatten().collect();
    let is_immutable = |at: usize| {
        places
            .iter()
            .any(|place| (place.start..place.start + place.length).contains(&at))
    };
    let differs = |at: &usize| built[*at] != on_chain[*at] && !is_immutable(*at);
    if let Some(at) = (0..built.len()).find(differs) {
        return Some(format!(
            "byte {at} is {:#04x}, the build has {:#04x}",
            on_chain[at], built[at]
        ));
    }
    immutables_differ(contract, chain_id, on_chain)
}

fn immutables_differ(contract: &Contract, chain_id: u64, on_chain: &[u8]) -> Option<String> {
    // as a set: the compiler's numbers of immutables are not names
    let mut left = contract.immutable_words(chain_id);
    for places in contract.artifact.immutables.values() {
        let words: BTreeSet<B256> = places
            .iter()
            .map(|place| B256::from_slice(&on_chain[place.start..place.start + place.length]))
            .collect();
        let [word] = words.iter().copied().collect::<Vec<_>>()[..] else {
            return Some(format!("one immutable holds {} values", words.len()));
        };
        let start = places.first().map_or(0, |place| place.start);
        match left.iter().position(|(_, expected)| *expected == word) {
            Some(found) => drop(left.swap_remove(found)),
            None => return Some(foreign_word(start, word, &left)),
        }
    }
    left.first()
        .map(|(name, word)| format!("no immutable holds the {name} {word}"))
}

fn foreign_word(start: usize, word: B256, left: &[(&str, B256)]) -> String {
    let expected: Vec<String> = left
        .iter()
        .map(|(name, word)| format!("the {name} {word}"))
        .collect();
    format!(
        "the immutable at byte {start} is {word}, the plan has {}",
        expected.join(", ")
    )
}
