//! A Solana target from what the command line says.
use super::{Choices, Deployer, SvmOptions, SvmTarget, UpgradeAuthority};
use crate::{
    DeployError, RunFile, report,
    target_request::{ChoiceSource, DeployerSource, TargetRequest},
};
use concord_chain::{
    keys::{read_keypair, readable_by_others},
    svm::{BuiltProgram, Cluster, PriorityFee},
};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::path::{Path, PathBuf};

pub(crate) fn target(request: &TargetRequest<'_>) -> Result<SvmTarget, DeployError> {
    let (deployer, program_key) = keys(&request.deployer)?;
    let choices = choices(request)?;
    let first = request.fees.map_or(0, |fees| fees.priority_fee);
    let most = request.fees.map_or(first, |fees| fees.max_priority_fee);
    Ok(SvmTarget::new(SvmOptions {
        successor: successor(&request.deployer, &choices)?,
        chain: request.place.chain.clone(),
        cluster: Cluster::new(&request.endpoint()?)?,
        deployer,
        program_key,
        program: BuiltProgram::read(request.folders.program()?)?,
        choices,
        priority_fee: priority_fee(first, most)?,
    }))
}

fn choices(request: &TargetRequest<'_>) -> Result<Choices, DeployError> {
    match request.choices {
        ChoiceSource::Given(given) => Ok(Choices {
            authority: authority(given.upgrade_authority.as_deref())?,
            upgrade: given.upgrade,
            reclaim: given.reclaim_buffers,
            squads: key("squads-multisig", given.squads_multisig.as_deref())?,
            registry_authority: key("registry-authority", given.registry_authority.as_deref())?,
        }),
        ChoiceSource::OfRun(settings) => Choices::recorded(settings).ok_or_else(|| {
            DeployError::file(
                RunFile::path(&request.folders.deployments, &request.place.chain),
                "settings have no upgradeAuthority, upgrade and reclaimBuffers".to_owned(),
            )
        }),
        ChoiceSource::OfBook(settings) => {
            let nothing_chosen = Choices {
                authority: UpgradeAuthority::Keep,
                upgrade: false,
                reclaim: false,
                squads: None,
                registry_authority: None,
            };
            Ok(settings
                .and_then(Choices::recorded)
                .unwrap_or(nothing_chosen))
        }
    }
}

fn key(option: &'static str, given: Option<&str>) -> Result<Option<Address>, DeployError> {
    given.map(|text| public_key(option, text)).transpose()
}

/// Parses a public key.
///
/// # Errors
/// [`DeployError::Option`].
pub(crate) fn public_key(option: &'static str, text: &str) -> Result<Address, DeployError> {
    text.parse().map_err(|_| DeployError::Option {
        option,
        value: text.to_owned(),
        reason: "not a public key of 32 bytes in base58".to_owned(),
    })
}

/// It decides who can change the program, so it has no default.
fn authority(given: Option<&str>) -> Result<UpgradeAuthority, DeployError> {
    let text = given.ok_or(DeployError::UpgradeAuthorityMissing)?;
    text.parse().map_err(|reason| DeployError::Option {
        option: "upgrade-authority",
        value: text.to_owned(),
        reason,
    })
}

/// The first price, and the highest after raises; in micro-lamports per compute unit.
pub(crate) fn priority_fee(first: u64, most: u64) -> Result<PriorityFee, DeployError> {
    if first <= most {
        Ok(PriorityFee { first, most })
    } else {
        Err(DeployError::Option {
            option: "priority-fee",
            value: first.to_string(),
            reason: format!("above --max-priority-fee {most}"),
        })
    }
}

/// The deployer, and the key behind the program's address if it is named.
fn keys(source: &DeployerSource<'_>) -> Result<(Deployer, Option<Keypair>), DeployError> {
    let read = |path: &Option<PathBuf>| path.as_deref().map(read_private).transpose();
    match source {
        DeployerSource::None => Ok((Deployer::None, None)),
        DeployerSource::Sending(key) => {
            let deployer = open(key.keypair.as_deref(), "")?;
            Ok((Deployer::Key(deployer), read(&key.program_keypair)?))
        }
        DeployerSource::Planning { key, from } => {
            let deployer = match from {
                Some(from) => address(key.keypair.as_deref(), from).map(Deployer::Address),
                None => open(
                    key.keypair.as_deref(),
                    ", or --from with the deployer's address",
                )
                .map(Deployer::Key),
            }?;
            Ok((deployer, read(&key.program_keypair)?))
        }
    }
}

/// The next upgrade authority's key, if it is named: it must be the chosen one.
fn successor(
    source: &DeployerSource<'_>,
    choices: &Choices,
) -> Result<Option<Keypair>, DeployError> {
    let key = match source {
        DeployerSource::Sending(key) | DeployerSource::Planning { key, .. } => key,
        DeployerSource::None => return Ok(None),
    };
    let Some(path) = &key.upgrade_authority_keypair else {
        return Ok(None);
    };
    let successor = read_private(path)?;
    if choices.authority == UpgradeAuthority::Key(successor.pubkey()) {
        Ok(Some(successor))
    } else {
        Err(DeployError::KeyMismatch {
            key: successor.pubkey().to_string(),
            named: format!("--upgrade-authority {}", choices.authority),
        })
    }
}

/// Reads a keypair. A file that other users of this machine can read is reported.
pub(crate) fn read_private(path: &Path) -> Result<Keypair, DeployError> {
    let key = read_keypair(path)?;
    if readable_by_others(path) {
        report::print_status(format_args!(
            "warning: keypair {} can be read by other users of this machine: chmod 600",
            path.display()
        ));
    }
    Ok(key)
}

fn open(keypair: Option<&Path>, or_from: &'static str) -> Result<Keypair, DeployError> {
    let keypair = keypair.ok_or(DeployError::KeypairMissing { or_from })?;
    read_private(keypair)
}

/// Where a keypair is named too, they must agree.
fn address(keypair: Option<&Path>, from: &str) -> Result<Address, DeployError> {
    let named = public_key("from", from)?;
    let key = keypair.map(read_keypair).transpose()?;
    match key.map(|key| key.pubkey()).filter(|key| *key != named) {
        Some(key) => Err(DeployError::KeyMismatch {
            key: key.to_string(),
            named: named.to_string(),
        }),
        None => Ok(named),
    }
}
