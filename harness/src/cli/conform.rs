use super::{
    AGREE, DISAGREE,
    arguments::{BackendName, Conform},
    error::CliError,
    files::{ARTIFACTS, PROGRAM, built, scenario_files},
    live::conform_live,
    progress::Progress,
    provenance::provenance,
    svm_node::attach_node,
};
use crate::{
    backend::{
        Backend,
        adapter::Adapter,
        evm::{AttachFault, Dialect, Endpoint, EvmAnvil, EvmNode, EvmRevm, RegistryAddresses},
        svm::SvmLitesvm,
    },
    report::{self, Detail, Provenance},
    runner::{self, Run},
    scenario::{self, Rule, Scenario},
};
use alloy::primitives::Address;
use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// `concord conform`: the exit code.
pub(super) fn conform(options: &Conform) -> Result<u8, CliError> {
    if options.live.live {
        return conform_live(options);
    }
    let mut scenarios = load_scenarios(options)?;
    require_writable(options)?;
    let mut backends = start_backends(options)?;
    if let Some(node) = attach_node(options, &mut scenarios)? {
        backends.push(Box::new(node));
    }
    let run = judge(&scenarios, backends)?;
    write_reports(options, &run, provenance(options))
}

/// Every participant's verdict, with progress on stderr.
pub(super) fn judge(
    scenarios: &[Scenario],
    mut backends: Vec<Box<dyn Backend>>,
) -> Result<Run, CliError> {
    let mut progress = Progress::on_stderr(scenarios.len());
    let run = runner::run(scenarios, &mut backends, |scenario, participant, failed| {
        progress.tell(scenario, participant, failed)
    });
    progress.end();
    Ok(run?)
}

pub(super) fn load_scenarios(options: &Conform) -> Result<Vec<Scenario>, CliError> {
    let mut scenarios = scenario_files(&options.scenario)?
        .iter()
        .map(|file| scenario::load(file))
        .collect::<Result<Vec<_>, _>>()?;
    if !options.filter.is_empty() {
        scenarios.retain(|scenario| options.filter.iter().any(|it| is_meant(scenario, it)));
        if scenarios.is_empty() {
            return Err(CliError::NothingLeft(options.filter.clone()));
        }
    }
    Ok(scenarios)
}

/// A rule is looked for in what the steps cite, any other text in the scenario's name.
fn is_meant(scenario: &Scenario, filter: &str) -> bool {
    match filter.parse::<Rule>() {
        Ok(rule) => scenario.steps.iter().any(|it| it.rules.contains(&rule)),
        Err(_) => scenario.name.contains(filter),
    }
}

fn start_backends(options: &Conform) -> Result<Vec<Box<dyn Backend>>, CliError> {
    let mut backends = start_ours(options)?;
    if let (Some(url), Some(identity)) = (&options.evm_rpc, options.identity) {
        let endpoint = Endpoint::new(url);
        let attached = attach(options, &endpoint, identity);
        backends.push(Box::new(attached.map_err(|fault| CliError::Attach {
            host: endpoint.host(),
            fault,
        })?));
    }
    if let (Some(command), Some(chain)) = (&options.adapter, options.adapter_chain) {
        backends.push(Box::new(Adapter::start(command, chain)?));
    }
    Ok(backends)
}

/// Registries that stand somewhere.
fn attach(
    options: &Conform,
    endpoint: &Endpoint,
    identity: Address,
) -> Result<EvmNode, AttachFault> {
    let addresses = RegistryAddresses {
        identity,
        open_reputation: options.reputation,
        authorized_reputation: options.authorized,
        validation: options.validation,
    };
    let dialect = match (options.canonical, options.canonical_identity) {
        (true, _) => Dialect::Canonical,
        (false, true) => Dialect::OverCanonicalIdentity,
        (false, false) => Dialect::Concord,
    };
    EvmNode::attach(endpoint, options.chain_id, addresses, dialect)
}

fn start_ours(options: &Conform) -> Result<Vec<Box<dyn Backend>>, CliError> {
    let chosen: BTreeSet<_> = options.backend.iter().copied().collect();
    if chosen.len() > 1 && chosen.contains(&BackendName::None) {
        return Err(CliError::NoneAndOthers);
    }
    let mut backends: Vec<Box<dyn Backend>> = Vec::new();
    for name in chosen {
        backends.push(match name {
            BackendName::EvmAnvil => {
                let artifacts = built(options.artifacts.as_deref(), ARTIFACTS);
                Box::new(EvmAnvil::start(options.anvil.as_deref(), &artifacts)?)
            }
            BackendName::EvmRevm => {
                let artifacts = built(options.artifacts.as_deref(), ARTIFACTS);
                Box::new(EvmRevm::start(&artifacts)?)
            }
            BackendName::SvmLitesvm => Box::new(SvmLitesvm::start(&built(
                options.program.as_deref(),
                PROGRAM,
            ))?),
            BackendName::None => continue,
        });
    }
    Ok(backends)
}

/// That the files will be there is known before anybody plays or pays.
///
/// # Errors
/// [`CliError::File`], [`CliError::OneFileTwice`].
pub(super) fn require_writable(options: &Conform) -> Result<(), CliError> {
    if let (Some(html), Some(junit)) = (&options.html, &options.junit)
        && html == junit
    {
        return Err(CliError::OneFileTwice(html.clone()));
    }
    for file in options.html.iter().chain(&options.junit) {
        let partial = partial(file);
        let opened = match fs::metadata(file) {
            Ok(it) if it.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(it) if !it.is_file() => Ok(()), // a device or a pipe: nothing can be tried
            _ => fs::write(&partial, "").and_then(|()| fs::remove_file(&partial)),
        };
        opened.map_err(|fault| not_written(file, fault))?;
    }
    Ok(())
}

/// The matrix is shown even where a file cannot be written. The exit code.
pub(super) fn write_reports(
    options: &Conform,
    run: &Run,
    provenance: Provenance,
) -> Result<u8, CliError> {
    let html = options.html.as_deref().map_or(Ok(()), |file| {
        write_whole(file, &report::html(run, &provenance))
    });
    let junit = options.junit.as_deref().map_or(Ok(()), |file| {
        write_whole(file, &report::junit(run, &provenance))
    });
    let report = match (options.json, options.verbose) {
        (true, _) => format!("{:#}\n", report::json(run, &provenance)),
        (false, true) => report::text(run, Detail::Full),
        (false, false) => report::text(run, Detail::Short),
    };
    io::stdout().write_all(report.as_bytes())?;
    html.and(junit)?;
    Ok(if run.agrees() { AGREE } else { DISAGREE })
}

/// Beside, then moved into place: nobody reads half a report.
fn write_whole(file: &Path, text: &str) -> Result<(), CliError> {
    let partial = partial(file);
    let written = match fs::metadata(file) {
        Ok(it) if !it.is_file() => fs::write(file, text), // nobody wants a device replaced
        _ => fs::write(&partial, text).and_then(|()| fs::rename(&partial, file)),
    };
    written.map_err(|fault| not_written(file, fault))
}

fn partial(file: &Path) -> PathBuf {
    let mut partial = file.as_os_str().to_owned();
    partial.push(".partial");
    partial.into()
}

fn not_written(file: &Path, fault: io::Error) -> CliError {
    CliError::File {
        path: file.to_owned(),
        fault,
    }
}
