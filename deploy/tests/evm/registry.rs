//! What the EVM registries do not have.
use crate::evm::{
    local_chain::{BASE_SEPOLIA, LocalChain},
    program::Workplace,
};

/// They have no owner, and no list is kept.
#[test]
fn the_registry_s_settings_are_solana_s() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let key = "4dqu3YHQaBRRG7MPP4KRapDWK2XoAcHuAjTRwTuZCxbB";
    let words = "eip155:84532: its registries have no authority, payment tokens or facilitators";
    for arguments in [
        &["show"][..],
        &["accept", "--yes"],
        &["propose", key, "--yes"],
        &["add-token", key, "--yes"],
        &["add-facilitator", key, "--unsigned"],
    ] {
        let arguments = [&["registry"], arguments].concat();
        workplace.run(&arguments).assert_refused(2, words);
    }
    workplace
        .apply(&["--registry-authority", key])
        .assert_refused(
            2,
            "--registry-authority is for Solana chains, not for eip155:84532",
        );
    chain.assert_nothing_was_sent();
}
