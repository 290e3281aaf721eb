//! The declared variances (specification §3a), in a few words each.

/// What a declared variance of this number is about.
pub(super) fn words(kind: u8) -> &'static str {
    match kind {
        0 => "a registry that is not ours is known to answer otherwise",
        1 => "a bad Ed25519 signature fails in the precompile, before the program's checks",
        2 => "portable lengths and the explicit index are enforced on Solana only",
        3 => "request hashes are unique per registry on EVM, per agent and validator on Solana",
        4 => "payment proofs exist on Solana only",
        5 => "response counts per responder exist on EVM only",
        6 => {
            "ERC-1271, approvals and the wallet deadline are EVM's; feedback authority and x84 Solana's"
        }
        7 => "burned agents, and token accounts that could change hands, exist on Solana only",
        _ => "not in the specification's list",
    }
}
