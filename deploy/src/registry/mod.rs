//! `concord registry`: the registry's authority, payment tokens and facilitators, shown and changed.
//!
//! A change is one transaction. It is on disk before it is sent, in a record that is removed when the
//! change is final and in the address book; an interrupted command continues it.
mod account;
mod change;
pub mod options;

use crate::{
    Action, AddressBook, DONE, DeployError, Needs, Plan, RegistrySettings, Step, UnsignedTx,
    commands::{confirm, print_plan, require_testnet},
    options::Place,
    report,
    svm::{
        command_line::{priority_fee, public_key, read_private},
        planning::{PROGRAM_TITLE, REGISTRY_TITLE, raw},
        registry_settings::rows,
        step_kind::REGISTRY_CHANGE_UNITS,
    },
    target_request::{Folders, endpoint},
};
use account::{ChangeJob, RegistryAccount, RegistryChain};
use change::Change;
use concord_canonical::caip::SOLANA;
use concord_chain::{
    Amount, Blocking, ChainError, Coin,
    submission::{FileRecord, Timing, TxRecord, submit},
    svm::{BuiltProgram, Cluster, compute_budget, fee, unsigned},
};
use concord_registry::svm::{Program, accounts::Registry};
use options::{ChangeOptions, Command};
use serde_json::json;
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::{path::PathBuf, time::Duration};

/// `concord registry`: the exit code.
#[must_use]
pub fn run(command: &Command) -> u8 {
    let done = Blocking::new().map_err(DeployError::from);
    let done = done.and_then(|blocking| match command {
        Command::Show(place) => blocking.wait(show(place)),
        other => {
            let (change, options) = parse(other)?;
            blocking.wait(apply(change, options))
        }
    });
    done.unwrap_or_else(|error| {
        report::print_status(format_args!("concord: {error}"));
        error.exit_code()
    })
}

fn parse(command: &Command) -> Result<(Change, &ChangeOptions), DeployError> {
    Ok(match command {
        Command::Propose { key, options } => {
            let key = match &**key {
                "none" => None,
                key => Some(successor(key)?),
            };
            (Change::Propose(key), options)
        }
        Command::Accept { options } => (Change::Accept, options),
        Command::AddToken { key, options } => {
            (Change::AddToken(argument("add-token", key)?), options)
        }
        Command::RemoveToken { key, options } => {
            (Change::RemoveToken(argument("remove-token", key)?), options)
        }
        Command::AddFacilitator { key, options } => {
            let key = argument("add-facilitator", key)?;
            (Change::AddFacilitator(key), options)
        }
        Command::RemoveFacilitator { key, options } => {
            let key = argument("remove-facilitator", key)?;
            (Change::RemoveFacilitator(key), options)
        }
        Command::Show(_) => unreachable!("it changes nothing"),
    })
}

fn argument(command: &'static str, text: &str) -> Result<Address, DeployError> {
    public_key(command, text).map_err(|_| DeployError::Argument {
        command,
        value: text.to_owned(),
        reason: "not a public key of 32 bytes in base58".to_owned(),
    })
}

/// The program takes the default key for none.
fn successor(text: &str) -> Result<Address, DeployError> {
    let key = argument("propose", text)?;
    if key == Address::default() {
        Err(DeployError::Argument {
            command: "propose",
            value: text.to_owned(),
            reason: "the default key has no owner: say none to withdraw a proposal".to_owned(),
        })
    } else {
        Ok(key)
    }
}

/// # Errors
/// [`DeployError::NoRegistrySettings`] on chains whose registries have none.
async fn account(place: &Place, folders: &Folders) -> Result<RegistryAccount, DeployError> {
    match place.chain.namespace() {
        SOLANA => {}
        _ => return Err(DeployError::NoRegistrySettings(place.chain.to_string())),
    }
    let cluster = Cluster::new(&endpoint(place)?)?;
    cluster.require_chain(&place.chain).await?;
    Ok(RegistryAccount {
        cluster,
        program: Program::new(program_id(place, folders)?),
    })
}

/// The named file's program, else the one on record, else the built one.
fn program_id(place: &Place, folders: &Folders) -> Result<Address, DeployError> {
    let book = AddressBook::load(&folders.deployments)?;
    let deployment = book.deployment(&place.chain);
    let record = deployment.and_then(|it| it.contracts.get(PROGRAM_TITLE));
    match record.filter(|_| place.program.is_none()) {
        Some(record) => Ok(public_key("program", &record.address)?),
        None => Ok(BuiltProgram::read(folders.program()?)?.id),
    }
}

async fn show(place: &Place) -> Result<u8, DeployError> {
    let folders = Folders::of(place)?;
    let account = account(place, &folders).await?;
    let settings = RegistrySettings::from(account.read(&place.chain).await?);
    let (program, registry) = (account.program.id(), account.program.registry());
    if place.json {
        let mut shown = json!(settings);
        shown["chain"] = json!(place.chain);
        shown["program"] = json!(program.to_string());
        shown["registry"] = json!(registry.to_string());
        report::print(&format!("{shown:#}\n"))?;
        return Ok(DONE);
    }
    let first = [("program", program), ("registry account", registry)];
    let first = first.map(|(name, address)| vec![name.to_owned(), address.to_string()]);
    let rows: Vec<Vec<String>> = first.into_iter().chain(rows(&settings)).collect();
    report::print(&report::table(&["what", "found"], &rows))?;
    Ok(DONE)
}

/// Where an unfinished change is on record.
fn record_path(place: &Place, folders: &Folders) -> PathBuf {
    let name = format!("registry-{}.json", place.chain.file_stem());
    folders.deployments.join("runs").join(name)
}

async fn apply(change: Change, options: &ChangeOptions) -> Result<u8, DeployError> {
    let place = &options.place;
    let folders = Folders::of(place)?;
    let account = account(place, &folders).await?;
    let registry = account.read(&place.chain).await?;
    if options.unsigned {
        return print_unsigned(change, options, &account, &registry).await;
    }
    require_testnet(&place.chain, options.allow_mainnet)?;
    let keypair = options.keypair.as_deref();
    let signer = read_private(keypair.ok_or(DeployError::KeypairMissing { or_from: "" })?)?;
    let path = record_path(place, &folders);
    let record = FileRecord::open(&path)?;
    let id = change.id();
    if let Some(other) = record.jobs().find(|job| *job != id) {
        let found = other.to_owned();
        return Err(DeployError::ChangeUnfinished { path, found });
    }
    let is_begun = record.jobs().next().is_some();
    let is_done = change.is_done(&registry, &signer.pubkey());
    // Another key than the authority's is to accept now.
    let is_for_another = change == Change::Accept && change.authority(&registry).is_some();
    if is_done && !is_begun && !is_for_another {
        enter(&folders, place, &account, registry)?;
        report::print_status(format_args!("{id}: the registry has it: nothing was sent"));
        return Ok(DONE);
    }
    if !is_begun || !is_done {
        require_authority(change, &account, &registry, &signer.pubkey())?;
        change.require_useful(&account.cluster, &registry).await?;
    }
    carry_out(change, options, &folders, account, signer, record).await
}

/// # Errors
/// [`DeployError::NoAuthorityProposed`], [`DeployError::NotRegistryAuthority`].
fn require_authority(
    change: Change,
    account: &RegistryAccount,
    registry: &Registry,
    key: &Address,
) -> Result<(), DeployError> {
    let address = account.program.registry().to_string();
    let authority = change.authority(registry);
    let authority = authority.ok_or_else(|| DeployError::NoAuthorityProposed(address.clone()))?;
    match (authority == *key, change) {
        (true, _) => Ok(()),
        (false, Change::Accept) => Err(DeployError::NotProposed {
            registry: address,
            found: authority.to_string(),
            key: key.to_string(),
        }),
        (false, _) => Err(DeployError::NotRegistryAuthority {
            registry: address,
            found: authority.to_string(),
            key: key.to_string(),
        }),
    }
}

/// The change as a plan of one step.
async fn plan(
    change: Change,
    options: &ChangeOptions,
    account: &RegistryAccount,
    signer: &Address,
) -> Result<Plan, DeployError> {
    let instruction = change.instruction(&account.program, *signer);
    let budget = compute_budget(REGISTRY_CHANGE_UNITS, options.priority_fee);
    simulate(
        &change.id(),
        account,
        &[budget, vec![instruction.clone()]].concat(),
        signer,
    )
    .await?;
    let chain = &options.place.chain;
    let address = account.program.registry().to_string();
    let needs = Needs::Compute {
        units: REGISTRY_CHANGE_UNITS.into(),
        rent: Amount::default(),
    };
    let price = priority_fee(options.priority_fee, options.max_priority_fee)?;
    let cost = fee(1, REGISTRY_CHANGE_UNITS, price.most);
    let instructions = vec![raw(&instruction)];
    let step = Step::existing(&change.id(), chain, REGISTRY_TITLE, address).sending(
        Action::Change,
        needs,
        Amount(cost.into()),
        UnsignedTx::Instructions { instructions },
    );
    let balance = Amount(account.cluster.balance(signer).await?.into());
    let signer = signer.to_string();
    Ok(Plan::new(
        chain.clone(),
        signer,
        Coin::SOL,
        balance,
        vec![step],
    ))
}

/// Lets the cluster try it, if its signer has anything to pay with.
async fn simulate(
    title: &str,
    account: &RegistryAccount,
    instructions: &[solana_instruction::Instruction],
    signer: &Address,
) -> Result<(), DeployError> {
    if account.cluster.balance(signer).await? == 0 {
        return Ok(());
    }
    let simulation = account
        .cluster
        .simulate(&unsigned(instructions, signer))
        .await?;
    if simulation.err.is_null() {
        Ok(())
    } else {
        Err(ChainError::SimulationFailed {
            title: title.to_owned(),
            reason: simulation.err.to_string(),
        }
        .into())
    }
}

/// The plan, for the holder of the authority's key.
async fn print_unsigned(
    change: Change,
    options: &ChangeOptions,
    account: &RegistryAccount,
    registry: &Registry,
) -> Result<u8, DeployError> {
    let address = || account.program.registry().to_string();
    let signer = change.authority(registry);
    let signer = signer.ok_or_else(|| DeployError::NoAuthorityProposed(address()))?;
    if !change.is_done(registry, &signer) {
        change.require_useful(&account.cluster, registry).await?;
    }
    let plan = plan(change, options, account, &signer).await?;
    print_plan(&plan, options.place.json)?;
    if !options.place.json {
        let transaction = plan.steps.iter().map(|step| json!(step.unsigned));
        transaction
            .into_iter()
            .try_for_each(|it| report::print(&format!("\n{it:#}\n")))?;
    }
    Ok(DONE)
}

async fn carry_out(
    change: Change,
    options: &ChangeOptions,
    folders: &Folders,
    account: RegistryAccount,
    signer: Keypair,
    mut record: FileRecord,
) -> Result<u8, DeployError> {
    let place = &options.place;
    let job = ChangeJob {
        id: change.id(),
        change,
    };
    let fees = priority_fee(options.priority_fee, options.max_priority_fee)?;
    let key = signer.pubkey();
    let mut chain = RegistryChain::new(account.clone(), place.chain.clone(), signer, fees);
    for recorded in record.transactions(&job.id) {
        chain.require_own(&job, recorded)?;
    }
    if record.transactions(&job.id).is_empty() {
        let plan = plan(change, options, &account, &key).await?;
        if !place.json {
            print_plan(&plan, false)?;
        }
        plan.require_funds()?;
        confirm(&place.chain, 1, options.yes)?;
    }
    let timing = Timing {
        poll: Duration::from_millis(options.poll),
        replace_after: Duration::from_secs(options.give_up_after),
        give_up_after: Duration::from_secs(options.give_up_after),
    };
    let mut progress =
        |job: &ChangeJob, words: &str| report::print_status(format_args!("{}: {words}", job.id));
    let jobs = [job];
    let sent = submit(&mut chain, &[&jobs[..]], &mut record, timing, &mut progress).await;
    let interrupted = |error| DeployError::ChangeStopped(Box::new(error));
    sent.map_err(interrupted)?;
    let registry = account.read(&place.chain).await.map_err(interrupted)?;
    // The change is on chain, so an error from here on does not mean that it was refused.
    enter(folders, place, &account, registry).map_err(interrupted)?;
    let shown = result(place, &jobs[0].id, &key, &record);
    record.remove().map_err(|it| interrupted(it.into()))?;
    report::print(&shown).map_err(|it| DeployError::Unshown(Box::new(it)))?;
    Ok(DONE)
}

/// What is printed in the end.
fn result(place: &Place, id: &str, signer: &Address, record: &FileRecord) -> String {
    let landing = record.landing(id);
    if place.json {
        let result = json!({
            "chain": place.chain,
            "change": id,
            "signer": signer.to_string(),
            "attempts": record.transactions(id).len(),
            "landing": landing,
        });
        return format!("{result:#}\n");
    }
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let row = vec![
        id.to_owned(),
        or_dash(landing.map(|it| it.transaction.clone())),
        or_dash(landing.map(|it| it.block.to_string())),
        or_dash(landing.map(|it| Coin::SOL.cost(it.cost).to_string())),
    ];
    let table = report::table(&["change", "transaction", "slot", "cost"], &[row]);
    format!("\n{table}")
}

/// Into the address book, if the program is the one on record.
fn enter(
    folders: &Folders,
    place: &Place,
    account: &RegistryAccount,
    registry: Registry,
) -> Result<(), DeployError> {
    let program = account.program.id().to_string();
    let is_entered = AddressBook::enter_registry(
        &folders.deployments,
        &place.chain,
        &program,
        registry.into(),
    )?;
    if !is_entered {
        report::print_status(format_args!(
            "the address book has no program {program} on {}: nothing was entered",
            place.chain
        ));
    }
    Ok(())
}
