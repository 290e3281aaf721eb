//! Reads the deployed registries back.
use super::{
    code,
    contracts::{
        AUTHORIZED_REPUTATION, Choices, Contract, IDENTITY, REPUTATION, VALIDATION, VERSION,
    },
};
use crate::{AddressBook, Check, DeployError, Deployment, Other, Record, Setting, StatusRow};
use alloy::{
    primitives::{Address, FixedBytes, U256, keccak256},
    sol_types::SolCall,
};
use concord_chain::evm::Node;
use concord_registry::evm::abi::{
    AuthorizedReputationRegistry, Feedback, IdentityRegistry, ValidationRegistry,
};
use serde_json::json;
use std::path::Path;

/// ERC-165's number of ERC-721.
const ERC721: FixedBytes<4> = FixedBytes([0x80, 0xac, 0x58, 0xcd]);
/// An agent that no registry will ever reach: reads of it are reads of nothing (§3a).
const NO_AGENT: U256 = U256::MAX;

/// Every fact of every contract on record.
pub(super) async fn checks(
    node: &Node,
    chain_id: u64,
    contracts: &[Contract],
    recorded: &Deployment,
) -> Result<Vec<Check>, DeployError> {
    require_choices(chain_id, recorded)?;
    let mut facts = Facts {
        node,
        checks: Vec::new(),
    };
    for contract in contracts {
        match recorded.contracts.get(contract.name) {
            Some(record) => facts.of_contract(contract, chain_id, record).await?,
            None => facts.add(contract, "address", contract.address, "not on record"),
        }
    }
    for other in beside(recorded) {
        let on_record = identity_on_record(other);
        let found = identity_on_chain(node, other).await?;
        let subject = format!("{} {}", other.contract, other.address);
        let fact = Feedback::getIdentityRegistryCall::SIGNATURE;
        let check = Check::new(&subject, fact, on_record, found);
        facts.checks.push(check);
    }
    Ok(facts.checks)
}

/// # Errors
/// [`concord_chain::ChainError::File`]: the addresses that the build comes to depend on them.
fn require_choices(chain_id: u64, recorded: &Deployment) -> Result<(), DeployError> {
    // Others may be entered by hand before anything was chosen.
    let is_blank = recorded.settings.is_empty() && recorded.contracts.is_empty();
    if is_blank || Choices::recorded(&recorded.settings).is_some() {
        Ok(())
    } else {
        Err(DeployError::file(
            AddressBook::path(Path::new("")),
            format!("chains.eip155:{chain_id}.settings have no salt and acceptsDraftV1"),
        ))
    }
}

/// R6 looks at the identity registry that each of these is said to have.
fn beside(recorded: &Deployment) -> impl Iterator<Item = &Other> {
    let others = recorded.others.iter();
    others.filter(|other| other.contract == AUTHORIZED_REPUTATION)
}

/// In the chain's form if it is an address: it may have been entered by hand.
fn identity_on_record(other: &Other) -> String {
    let Some(setting) = other.settings.get("identityRegistry") else {
        return "not on record".to_owned();
    };
    let address = setting.to_string().parse();
    address.map_or_else(
        |_| setting.to_string(),
        |address: Address| address.to_string(),
    )
}

async fn identity_on_chain(node: &Node, other: &Other) -> Result<String, DeployError> {
    let Ok(address) = other.address.parse() else {
        return Ok("nothing".to_owned()); // its form was checked when the book was read
    };
    let found = node
        .read(address, &Feedback::getIdentityRegistryCall {})
        .await?;
    Ok(found.map_or_else(|reason| reason, |identity| identity.to_string()))
}

struct Facts<'a> {
    node: &'a Node,
    checks: Vec<Check>,
}

impl Facts<'_> {
    fn add(
        &mut self,
        contract: &Contract,
        fact: &str,
        expected: impl ToString,
        found: impl ToString,
    ) {
        let check = Check::new(contract.name, fact, expected, found);
        self.checks.push(check);
    }

    async fn of_contract(
        &mut self,
        contract: &Contract,
        chain_id: u64,
        record: &Record,
    ) -> Result<(), DeployError> {
        self.add(contract, "address", contract.address, &record.address);
        if !(contract.settings.is_empty() && record.settings.is_empty()) {
            let as_json = |settings| json!(settings).to_string();
            let (built, on_record) = (as_json(&contract.settings), as_json(&record.settings));
            self.add(contract, "settings", built, on_record);
        }
        let Ok(address) = record.address.parse::<Address>() else {
            return Ok(()); // the check above has failed
        };
        let found = self.node.code(address).await?;
        self.add(contract, "code hash", &record.code_hash, keccak256(&found));
        let difference = if address == contract.address {
            code::difference(contract, chain_id, &found)
        } else {
            Some("for another address".to_owned())
        };
        let built = "the local build, immutables as planned";
        self.add(
            contract,
            "code",
            built,
            difference.as_deref().unwrap_or(built),
        );
        self.of_wiring(contract, address).await?;
        self.of_nothing(contract, address).await
    }

    async fn of_wiring(&mut self, contract: &Contract, at: Address) -> Result<(), DeployError> {
        self.read(contract, at, Feedback::getVersionCall {}, VERSION)
            .await?;
        if contract.name == IDENTITY {
            self.read(contract, at, IdentityRegistry::nameCall {}, "AgentIdentity")
                .await?;
            self.read(contract, at, IdentityRegistry::symbolCall {}, "AGENT")
                .await?;
            let erc721 = IdentityRegistry::supportsInterfaceCall {
                interfaceId: ERC721,
            };
            return self.read(contract, at, erc721, "true").await;
        }
        let registry = text(contract.settings.get("identityRegistry"));
        self.read(
            contract,
            at,
            Feedback::getIdentityRegistryCall {},
            &registry,
        )
        .await?;
        if contract.name == AUTHORIZED_REPUTATION {
            let flag = text(contract.settings.get("acceptsDraftV1"));
            let call = AuthorizedReputationRegistry::acceptsDraftV1Call {};
            self.read(contract, at, call, &flag).await?;
        }
        Ok(())
    }

    /// §3a: reads of what does not exist are 0. The contract answers, and from its own storage.
    async fn of_nothing(&mut self, contract: &Contract, at: Address) -> Result<(), DeployError> {
        match contract.name {
            AUTHORIZED_REPUTATION => {
                let call = AuthorizedReputationRegistry::getSummary_0Call { agentId: NO_AGENT };
                self.compare(contract, at, call, "count 0, average 0", |summary| {
                    format!("count {}, average {}", summary.count, summary.averageScore)
                })
                .await
            }
            REPUTATION => {
                let call = Feedback::getLastIndexCall {
                    agentId: NO_AGENT,
                    clientAddress: at,
                };
                self.read(contract, at, call, "0").await
            }
            VALIDATION => {
                let call = ValidationRegistry::getValidationCountCall { agentId: NO_AGENT };
                self.read(contract, at, call, "0").await
            }
            _ => Ok(()),
        }
    }

    async fn read<C>(
        &mut self,
        contract: &Contract,
        at: Address,
        call: C,
        expected: &str,
    ) -> Result<(), DeployError>
    where
        C: SolCall<Return: ToString> + Send + Sync,
    {
        self.compare(contract, at, call, expected, |answer| answer.to_string())
            .await
    }

    async fn compare<C: SolCall + Send + Sync>(
        &mut self,
        contract: &Contract,
        at: Address,
        call: C,
        expected: &str,
        show: impl Fn(C::Return) -> String + Send,
    ) -> Result<(), DeployError> {
        let found = match self.node.read(at, &call).await? {
            Ok(answer) => show(answer),
            Err(reason) => reason,
        };
        self.add(contract, C::SIGNATURE, expected, found);
        Ok(())
    }
}

fn text(setting: Option<&Setting>) -> String {
    setting.map(ToString::to_string).unwrap_or_default()
}

/// Each contract in the address book, in the build, and on chain.
pub(super) async fn status_rows(
    node: &Node,
    chain_id: u64,
    contracts: &[Contract],
    recorded: Option<&Deployment>,
) -> Result<Vec<StatusRow>, DeployError> {
    if let Some(book) = recorded {
        require_choices(chain_id, book)?;
    }
    let mut rows = Vec::new();
    for contract in contracts {
        let found = node.code(contract.address).await?;
        let on_chain = match code::difference(contract, chain_id, &found) {
            None => "as built",
            Some(_) if found.is_empty() => "nothing",
            Some(_) => "other code",
        };
        let record = recorded.and_then(|book| book.contracts.get(contract.name));
        rows.push(StatusRow {
            title: contract.name.to_owned(),
            recorded: record.map(|record| record.address.clone()),
            built: contract.address.to_string(),
            on_chain: on_chain.to_owned(),
            drift: drift(contract, on_chain, record, &found),
        });
    }
    for other in recorded.into_iter().flat_map(beside) {
        let found = identity_on_chain(node, other).await?;
        let differs = identity_on_record(other) != found;
        rows.push(StatusRow {
            title: other.contract.clone(),
            recorded: Some(other.address.clone()),
            built: "-".to_owned(),
            on_chain: format!("on {found}"),
            drift: differs.then(|| OTHER_SETTINGS.to_owned()),
        });
    }
    Ok(rows)
}

const OTHER_SETTINGS: &str = "other settings on record";

fn drift(
    contract: &Contract,
    on_chain: &str,
    record: Option<&Record>,
    found: &[u8],
) -> Option<String> {
    let is_moved = |record: &Record| record.address.parse() != Ok(contract.address);
    let says = match (on_chain, record) {
        ("other code", _) => "foreign code",
        (_, Some(record)) if is_moved(record) => "the build has moved to another address",
        ("nothing", Some(_)) => "on record, not on chain",
        ("nothing", None) => "not deployed",
        (_, None) => "not on record",
        (_, Some(record)) if record.code_hash != keccak256(found).to_string() => {
            "another code hash on record"
        }
        (_, Some(record)) if record.settings != contract.settings => OTHER_SETTINGS,
        _ => return None,
    };
    Some(says.to_owned())
}
