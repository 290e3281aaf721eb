use crate::bundle::HexBytes;
use alloy_primitives::{B256, Bytes};
use alloy_trie::{
    HashBuilder, Nibbles,
    proof::{ProofRetainer, verify_proof},
    root::adjust_index_for_rlp,
};

/// A proof that does not lead from a root to a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the proof of {what} does not lead to it from {root}")]
pub(crate) struct ProofBroken {
    pub what: &'static str,
    pub root: B256,
}

/// Requires that `proof` leads from `root` to `value` under `key`, or to nothing if it is `None`.
pub(crate) fn require(
    what: &'static str,
    root: B256,
    key: &[u8],
    value: Option<Vec<u8>>,
    proof: &[HexBytes],
) -> Result<(), ProofBroken> {
    let nodes: Vec<Bytes> = proof.iter().map(|it| it.0.clone().into()).collect();
    let proven = verify_proof(root, Nibbles::unpack(key), value, &nodes);
    proven.map_err(|_| ProofBroken { what, root })
}

/// The key of an item in a block's trie: its index as RLP.
pub(crate) fn key_of_index(index: u64) -> Vec<u8> {
    alloy_rlp::encode(index)
}

/// The root of a block's trie of transactions or receipts, and the nodes from it to one of the items.
#[must_use]
pub fn proof_of_item(items: &[Vec<u8>], index: usize) -> (B256, Vec<HexBytes>) {
    let key = |index: usize| Nibbles::unpack(alloy_rlp::encode(index));
    let mut builder =
        HashBuilder::default().with_proof_retainer(ProofRetainer::new(vec![key(index)]));
    for place in 0..items.len() {
        // the order of the keys, which is not that of the indices
        let item = adjust_index_for_rlp(place, items.len());
        builder.add_leaf(key(item), &items[item]);
    }
    let root = builder.root();
    let nodes = builder.take_proof_nodes().into_nodes_sorted();
    let nodes = nodes.into_iter().map(|(_, node)| HexBytes(node.to_vec()));
    (root, nodes.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks around the places where an index takes another byte.
    #[test]
    fn each_item_of_a_block_is_proven_and_no_other() {
        for length in [1usize, 2, 16, 127, 128, 129, 257] {
            let items: Vec<Vec<u8>> = (0..length)
                .map(|item| vec![0xc0 | (item % 7) as u8; 40 + item])
                .collect();
            for index in [0, length / 2, length - 1] {
                let (root, proof) = proof_of_item(&items, index);
                let key = key_of_index(index as u64);
                let own = Some(items[index].clone());
                assert_eq!(
                    require("it", root, &key, own.clone(), &proof),
                    Ok(()),
                    "{index} of {length}"
                );
                let other = Some([&items[index][..], &[1]].concat());
                assert!(require("it", root, &key, other, &proof).is_err());
                assert!(require("it", B256::ZERO, &key, own, &proof).is_err());
            }
        }
    }
}
