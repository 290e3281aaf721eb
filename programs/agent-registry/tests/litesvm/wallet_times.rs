//! R13: `wallet_set_at` is written with the wallet, and with nothing else.

use crate::localnet::{
    NOW, Sent,
    sale::Sale,
    stage::Stage,
    token_2022::{spare_account, transfer},
};
use solana_signer::Signer;

/// The instructions that write the wallet.
const WRITING: [&str; 4] = [
    "register_agent",
    "transfer_hook",
    "set_agent_wallet",
    "unset_agent_wallet",
];

#[test]
fn exactly_four_instructions_write_it() {
    let mut stage = Stage::new();
    let calls = stage.calls();
    let ready = stage.net.svm.clone();
    let mut writing = vec![];
    for call in &calls {
        stage.net.svm = ready.clone();
        if call.name == "initialize" {
            stage.forget_registry();
        }
        stage.net.set_clock(NOW + 60);
        if let Err(failed) = stage.send(&call.transaction()) {
            panic!("{}: {:?}", call.name, failed.err);
        }
        let mint = match call.name {
            "register_agent" => stage.new_mint(),
            _ => stage.agent.mint,
        };
        match stage.net.identity(&mint).wallet_set_at {
            NOW => (),
            now => {
                assert_eq!(now, NOW + 60);
                writing.push(call.name);
            }
        }
    }
    assert_eq!(writing, WRITING);
}

#[test]
fn a_transfer_writes_it_if_the_owner_changes() {
    let mut sale = Sale::new();
    let owner = sale.agent.owner.insecure_clone();
    let mint = sale.agent.mint;
    let second = spare_account(&mut sale.net, &owner, &owner.pubkey(), &mint, true);
    sale.net.set_clock(NOW + 60);
    let nothing = sale.sale(0);
    sale.send_as_owner(&[nothing]).unwrap();
    for (from, to) in [
        (sale.held_by(&owner), second),
        (second, sale.held_by(&owner)),
    ] {
        let instruction = transfer(&from, &mint, &to, &owner.pubkey(), 1);
        let sent: Sent = sale.send_as_owner(&[instruction]);
        sent.unwrap();
        assert_eq!(sale.net.identity(&mint).wallet_set_at, NOW);
    }
    let instruction = sale.sale(1);
    sale.send_as_owner(&[instruction]).unwrap();
    assert_eq!(sale.net.identity(&mint).wallet_set_at, NOW + 60);
}
