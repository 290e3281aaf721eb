//! Addresses that are the same on every chain and known beforehand: EIP-1014's CREATE2 through the
//! deterministic deployment proxy (github.com/Arachnid/deterministic-deployment-proxy), which
//! anyone can put at its own address on any chain with one transaction signed in advance.
use alloy::primitives::{Address, B256, Bytes, U256, address, b256, bytes, keccak256};

/// The proxy. Its input is a salt (32 bytes) and the creation code, its answer the address (20 bytes).
pub const PROXY: Address = address!("4e59b44847b379578588920cA78FbF26c0B4956C");
/// The proxy's code.
pub const PROXY_CODE: Bytes = bytes!(
    "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3"
);

/// The signer of the proxy's transaction. There is no key: the signature was chosen, and the address
/// follows from it.
pub const PROXY_SIGNER: Address = address!("3fAB184622Dc19b6109349B94811493BF2a45362");
/// The transaction, signed without a chain id, so that it is good on all of them.
pub const PROXY_TRANSACTION: Bytes = bytes!(
    "f8a58085174876e800830186a08080b853604580600e600039806000f350fe7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf31ba02222222222222222222222222222222222222222222222222222222222222222a02222222222222222222222222222222222222222222222222222222222222222"
);
pub const PROXY_TRANSACTION_HASH: B256 =
    b256!("eddf9e61fb9d8f5111840daef55e5fde0041f5702856532cdbb5a02998033d26");
/// Its gas limit, in gas.
pub const PROXY_GAS: u64 = 100_000;
/// Its gas price, in wei. A chain with a higher base fee will not take it.
pub const PROXY_GAS_PRICE: u128 = 100_000_000_000;
/// What its signer must have for it, in wei.
pub const PROXY_COST: u128 = PROXY_GAS as u128 * PROXY_GAS_PRICE;

/// The salt of a contract: keccak256 of a text.
///
/// | offset | width | field |
/// |---|---|---|
/// | 0 | … | the deployment's text (`--salt`), UTF-8 |
/// | … | 1 | `/` |
/// | … | … | the contract's name, ASCII without `/` |
#[must_use]
pub fn salt(text: &str, contract: &str) -> B256 {
    keccak256(format!("{text}/{contract}"))
}

/// The address at which the proxy creates this code.
#[must_use]
pub fn address(salt: B256, creation_code_hash: B256) -> Address {
    PROXY.create2(salt, creation_code_hash)
}

/// What the proxy is called with.
#[must_use]
pub fn call(salt: B256, creation_code: &[u8]) -> Bytes {
    [salt.as_slice(), creation_code].concat().into()
}

/// The least that the signer of the proxy's transaction still lacks, in wei.
#[must_use]
pub fn missing_funds(balance: U256) -> U256 {
    U256::from(PROXY_COST).saturating_sub(balance)
}
