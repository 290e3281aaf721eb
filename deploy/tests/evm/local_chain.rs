//! A real anvil of the test's own, and how the test itself talks to it.
use alloy::{
    node_bindings::AnvilInstance,
    primitives::{Address, U256},
    signers::local::PrivateKeySigner,
};
use concord_testkit::anvil;
use concord_testkit::http::post;
use serde_json::{Value, json};

pub const BASE_SEPOLIA: u64 = 84_532;

/// It ends when it is dropped.
pub struct LocalChain {
    _anvil: AnvilInstance,
    port: u16,
}

impl LocalChain {
    pub fn start(chain_id: u64) -> Self {
        Self::start_with(chain_id, &[])
    }

    pub fn start_with(chain_id: u64, arguments: &[&str]) -> Self {
        let number = chain_id.to_string();
        let of_the_chain = ["--chain-id", &number, "--hardfork", "prague"];
        let anvil = anvil::start(&[&of_the_chain, arguments].concat());
        let port = anvil.port();
        let chain = Self {
            _anvil: anvil,
            port,
        };
        chain.fund(deployer().address(), 10u128.pow(18));
        chain
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn ask(&self, method: &str, params: Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let answer = post(self.port, request.to_string().as_bytes());
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    pub fn fund(&self, address: Address, wei: u128) {
        self.ask("anvil_setBalance", json!([address, U256::from(wei)]));
    }

    pub fn set_code(&self, address: &str, code: &str) {
        self.ask("anvil_setCode", json!([address, code]));
    }

    pub fn code(&self, address: &str) -> String {
        let code = self.ask("eth_getCode", json!([address, "latest"]));
        code.as_str().unwrap().to_owned()
    }

    /// How many transactions of the address are in the chain.
    pub fn nonce(&self, address: Address) -> u64 {
        let nonce = self.ask("eth_getTransactionCount", json!([address, "latest"]));
        serde_json::from_value::<U256>(nonce).unwrap().to()
    }

    pub fn assert_nothing_was_sent(&self) {
        assert_eq!(self.nonce(deployer().address()), 0);
        let pending = self.ask("txpool_status", json!([]));
        assert_eq!(pending, json!({"pending": "0x0", "queued": "0x0"}));
    }
}

/// The key that deploys: that of Web3 Secret Storage's own example, in `tests/keystores`.
pub const SECRET: &str = "7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d";
pub const PASSWORD: &str = "testpassword";

pub fn deployer() -> PrivateKeySigner {
    SECRET.parse().unwrap()
}
