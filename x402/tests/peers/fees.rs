//! What `concord feedback give` offers for gas if a node says that everybody offers a million times as much.
use crate::peers::{
    commands::{Answer, Buyer, open, shop, write},
    entrance::{Entrance, PREFIX},
    nodes::Liar,
    world::{EVM_NETWORK, Token, World},
};
use alloy::providers::Provider;
use serde_json::{Value, json};
use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Wei: a million gwei.
const TIP: &str = "0x38d7ea4c68000";

/// A node that says the truth about fees so many times.
async fn liar(node: &str, honest: Arc<AtomicUsize>) -> Liar {
    Liar::start(node, move |method, _, answer| {
        if method != "eth_feeHistory" {
            return None;
        }
        let left = honest.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| it.checked_sub(1));
        if left.is_ok() {
            return None;
        }
        let mut history = answer.clone();
        for reward in history["reward"].as_array_mut().unwrap() {
            *reward = json!([TIP]);
        }
        Some(Ok(history))
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_s_word_about_fees_does_not_empty_the_reviewer_s_account() {
    let world = World::start().await;
    let registries = world.evm.deploy_reputation().await;
    let folder = tempfile::tempdir().unwrap();
    let entrance = Entrance::start().await;
    let config = shop(&world, &registries, folder.path(), &entrance).await;
    let config = write(folder.path().join("shop.json"), &config);
    let _served = open(&config, &entrance).await;
    let buyer = Buyer {
        world: &world,
        registries,
        folder: folder.path(),
    };
    let url = format!("{}{PREFIX}/weather?city=London", entrance.origin);
    let paid = buyer.pay(Token::Usdc, &[&url, "--id", "usdc"]).await;
    paid.json(0);
    let honest = Arc::new(AtomicUsize::new(0));
    let node = liar(&world.evm.url, honest.clone()).await;
    let files = folder.path().join("files").display().to_string();
    let rate = async |arguments: &[&str]| -> Answer {
        let given = ["feedback", "give", "--id", "usdc", "--chain", EVM_NETWORK];
        let arguments = [&given[..], &["--files", &files], arguments].concat();
        let rpc = |it: &mut Value| it["chains"][EVM_NETWORK]["rpc"] = json!(node.url);
        let config = buyer.config(Token::Usdc, rpc);
        buyer.run(config, &arguments).await
    };
    let nothing_is_signed = async || {
        let payer = world.evm.payer.address();
        let count = world.evm.provider.get_transaction_count(payer).pending();
        assert_eq!(count.await.unwrap(), 0);
        let entries = fs::read_dir(folder.path().join("purchases/feedback")).unwrap();
        for entry in entries {
            let path = entry.unwrap().path();
            let written = fs::read_to_string(&path).unwrap();
            assert!(!written.contains("\"raw\""), "{}", path.display());
        }
    };

    let malformed = rate(&["--value", "95", "--max-fee=cheap"]).await;
    malformed.refused(2, "--max-fee cheap: not a number of gwei");
    // above what was said
    let refused = rate(&["--value", "95", "--max-fee", "100"]).await;
    refused.refused(3, "above the limit of 100 gwei");
    nothing_is_signed().await;
    // above what was asked at first, if nothing was said
    honest.store(1, Ordering::SeqCst);
    let refused = rate(&["--resume"]).await;
    refused.refused(3, "above the limit of");
    nothing_is_signed().await;
    // what is within the limit is signed
    honest.store(usize::MAX, Ordering::SeqCst);
    let given = rate(&["--resume", "--max-fee", "100"]).await;
    assert_eq!(given.json(0)["index"], 1);
    assert_eq!(buyer.last_index(registries.open_reputation).await, 1);
}
