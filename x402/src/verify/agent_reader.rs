//! One request for all that a buyer reads of an agent on an EVM chain.

use alloy::{
    network::TransactionBuilder as _,
    primitives::{Address, U256, hex},
    rpc::types::TransactionRequest,
    sol_types::SolValue,
};

/// The creation code of `contracts/src/readers/AgentReader.sol`, in hex. A node runs it for `eth_call` and returns what the
/// constructor returns; nothing is deployed.
const CREATION_CODE: &str = include_str!("agent_reader.hex");

alloy::sol! {
    /// What a call returned, or reverted with.
    struct Answer {
        bool succeeded;
        bytes data;
    }

    /// What the constructor returns.
    struct AgentRead {
        /// The block.
        uint256 number;
        /// Its time in Unix seconds.
        uint256 time;
        /// `ownerOf`.
        Answer owner;
        /// `tokenURI`.
        Answer uri;
        /// `getAgentWallet`.
        Answer wallet;
        /// Whether the wallet has code.
        bool isWalletContract;
    }
}

/// Asks for an agent of an identity registry.
pub(super) fn request(registry: Address, agent_id: U256) -> TransactionRequest {
    let code = hex::decode(CREATION_CODE.trim_end()).unwrap_or_default();
    let arguments = (registry, agent_id).abi_encode_params();
    TransactionRequest::default().with_deploy_code([code, arguments].concat())
}

/// `None` if a node answered something else: some do not run creation code, and none returns more than a contract may be
/// long (24,576 bytes, EIP-170), which a URI may exceed.
pub(super) fn decode(answer: &[u8]) -> Option<AgentRead> {
    <AgentRead as SolValue>::abi_decode_params_validate(answer).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, path::Path};

    #[test]
    fn the_creation_code_is_that_of_the_built_contract() {
        let place = "../contracts/out/AgentReader.sol/AgentReader.json";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(place);
        let artifact = fs::read_to_string(path).expect("scripts/build contracts has built it");
        let artifact: serde_json::Value = serde_json::from_str(&artifact).unwrap();
        let built = artifact["bytecode"]["object"].as_str().unwrap();
        assert_eq!(built, format!("0x{}", CREATION_CODE.trim_end()));
    }

    #[test]
    fn another_answer_is_none() {
        for answer in [&[][..], &[0; 31], &[0xff; 320], &[0; 64]] {
            assert!(decode(answer).is_none(), "{answer:?}");
        }
    }
}
