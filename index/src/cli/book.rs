//! The address book that `concord deploy` writes: where registries are, and since when.
use super::CliError;
use crate::Contracts;
use concord_chain::ChainId;
use concord_registry::evm::RegistryAddresses;
use serde::Deserialize;
use std::{collections::BTreeMap, fs, path::Path};

/// Where `concord deploy` keeps it.
pub const DEFAULT: &str = "deployments/addresses.json";

/// Its registries in use, by chain. Whatever else it has is not looked at.
#[derive(Debug, Deserialize)]
pub struct Book {
    chains: BTreeMap<ChainId, Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    #[serde(default)]
    contracts: BTreeMap<String, Record>,
}

#[derive(Debug, Deserialize)]
struct Record {
    address: String,
    block: Option<u64>,
}

impl Book {
    /// Reads a book.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let unusable = |reason: String| {
            CliError::Usage(format!("--address-book {}: {reason}", path.display()))
        };
        let text = fs::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))
    }

    /// Returns the chains that it has registries on.
    pub fn chains(&self) -> impl Iterator<Item = &ChainId> {
        self.chains.keys()
    }

    /// Returns the registries of a chain, and the first block to read; `None` if it has none there.
    pub fn find(&self, chain: &ChainId) -> Result<Option<(Contracts, u64)>, CliError> {
        let Some(entry) = self.chains.get(chain) else {
            return Ok(None);
        };
        let address = |name: &str| entry.address(chain, name);
        let contracts = match (
            address("IdentityRegistry")?,
            entry.contracts.get("AgentRegistry"),
        ) {
            (Some(identity), _) => Contracts::Evm(RegistryAddresses {
                identity,
                open_reputation: address("ReputationRegistry")?,
                authorized_reputation: address("AuthorizedReputationRegistry")?,
                validation: address("ValidationRegistry")?,
            }),
            (None, Some(program)) => {
                let id = program.address.parse();
                Contracts::Svm(id.map_err(|_| malformed(chain, "AgentRegistry", &program.address))?)
            }
            (None, None) => return Ok(None),
        };
        Ok(Some((contracts, entry.first_block())))
    }
}

impl Entry {
    fn address<T: std::str::FromStr>(
        &self,
        chain: &ChainId,
        name: &str,
    ) -> Result<Option<T>, CliError> {
        let record = self.contracts.get(name);
        let parsed = record.map(|it| {
            let address = it.address.parse();
            address.map_err(|_| malformed(chain, name, &it.address))
        });
        parsed.transpose()
    }

    /// A contract whose block the book does not say may have been there from the start.
    fn first_block(&self) -> u64 {
        let blocks = self.contracts.values().map(|it| it.block.unwrap_or(0));
        blocks.min().unwrap_or(0)
    }
}

fn malformed(chain: &ChainId, name: &str, address: &str) -> CliError {
    CliError::Usage(format!(
        "--address-book: chains.{chain}.contracts.{name}.address: {address:?} is not an address"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(text: &str) -> Result<Book, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn the_registries_in_use_are_found_with_their_first_block() {
        let (a, b) = ("11".repeat(20), "22".repeat(20));
        let program = "4dquvCdSgCLzb8Xj9qfXGyi4o8hvLYfnPyWtHy3H7KhW";
        let text = format!(
            r#"{{"$schema": "s", "chains": {{
            "eip155:7": {{"deployer": "d", "contracts": {{
                "IdentityRegistry": {{"address": "0x{a}", "codeHash": "h", "block": 9}},
                "ReputationRegistry": {{"address": "0x{b}", "codeHash": "h", "block": 8}}}}}},
            "eip155:8": {{"contracts": {{"IdentityRegistry": {{"address": "0x{a}"}}}}}},
            "eip155:9": {{"contracts": {{"IdentityRegistry": {{"address": "0x12"}}}}}},
            "eip155:10": {{"contracts": {{}}}},
            "solana:localnet": {{"contracts": {{"AgentRegistry": {{"address": "{program}", "block": 3}}}}}}}}}}"#
        );
        let book = book(&text).unwrap();
        let find = |chain: &str| book.find(&ChainId::parse(chain).unwrap());
        let Some((Contracts::Evm(found), 8)) = find("eip155:7").unwrap() else {
            panic!("{:?}", find("eip155:7"));
        };
        assert_eq!(found.identity, [0x11; 20]);
        assert_eq!(found.open_reputation.unwrap(), [0x22; 20]);
        assert_eq!(found.validation, None);
        assert!(matches!(find("eip155:8"), Ok(Some((Contracts::Evm(_), 0)))));
        let refused = find("eip155:9").unwrap_err().to_string();
        assert!(
            refused.contains("chains.eip155:9.contracts.IdentityRegistry"),
            "{refused}"
        );
        assert!(matches!(find("eip155:10"), Ok(None)));
        assert!(matches!(find("eip155:11"), Ok(None)));
        let found = find("solana:localnet").unwrap();
        assert_eq!(found, Some((Contracts::Svm(program.parse().unwrap()), 3)));
    }

    #[test]
    fn what_is_not_a_book_is_refused() {
        for text in [
            "",
            "{}",
            r#"{"chains": []}"#,
            r#"{"chains": {"seven": {}}}"#,
        ] {
            assert!(book(text).is_err(), "{text}");
        }
    }
}
