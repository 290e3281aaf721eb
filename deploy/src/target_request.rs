use crate::{
    AddressBook, DeployError, Settings, Target, evm,
    options::{Choices, Fees, Key, Place},
    svm,
};
use concord_canonical::caip::{EIP155, SOLANA};
use concord_chain::{ChainId, EndpointOptions, evm::Confirmations};
use std::{
    env,
    path::{Path, PathBuf},
    time::Duration,
};

const SOURCES: &str = "contracts/src";
const ARTIFACTS: &str = "contracts/out";
const PROGRAM: &str = "target/deploy/agent_registry.so";
const DEPLOYMENTS: &str = "deployments";

/// The files of a command: those that its options name, and the clone's for the others.
pub(crate) struct Folders {
    /// The clone; `None` outside one.
    root: Option<PathBuf>,
    artifacts: Option<PathBuf>,
    program: Option<PathBuf>,
    pub deployments: PathBuf,
}

impl Folders {
    /// # Errors
    /// Outside a clone, [`DeployError::SourcesMissing`] for an EVM chain, whose contracts are compared
    /// with their sources, and [`DeployError::NoClone`] if `--deployments` is not given.
    pub fn of(place: &Place) -> Result<Self, DeployError> {
        let here = env::current_dir()?;
        let root = here.ancestors().find(|it| it.join(SOURCES).is_dir());
        if root.is_none() && place.chain.namespace() == EIP155 {
            return Err(DeployError::SourcesMissing);
        }
        let in_clone = |default: &str| match root {
            Some(root) if root == here => Some(PathBuf::from(default)), // shorter to read
            root => root.map(|it| it.join(default)),
        };
        let named =
            |folder: &Option<PathBuf>, default| folder.clone().or_else(|| in_clone(default));
        Ok(Self {
            artifacts: named(&place.artifacts, ARTIFACTS),
            program: named(&place.program, PROGRAM),
            deployments: named(&place.deployments, DEPLOYMENTS).ok_or(DeployError::NoClone)?,
            root: root.map(PathBuf::from),
        })
    }

    /// The clone and its contracts' artifacts.
    ///
    /// # Errors
    /// [`DeployError::SourcesMissing`].
    pub fn contracts(&self) -> Result<(&Path, &Path), DeployError> {
        let both = self.root.as_deref().zip(self.artifacts.as_deref());
        both.ok_or(DeployError::SourcesMissing)
    }

    /// The Solana program.
    ///
    /// # Errors
    /// [`DeployError::NoClone`].
    pub fn program(&self) -> Result<&Path, DeployError> {
        self.program.as_deref().ok_or(DeployError::NoClone)
    }

    pub fn explorer(&self, chain: &ChainId) -> PathBuf {
        self.deployments.join("explorer").join(chain.file_stem())
    }
}

/// # Errors
/// [`DeployError::RpcUrlMissing`].
pub(crate) fn endpoint(place: &Place) -> Result<EndpointOptions, DeployError> {
    let url = place.rpc_url.clone().ok_or(DeployError::RpcUrlMissing)?;
    let options = EndpointOptions::new(url).with_limits(place.rpc_limit);
    Ok(options.with_timeout(Duration::from_secs(place.timeout)))
}

/// What a command line says about its target.
pub(crate) struct TargetRequest<'a> {
    pub place: &'a Place,
    pub folders: &'a Folders,
    pub deployer: DeployerSource<'a>,
    pub choices: ChoiceSource<'a>,
    pub fees: Option<&'a Fees>,
    pub confirmations: Confirmations,
}

pub(crate) enum DeployerSource<'a> {
    /// Nothing will be planned.
    None,
    /// Nothing will be sent: an address is enough.
    Planning {
        key: &'a Key,
        from: Option<&'a str>,
    },
    Sending(&'a Key),
}

pub(crate) enum ChoiceSource<'a> {
    Given(&'a Choices),
    /// Those of a run.
    OfRun(&'a Settings),
    /// Those of the address book, else the defaults.
    OfBook(Option<&'a Settings>),
}

impl TargetRequest<'_> {
    /// Makes the target for the chain's namespace.
    ///
    /// # Errors
    /// [`DeployError::NamespaceUnknown`], and whatever the target refuses.
    pub async fn target(&self, book: &AddressBook) -> Result<Box<dyn Target>, DeployError> {
        let chain = &self.place.chain;
        match chain.namespace() {
            EIP155 => {
                self.refuse_options_of_solana()?;
                Ok(Box::new(evm::target(self, book).await?))
            }
            SOLANA => {
                self.refuse_options_of_evm()?;
                Ok(Box::new(svm::target(self)?))
            }
            _ => Err(DeployError::NamespaceUnknown(chain.to_string())),
        }
    }
}

impl TargetRequest<'_> {
    /// # Errors
    /// [`DeployError::RpcUrlMissing`].
    pub fn endpoint(&self) -> Result<EndpointOptions, DeployError> {
        endpoint(self.place)
    }

    fn given(&self) -> Option<&Choices> {
        match self.choices {
            ChoiceSource::Given(choices) => Some(choices),
            _ => None,
        }
    }

    /// Options from the environment are ignored: they may be meant for the other kind of chain.
    fn refuse_options_of_solana(&self) -> Result<(), DeployError> {
        let given = self.given();
        self.refuse(
            "Solana",
            &[
                ("program", self.place.program.is_some()),
                (
                    "upgrade-authority",
                    given.is_some_and(|it| it.upgrade_authority.is_some()),
                ),
                (
                    "registry-authority",
                    given.is_some_and(|it| it.registry_authority.is_some()),
                ),
                (
                    "squads-multisig",
                    given.is_some_and(|it| it.squads_multisig.is_some()),
                ),
                ("upgrade", given.is_some_and(|it| it.upgrade)),
                (
                    "reclaim-buffers",
                    given.is_some_and(|it| it.reclaim_buffers),
                ),
            ],
        )
    }

    fn refuse_options_of_evm(&self) -> Result<(), DeployError> {
        let given = self.given();
        self.refuse(
            "EVM",
            &[
                ("artifacts", self.place.artifacts.is_some()),
                ("salt", given.is_some_and(|it| it.salt.is_some())),
                ("identity", given.is_some_and(|it| it.identity.is_some())),
                (
                    "accepts-draft-v1",
                    given.is_some_and(|it| it.accepts_draft_v1.is_some()),
                ),
                ("max-fee", self.fees.is_some_and(|it| it.max_fee.is_some())),
            ],
        )
    }

    fn refuse(
        &self,
        other: &'static str,
        options: &[(&'static str, bool)],
    ) -> Result<(), DeployError> {
        match options.iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((option, _)) => Err(DeployError::OptionOfOther {
                option,
                other,
                chain: self.place.chain.to_string(),
            }),
        }
    }
}
