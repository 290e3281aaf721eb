//! The networks that are known by name. Any other is taken for a mainnet.
use crate::ChainId;

/// A network whose coins are worth nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct Testnet {
    /// The CAIP-2 id.
    pub chain: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// Where a browser shows it: `/address/…`, `/tx/…` follow.
    pub explorer: Option<&'static str>,
    /// What follows these if one explorer shows several networks.
    query: &'static str,
}

const TESTNETS: &[Testnet] = &[
    Testnet {
        chain: "eip155:84532",
        name: "Base Sepolia",
        explorer: Some("https://sepolia.basescan.org"),
        query: "",
    },
    Testnet {
        chain: "eip155:11155111",
        name: "Sepolia",
        explorer: Some("https://sepolia.etherscan.io"),
        query: "",
    },
    Testnet {
        chain: "eip155:11155420",
        name: "OP Sepolia",
        explorer: Some("https://sepolia-optimism.etherscan.io"),
        query: "",
    },
    Testnet {
        chain: "eip155:421614",
        name: "Arbitrum Sepolia",
        explorer: Some("https://sepolia.arbiscan.io"),
        query: "",
    },
    Testnet {
        chain: "eip155:31337",
        name: "anvil",
        explorer: None,
        query: "",
    },
    Testnet {
        chain: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
        name: "Solana devnet",
        explorer: Some("https://explorer.solana.com"),
        query: "?cluster=devnet",
    },
    Testnet {
        chain: "solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z",
        name: "Solana testnet",
        explorer: Some("https://explorer.solana.com"),
        query: "?cluster=testnet",
    },
    Testnet {
        chain: "solana:localnet",
        name: "Solana local",
        explorer: None,
        query: "",
    },
];

/// Returns the listed test network with this id.
#[must_use]
pub fn testnet(chain: &ChainId) -> Option<&'static Testnet> {
    TESTNETS
        .iter()
        .find(|testnet| testnet.chain == chain.to_string())
}

/// Returns the chain's name, or that it is not listed.
#[must_use]
pub fn name_of(chain: &ChainId) -> &'static str {
    testnet(chain).map_or("not a listed testnet", |testnet| testnet.name)
}

/// Returns the explorer page of an address or a transaction (`kind`: `address`, `tx`), if the
/// network has a known explorer.
#[must_use]
pub fn link(chain: &ChainId, kind: &str, shown: &str) -> Option<String> {
    let testnet = testnet(chain)?;
    let explorer = testnet.explorer?;
    Some(format!("{explorer}/{kind}/{shown}{}", testnet.query))
}
