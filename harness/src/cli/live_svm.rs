//! `concord conform --live` on Solana.
use super::{
    arguments::Conform,
    conform::{judge, write_reports},
    files::{PROGRAM, built},
    live::{Place, budget, live_scenarios},
    provenance,
    stop::Stop,
};
use crate::{
    backend::svm::{SvmLitesvm, SvmLive, program, registry},
    live::{
        LiveFault, Record,
        svm::{Purse, Swept, rehearse},
    },
    model::{Actor, Chain},
    scenario::Scenario,
};
use alloy::primitives::B256;
use concord_deploy::{
    AddressBook, Amount, Coin, Deployment, Fault, commands,
    keys::read_keypair,
    network, run_file,
    svm::{cluster::Cluster, require_chain, transport::Http},
};
use solana_keypair::Keypair;
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

/// The program's name in the address book.
pub(super) const CONTRACT: &str = "AgentRegistry";
/// SOL.
const BUDGET: &str = "1";

/// As `conform_live`, on a Solana cluster.
pub(super) fn conform_live_svm(options: &Conform, place: &Place) -> Result<u8, Stop> {
    let scenarios = live_scenarios(options, Chain::Svm)?;
    let run = LiveRun::prepare(options, place)?;
    let gifts = run.afford(options, &scenarios)?;
    let _lock = run_file::lock(&run.record, &place.chain).map_err(LiveFault::from)?;
    run.take_back_leftovers(place)?;
    let record = Record {
        chain: place.chain.clone(),
        funder: run.purse.funder().to_string(),
        nonce: B256::random(),
        actors: gifts.keys().cloned().collect(),
    };
    record.store(&run.record)?;
    let played = run
        .purse
        .fund(&record, &gifts)
        .map_err(Stop::from)
        .and_then(|()| {
            let backend = SvmLive::funded(
                connect(place, options.live.timeout)?,
                &place.chain,
                run.purse.funder(),
                run.purse.secret(&record),
                Duration::from_secs(options.live.give_up_after),
            );
            judge(&scenarios, vec![Box::new(backend)])
        });
    run.give_up(&record)?;
    write_reports(
        options,
        &played?,
        provenance::of_deployment(&place.chain, &run.deployment),
    )
}

fn connect(place: &Place, timeout: u64) -> Result<Cluster, LiveFault> {
    let transport = Http::new(&place.rpc_url, Duration::from_secs(timeout))?;
    Ok(Cluster::new(transport))
}

/// What a run needs beside its scenarios.
struct LiveRun {
    deployment: Deployment,
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
        let key = funder_key(options)?;
        let cluster = connect(place, options.live.timeout)?;
        require_chain(&cluster, &place.chain)?;
        require_program(&cluster, &deployment)?;
        let patience = Duration::from_secs(options.live.give_up_after);
        let purse = Purse::new(cluster, key, place.chain.clone(), patience);
        let record = Record::path(&place.deployments, &place.chain);
        Record::unfinished(&record, &place.chain, &purse.funder().to_string())?;
        Ok(Self {
            deployment,
            purse,
            record,
        })
    }

    /// What each actor will get, once the budget, the funder's balance and the person allow it.
    fn afford(
        &self,
        options: &Conform,
        scenarios: &[Scenario],
    ) -> Result<BTreeMap<Actor, u64>, Stop> {
        let limit = budget(options.live.budget.as_deref().unwrap_or(BUDGET), Coin::SOL)?;
        let needs = rehearse(scenarios, &mut SvmLitesvm::start(&built(None, PROGRAM))?)?;
        let (gifts, total) = Purse::estimate(&needs);
        let balance = self.purse.balance()?;
        let funder = self.purse.funder().to_string();
        super::live::require(Coin::SOL, total, limit, balance, &funder)?;
        let steps: u64 = needs.values().map(|it| it.transactions).sum();
        let transactions = usize::try_from(steps).unwrap_or(usize::MAX) + 2 * gifts.len();
        let chain = self.purse.chain();
        eprintln!(
            "{} scenarios on {chain} ({}): at most {} from {funder}; what is left comes back",
            scenarios.len(),
            network::name_of(chain),
            Coin::SOL.cost(total),
        );
        commands::confirm(chain, transactions, options.live.yes).map_err(LiveFault::from)?;
        Ok(gifts)
    }

    /// A run that was killed left its record, and its actors what they had.
    fn take_back_leftovers(&self, place: &Place) -> Result<(), LiveFault> {
        let funder = self.purse.funder().to_string();
        match Record::unfinished(&self.record, &place.chain, &funder)? {
            Some(record) => {
                eprintln!("an earlier run did not end: its actors give back what is left");
                self.give_up(&record)
            }
            None => Ok(()),
        }
    }

    /// Takes back what is left. What could not be taken stays on record for the next run.
    fn give_up(&self, record: &Record) -> Result<(), LiveFault> {
        let Swept { returned, failures } = self.purse.sweep(record);
        eprintln!(
            "{} came back from {} accounts",
            Coin::SOL.balance(Amount(returned.into())),
            record.actors.len(),
        );
        for failure in &failures {
            eprintln!("not taken back: {failure}; the next conform --live tries again");
        }
        match failures.is_empty() {
            true => Record::remove(&self.record),
            false => Ok(()),
        }
    }
}

fn funder_key(options: &Conform) -> Result<Keypair, Fault> {
    let file = options.live.keypair.as_deref();
    read_keypair(file.ok_or(Fault::KeypairMissing { or_from: "" })?)
}

/// The program that this build speaks to is the one on record, and stands with its registry.
fn require_program(cluster: &Cluster, deployment: &Deployment) -> Result<(), LiveFault> {
    let record = deployment.contracts.get(CONTRACT);
    let address = record.map(|it| it.address.clone()).unwrap_or_default();
    if address != program().to_string() {
        return Err(LiveFault::AnotherProgram {
            recorded: address,
            built: program().to_string(),
        });
    }
    let found = cluster.accounts(&[program(), registry()])?;
    let stands = match found.as_slice() {
        [Some(code), Some(registry)] => code.executable && registry.owner == program(),
        _ => false,
    };
    match stands {
        true => Ok(()),
        false => Err(LiveFault::NoCode {
            contract: CONTRACT.to_owned(),
            address,
        }),
    }
}
