//! Inputs beside `calldata.txt`, which holds what Foundry's `cast calldata` prints for the same
//! arguments.
use concord_registry::evm::{
    Address, U256,
    calls::{self, AppendResponse, GiveFeedback, GiveOpenFeedback, RespondToValidation},
};
use std::collections::BTreeMap;

const AGENT: U256 = U256::from_limbs([7, 0, 0, 0]);
const CLIENT: Address = Address::repeat_byte(0xC1);
const OTHER: Address = Address::repeat_byte(0xD2);
const HASH: [u8; 32] = [6; 32];

fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

fn feedback() -> GiveFeedback<'static> {
    GiveFeedback {
        agent_id: AGENT,
        score: 87,
        tag1: [4; 32],
        tag2: [5; 32],
        uri: "ipfs://f",
        hash: HASH,
        authorization: &[3; 3],
    }
}

fn open_feedback() -> GiveOpenFeedback<'static> {
    GiveOpenFeedback {
        agent_id: AGENT,
        value: -31,
        decimals: 1,
        tag1: "quality",
        tag2: "",
        endpoint: "https://a",
        uri: "ipfs://f",
        hash: HASH,
    }
}

fn response() -> AppendResponse<'static> {
    AppendResponse {
        agent_id: AGENT,
        client: CLIENT,
        index: 3,
        uri: "ipfs://r",
        hash: HASH,
    }
}

fn validation_response() -> RespondToValidation<'static> {
    RespondToValidation {
        request_hash: HASH,
        score: 100,
        uri: "ipfs://e",
        hash: [5; 32],
        tag: "done",
    }
}

#[test]
fn inputs_are_those_that_cast_makes() {
    let entry: (&str, &[u8]) = ("name", &[1, 2]);
    let made = BTreeMap::from([
        ("register", calls::register("ipfs://a", &[]).to_vec()),
        (
            "register_with_metadata",
            calls::register("ipfs://a", &[entry]).to_vec(),
        ),
        (
            "set_agent_uri",
            calls::set_agent_uri(AGENT, "ipfs://b").to_vec(),
        ),
        (
            "set_metadata",
            calls::set_metadata(AGENT, "name", &[1, 2]).to_vec(),
        ),
        (
            "set_agent_wallet",
            calls::set_agent_wallet(AGENT, OTHER, 1_700_000_300, &[3; 3]).to_vec(),
        ),
        (
            "unset_agent_wallet",
            calls::unset_agent_wallet(AGENT).to_vec(),
        ),
        ("transfer", calls::transfer(AGENT, CLIENT, OTHER).to_vec()),
        ("approve", calls::approve(AGENT, OTHER).to_vec()),
        ("set_operator", calls::set_operator(OTHER, true).to_vec()),
        ("give_feedback", calls::give_feedback(&feedback()).to_vec()),
        (
            "give_open_feedback",
            calls::give_open_feedback(&open_feedback()).to_vec(),
        ),
        ("revoke_feedback", calls::revoke_feedback(AGENT, 3).to_vec()),
        (
            "append_response",
            calls::append_response(&response()).to_vec(),
        ),
        (
            "request_validation",
            calls::request_validation(AGENT, OTHER, "ipfs://q", HASH).to_vec(),
        ),
        (
            "respond_to_validation",
            calls::respond_to_validation(&validation_response()).to_vec(),
        ),
        (
            "open_summary",
            calls::open_summary(AGENT, &[CLIENT, OTHER], "quality", "").to_vec(),
        ),
        (
            "open_summary_of_bytes", // EVM-31: 0xFF61 as a tag
            calls::open_summary(AGENT, &[], "\u{10FEFF}a", "").to_vec(),
        ),
        (
            "authorized_reputation_arguments",
            calls::authorized_reputation_arguments(OTHER, true),
        ),
        (
            "bound_registry_arguments",
            calls::bound_registry_arguments(OTHER),
        ),
    ]);
    let expected: BTreeMap<_, _> = include_str!("calldata.txt")
        .lines()
        .map(|line| line.split_once(' ').unwrap())
        .collect();
    let made: BTreeMap<_, _> = made
        .iter()
        .map(|(name, input)| (*name, hex(input)))
        .collect();
    for (name, input) in &expected {
        assert_eq!(made.get(name).map(String::as_str), Some(*input), "{name}");
    }
    assert_eq!(made.len(), expected.len());
}
