//! `concord conform --live`, and what `concord deploy verify` plays on a deployment.
mod evm;
mod svm;

pub(super) use evm::addresses;
pub(super) use svm::CONTRACT;

use super::{
    arguments::{Conform, LiveRun},
    conform::{check, load_scenarios, require_writable, wanted, write_reports},
    error::CliError,
    files::in_clone,
    provenance,
};
use alloy::primitives::{
    B256,
    utils::{ParseUnits, parse_units},
};
use concord_canonical::caip::{EIP155, SOLANA};
use concord_chain::{Amount, ChainId, Coin, EndpointOptions, network};
use concord_deploy::{
    AddressBook, DeployError, Deployment, commands, lock_run, report::print_status,
};
use concord_harness::{
    backend::Backend,
    live::{Funder, Funding, LiveFault, Record, Swept},
    model::{Chain, RegistryProfile},
    report,
    runner::Run,
    scenario::{Flag, Scenario},
};
use evm::EvmStage;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use svm::SvmStage;

/// Plays the scenarios flagged `live` on a deployment: the exit code.
pub(super) fn conform_live(options: &Conform) -> Result<u8, CliError> {
    let live = &options.live.run;
    let place = Place::of(live)?;
    let scenarios = live_scenarios(options, place.kind())?;
    require_writable(options)?;
    let played = place.play(live, options.artifacts.as_deref(), &scenarios)?;
    let provenance = provenance::of_deployment(&place.chain, &played.deployment);
    let code = write_reports(options, &played.run, provenance)?;
    played.given_back?;
    Ok(code)
}

/// A run on a deployment that has ended.
pub(super) struct Played {
    pub run: Run,
    pub deployment: Deployment,
    pub coin: Coin,
    /// What the funder has less than before: fees, rent, and what could not be taken back. `None`
    /// if the chain does not say.
    pub spent: Option<Amount>,
    /// Whether the actors have given back what they had left.
    pub given_back: Result<(), LiveFault>,
}

/// A deployment that scenarios are played on, and who pays for it.
trait Stage: Sized {
    /// The default of `--budget`.
    const BUDGET: &'static str;

    /// Whatever can be known to be wrong before anything is sent.
    fn prepare(options: &LiveRun, place: &Place, deployment: &Deployment)
    -> Result<Self, CliError>;

    fn funder(&mut self) -> &mut dyn Funder;

    /// What the actors need, found out by playing the scenarios in this process.
    fn funding(
        &self,
        artifacts: Option<&Path>,
        scenarios: &[Scenario],
    ) -> Result<Funding, CliError>;

    /// The deployment, for a run whose actors have been given what they need.
    fn backend(
        &self,
        options: &LiveRun,
        place: &Place,
        record: &Record,
    ) -> Result<Box<dyn Backend>, CliError>;
}

fn play<S: Stage>(
    options: &LiveRun,
    artifacts: Option<&Path>,
    place: &Place,
    scenarios: &[Scenario],
) -> Result<Played, CliError> {
    let deployment = place.deployment()?;
    let mut stage = S::prepare(options, place, &deployment)?;
    place.unfinished(stage.funder())?;
    let limit = options.budget.as_deref().unwrap_or(S::BUDGET);
    let limit = budget(limit, stage.funder().coin())?;
    let funding = stage.funding(artifacts, scenarios)?;
    require_funds(stage.funder(), &funding, limit)?;
    print_status(format_args!(
        "{} on {} ({}): at most {} from {}; what is left comes back",
        report::scenario_count(scenarios.len()),
        place.chain,
        network::name_of(&place.chain),
        stage.funder().coin().cost(funding.total),
        stage.funder().address(),
    ));
    let transactions = usize::try_from(funding.transactions).unwrap_or(usize::MAX);
    commands::confirm(&place.chain, transactions, options.yes)?;

    let _lock = lock_run(&place.record(), &place.chain)?;
    if let Some(record) = place.unfinished(stage.funder())? {
        print_status("an earlier run did not end: its actors give back what is left");
        give_back(place, stage.funder(), &record)?;
    }
    let path = place.record();
    let mut record = Record {
        chain: place.chain.clone(),
        funder: stage.funder().address(),
        nonce: B256::random(),
        actors: funding.to.keys().cloned().collect(),
        gifts: Vec::new(),
    };
    let before = stage.funder().balance()?;
    record.store(&path)?;
    let funded = stage.funder().fund(&mut record, &path, &funding);
    let played = funded.map_err(CliError::from).and_then(|()| {
        let backend = stage.backend(options, place, &record)?;
        Ok(check(
            &RegistryProfile::ALL.into(),
            scenarios,
            vec![backend],
        ))
    });
    let given_back = give_back(place, stage.funder(), &record);
    let run = match played {
        Ok(run) => run,
        Err(fault) => {
            if let Err(not_given_back) = given_back {
                print_status(report::plain(&format!("concord: {fault}")));
                return Err(not_given_back.into());
            }
            return Err(fault);
        }
    };
    let after = stage.funder().balance().ok();
    Ok(Played {
        run,
        deployment,
        coin: stage.funder().coin(),
        spent: after.and_then(|after| before.checked_sub(after)),
        given_back,
    })
}

/// Where the deployment is, as the command line has it.
pub(super) struct Place {
    pub chain: ChainId,
    endpoint: EndpointOptions,
    deployments: PathBuf,
}

impl Place {
    pub fn of(live: &LiveRun) -> Result<Self, CliError> {
        let missing = || DeployError::ChainMissing;
        let chain = live.chain.clone().ok_or_else(missing)?;
        if ![EIP155, SOLANA].contains(&chain.namespace()) {
            return Err(LiveFault::ChainUnplayable(chain.to_string()).into());
        }
        commands::require_testnet(&chain, live.allow_mainnet)?;
        Ok(Self {
            chain,
            endpoint: EndpointOptions::new(live.rpc_url.clone().ok_or(DeployError::RpcUrlMissing)?)
                .with_limits(live.rpc_limit)
                .with_timeout(Duration::from_secs(live.timeout)),
            deployments: in_clone(live.deployments.as_deref(), "deployments"),
        })
    }

    /// The model's kind of this chain.
    fn kind(&self) -> Chain {
        match self.chain.namespace() {
            SOLANA => Chain::Svm,
            _ => Chain::Evm,
        }
    }

    /// Plays the scenarios on the deployment on record: asks, funds the actors, plays, and takes
    /// back what is left.
    pub fn play(
        &self,
        options: &LiveRun,
        artifacts: Option<&Path>,
        scenarios: &[Scenario],
    ) -> Result<Played, CliError> {
        match self.kind() {
            Chain::Svm => play::<SvmStage>(options, artifacts, self, scenarios),
            Chain::Evm => play::<EvmStage>(options, artifacts, self, scenarios),
        }
    }

    fn deployment(&self) -> Result<Deployment, CliError> {
        let book = AddressBook::load(&self.deployments)?;
        let deployment = book.deployment(&self.chain).cloned();
        Ok(deployment.ok_or_else(|| DeployError::NotOnRecord(self.chain.to_string()))?)
    }

    /// Where a run is on record.
    fn record(&self) -> PathBuf {
        Record::path(&self.deployments, &self.chain)
    }

    /// A run that was killed left its record, and its actors what they had.
    fn unfinished(&self, funder: &dyn Funder) -> Result<Option<Record>, LiveFault> {
        Record::unfinished(&self.record(), &self.chain, &funder.address())
    }
}

/// Takes back what is left. What could not be taken stays on record for the next run.
fn give_back(place: &Place, funder: &mut dyn Funder, record: &Record) -> Result<(), LiveFault> {
    let Swept {
        returned,
        left,
        failures,
    } = funder.sweep(record);
    let coin = funder.coin();
    let accounts = record.actors.len();
    let returned = coin.balance(returned);
    match left {
        Amount(0) => print_status(format_args!(
            "{returned} came back from {accounts} accounts"
        )),
        left => print_status(format_args!(
            "{returned} came back from {accounts} accounts, {} stayed there",
            coin.cost(left)
        )),
    }
    for failure in &failures {
        print_status(format_args!(
            "not taken back: {failure}; the next conform --live tries again"
        ));
    }
    if failures.is_empty() {
        Record::remove(&place.record())
    } else {
        Err(LiveFault::NotGivenBack)
    }
}

/// Both the budget and what the funder has allow what the run can cost.
fn require_funds(funder: &dyn Funder, funding: &Funding, limit: Amount) -> Result<(), LiveFault> {
    let coin = funder.coin();
    let needed = coin.cost(funding.total).to_string();
    if funding.total > limit {
        return Err(LiveFault::BudgetTooLow {
            needed,
            limit: coin.balance(limit).to_string(),
        });
    }
    let balance = funder.balance()?;
    if funding.total > balance {
        return Err(LiveFault::FunderTooPoor {
            funder: funder.address(),
            balance: coin.balance(balance).to_string(),
            needed,
        });
    }
    Ok(())
}

/// From coins, such as `0.05`.
fn budget(text: &str, coin: Coin) -> Result<Amount, LiveFault> {
    let decimals = text
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    let fits = usize::try_from(coin.decimals).is_ok_and(|most| decimals <= most);
    let unit = u8::try_from(coin.decimals).unwrap_or(u8::MAX);
    match parse_units(text, unit) {
        Ok(ParseUnits::U256(units)) if fits => Ok(Amount(units.saturating_to())),
        _ => Err(LiveFault::BudgetMalformed {
            value: text.to_owned(),
            coin: coin.symbol,
            decimals: coin.decimals,
        }),
    }
}

/// Those that are meant, of those that are flagged.
fn live_scenarios(options: &Conform, on: Chain) -> Result<Vec<Scenario>, CliError> {
    let mut scenarios = load_scenarios(options)?;
    let is_live = |scenario: &Scenario| {
        scenario.flags.contains(&Flag::Live) && scenario.chains().any(|chain| chain == on)
    };
    if let Some(other) = scenarios.iter().find(|it| !is_live(it))
        && !options.scenario.is_empty()
    {
        return Err(CliError::Live(LiveFault::NotLive(other.name.clone())));
    }
    scenarios.retain(is_live);
    if scenarios.is_empty() {
        Err(CliError::NothingLeft(wanted(options)))
    } else {
        Ok(scenarios)
    }
}
