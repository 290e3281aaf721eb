//! `concord vectors`: tests the canonical functions of another program.
use super::{
    AGREE, DISAGREE, MISSING, NOT_DECLARED, colours,
    error::CliError,
    report_files::{ReportFile, code_beside, require_writable, write_whole},
    show,
};
use clap::{Args, Subcommand};
use concord_harness::vectors::{self, Command, Conclusion, FILES, Plan, SCHEMA, VectorFile};
use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

const RUN: &str = "Examples:
  concord vectors run -- node my-library.mjs         every function that the program declares
  concord vectors run --function jcs -- ./my-library  one of them
  concord vectors run --requests -- concord oracle   also how requests themselves are refused

The program answers the oracle's protocol, one JSON object a line; see docs/VECTORS.md.

Exit codes:
  0  every answer is right
  1  an answer is wrong, or a refusal is; the report names the vector
  2  the command line is wrong, or a report cannot be written
  3  the program does not start or stopped answering; every answer so far is right
  4  every declared function is right, and some are not declared";
const EXPORT: &str = "Examples:
  concord vectors export ./vectors

Exit codes:
  0  the files are written
  2  the command line is wrong, or a file is there already or cannot be written";

/// Tests your library with the vectors of each canonical function, or exports them.
#[derive(Debug, Args)]
pub struct Vectors {
    #[command(subcommand)]
    command: Part,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// Sends a program every vector of the functions that it declares, and checks its answers.
    #[command(after_help = RUN)]
    Run(Run),
    /// Writes the vector files, and the JSON Schema of them, into a folder.
    #[command(after_help = EXPORT)]
    Export {
        /// The folder, which is made if it is not there. No file in it is replaced.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

#[derive(Debug, Args)]
struct Run {
    /// Only this function; repeatable. Default: all.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = function)]
    function: Vec<String>,
    /// Includes vectors about malformed requests: arguments missing, unknown or too wide.
    #[arg(long)]
    requests: bool,
    /// The most seconds for one answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,
    /// Writes the report as JSON, too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes the report as JUnit XML, too.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// The program and its arguments, after `--`.
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<OsString>,
}

/// The exit code.
pub(super) fn vectors(options: &Vectors) -> Result<u8, CliError> {
    match &options.command {
        Part::Run(options) => run(options),
        Part::Export { folder } => export(folder),
    }
}

fn function(text: &str) -> Result<String, String> {
    let known: Vec<_> = concord_oracle::names().collect();
    if known.contains(&text) {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "`{text}` is not an oracle function: use one of {}",
            known.join(", ")
        ))
    }
}

fn run(options: &Run) -> Result<u8, CliError> {
    require_writable(&options.reports())?;
    let plan = Plan {
        functions: options.function.iter().cloned().collect(),
        with_requests: options.requests,
    };
    let (program, arguments) = match options.command.split_first() {
        Some((program, arguments)) => (program.clone(), arguments.to_vec()),
        None => return Err(io::Error::other("no command").into()), // clap asks for one
    };
    let command = Command {
        program,
        arguments,
        limit: Duration::from_secs(options.timeout),
    };
    let files: Vec<VectorFile> = vectors::all();
    let run = vectors::run(&plan, &files, &command).map_err(|fault| CliError::Program {
        command: shown(&options.command),
        fault,
    })?;
    write_reports(options, &run)
}

fn shown(command: &[OsString]) -> String {
    let words: Vec<_> = command.iter().map(|it| it.to_string_lossy()).collect();
    shlex::try_join(words.iter().map(|it| &**it)).unwrap_or_else(|_| words.join(" "))
}

/// The matrix is shown even where a file cannot be written. The exit code.
fn write_reports(options: &Run, run: &vectors::Run) -> Result<u8, CliError> {
    let json = options.json.as_deref().map_or(Ok(()), |file| {
        write_whole(file, &format!("{:#}\n", vectors::json(run)))
    });
    let junit = options
        .junit
        .as_deref()
        .map_or(Ok(()), |file| write_whole(file, &vectors::junit(run)));
    let shown = show(vectors::text(run, colours()).as_bytes());
    let written = shown.map_err(CliError::from).and(json).and(junit);
    let code = match run.conclusion() {
        Conclusion::Agrees => AGREE,
        Conclusion::Differs => DISAGREE,
        Conclusion::Lost => MISSING,
        Conclusion::NotDeclared => NOT_DECLARED,
    };
    code_beside(written, code)
}

impl Run {
    fn reports(&self) -> Vec<ReportFile<'_>> {
        let json = self.json.as_deref().map(|file| ("--json", file));
        let junit = self.junit.as_deref().map(|file| ("--junit", file));
        json.into_iter().chain(junit).collect()
    }
}

fn export(folder: &Path) -> Result<u8, CliError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |fault| CliError::File { path, fault }
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    let files = FILES.iter().copied().chain([("schema", SCHEMA)]);
    for (name, text) in files {
        let path = folder.join(format!("{name}.json"));
        File::create_new(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(failed(&path))?;
    }
    let count = FILES.len();
    show(format!("{count} vector files and schema.json\n").as_bytes())?;
    Ok(AGREE)
}
