//! The registries: what each is made with, its address, and its code.
use super::{artifact::Artifact, create2, identity};
use crate::{DeployError, Setting, Settings};
use alloy::{
    primitives::{Address, B256, Bytes, U256, keccak256},
    sol,
    sol_types::SolConstructor,
};
use concord_canonical::auth::domain_separator;
use std::path::Path;

sol! {
    contract OfIdentity {
        constructor(address identityRegistry);
    }
    contract OfIdentityAndFlag {
        constructor(address identityRegistry, bool acceptsDraftV1);
    }
}

pub const IDENTITY: &str = "IdentityRegistry";
/// The identity registry's step.
pub(super) const IDENTITY_ID: &str = "identity-registry";
pub const REPUTATION: &str = "ReputationRegistry";
pub const AUTHORIZED_REPUTATION: &str = "AuthorizedReputationRegistry";
pub const VALIDATION: &str = "ValidationRegistry";

/// What `getVersion()` of every registry returns (R2).
pub const VERSION: &str = "2.0.0+concord.2";

/// What the addresses depend on, beside the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices {
    /// The text that the salts are made from.
    pub salt: String,
    /// R6: whether the first draft's EIP-191 form is accepted.
    pub accepts_draft_v1: bool,
    /// An identity registry that is deployed already, over which the others are deployed.
    pub identity: Option<Address>,
}

/// A registry that is to be created.
#[derive(Clone, Debug)]
pub struct Contract {
    pub name: &'static str,
    /// The step's id.
    pub id: &'static str,
    pub artifact: Artifact,
    pub salt: B256,
    /// ABI-encoded.
    pub arguments: Vec<u8>,
    /// Creation code and arguments.
    pub creation_code: Bytes,
    pub address: Address,
    /// What it is made with, for people and for the address book.
    pub settings: Settings,
    domain: Option<Domain>,
    /// Words of its own that its code will hold.
    own_words: Vec<(&'static str, B256)>,
}

/// An EIP-712 domain; OpenZeppelin keeps seven words about it in the code.
#[derive(Clone, Copy, Debug)]
struct Domain {
    name: &'static str,
    version: &'static str,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            salt: "concord".to_owned(),
            accepts_draft_v1: false, // R6: the default
            identity: None,
        }
    }
}

impl Choices {
    const SALT: &str = "salt";
    const ACCEPTS_DRAFT_V1: &str = "acceptsDraftV1";

    pub fn settings(&self) -> Settings {
        let mut settings = Settings::from([
            (Self::SALT.to_owned(), Setting::Text(self.salt.clone())),
            (
                Self::ACCEPTS_DRAFT_V1.to_owned(),
                Setting::Flag(self.accepts_draft_v1),
            ),
        ]);
        if let Some(identity) = self.identity {
            let identity = Setting::Text(identity.to_string());
            settings.insert(identity::SETTING.to_owned(), identity);
        }
        settings
    }

    /// The choices that a run file or an address book recorded.
    pub fn recorded(settings: &Settings) -> Option<Self> {
        let identity = match settings.get(identity::SETTING) {
            Some(Setting::Text(address)) => Some(address.parse().ok()?),
            Some(Setting::Flag(_)) => return None,
            None => None,
        };
        match (
            settings.get(Self::SALT)?,
            settings.get(Self::ACCEPTS_DRAFT_V1)?,
        ) {
            (Setting::Text(salt), Setting::Flag(accepts_draft_v1)) => Some(Self {
                salt: salt.clone(),
                accepts_draft_v1: *accepts_draft_v1,
                identity,
            }),
            _ => None,
        }
    }
}

/// The identity registry of this build.
///
/// # Errors
/// As [`registries`].
pub(super) fn identity(artifacts: &Path, choices: &Choices) -> Result<Contract, DeployError> {
    let contract = Contract::new(artifacts, choices, IDENTITY, IDENTITY_ID, vec![])?;
    Ok(contract.in_domain("ERC8004IdentityRegistry"))
}

/// The registries that a deployment creates, in this order: four, or the authorized reputation and
/// the validation registry if they are attached to an identity registry of others.
///
/// # Errors
/// [`DeployError::ArtifactMissing`], [`concord_chain::ChainError::File`].
pub fn registries(artifacts: &Path, choices: &Choices) -> Result<Vec<Contract>, DeployError> {
    let own = match choices.identity {
        Some(_) => None,
        None => Some(identity(artifacts, choices)?),
    };
    let registry = own.as_ref().map(|identity| identity.address);
    let registry = choices.identity.or(registry).unwrap_or_default();
    let of_identity = OfIdentity::constructorCall {
        identityRegistry: registry,
    }
    .abi_encode();
    let of_identity_and_flag = OfIdentityAndFlag::constructorCall {
        identityRegistry: registry,
        acceptsDraftV1: choices.accepts_draft_v1,
    }
    .abi_encode();
    let create = |name, id, arguments: &[u8]| {
        let contract = Contract::new(artifacts, choices, name, id, arguments.to_vec())?;
        Ok::<_, DeployError>(contract.on(registry))
    };
    let mut contracts = Vec::new();
    if let Some(identity) = own {
        contracts.push(identity);
        contracts.push(create(REPUTATION, "reputation-registry", &of_identity)?);
    }
    let authorized = create(
        AUTHORIZED_REPUTATION,
        "authorized-reputation-registry",
        &of_identity_and_flag,
    )?;
    contracts.push(
        authorized
            .in_domain("ERC8004ReputationRegistry")
            .accepting_draft_v1(choices.accepts_draft_v1),
    );
    contracts.push(create(VALIDATION, "validation-registry", &of_identity)?);
    Ok(contracts)
}

impl Contract {
    fn new(
        artifacts: &Path,
        choices: &Choices,
        name: &'static str,
        id: &'static str,
        arguments: Vec<u8>,
    ) -> Result<Self, DeployError> {
        let artifact = Artifact::load(artifacts, name)?;
        let creation_code: Bytes = [&artifact.creation_code[..], &arguments].concat().into();
        let salt = create2::salt(&choices.salt, name);
        Ok(Self {
            name,
            id,
            address: create2::address(salt, keccak256(&creation_code)),
            artifact,
            salt,
            arguments,
            creation_code,
            settings: Settings::new(),
            domain: None,
            own_words: Vec::new(),
        })
    }

    fn in_domain(mut self, name: &'static str) -> Self {
        self.domain = Some(Domain { name, version: "1" });
        self
    }

    fn on(mut self, identity: Address) -> Self {
        let text = Setting::Text(identity.to_string());
        self.settings.insert("identityRegistry".to_owned(), text);
        self.own_words
            .push(("identity registry", identity.into_word()));
        self
    }

    fn accepting_draft_v1(mut self, flag: bool) -> Self {
        let setting = Setting::Flag(flag);
        self.settings.insert("acceptsDraftV1".to_owned(), setting);
        let word = B256::with_last_byte(flag.into());
        self.own_words.push(("accepts draft v1", word));
        self
    }

    /// The words that the code holds on this chain, with their names.
    pub fn immutable_words(&self, chain_id: u64) -> Vec<(&'static str, B256)> {
        let domain = self.domain.iter();
        domain
            .flat_map(|domain| domain.words(chain_id, self.address))
            .chain(self.own_words.iter().copied())
            .collect()
    }

    pub fn creation_code_hash(&self) -> B256 {
        keccak256(&self.creation_code)
    }
}

impl Domain {
    fn words(&self, chain_id: u64, address: Address) -> [(&'static str, B256); 7] {
        let chain_word = B256::from(U256::from(chain_id));
        let separator = domain_separator(self.name, self.version, &chain_word.0, &address.0.0);
        [
            ("domain separator", separator.into()),
            ("chain id", chain_word),
            ("own address", address.into_word()),
            ("domain name's hash", keccak256(self.name)),
            ("domain version's hash", keccak256(self.version)),
            ("domain name", short_string(self.name)),
            ("domain version", short_string(self.version)),
        ]
    }
}

/// OpenZeppelin's ShortString: up to 31 bytes from the left, the length in the last.
fn short_string(text: &str) -> B256 {
    let mut word = B256::right_padding_from(text.as_bytes());
    word[31] = u8::try_from(text.len()).expect("our domain names are below 32 bytes");
    word
}
