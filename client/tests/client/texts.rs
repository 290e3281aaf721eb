//! R17, EVM-31: texts that are not UTF-8, which the contracts take from anyone.
use crate::{
    chain::Chain,
    world::{Role, evm_registries},
};
use alloy::{
    network::TransactionBuilder,
    primitives::{Address, Bytes, U256},
    rpc::types::TransactionRequest,
};
use concord_canonical::summary::Summary;
use concord_chain::{EndpointOptions, evm::Node};
use concord_client::{Kind, Registries, Reviewers, StoredRating, Tags, summarize};
use concord_registry::evm::calls::{self, GiveOpenFeedback};

/// The input of a call with the byte 0xFF in the place of its one `?`.
fn with_ff(input: &Bytes) -> Bytes {
    let mut input = input.to_vec();
    let places: Vec<usize> = (4..input.len()).filter(|at| input[*at] == b'?').collect();
    let [at] = places[..] else {
        panic!("one, not {places:?}");
    };
    input[at] = 0xff;
    input.into()
}

async fn send(chain: &Chain, role: Role, to: Address, input: Bytes) {
    let node = Node::new(&EndpointOptions::new(&chain.url)).unwrap();
    let from = chain.keys[role as usize].address();
    let request = TransactionRequest::default().with_from(from).with_to(to);
    let request = [request.with_input(input)];
    let sent = node.endpoint().request("eth_sendTransaction", &request);
    let hash: String = sent.await.unwrap().unwrap();
    loop {
        let receipt = node
            .endpoint()
            .request("eth_getTransactionReceipt", [&hash]);
        let receipt: serde_json::Value = receipt.await.unwrap().unwrap();
        if !receipt.is_null() {
            return assert_eq!(receipt["status"], "0x1");
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn r17_r47_texts_that_are_not_utf8_are_read_and_asked_for() {
    let chain = Chain::start().await;
    let open = chain.addresses.open_reputation.unwrap();
    let register = with_ff(&calls::register("?", &[]));
    send(&chain, Role::Owner, chain.addresses.identity, register).await;
    for (role, tag, value) in [(Role::Reviewer, "?", 10), (Role::Second, "\u{FFFD}", 20)] {
        let feedback = calls::give_open_feedback(&GiveOpenFeedback {
            agent_id: U256::from(1),
            value,
            decimals: 0,
            tag1: tag,
            tag2: "",
            endpoint: "",
            uri: "",
            hash: [0; 32],
        });
        let input = if tag == "?" {
            with_ff(&feedback)
        } else {
            feedback
        };
        send(&chain, role, open, input).await;
    }
    let registries = evm_registries(&chain.url, chain.addresses);
    let agent = registries.agent("1").await.unwrap().unwrap();
    assert_eq!(agent.uri, "\u{10FEFF}");
    let reviewer = chain.keys[Role::Reviewer as usize].address().to_string();
    let read = registries.feedback(Kind::Open, "1", &reviewer, 1);
    let read = read.await.unwrap().unwrap();
    let expected = StoredRating::Open {
        value: 10,
        decimals: 0,
        tag1: "\u{10FEFF}".to_owned(),
        tag2: String::new(),
    };
    assert_eq!(read.rating, expected);
    for (tag1, value) in [("\u{10FEFF}", 10), ("\u{FFFD}", 20), ("", 15)] {
        let tags = Tags { tag1, tag2: "" };
        let stated = summarize(&registries, "1", &Reviewers::Everyone, tags).await;
        let expected = Summary {
            count: if tag1.is_empty() { 2 } else { 1 },
            value,
            decimals: 0,
        };
        assert_eq!(stated.unwrap().summary, expected, "{tag1:?}");
    }
}
