//! `concord conform --live`, and what `concord deploy verify` plays on a deployment.
use super::{
    arguments::{Conform, Live},
    conform::{judge, load_scenarios, write_reports},
    files::{ARTIFACTS, built},
    live_svm::conform_live_svm,
    provenance,
    stop::Stop,
};
use crate::{
    backend::evm::{EvmLive, EvmRevm, RegistryAddresses},
    live::{LiveFault, Purse, Record, Swept, rehearse},
    model::{Actor, Chain},
    scenario::{Flag, Scenario},
};
use alloy::{
    primitives::{
        Address, B256, U256,
        utils::{ParseUnits, parse_units},
    },
    signers::local::PrivateKeySigner,
};
use concord_canonical::caip::{EIP155, SOLANA};
use concord_deploy::{
    AddressBook, Amount, ChainId, Coin, Deployment, Fault, commands,
    evm::{
        client::{Client, ClientOptions},
        contracts,
    },
    keys::EvmKeySource,
    network, run_file,
};
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

/// ETH.
const BUDGET: &str = "0.05";

/// Plays the scenarios flagged `live` on a deployment: the exit code.
pub(super) fn conform_live(options: &Conform) -> Result<u8, Stop> {
    let place = Place::of(&options.live)?;
    if place.chain.namespace() == SOLANA {
        return conform_live_svm(options, &place);
    }
    let scenarios = live_scenarios(options, Chain::Evm)?;
    let mut run = LiveRun::prepare(options, &place)?;
    let gifts = run.afford(options, &scenarios)?;
    let _lock = run_file::lock(&run.record, &place.chain).map_err(LiveFault::from)?;
    run.take_back_leftovers(&place)?;
    let record = Record {
        chain: place.chain.clone(),
        funder: run.funder.to_string(),
        nonce: B256::random(),
        actors: gifts.keys().cloned().collect(),
    };
    record.store(&run.record)?;
    let played = run
        .purse
        .fund(&record, &gifts)
        .map_err(Stop::from)
        .and_then(|()| {
            let client = place.connect(&options.live)?;
            let secret = run.purse.secret(&record.nonce);
            let backend = EvmLive::funded(client, run.addresses, secret, record.nonce.0);
            judge(&scenarios, vec![Box::new(backend)])
        });
    run.give_up(&record)?;
    let played = played?;
    write_reports(
        options,
        &played,
        provenance::of_deployment(&place.chain, &run.deployment),
    )
}

/// Where the deployment is, as the command line has it.
pub(super) struct Place {
    pub chain: ChainId,
    pub rpc_url: String,
    pub deployments: PathBuf,
}

impl Place {
    fn of(live: &Live) -> Result<Self, LiveFault> {
        let chain = live
            .chain
            .clone()
            .ok_or_else(|| Fault::ChainId("is missing".to_owned()))?;
        if ![EIP155, SOLANA].contains(&chain.namespace()) {
            return Err(LiveFault::ChainUnplayable(chain.to_string()));
        }
        commands::require_testnet(&chain, live.allow_mainnet)?;
        Ok(Self {
            chain,
            rpc_url: live.rpc_url.clone().ok_or(Fault::RpcUrlMissing)?,
            deployments: built(live.deployments.as_deref(), "deployments"),
        })
    }

    fn connect(&self, live: &Live) -> Result<Client, LiveFault> {
        let client = Client::connect(ClientOptions {
            chain: self.chain.clone(),
            rpc_url: self.rpc_url.clone(),
            timeout: Duration::from_secs(live.timeout),
            patience: Duration::from_secs(live.give_up_after),
            max_fee: live.max_fee.clone(),
        });
        Ok(client?)
    }
}

/// What a run needs beside its scenarios.
struct LiveRun {
    deployment: Deployment,
    addresses: RegistryAddresses,
    funder: Address,
    purse: Purse,
    /// Where the run is on record.
    record: PathBuf,
}

impl LiveRun {
    /// Everything that can be known to be wrong before anything is sent.
    fn prepare(options: &Conform, place: &Place) -> Result<Self, LiveFault> {
        let book = AddressBook::load(&place.deployments)?;
        let deployment = book.deployment(&place.chain).cloned();
        let deployment = deployment.ok_or_else(|| Fault::NotOnRecord(place.chain.to_string()))?;
        let addresses = addresses(&deployment)?;
        let key = funder_key(&options.live)?;
        let client = place.connect(&options.live)?;
        require_code(&client, &deployment)?;
        let record = Record::path(&place.deployments, &place.chain);
        Record::unfinished(&record, &place.chain, &key.address().to_string())?;
        Ok(Self {
            deployment,
            addresses,
            funder: key.address(),
            purse: Purse::new(client, key, place.chain.clone()),
            record,
        })
    }

    /// What each actor will get, once the budget, the funder's balance and the person allow it.
    fn afford(
        &self,
        options: &Conform,
        scenarios: &[Scenario],
    ) -> Result<BTreeMap<Actor, Amount>, Stop> {
        let limit = budget(options.live.budget.as_deref().unwrap_or(BUDGET), Coin::ETH)?;
        let artifacts = built(options.artifacts.as_deref(), ARTIFACTS);
        let needs = rehearse(scenarios, &mut EvmRevm::start(&artifacts)?)?;
        let (gifts, total) = self.purse.estimate(&needs)?;
        let balance = self.purse.balance()?;
        require(Coin::ETH, total, limit, balance, &self.funder.to_string())?;
        let steps: u64 = needs.values().map(|it| it.transactions).sum();
        let transactions = usize::try_from(steps).unwrap_or(usize::MAX) + 2 * gifts.len();
        let chain = self.purse.chain();
        eprintln!(
            "{} scenarios on {chain} ({}): at most {} from {}; what is left comes back",
            scenarios.len(),
            network::name_of(chain),
            Coin::ETH.cost(total),
            self.funder,
        );
        commands::confirm(chain, transactions, options.live.yes).map_err(LiveFault::from)?;
        Ok(gifts)
    }

    /// A run that was killed left its record, and its actors what they had.
    fn take_back_leftovers(&mut self, place: &Place) -> Result<(), LiveFault> {
        match Record::unfinished(&self.record, &place.chain, &self.funder.to_string())? {
            Some(record) => {
                eprintln!("an earlier run did not end: its actors give back what is left");
                self.give_up(&record)
            }
            None => Ok(()),
        }
    }

    /// Takes back what is left. What could not be taken stays on record for the next run.
    fn give_up(&mut self, record: &Record) -> Result<(), LiveFault> {
        let swept = self.purse.sweep(record);
        let Swept {
            returned,
            left,
            failures,
        } = &swept;
        eprintln!(
            "{} came back from {} accounts, {} stayed there",
            Coin::ETH.balance(amount(*returned)),
            record.actors.len(),
            Coin::ETH.cost(amount(*left)),
        );
        for failure in failures {
            eprintln!("not taken back: {failure}; the next conform --live tries again");
        }
        match failures.is_empty() {
            true => Record::remove(&self.record),
            false => Ok(()),
        }
    }
}

/// Both allow what a run can cost.
pub(super) fn require(
    coin: Coin,
    total: Amount,
    limit: Amount,
    balance: Amount,
    funder: &str,
) -> Result<(), LiveFault> {
    let needed = coin.cost(total).to_string();
    if total > limit {
        return Err(LiveFault::BudgetTooLow {
            needed,
            limit: coin.balance(limit).to_string(),
        });
    }
    if total > balance {
        return Err(LiveFault::FunderTooPoor {
            funder: funder.to_owned(),
            balance: coin.balance(balance).to_string(),
            needed,
        });
    }
    Ok(())
}

fn funder_key(live: &Live) -> Result<PrivateKeySigner, Fault> {
    let source = EvmKeySource {
        keystore: live.keystore.clone(),
        password_file: live.password_file.clone(),
    };
    source.open()?.ok_or(Fault::KeyMissing { or_from: "" })
}

fn amount(wei: U256) -> Amount {
    Amount(u128::try_from(wei).unwrap_or(u128::MAX))
}

/// From coins, such as `0.05`.
pub(super) fn budget(text: &str, coin: Coin) -> Result<Amount, LiveFault> {
    let decimals = text
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    let fits = usize::try_from(coin.decimals).is_ok_and(|most| decimals <= most);
    let unit = u8::try_from(coin.decimals).unwrap_or(u8::MAX);
    match parse_units(text, unit) {
        Ok(ParseUnits::U256(units)) if fits => Ok(amount(units)),
        _ => Err(LiveFault::BudgetMalformed {
            value: text.to_owned(),
            coin: coin.symbol,
            decimals: coin.decimals,
        }),
    }
}

/// Those that are meant, of those that are flagged.
pub(super) fn live_scenarios(options: &Conform, on: Chain) -> Result<Vec<Scenario>, Stop> {
    let mut scenarios = load_scenarios(options)?;
    let is_live = |scenario: &Scenario| {
        scenario.flags.contains(&Flag::Live) && scenario.chains().any(|chain| chain == on)
    };
    if let Some(other) = scenarios.iter().find(|it| !is_live(it))
        && !options.scenario.is_empty()
    {
        return Err(Stop::Live(LiveFault::NotLive(other.name.clone())));
    }
    scenarios.retain(is_live);
    match scenarios.is_empty() {
        true => Err(Stop::NothingLeft(options.filter.clone())),
        false => Ok(scenarios),
    }
}

/// Where the address book has the registries.
pub(super) fn addresses(deployment: &Deployment) -> Result<RegistryAddresses, LiveFault> {
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
