//! R6: the forms of an authorization that a deployment's registry takes.
use crate::evm::{
    local_chain::{BASE_SEPOLIA, LocalChain, SECRET, deployer},
    program::Workplace,
};
use alloy::{
    hex,
    primitives::{Address, U256, address},
    sol_types::SolError,
};
use concord_canonical::{auth::EvmFeedbackAuth, sign, word};
use concord_registry::evm::{
    abi::AuthorizedReputationRegistry as Authorized,
    calls::{self, GiveFeedback},
};
use concord_testkit::http::post;
use serde_json::{Value, json};
use std::{thread, time::Duration};

const CLIENT: Address = address!("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
/// The first agent of an identity registry (R1).
const AGENT: u64 = 1;

fn contract(workplace: &Workplace, name: &str) -> Address {
    let address = &workplace.recorded()["contracts"][name]["address"];
    address.as_str().unwrap().parse().unwrap()
}

/// The deployer registers an agent.
fn register(chain: &LocalChain, identity: Address) {
    chain.ask("anvil_impersonateAccount", json!([deployer().address()]));
    let call =
        json!([{ "from": deployer().address(), "to": identity, "data": calls::register("", &[]) }]);
    let hash = chain.ask("eth_sendTransaction", call);
    while chain
        .ask("eth_getTransactionReceipt", json!([hash]))
        .is_null()
    {
        thread::sleep(Duration::from_millis(20)); // it is not mined yet
    }
}

/// What the registry answers to feedback with the owner's signature over `digest`: the first four
/// bytes of its refusal, if it refuses.
fn refusal(chain: &LocalChain, workplace: &Workplace, is_draft_v1: bool) -> Option<[u8; 4]> {
    let reputation = contract(workplace, "AuthorizedReputationRegistry");
    let fields = EvmFeedbackAuth {
        agent_id: word::from_u64(AGENT),
        client_address: CLIENT.into_array(),
        index_limit: 1,
        expiry: word::from_u64(u64::MAX),
        chain_id: word::from_u64(BASE_SEPOLIA),
        identity_registry: contract(workplace, "IdentityRegistry").into_array(),
        signer_address: deployer().address().into_array(),
    };
    let digest = if is_draft_v1 {
        fields.eip191_digest()
    } else {
        fields.eip712_digest(&reputation.into_array())
    };
    let secret = hex::decode_to_array(SECRET).unwrap();
    let signature = sign::secp256k1_sign(&secret, &digest).unwrap();
    let signature = sign::to_ethereum_v(&signature).unwrap();
    let feedback = calls::give_feedback(&GiveFeedback {
        agent_id: U256::from(AGENT),
        score: 90,
        tag1: [0; 32],
        tag2: [0; 32],
        uri: "",
        hash: [0; 32],
        authorization: &fields.blob(&signature),
    });
    let call = json!([{ "from": CLIENT, "to": reputation, "data": feedback }, "latest"]);
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_call", "params": call });
    let answer = post(chain.port(), request.to_string().as_bytes());
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let data = answer["error"]["data"].as_str()?;
    Some(hex::decode(data).unwrap()[..4].try_into().unwrap())
}

#[test]
fn r6_the_first_draft_s_form_counts_only_where_it_is_asked_for() {
    let refused = Some(Authorized::AuthBadSignature::SELECTOR);
    for (arguments, of_draft_v1) in [
        (&[][..], refused),
        (&["--accepts-draft-v1", "true"][..], None),
        (&["--accepts-draft-v1", "false"][..], refused),
    ] {
        let chain = LocalChain::start(BASE_SEPOLIA);
        let workplace = Workplace::at(&chain);
        workplace.apply(arguments).assert_done();
        let settings = &workplace.recorded()["settings"];
        assert_eq!(settings["acceptsDraftV1"], json!(of_draft_v1.is_none()));
        register(&chain, contract(&workplace, "IdentityRegistry"));
        assert_eq!(refusal(&chain, &workplace, false), None);
        assert_eq!(refusal(&chain, &workplace, true), of_draft_v1);
    }
}
