//! An identity registry of another party, over which the other registries are deployed.
use super::{
    EvmTarget, code,
    contracts::{self, Contract, IDENTITY},
};
use crate::{Check, DeployError, Deployment, Record, Setting, Settings, StatusRow, Step};
use alloy::{
    network::TransactionBuilder,
    primitives::{Address, B256, Bytes, U256, address, b256, keccak256},
    providers::Provider,
    rpc::types::{TransactionRequest, state::StateOverride},
};
use concord_registry::evm::{
    abi::IdentityRegistry,
    canonical::{NETWORKS, Network},
};
use std::str::FromStr;

/// ERC-1967: where a proxy keeps the address of its code.
const IMPLEMENTATION: B256 =
    b256!("360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc");

/// The creation code of `IdentityProbe.sol`, which a test compiles. Not a list of known code hashes: canonical registries are
/// proxies, and what they do is what counts. A call that creates it needs no state override, and leaves nothing behind.
const PROBE: &str = include_str!("IdentityProbe.hex");
/// Who creates the probe, in a call that changes nothing. Its key is not known.
const PROBER: Address = address!("00000000000000000000000000000000c0c04d00");

/// What `verify` expects of the probe.
const BEHAVES: &str = "as an identity registry";

/// The setting that names the registry.
pub(super) const SETTING: &str = "identity";

/// What was found at the address of the identity registry.
pub(super) struct Found {
    address: Address,
    code: Bytes,
    /// The code behind it, if it is a proxy.
    implementation: Option<Address>,
    version: String,
    /// What does not behave as the registries over it need.
    fault: Option<String>,
    kind: &'static str,
    /// Of its network, if there is one.
    canonical: Option<Address>,
}

impl Found {
    fn code_hash(&self) -> String {
        keccak256(&self.code).to_string()
    }

    fn implementation(&self) -> String {
        let address = self.implementation.map(|address| address.to_string());
        address.unwrap_or_else(|| "none".to_owned())
    }

    /// For the address book.
    pub fn record(&self) -> Record {
        let text = |text: String| Setting::Text(text);
        Record {
            address: self.address.to_string(),
            code_hash: self.code_hash(),
            settings: Settings::from([
                ("attached".to_owned(), Setting::Flag(true)),
                ("implementation".to_owned(), text(self.implementation())),
            ]),
            transaction: None,
            block: None,
            commit: None,
            replaced: Vec::new(),
        }
    }

    /// What a plan says of it.
    pub fn note(&self) -> String {
        let behind = match self.implementation {
            Some(address) => format!(
                ", a proxy of {address}: its owner can change the agents that the feedback is about"
            ),
            None => String::new(),
        };
        format!(
            "identity registry {}: {}, version {}{behind}",
            self.address, self.kind, self.version
        )
    }

    /// # Errors
    /// [`DeployError::IdentityRefused`].
    pub fn require_sound(&self) -> Result<(), DeployError> {
        let fault = if self.code.is_empty() {
            Some(self.no_code())
        } else {
            self.fault.clone()
        };
        match fault {
            None => Ok(()),
            Some(reason) => Err(DeployError::IdentityRefused {
                address: self.address.to_string(),
                reason,
            }),
        }
    }

    fn no_code(&self) -> String {
        match self.canonical.filter(|it| *it != self.address) {
            Some(canonical) if is_canonical_somewhere(self.address) => format!(
                "no contract; it is the canonical one of other networks, and this one has {canonical}"
            ),
            _ => "no contract".to_owned(),
        }
    }
}

fn is_canonical_somewhere(address: Address) -> bool {
    NETWORKS.iter().any(|it| it.identity == address)
}

impl EvmTarget {
    /// What is at the address of the identity registry that was named; `None` if the plan
    /// deploys one of its own.
    pub(super) async fn attached(&self) -> Result<Option<Found>, DeployError> {
        match self.choices.identity {
            Some(address) => self.look_at(address).await.map(Some),
            None => Ok(None),
        }
    }

    async fn look_at(&self, address: Address) -> Result<Found, DeployError> {
        let code = self.node.code(address).await?;
        let version = IdentityRegistry::getVersionCall {};
        let version = if code.is_empty() {
            "unknown".to_owned()
        } else {
            (self.node.read(address, &version).await?).unwrap_or_else(|_| "unknown".to_owned())
        };
        Ok(Found {
            address,
            implementation: self.implementation(address).await?,
            fault: self.probe(address).await?,
            kind: self.kind(address, &code)?,
            canonical: self.canonical(),
            version,
            code,
        })
    }

    /// Plays the probe's scenarios in one simulated call. `None`: the registry behaves.
    async fn probe(&self, identity: Address) -> Result<Option<String>, DeployError> {
        // The constant is hex: a test parses it.
        let probe = Bytes::from_str(PROBE.trim()).unwrap_or_default();
        let code = [&probe[..], identity.into_word().as_slice()].concat();
        let request = TransactionRequest::default()
            .with_from(PROBER)
            .with_deploy_code(code);
        let answer = self.node.call(&request, &StateOverride::default()).await?;
        Ok(match answer {
            Ok(fault) if fault.is_empty() => None,
            Ok(fault) => Some(String::from_utf8_lossy(&fault).into_owned()),
            Err(no) => Some(format!(
                "the scenarios cannot be played on it: {}",
                no.message
            )),
        })
    }

    async fn implementation(&self, proxy: Address) -> Result<Option<Address>, DeployError> {
        let slot = self
            .node
            .provider()
            .get_storage_at(proxy, IMPLEMENTATION.into());
        let word: U256 = self.node.expect("eth_getStorageAt", slot).await?;
        Ok((!word.is_zero()).then(|| Address::from_word(word.into())))
    }

    fn kind(&self, address: Address, code: &[u8]) -> Result<&'static str, DeployError> {
        let mut ours = contracts::identity(&self.artifacts, &self.choices)?;
        ours.address = address;
        Ok(match code::difference(&ours, self.chain_id, code) {
            None => "of the local build",
            Some(_) if self.canonical() == Some(address) => "the canonical one",
            Some(_) if is_canonical_somewhere(address) => {
                "of others, at the address of the canonical one of other networks"
            }
            Some(_) => "of others",
        })
    }

    /// R28: by the network's entry, never by the address alone.
    fn canonical(&self) -> Option<Address> {
        Network::of(self.chain_id).map(|it| it.identity)
    }

    /// The step of a registry that is deployed already.
    pub(super) fn identity_step(&self, found: &Found) -> Step {
        let address = found.address.to_string();
        Step::existing(contracts::IDENTITY_ID, &self.chain, IDENTITY, address)
    }

    /// Compares what is there with the book, and lets the probe play.
    pub(super) async fn identity_checks(
        &self,
        recorded: &Deployment,
    ) -> Result<Vec<Check>, DeployError> {
        let Some(found) = self.attached().await? else {
            return Ok(Vec::new());
        };
        let record = recorded.contracts.get(IDENTITY);
        let of =
            |show: fn(&Record) -> String| record.map_or_else(|| "not on record".to_owned(), show);
        let implementation = |record: &Record| {
            let setting = record.settings.get("implementation");
            setting.map_or_else(|| "not on record".to_owned(), ToString::to_string)
        };
        let check = |fact: &str, expected: String, found: String| {
            Check::new(IDENTITY, fact, expected, found)
        };
        Ok(vec![
            check(
                "address",
                found.address.to_string(),
                of(|it| it.address.clone()),
            ),
            check(
                "code hash",
                of(|it| it.code_hash.clone()),
                found.code_hash(),
            ),
            check("implementation", of(implementation), found.implementation()),
            check(
                "behaves",
                BEHAVES.to_owned(),
                found.fault.unwrap_or_else(|| BEHAVES.to_owned()),
            ),
        ])
    }

    /// As [`Self::identity_checks`], for `status`.
    pub(super) async fn identity_row(
        &self,
        recorded: Option<&Deployment>,
    ) -> Result<Option<StatusRow>, DeployError> {
        let Some(found) = self.attached().await? else {
            return Ok(None);
        };
        let record = recorded.and_then(|book| book.contracts.get(IDENTITY));
        let drift = match record {
            None => Some("not on record"),
            Some(_) if found.code.is_empty() => Some("on record, not on chain"),
            Some(record) if *record != found.record() => Some("other code than on record"),
            Some(_) => None,
        };
        Ok(Some(StatusRow {
            title: IDENTITY.to_owned(),
            recorded: record.map(|record| record.address.clone()),
            built: "attached".to_owned(),
            on_chain: if found.code.is_empty() {
                "nothing".to_owned()
            } else {
                format!("version {}", found.version)
            },
            drift: drift.map(str::to_owned),
        }))
    }

    /// The address that the other registries are made with.
    pub(super) fn identity_address(&self) -> Option<Address> {
        let ours = |contract: &&Contract| contract.name == IDENTITY;
        let own = self.contracts.iter().find(ours).map(|it| it.address);
        self.choices.identity.or(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probe_is_hex() {
        assert!(Bytes::from_str(PROBE.trim()).unwrap().len() > 1_000);
    }

    /// ERC-1967: keccak256("eip1967.proxy.implementation") − 1.
    #[test]
    fn the_slot_is_the_standard_s() {
        let hash = U256::from_be_bytes(keccak256("eip1967.proxy.implementation").0);
        assert_eq!(IMPLEMENTATION, B256::from(hash - U256::from(1)));
    }
}
