//! R17, EVM-31: texts that are not UTF-8. The contracts take them from anyone.
use crate::reorg::chain::Chain;
use alloy::{
    network::TransactionBuilder,
    primitives::{Address, Bytes, U256},
    rpc::types::{TransactionRequest, state::StateOverride},
    sol_types::{SolCall, SolValue},
};
use concord_index::Options;
use concord_registry::{
    event::{AccountId, AgentId},
    evm::{
        abi::ReputationRegistry as Open,
        calls::{self, AppendResponse, GiveOpenFeedback},
    },
};
use serde_json::json;

const MARK: &str = "MARK";

/// The input of a call with other bytes in the place of its text [`MARK`].
fn with(bytes: &[u8; 4], input: &Bytes) -> Bytes {
    let places: Vec<usize> = (0..input.len() - 4)
        .filter(|at| input[*at..].starts_with(MARK.as_bytes()))
        .collect();
    let [at] = places[..] else {
        panic!("{MARK} is there once");
    };
    [&input[..at], bytes, &input[at + 4..]].concat().into()
}

fn feedback(value: i128, tag1: &str) -> Bytes {
    calls::give_open_feedback(&GiveOpenFeedback {
        agent_id: U256::from(2),
        value,
        decimals: 0,
        tag1,
        tag2: "",
        endpoint: "",
        uri: "",
        hash: [0; 32],
    })
}

/// The contract's summary of agent 2 for a tag of these bytes: the count and the average.
fn on_chain(chain: &Chain, clients: &[Address], tag: &[u8]) -> (u64, i128) {
    let tags = (Bytes::copy_from_slice(tag), Bytes::new());
    let arguments = (U256::from(2), clients.to_vec(), tags.0, tags.1).abi_encode_params();
    let input = [&Open::getSummaryCall::SELECTOR[..], &arguments].concat();
    let open = chain.registries().open_reputation.unwrap();
    let request = TransactionRequest::default()
        .with_to(open)
        .with_input(input);
    let none = StateOverride::default();
    let answer = chain.blocking.wait(chain.node.call(&request, &none));
    let answer = answer.unwrap().unwrap();
    let summary = Open::getSummaryCall::abi_decode_returns(&answer).unwrap();
    (summary.count, summary.summaryValue)
}

#[test]
fn r17_r46_r47_texts_that_are_not_utf8_leave_nothing_out() {
    let chain = Chain::start();
    let registries = chain.registries();
    let (identity, open) = (registries.identity, registries.open_reputation.unwrap());
    let accounts: Vec<Address> =
        serde_json::from_value(chain.ask("eth_accounts", json!([]))).unwrap();
    let clients = &accounts[2..6];
    let register = calls::register(MARK, &[]);
    chain.send(1, identity, with(b"\xff\0\xc3\x28", &register)); // agent 4
    chain.send(1, identity, calls::register("ipfs://valid", &[])); // agent 5
    chain.send(1, identity, with(b"\xfe\xfe\xfe\xfe", &register)); // agent 6
    let set = calls::set_metadata(U256::from(4), MARK, b"value");
    chain.send(1, identity, with(b"k\xf0\x9f\x98", &set));
    // Made lossy, the first two would be one tag; the third poses as the first.
    chain.send(2, open, with(b"\xff\xff\xff\xff", &feedback(10, MARK)));
    chain.send(3, open, with(b"\xfe\xfe\xfe\xfe", &feedback(20, MARK)));
    let posing = "\u{10FEFF}".repeat(4);
    chain.send(4, open, feedback(40, &posing));
    chain.send(5, open, feedback(80, "uptime"));
    let response = calls::append_response(&AppendResponse {
        agent_id: U256::from(2),
        client: clients[0],
        index: 1,
        uri: MARK,
        hash: [0; 32],
    });
    chain.send(0, open, with(b"\xff\xff\xff\xff", &response));

    let mut indexer = chain.sound(Options::default());
    chain.catch_up(&mut indexer);
    while chain.blocking.wait(indexer.compare_state()).unwrap() > 0 {}
    let id = indexer.deployment();
    assert!(indexer.store().completeness(id).unwrap().is_complete());
    assert_eq!(indexer.store().first_gap(id, 0).unwrap(), None); // R46: nothing is read again
    assert_eq!(indexer.store().differences(id, 9).unwrap(), []); // R45
    let digest = indexer.store().digest(id).unwrap();
    assert_eq!(indexer.store().rebuild_digest(id).unwrap(), digest);
    let agent = |number: u64| AgentId::from(U256::from(number));
    for (number, uri) in [
        (4, "\u{10FEFF}\0\u{10FEC3}("),
        (5, "ipfs://valid"),
        (6, "\u{10FEFE}\u{10FEFE}\u{10FEFE}\u{10FEFE}"),
    ] {
        let row = indexer.store().agent(id, agent(number)).unwrap().unwrap();
        assert_eq!((row.owner, &*row.uri), (Some(accounts[1].into()), uri));
    }

    // R47: by hand, of the contract, and of the index
    let reviewers: Vec<AccountId> = clients.iter().map(|it| (*it).into()).collect();
    let posing_bytes = "\u{10FEF4}\u{10FE8F}\u{10FEBB}\u{10FEBF}".repeat(4);
    for (bytes, text, expected) in [
        (&b"\xff\xff\xff\xff"[..], &*posing, (1, 10)),
        (b"\xfe\xfe\xfe\xfe", &"\u{10FEFE}".repeat(4), (1, 20)),
        (posing.as_bytes(), &posing_bytes, (1, 40)),
        (b"uptime", "uptime", (1, 80)),
        (
            "\u{FFFD}".repeat(4).as_bytes(),
            &"\u{FFFD}".repeat(4),
            (0, 0),
        ),
        (b"", "", (4, 37)), // 37.5
    ] {
        assert_eq!(on_chain(&chain, clients, bytes), expected, "{text:?}");
        for listed in [Some(&*reviewers), None] {
            let summary = indexer
                .store()
                .open_summary(id, agent(2), listed, (text, ""));
            let summary = summary.unwrap().summary;
            assert_eq!((summary.count, summary.value), expected, "{text:?}");
        }
    }
}
