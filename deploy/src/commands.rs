//! The six commands. Stdout carries the result, stderr the progress and the errors.
use crate::{
    AddressBook, ChainId, Check, DIFFERS, DONE, Deployment, Fault, Patience, Plan, RunFile, Step,
    Target, carry_out, network,
    options::{self, Command, Place, Sending},
    report,
    wanted::{Folders, Wanted, WantedChoices, WantedDeployer},
};
use serde_json::json;
use std::{
    fmt,
    io::{self, BufRead, IsTerminal, Write},
    time::Duration,
};

/// What a verification asks of a deployment beside code and wiring.
pub type Examination<'a> = dyn Fn(&Place, &Deployment) -> Result<Vec<Check>, Fault> + 'a;

/// `concord deploy`: the exit code.
#[must_use]
pub fn run(command: &Command) -> u8 {
    run_with(command, &|_, _| Ok(Vec::new()))
}

/// As [`run`], with an examination that only `verify` makes, after its own checks.
#[must_use]
pub fn run_with(command: &Command, examination: &Examination<'_>) -> u8 {
    let done = match command {
        Command::Plan(options) => plan(options),
        Command::Apply(options) => apply(options),
        Command::Resume(options) => resume(options),
        Command::Verify(place) => verify(place, examination),
        Command::Status(place) => status(place),
        Command::Smoke(options) => smoke(options),
    };
    done.unwrap_or_else(|fault| {
        report::tell(format_args!("concord: {fault}"));
        fault.exit_code()
    })
}

fn plan(options: &options::PlanOptions) -> Result<u8, Fault> {
    let place = &options.place;
    let folders = Folders::of(place)?;
    let book = AddressBook::load(&folders.deployments)?;
    let wanted = Wanted {
        place,
        folders: &folders,
        deployer: WantedDeployer::Planning {
            key: &options.key,
            from: options.from.as_deref(),
        },
        choices: WantedChoices::Given(&options.choices),
        fees: Some(&options.fees),
        confirmations: 1,
    };
    let plan = wanted.target(&book)?.plan()?;
    print_plan(&plan, place.json)?;
    plan.require_funds()?;
    Ok(DONE)
}

fn print_plan(plan: &Plan, json: bool) -> Result<(), Fault> {
    match json {
        true => report::print(&format!("{:#}\n", json!(plan))),
        false => report::print(&report::plan(plan)),
    }
}

fn apply(options: &options::ApplyOptions) -> Result<u8, Fault> {
    let place = &options.place;
    require_testnet(&place.chain, options.sending.allow_mainnet)?;
    let folders = Folders::of(place)?;
    let book = AddressBook::load(&folders.deployments)?;
    RunFile::require_none(&folders.deployments, &place.chain)?;
    let mut target = Wanted {
        place,
        folders: &folders,
        deployer: WantedDeployer::Sending(&options.key),
        choices: WantedChoices::Given(&options.choices),
        fees: Some(&options.fees),
        confirmations: options.sending.confirmations,
    }
    .target(&book)?;
    let plan = target.plan()?;
    target.require_keys(&plan)?;
    if plan.is_done() {
        return nothing_to_send(&mut *target, &plan, &folders, place.json);
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
    report::tell("everything stands already: nothing was sent");
    Ok(DONE)
}

fn resume(options: &options::ResumeOptions) -> Result<u8, Fault> {
    let place = &options.place;
    require_testnet(&place.chain, options.sending.allow_mainnet)?;
    let folders = Folders::of(place)?;
    let book = AddressBook::load(&folders.deployments)?;
    let mut run = RunFile::resume(&folders.deployments, &place.chain)?;
    let mut target = Wanted {
        place,
        folders: &folders,
        deployer: WantedDeployer::Sending(&options.key),
        choices: WantedChoices::OfRun(run.settings()),
        fees: Some(&options.fees),
        confirmations: options.sending.confirmations,
    }
    .target(&book)?;
    let plan = target.plan()?;
    run.require_same(&plan, &mut *target)?;
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
}

/// # Errors
/// [`Fault::NotATestnet`] for a chain that is not listed, unless it is allowed.
pub fn require_testnet(chain: &ChainId, allow_mainnet: bool) -> Result<(), Fault> {
    match allow_mainnet || network::testnet(chain).is_some() {
        true => Ok(()),
        false => Err(Fault::NotATestnet(chain.to_string())),
    }
}

fn confirm_sending(target: &dyn Target, plan: &Plan, sending: &Sending) -> Result<(), Fault> {
    confirm(&plan.chain, plan.sending().count(), sending.yes)?;
    let Some(final_for) = target.final_for().filter(|_| !sending.make_final) else {
        return Ok(());
    };
    if sending.yes || !io::stdin().is_terminal() {
        return Err(Fault::FinalUnconfirmed);
    }
    let answer = ask(format_args!(
        "Nobody will ever be able to change {final_for} again. Its id, to go on: "
    ))?;
    match answer == final_for {
        true => Ok(()),
        false => Err(Fault::Declined),
    }
}

fn ask(question: fmt::Arguments<'_>) -> Result<String, Fault> {
    write!(io::stderr(), "{question}")?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(answer.trim().to_owned())
}

/// Asks the person at the terminal, unless it is `yes` already.
///
/// # Errors
/// [`Fault::Declined`], and [`Fault::NobodyToAsk`] where there is no terminal.
pub fn confirm(chain: &ChainId, transactions: usize, yes: bool) -> Result<(), Fault> {
    if yes {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        return Err(Fault::NobodyToAsk);
    }
    let name = network::name_of(chain);
    let question =
        format_args!("Send up to {transactions} transactions to {chain} ({name})? [y/N] ");
    match &*ask(question)? {
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
        poll: Duration::from_millis(sending.poll),
        outbid_after: Duration::from_secs(sending.bump_after),
        give_up_after: Duration::from_secs(sending.give_up_after),
    };
    let mut progress =
        |step: &Step, words: &str| report::tell(format_args!("{}: {words}", step.id));
    carry_out(target, plan, run, patience, &mut progress)
        .map_err(|fault| Fault::Stopped(Box::new(fault)))?;
    let commands = write_down(target, run, folders).map_err(|it| Fault::Stopped(Box::new(it)))?;
    show_run(plan, run, folders, &commands, json).map_err(|it| Fault::Unshown(Box::new(it)))?;
    Ok(DONE)
}

/// Into the address book, and for an explorer; the commands for one.
fn write_down(
    target: &mut dyn Target,
    run: &mut RunFile,
    folders: &Folders,
) -> Result<Vec<String>, Fault> {
    let deployment = target.deployment(&run.landings())?;
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
) -> Result<(), Fault> {
    if json {
        let mut result = report::run_json(plan, run);
        result["explorerCommands"] = json!(commands);
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
    Ok(())
}

/// The target with the choices on record, and what is on record.
fn of_record(place: &Place) -> Result<(Box<dyn Target>, Option<Deployment>), Fault> {
    let folders = Folders::of(place)?;
    let book = AddressBook::load(&folders.deployments)?;
    let recorded = book.deployment(&place.chain).cloned();
    let target = Wanted {
        place,
        folders: &folders,
        deployer: WantedDeployer::Nobody,
        choices: WantedChoices::OfBook(recorded.as_ref().map(|book| &book.settings)),
        fees: None,
        confirmations: 1,
    }
    .target(&book)?;
    Ok((target, recorded))
}

fn verify(place: &Place, examination: &Examination<'_>) -> Result<u8, Fault> {
    let (mut target, recorded) = of_record(place)?;
    let recorded = recorded.ok_or_else(|| Fault::NotOnRecord(place.chain.to_string()))?;
    let mut checks = target.verify(&recorded)?;
    checks.extend(examination(place, &recorded)?);
    match place.json {
        true => report::print(&format!("{:#}\n", json!(checks)))?,
        false => report::print(&report::checks(&checks))?,
    }
    Ok(exit_code(checks.iter().all(Check::holds)))
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

fn smoke(options: &options::SmokeOptions) -> Result<u8, Fault> {
    let place = &options.place;
    require_testnet(&place.chain, options.allow_mainnet)?;
    let folders = Folders::of(place)?;
    let book = AddressBook::load(&folders.deployments)?;
    let recorded = book.deployment(&place.chain);
    let recorded = recorded.ok_or_else(|| Fault::NotOnRecord(place.chain.to_string()))?;
    let mut target = Wanted {
        place,
        folders: &folders,
        deployer: WantedDeployer::Sending(&options.key),
        choices: WantedChoices::OfBook(Some(&recorded.settings)),
        fees: Some(&options.fees),
        confirmations: 1,
    }
    .target(&book)?;
    let patience = Duration::from_secs(options.give_up_after);
    let smoke = target.smoke(recorded, patience, &mut |transactions| {
        confirm(&place.chain, transactions, options.yes)
    })?;
    let shown = match place.json {
        true => report::print(&format!("{:#}\n", json!(smoke))),
        false => report::print(&report::smoke(&smoke)),
    };
    shown.map_err(|fault| Fault::Unshown(Box::new(fault)))?;
    Ok(exit_code(smoke.checks.iter().all(Check::holds)))
}

const fn exit_code(holds: bool) -> u8 {
    if holds { DONE } else { DIFFERS }
}
