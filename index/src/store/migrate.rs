//! Brings a store of an earlier version up to date. What files say is derived again from their content,
//! which the store has (R45).
use super::{Engine, Store, found_version, schema};
use crate::{StoreError, evidence::RegistrationContent, table::*};

/// The oldest version that can be brought up to date.
pub(super) const OLDEST: i64 = 5;

/// Version 6 keeps more of registration files: versions of protocols, tools, skills, domains. Version 7 notes
/// reorganizations, and counts what each client and each agent has that is not revoked. Version 8 compares the
/// registries' state with the events. Version 9 finds differences by block. Version 10 fetches again what a host or the options
/// refused.
pub(super) fn migrate<E: Engine>(store: &mut Store<E>) -> Result<(), StoreError> {
    // a writer of an earlier version would go on without the new columns
    for deployed in store.deployments()? {
        let name = format!("{}/{}", deployed.chain, deployed.registry);
        store.engine.claim(&name)?;
    }
    bring_up(store)?;
    store.engine.release()
}

fn bring_up<E: Engine>(store: &mut Store<E>) -> Result<(), StoreError> {
    let dialect = store.engine.dialect();
    store.transaction_with(dialect.begin_alone, |store| {
        let found = found_version(&mut store.engine);
        match found {
            Some(5) => from_5(store)?,
            Some(6) => from_6(store)?,
            Some(7..=9) => (),
            _ => return Ok(()), // another process did it meanwhile
        }
        store.engine.script(&schema::tables(dialect))?; // those that are missing
        if found < Some(8) {
            store.queue_all()?;
        }
        store.fetch_refused_again()?;
        let sql = format!("UPDATE schema_version SET version = {}", schema::VERSION);
        store.engine.execute(&sql, &[])
    })
}

/// Each statement is waited for: one that is sent with others is read before their columns are there.
fn from_6<E: Engine>(store: &mut Store<E>) -> Result<(), StoreError> {
    for statement in schema::steps_from_6(store.engine.dialect()) {
        store.engine.script(&statement)?;
    }
    Ok(())
}

fn from_5<E: Engine>(store: &mut Store<E>) -> Result<(), StoreError> {
    from_6(store)?; // of which the rows are read below
    for statement in schema::steps_from_5(store.engine.dialect()) {
        store.engine.execute(&statement, &[])?;
    }
    for deployed in store.deployments()? {
        let registry = format!("{}:{}", deployed.chain, deployed.registry);
        for (key, row) in store.agents(deployed.id)? {
            if row.uri.is_empty() {
                continue;
            }
            let content = store.content(deployed.id, &row.uri)?;
            let agent = key.agent.to_string();
            let content = RegistrationContent::of(&content);
            let derived = content.registration(&registry, &agent, &row.uri);
            store.write_row::<Registrations>(deployed.id, &key, Some(&derived))?;
        }
    }
    Ok(())
}
