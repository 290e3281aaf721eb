//! Brings a store of an earlier version up to date. What files say is derived again from their content,
//! which the store has (R45).
use super::{Cell, Engine, Store, columns::Stored, found_version, schema};
use crate::{
    StoreError,
    evidence::{RegistrationContent, payment, shortened},
    table::*,
};

/// The oldest version that can be brought up to date. An older store is refused, and can be built again from the chain.
pub(super) const OLDEST: i64 = 5;

/// Version 6 keeps more of registration files: versions of protocols, tools, skills, domains. Version 7 notes
/// reorganizations, and counts what each client and each agent has that is not revoked. Version 8 compares the
/// registries' state with the events. Version 9 finds differences by block. Version 10 fetches again what a host or the options
/// refused. Version 11 keeps less of long registration files, finds the first feedback with a payment's proof by its key,
/// notes when files were fetched, and fetches what earlier versions could not read of `ipfs:`. Version 12 counts
/// events that it does not know apart from those that it cannot decode, and asks the binding contracts that agents declare.
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
        if !matches!(found, Some(OLDEST..schema::VERSION)) {
            return Ok(()); // another process did it meanwhile
        }
        run(store, &schema::steps_from_11(dialect))?;
        if found < Some(11) {
            run(store, &schema::steps_from_10(dialect))?; // rows are read below
        }
        match found {
            Some(5) => from_5(store)?,
            Some(6) => run(store, &schema::steps_from_6(dialect))?,
            _ => (),
        }
        if found < Some(11) {
            from_10(store)?;
        }
        store.engine.script(&schema::tables(dialect))?; // those that are missing
        if found < Some(8) {
            store.queue_all()?
        } else {
            store.queue_bound()?
        }
        if found < Some(11) {
            store.fetch_refused_again()?;
        }
        let sql = format!("UPDATE schema_version SET version = {}", schema::VERSION);
        store.engine.execute(&sql, &[])
    })
}

/// Each statement is waited for: one that is sent with others is read before their columns are there.
fn run<E: Engine>(store: &mut Store<E>, statements: &[String]) -> Result<(), StoreError> {
    let mut statements = statements.iter();
    statements.try_for_each(|it| store.engine.script(it))
}

/// Version 10 kept every text that is kept now: shortening its rows gives what the files would give.
fn from_10<E: Engine>(store: &mut Store<E>) -> Result<(), StoreError> {
    for deployed in store.deployments()? {
        let mut long = Vec::new();
        store.rows::<Registrations>(deployed.id, "", &[], "agent", &mut |key, row| {
            let kept = shortened(row.clone());
            if kept != row {
                long.push((key, kept));
            }
            Ok(())
        })?;
        for (key, row) in &long {
            store.write_row::<Registrations>(deployed.id, key, Some(row))?;
        }
        let mut proofs = Vec::new();
        let is_proof = " AND task_ref IS NOT NULL";
        let order = "profile, agent, client, idx";
        store.rows::<AllEvidence>(deployed.id, is_proof, &[], order, &mut |key, row| {
            let named = |it: &Proof| payment(&it.task_ref, &it.reviewer, &it.signer);
            proofs.push((key, row.proof.as_ref().and_then(named)));
            Ok(())
        })?;
        for (key, payment) in &proofs {
            let sql = "UPDATE evidence SET payment = $1 WHERE deployment = $2 AND profile = $3 \
                       AND agent = $4 AND client = $5 AND idx = $6";
            let mut values = vec![payment.to_value(), deployed.id.0.to_value()];
            values.extend(AllEvidence::key_values(key));
            store.engine.execute(sql, &values)?;
        }
    }
    Ok(())
}

fn from_5<E: Engine>(store: &mut Store<E>) -> Result<(), StoreError> {
    let dialect = store.engine.dialect();
    run(store, &schema::steps_from_6(dialect))?; // of which the rows are read below
    run(store, &schema::steps_from_5(dialect))?;
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
