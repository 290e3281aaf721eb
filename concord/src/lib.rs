//! The command line. Stdout carries the result, stderr the progress and the errors.
mod adapter;
mod arguments;
mod config;
mod conform;
mod doctor;
mod embedded;
mod error;
mod file;
mod files;
mod fill;
mod fuzz;
mod init;
mod lint;
mod live;
mod progress;
mod provenance;
mod read_only;
mod report_files;
mod reviewers;
mod scenarios;
#[cfg(feature = "services")]
mod services;
mod smoke;
mod svm_node;
mod unpack;
mod vectors;

pub use embedded::{Embedded, Files};

use arguments::{Command, Concord};
use clap::{CommandFactory, Parser, error::ErrorKind};
use concord_deploy::report::print_status;
use concord_harness::{
    report::{Colours, plain},
    runner::{Conclusion, Run},
};
use error::CliError;
use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, BufRead, IsTerminal, Write},
    process::ExitCode,
};

/// Every participant agrees.
pub const AGREE: u8 = 0;
/// Some participant differs.
pub const DISAGREE: u8 = 1;
/// The command line or a scenario file is wrong, or the scenarios have nothing for the backends.
pub const USAGE: u8 = 2;
/// A tool or a built file is missing, or a chain does not answer.
pub const MISSING: u8 = 3;
/// What is declared agrees; scenarios have steps of profiles that are not.
pub const NOT_DECLARED: u8 = 4;

/// A run's exit code.
fn code_of(run: &Run) -> u8 {
    match run.conclusion() {
        Conclusion::Agrees => AGREE,
        Conclusion::Differs => DISAGREE,
        Conclusion::Lost => MISSING,
        Conclusion::NotDeclared => NOT_DECLARED,
        Conclusion::NothingPlayed => USAGE,
    }
}

/// Runs `concord` with these arguments, the program's name first. `embedded` is what the binary carries.
pub fn run(arguments: impl IntoIterator<Item = OsString>, embedded: Embedded) -> ExitCode {
    embedded.install();
    ExitCode::from(run_for_code(arguments))
}

fn run_for_code(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let concord = match Concord::try_parse_from(arguments) {
        Ok(concord) => concord,
        Err(answer) if answer.kind() == ErrorKind::DisplayVersion => {
            let shown = print(Embedded::installed().version().as_bytes());
            return shown.unwrap_or(USAGE);
        }
        Err(answer) => {
            let code = if answer.use_stderr() { USAGE } else { AGREE };
            let _ = answer.print(); // stdout and stderr may both be closed
            return code;
        }
    };
    command(concord.command).unwrap_or_else(|stop| {
        print_status(plain(&format!("concord: {stop}")));
        stop.exit_code()
    })
}

fn command(command: Command) -> Result<u8, CliError> {
    match command {
        Command::Conform(options) => conform::conform(*options),
        Command::Adapter(options) => match &options.part {
            None => Ok(run_for_code(options.as_conform())),
            Some(part) => adapter::adapter(part),
        },
        Command::Fuzz(options) => fuzz::fuzz(&options),
        Command::Fill(options) => fill::fill(&options),
        Command::Lint(options) => lint::lint(&options),
        Command::Init(options) => init::init(&options),
        Command::Scenarios(options) => scenarios::scenarios(&options),
        Command::Doctor(options) => doctor::doctor(&options),
        Command::Deploy(options) => Ok(concord_deploy::commands::run_with(
            &options.command,
            &read_only::examine,
        )),
        Command::Registry(options) => Ok(concord_deploy::registry::run(&options.command)),
        Command::Smoke(options) => smoke::smoke(&options),
        #[cfg(feature = "services")]
        Command::Service(service) => services::run(&service),
        Command::File(options) => file::file(&options),
        Command::Reviewers(options) => reviewers::reviewers(&options),
        Command::Oracle => Ok(answer_oracle()),
        Command::Vectors(options) => vectors::vectors(&options),
        Command::Completions { shell } => {
            let mut out = Vec::new();
            clap_complete::generate(shell, &mut Concord::command(), "concord", &mut out);
            print(&out)
        }
        Command::Man { into: None } => {
            let mut out = Vec::new();
            clap_mangen::Man::new(Concord::command()).render(&mut out)?;
            print(&out)
        }
        Command::Man { into: Some(folder) } => fs::create_dir_all(&folder)
            .and_then(|()| clap_mangen::generate_to(Concord::command(), &folder))
            .map(|()| AGREE)
            .map_err(|fault| CliError::File {
                path: folder,
                fault,
            }),
    }
}

fn print(result: &[u8]) -> Result<u8, CliError> {
    show(result)?;
    Ok(AGREE)
}

/// Writes a result to stdout. A reader that has gone, as `head` does, had enough of it.
fn show(result: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    unless_closed(out.write_all(result).and_then(|()| out.flush()))
}

/// Colours if stdout is a terminal that knows them, unless NO_COLOR is set (no-color.org).
fn colours() -> Colours {
    let is_unwanted = env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
    let is_dumb = env::var_os("TERM").is_none_or(|it| it == "dumb");
    if io::stdout().is_terminal() && !is_unwanted && !is_dumb {
        Colours::Ansi
    } else {
        Colours::None
    }
}

fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(fault) if fault.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

fn answer_oracle() -> u8 {
    match unless_closed(answer_lines(io::stdin().lock(), io::stdout().lock())) {
        Ok(()) => AGREE,
        Err(fault) => {
            print_status(format_args!("concord: oracle: {fault}"));
            USAGE
        }
    }
}

/// Answers every line of `input` on `output`, in order. A bad line gets an answer like any other.
fn answer_lines(mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        writeln!(output, "{}", concord_oracle::answer_bytes(&line))?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}
