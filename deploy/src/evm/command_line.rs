//! An EVM target from what the command line says.
use super::{Deployer, EvmOptions, EvmTarget, contracts::Choices};
use crate::{
    AddressBook, DeployError, RunFile,
    options::{self, Key},
    target_request::{ChoiceSource, DeployerSource, TargetRequest},
};
use alloy::{primitives::Address, signers::local::PrivateKeySigner};
use concord_chain::{ChainError, evm::FeeLimit, keys::EvmKeySource};

pub(crate) fn target(
    request: &TargetRequest<'_>,
    book: &AddressBook,
) -> Result<EvmTarget, DeployError> {
    EvmTarget::new(
        EvmOptions {
            chain: request.place.chain.clone(),
            endpoint: request.endpoint()?,
            deployer: deployer(&request.deployer)?,
            choices: choices(request)?,
            root: request.folders.root.clone(),
            artifacts: request.folders.artifacts.clone(),
            fee_limit: fee_limit(request.fees.and_then(|fees| fees.max_fee.as_deref()))?,
            confirmations: request.confirmations,
        },
        book,
    )
}

/// Parses `--max-fee`.
///
/// # Errors
/// [`DeployError::Option`].
pub fn fee_limit(text: Option<&str>) -> Result<FeeLimit, DeployError> {
    FeeLimit::parse(text).map_err(|error| match error {
        ChainError::FeeLimitMalformed(value) => DeployError::Option {
            option: "max-fee",
            value,
            reason: "not a number of gwei with at most 9 decimals".to_owned(),
        },
        other => other.into(),
    })
}

fn choices(request: &TargetRequest<'_>) -> Result<Choices, DeployError> {
    match request.choices {
        ChoiceSource::Given(options::Choices {
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
        ChoiceSource::OfRun(settings) => Choices::recorded(settings).ok_or_else(|| {
            DeployError::file(
                RunFile::path(&request.folders.deployments, &request.place.chain),
                "settings have no salt and acceptsDraftV1".to_owned(),
            )
        }),
        ChoiceSource::OfBook(settings) => {
            Ok(settings.and_then(Choices::recorded).unwrap_or_default())
        }
    }
}

fn deployer(source: &DeployerSource<'_>) -> Result<Deployer, DeployError> {
    match source {
        DeployerSource::None => Ok(Deployer::None),
        DeployerSource::Sending(key) => open(key, "").map(Deployer::Key),
        DeployerSource::Planning { key, from: None } => {
            open(key, ", or --from with the deployer's address").map(Deployer::Key)
        }
        DeployerSource::Planning {
            key,
            from: Some(from),
        } => address(key, from).map(Deployer::Address),
    }
}

/// Where a keystore is named too, they must agree.
fn address(key: &Key, from: &str) -> Result<Address, DeployError> {
    let named: Address = from.parse().map_err(|_| DeployError::Option {
        option: "from",
        value: from.to_owned(),
        reason: "not an EVM address: 0x and 40 hex digits".to_owned(),
    })?;
    if key.keystore.is_some() {
        let opened = open(key, "")?.address();
        if opened != named {
            return Err(DeployError::KeyMismatch {
                key: opened.to_string(),
                named: named.to_string(),
            });
        }
    }
    Ok(named)
}

fn open(key: &Key, or_from: &'static str) -> Result<PrivateKeySigner, DeployError> {
    let source = EvmKeySource {
        keystore: key.keystore.clone(),
        password_file: key.password_file.clone(),
    };
    source.open()?.ok_or(DeployError::KeyMissing { or_from })
}
