//! On EVM chains.
use super::{Place, Stage};
use crate::{
    backend::{
        Backend,
        evm::{EvmLive, EvmRevm, RegistryAddresses},
    },
    cli::{
        arguments::{Conform, Live},
        files::{ARTIFACTS, built},
        stop::Stop,
    },
    live::{
        Gifts, LiveFault, Purse, Record,
        evm::{EvmPurse, rehearse},
    },
    model::Chain,
    scenario::Scenario,
};
use alloy::signers::local::PrivateKeySigner;
use concord_deploy::{
    Deployment, Fault,
    evm::{
        client::{Client, ClientOptions},
        contracts,
    },
    keys::EvmKeySource,
};
use std::time::Duration;

pub(super) struct EvmStage {
    addresses: RegistryAddresses,
    purse: EvmPurse,
}

impl Stage for EvmStage {
    const BUDGET: &'static str = "0.05";
    const CHAIN: Chain = Chain::Evm;

    fn prepare(
        options: &Conform,
        place: &Place,
        deployment: &Deployment,
    ) -> Result<Self, LiveFault> {
        let addresses = addresses(deployment)?;
        let key = funder_key(&options.live)?;
        let client = connect(&options.live, place)?;
        require_code(&client, deployment)?;
        Ok(Self {
            addresses,
            purse: EvmPurse::new(client, key, place.chain.clone()),
        })
    }

    fn purse(&mut self) -> &mut dyn Purse {
        &mut self.purse
    }

    fn gifts(&self, options: &Conform, scenarios: &[Scenario]) -> Result<Gifts, Stop> {
        let artifacts = built(options.artifacts.as_deref(), ARTIFACTS);
        let needs = rehearse(scenarios, &mut EvmRevm::start(&artifacts)?)?;
        Ok(self.purse.gifts(&needs)?)
    }

    fn backend(
        &self,
        options: &Conform,
        place: &Place,
        record: &Record,
    ) -> Result<Box<dyn Backend>, LiveFault> {
        let client = connect(&options.live, place)?;
        let secret = self.purse.secret(record);
        let live = EvmLive::funded(client, self.addresses, secret, record.nonce.0);
        Ok(Box::new(live))
    }
}

fn connect(live: &Live, place: &Place) -> Result<Client, LiveFault> {
    let client = Client::connect(ClientOptions {
        chain: place.chain.clone(),
        rpc_url: place.rpc_url.clone(),
        timeout: Duration::from_secs(live.timeout),
        patience: Duration::from_secs(live.give_up_after),
        max_fee: live.max_fee.clone(),
    });
    Ok(client?)
}

fn funder_key(live: &Live) -> Result<PrivateKeySigner, Fault> {
    let source = EvmKeySource {
        keystore: live.keystore.clone(),
        password_file: live.password_file.clone(),
    };
    source.open()?.ok_or(Fault::KeyMissing { or_from: "" })
}

/// Where the address book has the registries.
pub(in crate::cli) fn addresses(deployment: &Deployment) -> Result<RegistryAddresses, LiveFault> {
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

fn require_code(client: &Client, deployment: &Deployment) -> Result<(), LiveFault> {
    for (contract, record) in &deployment.contracts {
        let malformed = |_| LiveFault::AddressMalformed {
            contract: contract.clone(),
            address: record.address.clone(),
        };
        if !client.has_code(record.address.parse().map_err(malformed)?)? {
            return Err(LiveFault::NoCode {
                contract: contract.clone(),
                address: record.address.clone(),
            });
        }
    }
    Ok(())
}
