//! On EVM chains.
use super::{Place, Stage};
use crate::{
    arguments::LiveRun,
    error::CliError,
    files::{ARTIFACTS, built},
};
use alloy::signers::local::PrivateKeySigner;
use concord_chain::{
    Blocking,
    evm::{Client, ClientOptions},
    keys::EvmKeySource,
};
use concord_deploy::{
    DeployError, Deployment,
    evm::{contracts, fee_limit},
};
use concord_harness::{
    backend::{
        Backend,
        evm::{EvmLive, EvmRevm, RegistryAddresses},
    },
    live::{
        Funder, Funding, LiveFault, Record,
        evm::{EvmFunder, rehearse},
    },
    scenario::Scenario,
};
use std::{path::Path, time::Duration};

pub(super) struct EvmStage {
    addresses: RegistryAddresses,
    funder: EvmFunder,
}

impl Stage for EvmStage {
    const BUDGET: &'static str = "0.05";

    fn prepare(
        options: &LiveRun,
        place: &Place,
        deployment: &Deployment,
    ) -> Result<Self, CliError> {
        let addresses = addresses(deployment)?;
        let key = funder_key(options)?;
        let (blocking, client) = connect(options, place)?;
        require_code(&blocking, &client, deployment)?;
        Ok(Self {
            addresses,
            funder: EvmFunder::new(blocking, client, key, place.chain.clone()),
        })
    }

    fn funder(&mut self) -> &mut dyn Funder {
        &mut self.funder
    }

    fn funding(
        &self,
        artifacts: Option<&Path>,
        scenarios: &[Scenario],
    ) -> Result<Funding, CliError> {
        let artifacts = built(artifacts, ARTIFACTS)?;
        let needs = rehearse(scenarios, &mut EvmRevm::start(&artifacts)?)?;
        Ok(self.funder.funding(&needs)?)
    }

    fn backend(
        &self,
        options: &LiveRun,
        place: &Place,
        record: &Record,
    ) -> Result<Box<dyn Backend>, CliError> {
        let (blocking, client) = connect(options, place)?;
        let secret = self.funder.secret(record);
        let live = EvmLive::funded(blocking, client, self.addresses, secret, record.nonce.0);
        Ok(Box::new(live))
    }
}

fn connect(live: &LiveRun, place: &Place) -> Result<(Blocking, Client), CliError> {
    let blocking = Blocking::new()?;
    let client = blocking.wait(Client::connect(ClientOptions {
        chain: place.chain.clone(),
        endpoint: place.endpoint.clone(),
        give_up_after: Duration::from_secs(live.give_up_after),
        fee_limit: fee_limit(live.max_fee.as_deref())?,
    }))?;
    Ok((blocking, client))
}

fn funder_key(live: &LiveRun) -> Result<PrivateKeySigner, CliError> {
    let source = EvmKeySource {
        keystore: live.keystore.clone(),
        password_file: live.password_file.clone(),
    };
    let key = source.open()?;
    Ok(key.ok_or(DeployError::KeyMissing { or_from: "" })?)
}

/// Where the address book has the registries.
pub(crate) fn addresses(deployment: &Deployment) -> Result<RegistryAddresses, LiveFault> {
    let address = |contract: &str| match deployment.contracts.get(contract) {
        None => Ok(None),
        Some(record) => record
            .address
            .parse()
            .map(Some)
            .map_err(|_| LiveFault::AddressMalformed {
                contract: contract.to_owned(),
                address: record.address.clone(),
            }),
    };
    Ok(RegistryAddresses {
        identity: address(contracts::IDENTITY)?.ok_or(LiveFault::NoIdentityRegistry)?,
        open_reputation: address(contracts::REPUTATION)?,
        authorized_reputation: address(contracts::AUTHORIZED_REPUTATION)?,
        validation: address(contracts::VALIDATION)?,
    })
}

fn require_code(
    blocking: &Blocking,
    client: &Client,
    deployment: &Deployment,
) -> Result<(), LiveFault> {
    for (contract, record) in &deployment.contracts {
        let malformed = |_| LiveFault::AddressMalformed {
            contract: contract.clone(),
            address: record.address.clone(),
        };
        let code = client
            .node()
            .code(record.address.parse().map_err(malformed)?);
        if blocking.wait(code)?.is_empty() {
            return Err(LiveFault::NoCode {
                contract: contract.clone(),
                address: record.address.clone(),
            });
        }
    }
    Ok(())
}
