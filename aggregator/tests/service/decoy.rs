//! R57: an audit takes the feedback that the entry names, not another one of the same transaction.
use crate::{
    audit::{GRACE, problems, publish, report},
    respond::{URI, request, sent_by, submitted},
    world::{Running, World, network, pause},
};
use alloy::{
    consensus::Transaction,
    network::TransactionBuilder,
    primitives::{Address, hex, keccak256},
    providers::Provider,
    rpc::types::TransactionRequest,
};
use concord_registry::evm::calls::{self, AppendResponse, GiveOpenFeedback};
use serde_json::json;

/// Bytes of the code of one call.
const CALL: usize = 39;

/// The code of an account that calls a contract several times.
fn calling(to: Address, inputs: &[&[u8]]) -> Vec<u8> {
    let (mut code, mut data) = (Vec::new(), Vec::new());
    for input in inputs {
        let push =
            |number: usize| [&[0x61], &u16::try_from(number).unwrap().to_be_bytes()[..]].concat();
        let (length, offset) = (
            push(input.len()),
            push(inputs.len() * CALL + 1 + data.len()),
        );
        let copy = [&length[..], &offset, &[0x5f, 0x39]].concat(); // PUSH0 CODECOPY
        let arguments = [
            &[0x5f, 0x5f],
            &length[..],
            &[0x5f, 0x5f, 0x73],
            to.as_slice(),
        ]
        .concat();
        code.extend([&copy[..], &arguments, &[0x5a, 0xf1, 0x50]].concat()); // GAS CALL POP
        data.extend_from_slice(input);
    }
    assert_eq!(code.len(), inputs.len() * CALL);
    code.push(0); // STOP
    [code, data].concat()
}

/// The aggregator's account gives a feedback with the file's hash and another URI, and the honest one after it, in one transaction.
async fn give_both(world: &World, honest: &str) -> String {
    let provider = &world.chain.provider;
    let honest = provider.get_transaction_by_hash(honest.parse().unwrap());
    let honest = honest.await.unwrap().unwrap().input().to_vec();
    let decoy = calls::give_open_feedback(&GiveOpenFeedback {
        agent_id: world.chain.agent_id,
        value: 95,
        decimals: 0,
        tag1: "",
        tag2: "",
        endpoint: "",
        uri: "ipfs://decoy",
        hash: hash_of(&honest),
    });
    let code = hex::encode_prefixed(calling(world.open, &[&decoy, &honest]));
    let set = provider.raw_request::<_, ()>("anvil_setCode".into(), (world.client(), code));
    set.await.unwrap();
    let request = TransactionRequest::default()
        .with_to(world.client())
        .with_gas_limit(2_000_000); // a call that fails is not seen by an estimate
    let receipt = world.send(&world.chain.payer, request).await;
    assert!(receipt.status());
    format!("{}:{}", network(), receipt.transaction_hash)
}

/// The hash is the last argument of the call, a word.
fn hash_of(input: &[u8]) -> [u8; 32] {
    input[4 + 7 * 32..][..32].try_into().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r57_a_response_to_a_decoy_is_not_the_one_that_was_signed() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let draft = world.review(&world.pay(1).await);
    let hash = submitted(&running, &draft).await;
    let signed = request(&draft, &hash, &draft.agent_key);
    let answer = running.post_to("/responses", signed.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    while running.store.open_responses().unwrap() > 0 {
        pause().await;
    }
    let page = running.get("/receipts").await;
    let mut receipts = page.body["receipts"].as_array().unwrap().clone();
    running.stop().await;
    let late = receipts[1]["receipt"]["acceptedAt"].as_u64().unwrap() + GRACE;
    let honest = receipts[0]["txRef"].as_str().unwrap().rsplit(':').next();
    receipts[0]["txRef"] = json!(give_both(&world, honest.unwrap()).await);
    assert_eq!(world.feedbacks().await, 3, "the decoy is the second");
    for (index, expected) in [(3, vec![]), (2, vec![(2, "differs".to_owned())])] {
        let call = calls::append_response(&AppendResponse {
            agent_id: world.chain.agent_id,
            client: world.client(),
            index,
            uri: URI,
            hash: keccak256(b"{\"sorry\":true}").0,
        });
        let (transaction, succeeded) = sent_by(&world, &world.chain.payer, call.to_vec()).await;
        assert!(succeeded);
        receipts[1]["txRef"] = json!(format!("{}:{transaction}", network()));
        let origin = publish(receipts.clone(), &folder.path().join("files")).await;
        let found = problems(&report(&world, &origin, &[], late).await);
        assert_eq!(found, expected, "{index}");
    }
}
