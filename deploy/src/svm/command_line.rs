//! A Solana target from what the command line says.
use super::{
    Choices, Deployer, PriorityFee, Program, SvmOptions, SvmTarget, UpgradeAuthority,
    cluster::Cluster, transport::Http,
};
use crate::{
    Fault, RunFile, keys,
    options::{self, Place},
    wanted::{Wanted, WantedChoices, WantedDeployer},
};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::{path::Path, time::Duration};

pub(crate) fn target(wanted: &Wanted<'_>) -> Result<SvmTarget, Fault> {
    let Place { chain, rpc_url, .. } = wanted.place;
    let url = rpc_url.as_deref().ok_or(Fault::RpcUrlMissing)?;
    let timeout = Duration::from_secs(wanted.place.timeout);
    let (deployer, program_key) = keys(&wanted.deployer)?;
    Ok(SvmTarget::new(SvmOptions {
        chain: chain.clone(),
        cluster: Cluster::new(Http::new(url, timeout)?),
        deployer,
        program_key,
        program: Program::read(&wanted.folders.program)?,
        choices: choices(wanted)?,
        priority_fee: priority_fee(wanted.fees)?,
    }))
}

fn choices(wanted: &Wanted<'_>) -> Result<Choices, Fault> {
    match wanted.choices {
        WantedChoices::Given(given) => Ok(Choices {
            authority: authority(given.upgrade_authority.as_deref())?,
            upgrade: given.upgrade,
            reclaim: given.reclaim_buffers,
        }),
        WantedChoices::OfRun(settings) => Choices::recorded(settings).ok_or_else(|| Fault::File {
            path: RunFile::path(&wanted.folders.deployments, &wanted.place.chain),
            reason: "settings have no upgradeAuthority, upgrade and reclaimBuffers".to_owned(),
        }),
        WantedChoices::OfBook(settings) => {
            let nothing_chosen = Choices {
                authority: UpgradeAuthority::Keep,
                upgrade: false,
                reclaim: false,
            };
            Ok(settings
                .and_then(Choices::recorded)
                .unwrap_or(nothing_chosen))
        }
    }
}

/// It decides who can change the program: nobody's guess.
fn authority(given: Option<&str>) -> Result<UpgradeAuthority, Fault> {
    let text = given.ok_or(Fault::UpgradeAuthorityMissing)?;
    text.parse().map_err(|reason| Fault::Option {
        option: "upgrade-authority",
        value: text.to_owned(),
        reason,
    })
}

fn priority_fee(fees: Option<&options::Fees>) -> Result<PriorityFee, Fault> {
    let first = fees.map_or(0, |fees| fees.priority_fee);
    let most = fees.map_or(first, |fees| fees.max_priority_fee);
    PriorityFee::new(first, most)
}

/// The deployer, and the key behind the program's address where it is named.
fn keys(wanted: &WantedDeployer<'_>) -> Result<(Deployer, Option<Keypair>), Fault> {
    let read =
        |path: &Option<std::path::PathBuf>| path.as_deref().map(keys::read_keypair).transpose();
    match wanted {
        WantedDeployer::Nobody => Ok((Deployer::Nobody, None)),
        WantedDeployer::Sending(key) => {
            let deployer = open(key.keypair.as_deref(), "")?;
            Ok((Deployer::Key(deployer), read(&key.program_keypair)?))
        }
        WantedDeployer::Planning { key, from } => {
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

fn open(keypair: Option<&Path>, or_from: &'static str) -> Result<Keypair, Fault> {
    keys::read_keypair(keypair.ok_or(Fault::KeypairMissing { or_from })?)
}

/// Where a keypair is named too, they must agree.
fn address(keypair: Option<&Path>, from: &str) -> Result<Address, Fault> {
    let named: Address = from.parse().map_err(|_| Fault::Option {
        option: "from",
        value: from.to_owned(),
        reason: "not a public key of 32 bytes in base58".to_owned(),
    })?;
    let key = keypair.map(keys::read_keypair).transpose()?;
    match key.map(|key| key.pubkey()).filter(|key| *key != named) {
        Some(key) => Err(Fault::KeyMismatch {
            key: key.to_string(),
            named: named.to_string(),
        }),
        None => Ok(named),
    }
}
