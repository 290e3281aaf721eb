use super::{
    arguments::{BackendName, Conform},
    code_of, colours, config,
    error::CliError,
    files::{ARTIFACTS, PROGRAM, built, scenario_files},
    live::conform_live,
    progress::Progress,
    provenance::{self, note_adapter, note_program, note_registries, provenance},
    report_files::{self, code_beside, write_whole},
    show,
    svm_node::attach_node,
};
use alloy::primitives::Address;
use concord_deploy::report::print_status;
use concord_harness::{
    backend::{
        Backend,
        adapter::Adapter,
        evm::{
            AttachFault, Dialect, Endpoint, ErrorClasses, EvmAnvil, EvmNode, EvmRevm,
            RegistryAddresses,
        },
        svm::SvmLitesvm,
    },
    model::RegistryProfile,
    report::{self, Artifact, Detail, Provenance},
    runner::{self, Run},
    scenario::{self, Rule, Scenario},
};
use std::{collections::BTreeSet, time::Duration};

/// `concord conform`: the exit code.
pub(super) fn conform(mut options: Conform) -> Result<u8, CliError> {
    if options.live.live {
        return conform_live(&options);
    }
    config::complete(&mut options)?;
    let mut scenarios = load_scenarios(&options)?;
    require_writable(&options)?;
    let list = error_classes(&options)?;
    let mut others = Provenance::default();
    let mut backends = start_backends(&options, list.classes, &mut others)?;
    let mut left_out = Vec::new();
    if let Some(attached) = attach_node(&options, &mut scenarios)? {
        note_program(&mut others, attached.node.name(), attached.program);
        left_out = attached.left_out;
        backends.push(Box::new(attached.node));
    }
    let mut run = check(&declared(&options), &scenarios, backends);
    run.left_out = left_out;
    let mut provenance = provenance(&options);
    provenance.facts = others.facts;
    provenance.artifacts.extend(others.artifacts);
    provenance.artifacts.extend(list.artifact);
    write_reports(&options, &run, provenance)
}

/// Every participant's verdict, with progress on stderr, and there too who stopped answering.
pub(super) fn check(
    declared: &BTreeSet<RegistryProfile>,
    scenarios: &[Scenario],
    mut backends: Vec<Box<dyn Backend>>,
) -> Run {
    let mut progress = Progress::on_stderr(scenarios.len());
    let on_scenario = |scenario: &str, participant: &str, failed| {
        progress.print_status(scenario, participant, failed);
    };
    let run = runner::run_declared(declared, scenarios, &mut backends, on_scenario);
    progress.end();
    for lost in &run.lost {
        print_status(report::plain(&format!("concord: {lost}")));
    }
    run
}

pub(super) fn load_scenarios(options: &Conform) -> Result<Vec<Scenario>, CliError> {
    let mut scenarios = scenario_files(&options.scenario)?
        .iter()
        .map(|file| scenario::load(file))
        .collect::<Result<Vec<_>, _>>()?;
    let found = !scenarios.is_empty();
    scenarios.retain(|scenario| is_meant(scenario, options));
    if scenarios.is_empty() && found {
        Err(CliError::NothingLeft(wanted(options)))
    } else {
        Ok(scenarios)
    }
}

/// Filters of one kind are alternatives; those of different kinds must all hold.
fn is_meant(scenario: &Scenario, options: &Conform) -> bool {
    let cites = |rule: &Rule| scenario.steps.iter().any(|it| it.rules.contains(rule));
    // A rule is looked for in what the steps cite, any other text in the scenario's name.
    let fits = |filter: &String| match filter.parse::<Rule>() {
        Ok(rule) => cites(&rule),
        Err(_) => scenario.name.contains(filter),
    };
    let has = |profile: &RegistryProfile| {
        let mut steps = scenario.steps.iter();
        steps.any(|it| it.operation.profile() == *profile)
    };
    is_any(&options.filter, fits)
        && is_any(&options.rule, cites)
        && is_any(&options.profile, has)
        && !options.exclude.iter().any(|it| scenario.name.contains(it))
}

/// Whether one of them holds, or there is none.
fn is_any<T>(filters: &[T], holds: impl Fn(&T) -> bool) -> bool {
    filters.is_empty() || filters.iter().any(holds)
}

/// What the filters ask for, in words that follow "no scenario".
pub(super) fn wanted(options: &Conform) -> String {
    let mut wanted = Vec::new();
    if !options.filter.is_empty() {
        let texts = options.filter.join("` or `");
        wanted.push(format!("has `{texts}` in its name or cites it as a rule"));
    }
    if !options.rule.is_empty() {
        wanted.push(format!("cites {}", alternatives(&options.rule)));
    }
    if !options.profile.is_empty() {
        let profiles = alternatives(&options.profile);
        wanted.push(format!("has a step of the profile {profiles}"));
    }
    if !options.exclude.is_empty() {
        wanted.push(format!("is without `{}`", options.exclude.join("` and `")));
    }
    if wanted.is_empty() {
        "is left".to_owned()
    } else {
        wanted.join(", and ")
    }
}

fn alternatives(of: &[impl ToString]) -> String {
    let names: Vec<_> = of.iter().map(ToString::to_string).collect();
    names.join(" or ")
}

/// What the command line says is checked: everything, unless it names profiles.
pub(super) fn declared(options: &Conform) -> BTreeSet<RegistryProfile> {
    if options.profile.is_empty() {
        RegistryProfile::ALL.into()
    } else {
        options.profile.iter().copied().collect()
    }
}

fn start_backends(
    options: &Conform,
    classes: ErrorClasses,
    others: &mut Provenance,
) -> Result<Vec<Box<dyn Backend>>, CliError> {
    let mut backends = start_ours(options)?;
    if let (Some(url), Some(identity)) = (&options.evm_rpc, options.identity) {
        let endpoint = Endpoint::new(url);
        let refused = |fault| CliError::Attach {
            host: endpoint.host(),
            fault,
        };
        let attached = attach(options, &endpoint, identity).map_err(refused)?;
        let code = attached.code().map_err(refused)?;
        note_registries(others, attached.name(), options, &code);
        backends.push(Box::new(attached.with_error_classes(classes)));
    }
    if let (Some(command), Some(chain)) = (&options.adapter, options.adapter_chain) {
        let limit = Duration::from_secs(options.adapter_timeout);
        let adapter = Adapter::start(command, chain, limit)?;
        note_adapter(others, adapter.name(), chain, command);
        backends.push(Box::new(adapter));
    }
    Ok(backends)
}

/// What the registries' own refusals mean, and the file that says so.
#[derive(Default)]
struct ErrorList {
    classes: ErrorClasses,
    artifact: Option<Artifact>,
}

fn error_classes(options: &Conform) -> Result<ErrorList, CliError> {
    let Some(path) = &options.error_classes else {
        return Ok(ErrorList::default());
    };
    let refused = |reason| CliError::Config {
        path: path.clone(),
        reason,
    };
    let text = config::read_text(path).map_err(|fault| refused(fault.to_string()))?;
    Ok(ErrorList {
        classes: ErrorClasses::read(&text).map_err(refused)?,
        artifact: Some(provenance::of_error_classes(path, &text)),
    })
}

/// Registries that are already deployed.
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
    EvmNode::attach(endpoint, options.chain_id, addresses, dialect(options).0)
}

/// The dialect of the registries, and the option that selects it.
pub(super) fn dialect(options: &Conform) -> (Dialect, &'static str) {
    match options {
        Conform {
            canonical: true, ..
        } => (Dialect::Canonical, "--canonical"),
        Conform {
            canonical_abi: true,
            ..
        } => (Dialect::CanonicalAbi, "--canonical-abi"),
        Conform {
            canonical_identity: true,
            ..
        } => (Dialect::OverCanonicalIdentity, "--canonical-identity"),
        _ => (Dialect::Concord, "Concord's"),
    }
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
                let artifacts = built(options.artifacts.as_deref(), ARTIFACTS)?;
                Box::new(EvmAnvil::start(options.anvil.as_deref(), &artifacts)?)
            }
            BackendName::EvmRevm => {
                let artifacts = built(options.artifacts.as_deref(), ARTIFACTS)?;
                Box::new(EvmRevm::start(&artifacts)?)
            }
            BackendName::SvmLitesvm => Box::new(SvmLitesvm::start(&built(
                options.program.as_deref(),
                PROGRAM,
            )?)?),
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
    let files = [
        ("--json-file", &options.json_file),
        ("--html", &options.html),
        ("--junit", &options.junit),
    ];
    let files: Vec<_> = files
        .into_iter()
        .filter_map(|(option, file)| Some((option, file.as_deref()?)))
        .collect();
    report_files::require_writable(&files)
}

/// The matrix is shown even where a file cannot be written. The exit code.
pub(super) fn write_reports(
    options: &Conform,
    run: &Run,
    provenance: Provenance,
) -> Result<u8, CliError> {
    let json = || format!("{:#}\n", report::json(run, &provenance));
    let in_json = options
        .json_file
        .as_deref()
        .map_or(Ok(()), |file| write_whole(file, &json()));
    let html = options.html.as_deref().map_or(Ok(()), |file| {
        write_whole(file, &report::html(run, &provenance))
    });
    let junit = options.junit.as_deref().map_or(Ok(()), |file| {
        write_whole(file, &report::junit(run, &provenance))
    });
    let report = match (options.json, options.verbose) {
        (true, _) => json(),
        (false, true) => report::text(run, Detail::Full, colours()),
        (false, false) => report::text(run, Detail::Short, colours()),
    };
    let shown = show(report.as_bytes());
    let written = shown
        .map_err(CliError::from)
        .and(in_json)
        .and(html)
        .and(junit);
    code_beside(written, code_of(run))
}
