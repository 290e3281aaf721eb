use crate::{
    AddressBook, ChainId, Fault, Settings, Target, evm,
    options::{Choices, Fees, Key, Place},
};
use concord_canonical::caip::EIP155;
use std::{env, path::PathBuf};

const SOURCES: &str = "contracts/src";
const ARTIFACTS: &str = "contracts/out";
const DEPLOYMENTS: &str = "deployments";

/// Where everything is, with the defaults filled in.
pub(crate) struct Folders {
    /// The clone.
    pub root: PathBuf,
    pub artifacts: PathBuf,
    pub deployments: PathBuf,
}

impl Folders {
    pub fn of(place: &Place) -> Result<Self, Fault> {
        let here = env::current_dir()?;
        let root = here
            .ancestors()
            .find(|folder| folder.join(SOURCES).is_dir())
            .ok_or(Fault::NoClone)?;
        let in_clone = |default: &str| match root == here {
            true => PathBuf::from(default), // shorter to read
            false => root.join(default),
        };
        let named =
            |folder: &Option<PathBuf>, default| folder.clone().unwrap_or_else(|| in_clone(default));
        Ok(Self {
            artifacts: named(&place.artifacts, ARTIFACTS),
            deployments: named(&place.deployments, DEPLOYMENTS),
            root: root.to_owned(),
        })
    }

    pub fn explorer(&self, chain: &ChainId) -> PathBuf {
        self.deployments.join("explorer").join(chain.file_stem())
    }
}

/// What a command says about its target.
pub(crate) struct Wanted<'a> {
    pub place: &'a Place,
    pub folders: &'a Folders,
    pub deployer: WantedDeployer<'a>,
    pub choices: WantedChoices<'a>,
    pub fees: Option<&'a Fees>,
    pub confirmations: u64,
}

pub(crate) enum WantedDeployer<'a> {
    /// Nothing will be planned.
    Nobody,
    /// Nothing will be sent: an address is enough.
    Planning {
        key: &'a Key,
        from: Option<&'a str>,
    },
    Sending(&'a Key),
}

pub(crate) enum WantedChoices<'a> {
    Given(&'a Choices),
    /// Those of a run.
    OfRun(&'a Settings),
    /// Those of the address book, else the defaults.
    OfBook(Option<&'a Settings>),
}

impl Wanted<'_> {
    /// The target on the chain's kind of chain.
    ///
    /// # Errors
    /// [`Fault::NamespaceUnknown`], and what the kind of chain says.
    pub fn target(&self, book: &AddressBook) -> Result<Box<dyn Target>, Fault> {
        let chain = &self.place.chain;
        match chain.namespace() {
            EIP155 => Ok(Box::new(evm::target(self, book)?)),
            _ => Err(Fault::NamespaceUnknown(chain.to_string())),
        }
    }
}
