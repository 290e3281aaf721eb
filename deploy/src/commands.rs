//! The five commands. Stdout carries the result, stderr the progress and the errors.
use crate::{
    AddressBook, Check, DIFFERS, DONE, DeployError, Deployment, Plan, RunFile, Step, Target,
    options::{self, Command, Place, Sending},
    report,
    target_request::{ChoiceSource, DeployerSource, Folders, TargetRequest},
};
use concord_chain::{
    Blocking, ChainId,
    evm::Confirmations,
    network,
    submission::{Timing, submit},
};
use serde_json::json;
use std::{
    fmt,
    io::{self, BufRead, IsTerminal, Write},
    time::Duration,
};

/// What `verify` checks on a deployment beside code and wiring.
pub type Examination<'a> = dyn Fn(&Place, &Deployment) -> Result<Vec<Check>, DeployError> + 'a;

/// `concord deploy`: the exit code.
#[must_use]
pub fn run(command: &Command) -> u8 {
    run_with(command, &|_, _| Ok(Vec::new()))
}

/// As [`run`], with an examination that only `verify` makes, after its own checks.
#[must_use]
pub fn run_with(command: &Command, examination: &Examination<'_>) -> u8 {
    let done = Blocking::new().map_err(DeployError::from);
    let done = done.and_then(|blocking| match command {
        Command::Plan(options) => blocking.wait(plan(options)),
        Command::Apply(options) => blocking.wait(apply(options)),
        Command::Resume(options) => blocking.wait(resume(options)),
        Command::Verify(place) => verify(&blocking, place, examination),
        Command::VerifySource(place) => blocking.wait(verify_source(place)),
        Command::Status(place) => blocking.wait(status(place)),
    });
    done.unwrap_or_else(|error| {
        report::print_status(format_args!("concord: {error}"));
        error.exit_code()
    })
}

async fn plan(options: &options::PlanOptions) -> Result<u8, DeployError> {
    let place = &options.place;
    let folders = Folders::of(place)?;
    let book = AddressBook::load(&folders.deployments)?;
    let request = TargetRequest {
        place,
        folders: &folders,
        deployer: DeployerSource::Planning {
            key: &options.key,
            from: options.from.as_deref(),
        },
        choices: ChoiceSource::Given(&options.choices),
        fees: Some(&options.fees),
        confirmations: Confirmations::Blocks(1),
    };
    let plan = request.target(&book).await?.plan().await?;
    print_plan(&plan, place.json)?;
    plan.require_funds()?;
    Ok(DONE)
}

pub(crate) fn print_plan(plan: &Plan, json: bool) -> Result<(), DeployError> {
    if json {
        report::print(&format!("{:#}\n", json!(plan)))
    } else {
        report::print(&report::plan(plan))
    }
}

async fn apply(options: &options::ApplyOptions) -> Result<u8, DeployError> {
    let place = &options.place;
    require_testnet(&place.chain, options.sending.allow_mainnet)?;
    let folders = Folders::of(place)?;
    let book = AddressBook::load(&folders.deployments)?;
    RunFile::require_none(&folders.deployments, &place.chain)?;
    let mut target = TargetRequest {
        place,
        folders: &folders,
        deployer: DeployerSource::Sending(&options.key),
        choices: ChoiceSource::Given(&options.choices),
        fees: Some(&options.fees),
        confirmations: options.sending.confirmations,
    }
    .target(&book)
    .await?;
    let plan = target.plan().await?;
    target.require_keys(&plan)?;
    if plan.is_done() {
        return nothing_to_send(&mut *target, &plan, &folders, place.json).await;
    }
    if !place.json {
        print_plan(&plan, false)?;
    }
    plan.require_funds()?;
    let mut run = RunFile::start(&folders.deployments, &plan, &*target, || {
        confirm_sending(&*target, &plan, &options.sending)
    })?;
    finish(
        &mut *target,
        &plan,
        &mut run,
        &folders,
        &options.sending,
        place.json,
    )
    .await
}

/// Everything is deployed. The address book may not know it yet.
async fn nothing_to_send(
    target: &mut dyn Target,
    plan: &Plan,
    folders: &Folders,
    json: bool,
) -> Result<u8, DeployError> {
    let deployment = target.deployment(&Default::default()).await?;
    AddressBook::enter(&folders.deployments, target.chain(), deployment)?;
    print_plan(plan, json)?;
    match plan.for_others().next() {
        None => report::print_status("everything is deployed already: nothing was sent"),
        Some(_) => print_for_others(plan, json)?,
    }
    Ok(DONE)
}

/// What only another key can send. JSON has it in the plan.
fn print_for_others(plan: &Plan, json: bool) -> Result<(), DeployError> {
    for step in plan.for_others().filter(|_| !json) {
        let transaction = json!(step.unsigned);
        report::print(&format!(
            "\n{}: nothing was sent for it; the upgrade authority sends this transaction\n{transaction:#}\n",
            step.id
        ))?;
    }
    Ok(())
}

async fn resume(options: &options::ResumeOptions) -> Result<u8, DeployError> {
    let place = &options.place;
    require_testnet(&place.chain, options.sending.allow_mainnet)?;
    let folders = Folders::of(place)?;
    let book = AddressBook::load(&folders.deployments)?;
    let mut run = RunFile::resume(&folders.deployments, &place.chain)?;
    let mut target = TargetRequest {
        place,
        folders: &folders,
        deployer: DeployerSource::Sending(&options.key),
        choices: ChoiceSource::OfRun(run.settings()),
        fees: Some(&options.fees),
        confirmations: options.sending.confirmations,
    }
    .target(&book)
    .await?;
    let plan = target.plan().await?;
    run.require_same(&plan, &mut *target).await?;
    target.require_keys(&plan)?;
    if !place.json {
        print_plan(&plan, false)?;
    }
    plan.require_funds()?;
    confirm_sending(&*target, &plan, &options.sending)?;
    finish(
        &mut *target,
        &plan,
        &mut run,
        &folders,
        &options.sending,
        place.json,
    )
    .await
}

/// # Errors
/// [`DeployError::NotATestnet`] for a chain that is not listed, unless it is allowed.
pub fn require_testnet(chain: &ChainId, allow_mainnet: bool) -> Result<(), DeployError> {
    if allow_mainnet || network::testnet(chain).is_some() {
        Ok(())
    } else {
        Err(DeployError::NotATestnet(chain.to_string()))
    }
}

fn confirm_sending(target: &dyn Target, plan: &Plan, sending: &Sending) -> Result<(), DeployError> {
    confirm(&plan.chain, plan.sending().count(), sending.yes)?;
    if let (Some(successor), false) = (target.successor(plan), sending.yes) {
        confirm_again("The program's next upgrade authority", &successor)?;
    }
    let Some(final_for) = target.final_for().filter(|_| !sending.make_final) else {
        return Ok(());
    };
    if sending.yes || !io::stdin().is_terminal() {
        return Err(DeployError::FinalUnconfirmed);
    }
    confirm_again(
        "None will ever be able to change the program again. Its id",
        &final_for,
    )
}

/// Has the person at the terminal type the expected text, which the question does not show.
fn confirm_again(what: &str, expected: &str) -> Result<(), DeployError> {
    if ask(format_args!("{what}, to go on: "))? == expected {
        Ok(())
    } else {
        Err(DeployError::Declined)
    }
}

fn ask(question: fmt::Arguments<'_>) -> Result<String, DeployError> {
    write!(io::stderr(), "{question}")?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(answer.trim().to_owned())
}

/// Asks the person at the terminal, unless it is `yes` already.
///
/// # Errors
/// [`DeployError::Declined`], and [`DeployError::NoTerminal`] if there is no terminal.
pub fn confirm(chain: &ChainId, transactions: usize, yes: bool) -> Result<(), DeployError> {
    if yes {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        return Err(DeployError::NoTerminal);
    }
    let name = network::name_of(chain);
    let question =
        format_args!("Send up to {transactions} transactions to {chain} ({name})? [y/N] ");
    match &*ask(question)? {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(DeployError::Declined),
    }
}

/// Sends what is left, waits, and records the deployment.
async fn finish(
    target: &mut dyn Target,
    plan: &Plan,
    run: &mut RunFile,
    folders: &Folders,
    sending: &Sending,
    json: bool,
) -> Result<u8, DeployError> {
    let timing = Timing {
        poll: Duration::from_millis(sending.poll),
        replace_after: Duration::from_secs(sending.bump_after),
        give_up_after: Duration::from_secs(sending.give_up_after),
    };
    let mut progress =
        |step: &Step, words: &str| report::print_status(format_args!("{}: {words}", step.id));
    let groups: Vec<&[Step]> = plan.groups_to_send().collect();
    let stopped = |error: DeployError| DeployError::Stopped(Box::new(error));
    let sent = submit(target, &groups, run, timing, &mut progress).await;
    sent.map_err(stopped)?;
    let commands = write_down(target, run, folders).await.map_err(stopped)?;
    show_run(plan, run, folders, &commands, json)
        .map_err(|it| DeployError::Unshown(Box::new(it)))?;
    Ok(DONE)
}

/// Into the address book, and for an explorer; the commands for one.
async fn write_down(
    target: &mut dyn Target,
    run: &mut RunFile,
    folders: &Folders,
) -> Result<Vec<String>, DeployError> {
    let deployment = target.deployment(&run.landings()).await?;
    AddressBook::enter(&folders.deployments, target.chain(), deployment)?;
    let explorer = folders.explorer(target.chain());
    let commands = target.publish(&explorer)?;
    run.finish()?;
    Ok(commands)
}

fn show_run(
    plan: &Plan,
    run: &RunFile,
    folders: &Folders,
    commands: &[String],
    json: bool,
) -> Result<(), DeployError> {
    if json {
        let mut result = report::run_json(plan, run);
        result["explorerCommands"] = json!(commands);
        if plan.for_others().next().is_some() {
            result["forOtherSigner"] = json!(plan.for_others().collect::<Vec<_>>());
        }
        return report::print(&format!("{result:#}\n"));
    }
    report::print(&format!("\n{}", report::run(plan, run)))?;
    report::print(&format!(
        "\naddresses are in {}\nan explorer shows the sources after\n",
        AddressBook::path(&folders.deployments).display()
    ))?;
    for command in commands {
        report::print(&format!("  {command}\n"))?;
    }
    print_for_others(plan, false)
}

/// The target with the choices on record, and what is on record.
async fn of_record(place: &Place) -> Result<(Box<dyn Target>, Option<Deployment>), DeployError> {
    let folders = Folders::of(place)?;
    let book = AddressBook::load(&folders.deployments)?;
    let recorded = book.deployment(&place.chain).cloned();
    let target = TargetRequest {
        place,
        folders: &folders,
        deployer: DeployerSource::None,
        choices: ChoiceSource::OfBook(recorded.as_ref().map(|book| &book.settings)),
        fees: None,
        confirmations: Confirmations::Blocks(1),
    }
    .target(&book)
    .await?;
    Ok((target, recorded))
}

/// The examination blocks by itself.
fn verify(
    blocking: &Blocking,
    place: &Place,
    examination: &Examination<'_>,
) -> Result<u8, DeployError> {
    let (mut target, recorded) = blocking.wait(of_record(place))?;
    let recorded = recorded.ok_or_else(|| DeployError::NotOnRecord(place.chain.to_string()))?;
    let mut checks = blocking.wait(target.verify(&recorded))?;
    let (examined, unexamined) = match examination(place, &recorded) {
        Ok(examined) => (examined, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    checks.extend(examined);
    if place.json {
        report::print(&format!("{:#}\n", json!(checks)))?
    } else {
        report::print(&report::checks(&checks))?
    }
    match (checks.iter().all(Check::holds), unexamined) {
        (true, Some(error)) => Err(error),
        (holds, error) => {
            // What differs is the answer; what could not be checked is said beside it.
            error
                .iter()
                .for_each(|it| report::print_status(format_args!("concord: {it}")));
            Ok(exit_code(holds))
        }
    }
}

/// Explorers compile what they are sent and compare: another build would be refused there.
async fn verify_source(place: &Place) -> Result<u8, DeployError> {
    let folders = Folders::of(place)?;
    let (mut target, recorded) = of_record(place).await?;
    let recorded = recorded.ok_or_else(|| DeployError::NotOnRecord(place.chain.to_string()))?;
    let mut checks = target.verify(&recorded).await?;
    checks.retain(|check| check.fact == "code" && !check.holds());
    if !checks.is_empty() {
        report::print(&report::checks(&checks))?;
        return Ok(DIFFERS);
    }
    let commands = target.publish(&folders.explorer(&place.chain))?;
    if place.json {
        report::print(&format!("{:#}\n", json!(commands)))?
    } else {
        report::print(&format!("{}\n", commands.join("\n")))?
    }
    Ok(DONE)
}

async fn status(place: &Place) -> Result<u8, DeployError> {
    let (mut target, recorded) = of_record(place).await?;
    let status_rows = target.status(recorded.as_ref()).await?;
    if place.json {
        report::print(&format!("{:#}\n", json!(status_rows)))?
    } else {
        report::print(&report::status_rows(&status_rows))?
    }
    Ok(exit_code(status_rows.iter().all(|one| one.drift.is_none())))
}

const fn exit_code(holds: bool) -> u8 {
    if holds { DONE } else { DIFFERS }
}
