//! Brings a store of the version before up to date. What files say is derived again from their content,
//! which the store has (R45).
use super::{Engine, Store, found_version, schema};
use crate::{StoreError, evidence::RegistrationContent, table::*};

/// The version that can be brought up to date.
pub(super) const BEFORE: i64 = 5;

/// Version 6 keeps more of registration files: versions of protocols, tools, skills, domains.
pub(super) fn migrate<E: Engine>(store: &mut Store<E>) -> Result<(), StoreError> {
    // a writer of the version before would go on without the new columns
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
        if found_version(&mut store.engine) != Some(BEFORE) {
            return Ok(()); // another process did it meanwhile
        }
        for statement in schema::steps_from_5(dialect) {
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
        let sql = format!("UPDATE schema_version SET version = {}", schema::VERSION);
        store.engine.execute(&sql, &[])
    })
}
