//! An EVM target from what the command line says.
use super::{Deployer, EvmOptions, EvmTarget, contracts::Choices};
use crate::{
    AddressBook, Fault, RunFile,
    keys::EvmKeySource,
    options::{self, Key, Place},
    wanted::{Wanted, WantedChoices, WantedDeployer},
};
use alloy::{primitives::Address, signers::local::PrivateKeySigner};
use std::time::Duration;

pub(crate) fn target(wanted: &Wanted<'_>, book: &AddressBook) -> Result<EvmTarget, Fault> {
    let Place { chain, rpc_url, .. } = wanted.place;
    EvmTarget::new(
        EvmOptions {
            chain: chain.clone(),
            rpc_url: rpc_url.clone().ok_or(Fault::RpcUrlMissing)?,
            timeout: Duration::from_secs(wanted.place.timeout),
            deployer: deployer(&wanted.deployer)?,
            choices: choices(wanted)?,
            root: wanted.folders.root.clone(),
            artifacts: wanted.folders.artifacts.clone(),
            max_fee: wanted.fees.and_then(|fees| fees.max_fee.clone()),
            confirmations: wanted.confirmations,
        },
        book,
    )
}

fn choices(wanted: &Wanted<'_>) -> Result<Choices, Fault> {
    match wanted.choices {
        WantedChoices::Given(options::Choices {
            salt,
            accepts_draft_v1,
            ..
        }) => {
            let default = Choices::default();
            Ok(Choices {
                salt: salt.clone().unwrap_or(default.salt),
                accepts_draft_v1: accepts_draft_v1.unwrap_or(default.accepts_draft_v1),
            })
        }
        WantedChoices::OfRun(settings) => Choices::recorded(settings).ok_or_else(|| Fault::File {
            path: RunFile::path(&wanted.folders.deployments, &wanted.place.chain),
            reason: "settings have no salt and acceptsDraftV1".to_owned(),
        }),
        WantedChoices::OfBook(settings) => {
            Ok(settings.and_then(Choices::recorded).unwrap_or_default())
        }
    }
}

fn deployer(wanted: &WantedDeployer<'_>) -> Result<Deployer, Fault> {
    match wanted {
        WantedDeployer::Nobody => Ok(Deployer::Nobody),
        WantedDeployer::Sending(key) => open(key, "").map(Deployer::Key),
        WantedDeployer::Planning { key, from: None } => {
            open(key, ", or --from with the deployer's address").map(Deployer::Key)
        }
        WantedDeployer::Planning {
            key,
            from: Some(from),
        } => address(key, from).map(Deployer::Address),
    }
}

/// Where a keystore is named too, they must agree.
fn address(key: &Key, from: &str) -> Result<Address, Fault> {
    let named: Address = from.parse().map_err(|_| Fault::Option {
        option: "from",
        value: from.to_owned(),
        reason: "not an EVM address: 0x and 40 hex digits".to_owned(),
    })?;
    if key.keystore.is_some() {
        let opened = open(key, "")?.address();
        if opened != named {
            return Err(Fault::KeyMismatch {
                key: opened.to_string(),
                named: named.to_string(),
            });
        }
    }
    Ok(named)
}

fn open(key: &Key, or_from: &'static str) -> Result<PrivateKeySigner, Fault> {
    let source = EvmKeySource {
        keystore: key.keystore.clone(),
        password_file: key.password_file.clone(),
    };
    source.open()?.ok_or(Fault::KeyMissing { or_from })
}
