//! The five commands. Stdout carries the result, stderr the progress and the errors.
use crate::{
    AddressBook, ChainId, DIFFERS, DONE, Deployment, Fault, Patience, Plan, RunFile, Step, Target,
    carry_out,
    evm::{Deployer, EvmOptions, EvmTarget, contracts::Choices},
    keys::EvmKeySource,
    network,
    options::{self, Command, Deploy, Key, Place, Sending},
    report,
};
use alloy::primitives::Address;
use concord_canonical::caip::EIP155;
use serde_json::json;
use std::{
    env,
    io::{self, BufRead, IsTerminal, Write},
    path::PathBuf,
    time::Duration,
};

const SOURCES: &str = "contracts/src";
const ARTIFACTS: &str = "contracts/out";
const DEPLOYMENTS: &str = "deployments";
const POLL: Duration = Duration::from_millis(400);

/// `concord deploy`: the exit code.
#[must_use]
pub fn run(deploy: &Deploy) -> u8 {
    let done = match &deploy.command {
        Command::Plan(options) => plan(options),
        Command::Apply(options) => apply(options),
        Command::Resume(options) => resume(options),
        Command::Verify(place) => verify(place),
        Command::Status(place) => status(place),
    };
    done.unwrap_or_else(|fault| {
        eprintln!("concord: {fault}");
        fault.exit_code()
    })
}

/// Where everything is, with the defaults filled in.
struct Folders {
    root: PathBuf,
    artifacts: PathBuf,
    deployments: PathBuf,
}

impl Folders {
    fn of(place: &Place) -> Result<Self, Fault> {
        let here = env::current_dir()?;
        let root = here
            .ancestors()
            .find(|folder| folder.join(SOURCES).is_dir())
            .ok_or(Fault::NoClone)?;
        let named = |folder: &Option<PathBuf>, default| {
            folder.clone().unwrap_or_else(|| root.join(default))
        };
        Ok(Self {
            artifacts: named(&place.artifacts, ARTIFACTS),
            deployments: named(&place.deployments, DEPLOYMENTS),
            root: root.to_owned(),
        })
    }

    fn explorer(&self, chain: &ChainId) -> PathBuf {
        self.deployments.join("explorer").join(chain.file_stem())
    }
}

/// Everything about a target that is not a default.
struct Wanted<'a> {
    place: &'a Place,
    folders: &'a Folders,
    deployer: Deployer,
    choices: Choices,
    max_fee: Option<String>,
    confirmations: u64,
}

impl Wanted<'_> {
    fn target(self, book: &AddressBook) -> Result<EvmTarget, Fault> {
        let Place { chain, rpc_url, .. } = self.place;
        EvmTarget::new(
            EvmOptions {
                chain: chain.clone(),
                rpc_url: rpc_url.clone().ok_or(Fault::RpcUrlMissing)?,
                timeout: Duration::from_secs(self.place.timeout),
                deployer: self.deployer,
                choices: self.choices,
                root: self.folders.root.clone(),
                artifacts: self.folders.artifacts.clone(),
                max_fee: self.max_fee,
                confirmations: self.confirmations,
            },
            book,
        )
    }
}

fn require_evm(chain: &ChainId) -> Result<(), Fault> {
    match chain.namespace() == EIP155 {
        true => Ok(()),
        false => Err(Fault::NamespaceUnknown(chain.to_string())),
    }
}

fn choices(choices: &options::Choices) -> Choices {
    Choices {
        salt: choices.salt.clone(),
        accepts_draft_v1: choices.accepts_draft_v1,
    }
}

fn plan(options: &options::PlanOptions) -> Result<u8, Fault> {
    let place = &options.place;
    require_evm(&place.chain)?;
    let folders = Folders::of(place)?;
    let book = AddressBook::load(&folders.deployments)?;
    let wanted = Wanted {
        place,
        folders: &folders,
        deployer: planning_deployer(&options.key, options.from.as_deref())?,
        choices: choices(&options.choices),
        max_fee: options.fees.max_fee.clone(),
        confirmations: 1,
    };
    let plan = wanted.target(&book)?.plan()?;
    print_plan(&plan, place.json)?;
    plan.require_funds()?;
    Ok(DONE)
}

/// A plan needs no more than an address; where both are given, they must agree.
fn planning_deployer(key: &Key, from: Option<&str>) -> Result<Deployer, Fault> {
    let Some(from) = from else {
        return Ok(Deployer::Key(open(
            key,
            ", or --from with the deployer's address",
        )?));
    };
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
    Ok(Deployer::Address(named))
}

fn open(
    key: &Key,
    or_from: &'static str,
) -> Result<alloy::signers::local::PrivateKeySigner, Fault> {
    let source = EvmKeySource {
        keystore: key.keystore.clone(),
        password_file: key.password_file.clone(),
    };
    source.open()?.ok_or(Fault::KeyMissing { or_from })
}

fn print_plan(plan: &Plan, json: bool) -> Result<(), Fault> {
    match json {
        true => report::print(&format!("{:#}\n", json!(plan))),
        false => report::print(&report::plan(plan)),
    }
}

fn apply(options: &options::ApplyOptions) -> Result<u8, Fault> {
    let place = &options.place;
    require_evm(&place.chain)?;
    require_testnet(&place.chain, &options.sending)?;
    let folders = Folders::of(place)?;
    let book = AddressBook::load(&folders.deployments)?;
    RunFile::require_none(&folders.deployments, &place.chain)?;
    let mut target = Wanted {
        place,
        folders: &folders,
        deployer: Deployer::Key(open(&options.key, "")?),
        choices: choices(&options.choices),
        max_fee: options.fees.max_fee.clone(),
        confirmations: options.sending.confirmations,
    }
    .target(&book)?;
    let plan = target.plan()?;
    if plan.is_done() {
        return nothing_to_send(&mut target, &plan, &folders, place.json);
    }
    if !place.json {
        print_plan(&plan, false)?;
    }
    plan.require_funds()?;
    let mut run = RunFile::start(&folders.deployments, &plan, target.settings(), || {
        confirm(&plan, options.sending.yes)
    })?;
    finish(
        &mut target,
        &plan,
        &mut run,
        &folders,
        &options.sending,
        place.json,
    )
}

/// Everything stands. The address book may not know it yet.
fn nothing_to_send(
    target: &mut dyn Target,
    plan: &Plan,
    folders: &Folders,
    json: bool,
) -> Result<u8, Fault> {
    let deployment = target.deployment(&Default::default())?;
    AddressBook::enter(&folders.deployments, target.chain(), deployment)?;
    print_plan(plan, json)?;
    eprintln!("everything stands already: nothing was sent");
    Ok(DONE)
}

fn resume(options: &options::ResumeOptions) -> Result<u8, Fault> {
    let place = &options.place;
    require_evm(&place.chain)?;
    require_testnet(&place.chain, &options.sending)?;
    let folders = Folders::of(place)?;
    let book = AddressBook::load(&folders.deployments)?;
    let mut run = RunFile::resume(&folders.deployments, &place.chain)?;
    let choices = Choices::recorded(run.settings()).ok_or_else(|| Fault::File {
        path: RunFile::path(&folders.deployments, &place.chain),
        reason: "settings have no salt and acceptsDraftV1".to_owned(),
    })?;
    let mut target = Wanted {
        place,
        folders: &folders,
        deployer: Deployer::Key(open(&options.key, "")?),
        choices,
        max_fee: options.fees.max_fee.clone(),
        confirmations: options.sending.confirmations,
    }
    .target(&book)?;
    let plan = target.plan()?;
    run.require_same(&plan)?;
    if !place.json {
        print_plan(&plan, false)?;
    }
    plan.require_funds()?;
    confirm(&plan, options.sending.yes)?;
    finish(
        &mut target,
        &plan,
        &mut run,
        &folders,
        &options.sending,
        place.json,
    )
}

fn require_testnet(chain: &ChainId, sending: &Sending) -> Result<(), Fault> {
    match sending.allow_mainnet || network::testnet(chain).is_some() {
        true => Ok(()),
        false => Err(Fault::NotATestnet(chain.to_string())),
    }
}

fn confirm(plan: &Plan, yes: bool) -> Result<(), Fault> {
    if yes {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        return Err(Fault::NobodyToAsk);
    }
    eprint!(
        "Send up to {} transactions to {} ({})? [y/N] ",
        plan.sending().count(),
        plan.chain,
        network::name_of(&plan.chain),
    );
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Fault::Declined),
    }
}

/// Sends what is left, waits, and writes down what stands.
fn finish(
    target: &mut dyn Target,
    plan: &Plan,
    run: &mut RunFile,
    folders: &Folders,
    sending: &Sending,
    json: bool,
) -> Result<u8, Fault> {
    let patience = Patience {
        poll: POLL,
        outbid_after: Duration::from_secs(sending.bump_after),
        give_up_after: Duration::from_secs(sending.give_up_after),
    };
    let mut progress = |step: &Step, words: &str| eprintln!("{}: {words}", step.id);
    carry_out(target, plan, run, patience, &mut progress)
        .map_err(|fault| Fault::Stopped(Box::new(fault)))?;
    let deployment = target.deployment(&run.landings())?;
    AddressBook::enter(&folders.deployments, target.chain(), deployment)?;
    let explorer = folders.explorer(target.chain());
    let commands = target.publish(&explorer)?;
    run.finish()?;
    if json {
        let mut result = report::run_json(plan, run);
        result["explorerCommands"] = json!(commands);
        report::print(&format!("{result:#}\n"))?;
        return Ok(DONE);
    }
    report::print(&format!("\n{}", report::run(plan, run)))?;
    report::print(&format!(
        "\naddresses are in {}\nan explorer shows the sources after\n",
        AddressBook::path(&folders.deployments).display()
    ))?;
    for command in commands {
        report::print(&format!("  {command}\n"))?;
    }
    Ok(DONE)
}

/// The deployment on record, and the target with its choices.
fn of_record(place: &Place) -> Result<(EvmTarget, Option<Deployment>), Fault> {
    require_evm(&place.chain)?;
    let folders = Folders::of(place)?;
    let book = AddressBook::load(&folders.deployments)?;
    let recorded = book.deployment(&place.chain).cloned();
    let of_record = recorded
        .as_ref()
        .and_then(|book| Choices::recorded(&book.settings));
    let target = Wanted {
        place,
        folders: &folders,
        deployer: Deployer::Nobody,
        choices: of_record.unwrap_or_default(),
        max_fee: None,
        confirmations: 1,
    }
    .target(&book)?;
    Ok((target, recorded))
}

fn verify(place: &Place) -> Result<u8, Fault> {
    let (mut target, recorded) = of_record(place)?;
    let recorded = recorded.ok_or_else(|| Fault::NotOnRecord(place.chain.to_string()))?;
    let checks = target.verify(&recorded)?;
    match place.json {
        true => report::print(&format!("{:#}\n", json!(checks)))?,
        false => report::print(&report::checks(&checks))?,
    }
    Ok(exit_code(checks.iter().all(|check| check.holds())))
}

fn status(place: &Place) -> Result<u8, Fault> {
    let (mut target, recorded) = of_record(place)?;
    let standings = target.status(recorded.as_ref())?;
    match place.json {
        true => report::print(&format!("{:#}\n", json!(standings)))?,
        false => report::print(&report::standings(&standings))?,
    }
    Ok(exit_code(standings.iter().all(|one| one.drift.is_none())))
}

const fn exit_code(holds: bool) -> u8 {
    if holds { DONE } else { DIFFERS }
}
