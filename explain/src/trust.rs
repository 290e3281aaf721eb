use alloy_primitives::{Address, B256};
use concord_canonical::caip::AccountId;
use concord_canonical::json::{self, Value};
use concord_registry::evm::canonical::NETWORKS;
use std::collections::BTreeMap;

/// Whose code a registry runs, and so how its storage is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Concord's.
    Concord,
    /// The canonical ERC-8004 contracts 2.0.0, which are upgradeable.
    Canonical,
}

/// A registry that counts (R28).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRegistry {
    /// CAIP-2.
    pub chain: String,
    /// Its contract's name in an address book, such as `ReputationRegistry`.
    pub contract: &'static str,
    /// Its address.
    pub address: String,
    /// Whose code it runs.
    pub family: Family,
    /// The hash of its code; `None` if it is not known. The canonical registries' is that of a proxy, which
    /// says nothing.
    pub code_hash: Option<[u8; 32]>,
}

/// The names of an address book's contracts that an explanation asks about.
pub(crate) const IDENTITY: &str = "IdentityRegistry";
pub(crate) const OPEN: &str = "ReputationRegistry";
pub(crate) const AUTHORIZED: &str = "AuthorizedReputationRegistry";
pub(crate) const PROGRAM: &str = "AgentRegistry";
const CONTRACTS: [&str; 4] = [IDENTITY, OPEN, AUTHORIZED, PROGRAM];

/// An address book that cannot be read: where, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("address book {path}: {reason}")]
pub struct AddressBookMalformed {
    path: String,
    reason: String,
}

/// What the caller trusts: registries, and block hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    registries: Vec<Listed>,
    blocks: BTreeMap<String, B256>,
    /// How many deployments were listed.
    deployments: usize,
}

/// A registry, and the deployment with which it was listed; `None` if the caller named it by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Listed {
    deployment: Option<usize>,
    registry: KnownRegistry,
}

impl Trust {
    /// The canonical ERC-8004 registries, each pair on the networks where it is listed, and no block.
    #[must_use]
    pub fn canonical() -> Self {
        let mut trust = Self::default();
        for network in NETWORKS {
            let both = [(IDENTITY, network.identity), (OPEN, network.reputation)];
            trust.add_deployment(both.map(|(contract, address)| KnownRegistry {
                chain: format!("eip155:{}", network.chain_id),
                contract,
                address: address.to_string(),
                family: Family::Canonical,
                code_hash: None,
            }));
        }
        trust
    }

    /// Adds a registry by itself. The caller knows to which identity registry it is bound: it counts with each one of its chain
    /// that is listed.
    pub fn add(&mut self, registry: KnownRegistry) {
        self.registries.push(Listed {
            deployment: None,
            registry,
        });
    }

    /// Adds registries that are bound to each other.
    fn add_deployment(&mut self, registries: impl IntoIterator<Item = KnownRegistry>) {
        let deployment = Some(self.deployments);
        self.deployments += 1;
        let listed = registries.into_iter().map(|registry| Listed {
            deployment,
            registry,
        });
        self.registries.extend(listed);
    }

    /// Trusts a block of a chain, CAIP-2.
    pub fn add_block(&mut self, chain: &str, hash: [u8; 32]) {
        self.blocks.insert(chain.to_owned(), B256::from(hash));
    }

    /// Adds the registries in use of an address book, as `concord deploy` writes it.
    ///
    /// # Errors
    /// [`AddressBookMalformed`]. Then none of them is added.
    pub fn add_address_book(&mut self, text: &str) -> Result<(), AddressBookMalformed> {
        let book = json::parse(text).map_err(|error| malformed("$", error))?;
        let chains = book.get("chains").and_then(Value::as_object);
        let chains = chains.ok_or_else(|| malformed("$.chains", "must be an object"))?;
        let mut found = Vec::new();
        for (chain, deployment) in chains.iter() {
            let mut registries = Vec::new();
            for contract in CONTRACTS {
                let record = deployment.get("contracts").and_then(|it| it.get(contract));
                registries.extend(
                    record
                        .map(|it| read_record(chain, contract, it))
                        .transpose()?,
                );
            }
            found.push(registries);
        }
        for registries in found {
            self.add_deployment(registries);
        }
        Ok(())
    }

    /// Adds a registry that runs Concord's code, written as `CONTRACT=CAIP-10`.
    ///
    /// # Errors
    /// Which part is malformed.
    pub fn add_named(&mut self, text: &str) -> Result<(), String> {
        let (name, account) = text.split_once('=').ok_or("expected CONTRACT=CAIP-10")?;
        let contract = CONTRACTS.into_iter().find(|it| *it == name);
        let contract =
            contract.ok_or_else(|| format!("{name:?} is none of {}", CONTRACTS.join(", ")))?;
        let account = AccountId::parse(account).map_err(|error| error.to_string())?;
        self.add(KnownRegistry {
            chain: account.chain_id().to_string(),
            contract,
            address: account.address().to_owned(),
            family: Family::Concord,
            code_hash: None,
        });
        Ok(())
    }

    /// The block hash that the caller trusts on a chain.
    pub(crate) fn block(&self, chain: &str) -> Option<B256> {
        self.blocks.get(chain).copied()
    }

    /// The addresses of the known registries of one kind on a chain.
    #[cfg(feature = "online")]
    pub(crate) fn addresses(&self, chain: &str, contract: &str) -> impl Iterator<Item = &str> {
        let all = self.registries.iter().map(|it| &it.registry);
        all.filter(move |it| it.chain == chain && it.contract == contract)
            .map(|it| it.address.as_str())
    }

    /// R28: the registry at an address, if it counts. `address` is written as an event has it.
    pub(crate) fn registry(
        &self,
        chain: &str,
        contract: &str,
        address: &str,
    ) -> Option<&KnownRegistry> {
        let mut all = self.listed(chain, contract, address);
        all.next().map(|it| &it.registry)
    }

    /// R28: whether two registries of a chain may be bound to each other: they are of one deployment, or the caller named
    /// one of them.
    pub(crate) fn are_together(&self, chain: &str, one: (&str, &str), other: (&str, &str)) -> bool {
        let mut ones = self.listed(chain, one.0, one.1);
        ones.any(|one| {
            let mut others = self.listed(chain, other.0, other.1);
            others.any(|other| match (one.deployment, other.deployment) {
                (Some(one), Some(other)) => one == other,
                _ => true,
            })
        })
    }

    fn listed(&self, chain: &str, contract: &str, address: &str) -> impl Iterator<Item = &Listed> {
        let is_same = move |known: &str| match known.parse::<Address>() {
            Ok(known) => address.parse() == Ok(known),
            Err(_) => known == address,
        };
        self.registries
            .iter()
            .filter(move |Listed { registry: it, .. }| {
                it.chain == chain && it.contract == contract && is_same(&it.address)
            })
    }
}

fn read_record(
    chain: &str,
    contract: &'static str,
    record: &Value<'_>,
) -> Result<KnownRegistry, AddressBookMalformed> {
    let path = |key: &str| format!("$.chains.{chain}.contracts.{contract}.{key}");
    let text = |key: &str| record.get(key).and_then(Value::as_str);
    let address = text("address").ok_or_else(|| malformed(&path("address"), "must be a string"))?;
    let account = format!("{chain}:{address}");
    AccountId::parse(&account).map_err(|error| malformed(&path("address"), error))?;
    let code_hash = text("codeHash").map(read_hash).transpose();
    Ok(KnownRegistry {
        chain: chain.to_owned(),
        contract,
        address: address.to_owned(),
        family: Family::Concord,
        code_hash: code_hash.map_err(|error| malformed(&path("codeHash"), error))?,
    })
}

pub(crate) fn read_hash(text: &str) -> Result<[u8; 32], &'static str> {
    let digits = text.strip_prefix("0x").and_then(|it| hex::decode(it).ok());
    let bytes = digits.and_then(|it| it.try_into().ok());
    bytes.ok_or("must be 0x and 64 hex digits")
}

fn malformed(path: &str, reason: impl ToString) -> AddressBookMalformed {
    AddressBookMalformed {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON_BASE: [&str; 2] = [
        "0x8004A169FB4a3325136EB29fA0ceB6D2e539a432",
        "0x8004BAa17C55a88189AE136b182e5fdA19dE9b63",
    ];
    const ON_BASE_SEPOLIA: [&str; 2] = [
        "0x8004A818BFB912233c491871b3d84c89A494BD9e",
        "0x8004B663056A597Dffe9eCcC1965A193B7388713",
    ];

    fn counts(chain: &str, [identity, reputation]: [&str; 2]) -> [bool; 3] {
        let trust = Trust::canonical();
        [
            trust.registry(chain, IDENTITY, identity).is_some(),
            trust.registry(chain, OPEN, reputation).is_some(),
            trust.are_together(chain, (IDENTITY, identity), (OPEN, reputation)),
        ]
    }

    #[test]
    fn r28_canonical_registries_count_by_their_chain_and_both_addresses() {
        assert_eq!(counts("eip155:8453", ON_BASE), [true; 3]);
        assert_eq!(counts("eip155:84532", ON_BASE_SEPOLIA), [true; 3]);
        let mixed = [ON_BASE[0], ON_BASE_SEPOLIA[1]];
        assert_eq!(counts("eip155:8453", mixed), [true, false, false]);
        // On the last two, a proxy at the canonical address was never upgraded, as reported.
        for chain in ["eip155:84532", "eip155:38833", "eip155:677"] {
            assert_eq!(counts(chain, ON_BASE), [false; 3], "{chain}");
        }
    }
}
