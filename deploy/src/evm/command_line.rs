//! An EVM target from what the command line says.
use super::{Deployer, EvmOptions, EvmTarget, contracts::Choices};
use crate::{
    AddressBook, DeployError, Deployment, RunFile,
    options::{self, Key},
    target_request::{ChoiceSource, DeployerSource, TargetRequest},
};
use alloy::{primitives::Address, signers::local::PrivateKeySigner};
use concord_chain::{ChainError, ChainId, Evm, Signer, evm::FeeLimit, keys::EvmKeySource};

pub(crate) async fn target(
    request: &TargetRequest<'_>,
    book: &AddressBook,
) -> Result<EvmTarget, DeployError> {
    let (root, artifacts) = request.folders.contracts()?;
    EvmTarget::new(
        EvmOptions {
            chain: request.place.chain.clone(),
            endpoint: request.endpoint()?,
            deployer: deployer(&request.deployer, &request.place.chain).await?,
            choices: choices(request, book.deployment(&request.place.chain))?,
            root: root.to_owned(),
            artifacts: artifacts.to_owned(),
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

/// What is not said stays as the address book has it: another salt would be another set of
/// registries.
fn choices(
    request: &TargetRequest<'_>,
    recorded: Option<&Deployment>,
) -> Result<Choices, DeployError> {
    match request.choices {
        ChoiceSource::Given(options::Choices {
            salt,
            accepts_draft_v1,
            identity,
            ..
        }) => {
            let recorded = recorded.and_then(|book| Choices::recorded(&book.settings));
            let recorded = recorded.unwrap_or_default();
            let identity = match identity {
                Some(text) => self::identity(text)?,
                None => recorded.identity,
            };
            // R6: over another identity registry the first draft's form is off until it is asked for.
            let default = recorded.identity == identity && recorded.accepts_draft_v1;
            Ok(Choices {
                salt: salt.clone().unwrap_or(recorded.salt),
                accepts_draft_v1: accepts_draft_v1.unwrap_or(default),
                identity,
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

/// Parses `--identity`.
fn identity(text: &str) -> Result<Option<Address>, DeployError> {
    match text {
        "own" => Ok(None),
        address => (address.parse().map(Some)).map_err(|_| DeployError::Option {
            option: "identity",
            value: text.to_owned(),
            reason: "neither `own` nor an EVM address: 0x and 40 hex digits".to_owned(),
        }),
    }
}

async fn deployer(source: &DeployerSource<'_>, chain: &ChainId) -> Result<Deployer, DeployError> {
    match source {
        DeployerSource::None => Ok(Deployer::None),
        DeployerSource::Sending(key) => open(key, chain, "").await,
        DeployerSource::Planning { key, from: None } => {
            open(key, chain, ", or --from with the deployer's address").await
        }
        DeployerSource::Planning {
            key,
            from: Some(from),
        } => address(key, from).map(Deployer::Address),
    }
}

/// If a keystore is named too, they must agree.
fn address(key: &Key, from: &str) -> Result<Address, DeployError> {
    let named: Address = from.parse().map_err(|_| DeployError::Option {
        option: "from",
        value: from.to_owned(),
        reason: "not an EVM address: 0x and 40 hex digits".to_owned(),
    })?;
    if key.keystore.is_some() {
        let opened = open_local(key, "")?.address();
        if opened != named {
            return Err(DeployError::KeyMismatch {
                key: opened.to_string(),
                named: named.to_string(),
            });
        }
    }
    Ok(named)
}

async fn open(key: &Key, chain: &ChainId, or_from: &'static str) -> Result<Deployer, DeployError> {
    match open_remote(key, chain).await? {
        Some(signer) => Ok(Deployer::Signer(signer)),
        None => open_local(key, or_from).map(Deployer::Key),
    }
}

fn open_local(key: &Key, or_from: &'static str) -> Result<PrivateKeySigner, DeployError> {
    let source = EvmKeySource {
        keystore: key.keystore.clone(),
        password_file: key.password_file.clone(),
    };
    source.open()?.ok_or(DeployError::KeyMissing { or_from })
}

/// A key in a device or at a service, if one is named.
#[cfg_attr(
    not(any(feature = "ledger", feature = "aws-kms")),
    expect(unused_variables, reason = "this build knows none")
)]
async fn open_remote(
    key: &Key,
    chain: &ChainId,
) -> Result<Option<Box<dyn Signer<Evm>>>, DeployError> {
    #[cfg(feature = "ledger")]
    if let Some(index) = key.ledger {
        let ledger = concord_chain::keys::open_ledger(index, chain.evm_number()?).await?;
        return Ok(Some(Box::new(ledger)));
    }
    #[cfg(feature = "aws-kms")]
    if let Some(id) = &key.aws_kms {
        let key = concord_chain::keys::open_aws_kms(id, chain.evm_number()?).await?;
        return Ok(Some(Box::new(key)));
    }
    Ok(None)
}
