//! The networks that are known by name. What is not listed here is taken for a mainnet.
use crate::ChainId;

/// A network whose coins are worth nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct Testnet {
    pub chain: &'static str,
    pub name: &'static str,
    /// Where a browser shows it: `/address/…`, `/tx/…` follow.
    pub explorer: Option<&'static str>,
    /// What follows these, where one explorer shows several networks.
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

/// The listed test network of this id.
pub fn testnet(chain: &ChainId) -> Option<&'static Testnet> {
    TESTNETS
        .iter()
        .find(|testnet| testnet.chain == chain.to_string())
}

/// The chain's name where it has one, else that it is not listed.
pub fn name_of(chain: &ChainId) -> &'static str {
    testnet(chain).map_or("not a listed testnet", |testnet| testnet.name)
}

/// Where a browser shows an address or a transaction (`kind`: `address`, `tx`), on networks with a
/// known explorer.
pub fn link(chain: &ChainId, kind: &str, shown: &str) -> Option<String> {
    let testnet = testnet(chain)?;
    let explorer = testnet.explorer?;
    Some(format!("{explorer}/{kind}/{shown}{}", testnet.query))
}
