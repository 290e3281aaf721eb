//! What can be said of a store without a chain.
use super::{CliError, DIFFERS, FINE, arguments::StoreOptions};
use crate::{
    api::{self, NEWEST},
    query::Completeness,
    store::{Database, Deployed, DeploymentId, Location, Store},
    table::FileState,
};
use concord_chain::stdout::show;
use serde_json::{Value, json};

pub fn open(options: &StoreOptions) -> Result<Store<Database>, CliError> {
    require(&options.store)?;
    Ok(Store::open(options.store.open()?)?)
}

/// Only `run` makes a store.
pub fn require(location: &Location) -> Result<(), CliError> {
    let is_there = match location {
        Location::File(path) => path.exists(),
        Location::Server(_) => Store::is_made(&mut location.open_read_only()?),
    };
    if is_there {
        Ok(())
    } else {
        Err(CliError::Usage(format!(
            "{location} does not exist: use run"
        )))
    }
}

/// R46: prints one line of JSON for each deployment.
pub fn status(options: &StoreOptions) -> Result<u8, CliError> {
    let mut store = open(options)?;
    let mut code = FINE;
    for deployed in store.deployments()? {
        let (is_complete, status) = store.snapshot(|store| status_of(store, &deployed))?;
        if !is_complete {
            code = DIFFERS;
        }
        show(format!("{status}\n")).map_err(CliError::Output)?;
    }
    Ok(code)
}

/// Whether nothing is missing, and the line.
fn status_of(store: &mut Store<Database>, deployed: &Deployed) -> Result<(bool, Value), CliError> {
    let (id, chain) = (deployed.id, &deployed.chain);
    let completeness = store.completeness(id)?;
    let cursor = store.cursor(id)?;
    let reorganizations = api::reorganizations(chain, &store.reorganizations(id, NEWEST)?);
    let status = json!({
        "chain": chain,
        "registry": deployed.registry,
        "block": cursor.map(|it| it.head.number),
        "final": cursor.and_then(|it| it.final_number),
        "events": store.event_count(id)?,
        "missing": missing(&completeness),
        "unknownEvents": completeness.unknown,
        "state": state(store, id)?,
        "files": files(&store.file_counts(id)?),
        "fileBytes": store.file_bytes(id)?,
        "reorganizations": reorganizations,
    });
    Ok((completeness.is_complete(), status))
}

/// Differences that an answer lists, of each deployment. All are counted.
const LISTED: usize = 100;

/// R45: where the registries' state was read to differ from their events, and how much of it is unread.
fn state(store: &mut Store<Database>, id: DeploymentId) -> Result<Value, CliError> {
    let counts = store.difference_counts(id)?;
    let differences = store.differences(id, LISTED)?;
    let listed = differences.iter().map(|it| {
        let mut listed = api::difference(it);
        listed["agent"] = json!(it.agent.to_string());
        listed
    });
    Ok(json!({
        "unread": store.unread_count(id)?,
        "differing": counts.iter().map(|(_, count)| count).sum::<u64>(),
        "differences": listed.collect::<Vec<_>>(),
    }))
}

/// How many files are in each state.
fn files(counts: &[(FileState, u64)]) -> Value {
    let count = |wanted: FileState| {
        let found = counts.iter().find(|(state, _)| *state == wanted);
        found.map_or(0, |(_, count)| *count)
    };
    json!({
        "wanted": count(FileState::Wanted),
        "fetched": count(FileState::Fetched),
        "refused": count(FileState::Refused),
        "failing": count(FileState::Failing),
    })
}

fn missing(completeness: &Completeness) -> Value {
    let agents = completeness.agents.iter().map(|it| {
        let gaps = it.gaps.iter().map(|gap| {
            json!({
                "profile": format!("{:?}", gap.client.profile).to_lowercase(),
                "client": gap.client.client.to_string(),
                "first": gap.first,
                "last": gap.last,
            })
        });
        json!({
            "agent": it.agent.to_string(),
            "registration": it.is_unregistered,
            "unexplained": it.unexplained,
            "feedback": gaps.collect::<Vec<_>>(),
        })
    });
    json!({
        "agents": agents.collect::<Vec<_>>(),
        "agent_ids": completeness.missing_ids,
        "undecoded": completeness.undecoded,
    })
}

/// R45: prints both digests of each deployment.
pub fn verify(options: &StoreOptions) -> Result<u8, CliError> {
    let mut store = open(options)?;
    let mut code = FINE;
    for Deployed {
        id,
        chain,
        registry,
    } in store.deployments()?
    {
        // of one state: an index may be writing
        let ([live, rebuilt], [files, derived]) = store.snapshot(|store| {
            let tables = [store.digest(id)?, store.rebuild_digest(id)?];
            let files = [store.file_digest(id)?, store.derived_digest(id)?];
            Ok::<_, CliError>((tables, files))
        })?;
        let is_equal = live == rebuilt && files == derived;
        if !is_equal {
            code = DIFFERS;
        }
        let verified = json!({
            "chain": chain,
            "registry": registry,
            "equal": is_equal,
            "tables": format!("0x{}", hex::encode(live)),
            "events": format!("0x{}", hex::encode(rebuilt)),
            "evidence": format!("0x{}", hex::encode(files)),
            "files": format!("0x{}", hex::encode(derived)),
            "state": state(&mut store, id)?,
        });
        show(format!("{verified}\n")).map_err(CliError::Output)?;
    }
    Ok(code)
}

/// R45: folds the event log of each deployment again.
pub fn rebuild(options: &StoreOptions) -> Result<u8, CliError> {
    let mut store = open(options)?;
    for deployed in store.deployments()? {
        store.claim_again(&deployed)?;
        store.rebuild(deployed.id)?;
        eprintln!("rebuilt {} on {}", deployed.registry, deployed.chain);
    }
    Ok(FINE)
}
