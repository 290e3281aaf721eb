use concord_canonical::{
    caip::AccountId,
    json::{self, Value},
};
use concord_registry::evm::canonical::NETWORKS;

use crate::account::is_same_address;

/// The contracts of an address book that identify agents: on EVM chains and on Solana.
const IDENTITY: [&str; 2] = ["IdentityRegistry", "AgentRegistry"];

/// An address book that cannot be read: where, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("address book {path}: {reason}")]
pub struct AddressBookMalformed {
    path: String,
    reason: String,
}

/// The identity registries that count (R28): those of an address book, the canonical ones, and those that the
/// caller trusts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownRegistries(Vec<String>);

impl KnownRegistries {
    /// The canonical ERC-8004 registries, each on the networks where it is listed.
    #[must_use]
    pub fn canonical() -> Self {
        let networks = NETWORKS.iter();
        Self(
            networks
                .map(|it| format!("eip155:{}:{}", it.chain_id, it.identity))
                .collect(),
        )
    }

    /// Adds a registry, CAIP-10.
    ///
    /// # Errors
    /// Names the part that is malformed.
    pub fn trust(&mut self, registry: &str) -> Result<(), concord_canonical::Error> {
        AccountId::parse(registry)?;
        self.0.push(registry.to_owned());
        Ok(())
    }

    /// Adds the registries in use of an address book, as `concord deploy` writes it. Its `others` are not in
    /// use.
    ///
    /// # Errors
    /// [`AddressBookMalformed`]. Then none of them is added.
    pub fn trust_address_book(&mut self, text: &str) -> Result<(), AddressBookMalformed> {
        let book = json::parse(text).map_err(|error| malformed("$", error.to_string()))?;
        let chains = book.get("chains").and_then(Value::as_object);
        let chains = chains.ok_or_else(|| malformed("$.chains", "must be an object"))?;
        let mut found = Self::default();
        for (chain, deployment) in chains.iter() {
            for name in IDENTITY {
                let contracts = deployment.get("contracts");
                let Some(record) = contracts.and_then(|it| it.get(name)) else {
                    continue;
                };
                let path = format!("$.chains.{chain}.contracts.{name}.address");
                let address = record.get("address").and_then(Value::as_str);
                let address = address.ok_or_else(|| malformed(&path, "must be a string"))?;
                let trusted = found.trust(&format!("{chain}:{address}"));
                trusted.map_err(|error| malformed(&path, error.to_string()))?;
            }
        }
        self.0.append(&mut found.0);
        Ok(())
    }

    /// Whether a registry, CAIP-10, counts.
    #[must_use]
    pub fn has(&self, registry: &str) -> bool {
        let Ok(asked) = AccountId::parse(registry) else {
            return false;
        };
        let network = asked.chain_id().to_string();
        self.0
            .iter()
            .filter_map(|it| AccountId::parse(it).ok())
            .any(|known| {
                known.chain_id() == asked.chain_id()
                    && is_same_address(&network, known.address(), asked.address())
            })
    }
}

fn malformed(path: &str, reason: impl Into<String>) -> AddressBookMalformed {
    AddressBookMalformed {
        path: path.to_owned(),
        reason: reason.into(),
    }
}
